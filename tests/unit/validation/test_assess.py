"""People's labels beside a run's: which pairs count as the judge's."""

from transplantqa.records import Label
from transplantqa.validation.annotations import Annotation, Annotations
from transplantqa.validation.assess import Assessed
from transplantqa.validation.judged import Judged


def test_a_pair_that_failed_is_not_one_that_the_prescreen_decided() -> None:
    ways = {"a": "judge", "b": "prescreen", "c": "identical", "d": None}
    pairs = [{"question_id": "q", "document_a": n, "document_b": "z", "item": n, "stratum": "s"} for n in ways]
    judged = {("q", name, "z"): Judged("CONSISTENT" if way else None, None, way, None) for name, way in ways.items()}
    said = Annotations(said={"r1": dict.fromkeys(ways, Annotation(Label.CONSISTENT, None, None))})
    found = Assessed(pairs, judged, said, None, {"s": 4}, 0)
    assert found.labels.screened is not None
    assert found.labels.screened.tolist() == [False, True, True, False]
