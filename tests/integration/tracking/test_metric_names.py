from hypothesis import given, settings
from hypothesis import strategies as st
from mlflow.utils.validation import _validate_metric_name

from transplantqa.tracking.names import LONGEST_NAME, clean_name


@settings(deadline=None)
@given(st.text(max_size=400))
def test_every_name_becomes_one_that_mlflow_accepts(name: str) -> None:
    cleaned = clean_name(name)
    _validate_metric_name(cleaned)
    assert len(cleaned) <= LONGEST_NAME
