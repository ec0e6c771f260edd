import json
from typing import Any

from transplantqa.tracking.projection import Projection, identity, project

MIB = 200


def _project(run: Any) -> Projection:
    return project(run, {"sections"}, MIB)


def test_a_run_in_two_sweeps_has_two_identities() -> None:
    assert len({identity(None, "r"), identity("s", "r"), identity("t", "r")}) == 3


def test_a_long_parameter_becomes_an_artifact_and_its_hash(write_run: Any) -> None:
    projection = _project(write_run(config={"prompt": {"body": "x" * 6001}}))
    assert projection.texts["long_parameters/prompt.body.txt"] == "x" * 6001
    assert projection.parameters["prompt.body"].startswith("sha256:")


def test_fingerprints_and_versions_are_parameters(write_run: Any) -> None:
    parameters = _project(write_run()).parameters
    assert parameters["fingerprints.generate"] == "f" * 64
    assert parameters["versions.transplantqa"] == "0.1.0"


def test_no_secret_is_in_parameters_or_artifacts(write_run: Any) -> None:
    projection = _project(write_run(config={"model": {"api_key": "hunter22-hunter22"}}))
    everything = json.dumps([projection.parameters, projection.texts, projection.tags])
    assert "hunter22" not in everything


def test_figures_against_gold_stand_under_their_own_name(write_run: Any) -> None:
    assert _project(write_run()).metrics["gold/absence_accuracy"] == 0.75


def test_a_cleaned_metric_name_can_be_looked_up(write_run: Any) -> None:
    projection = _project(write_run(metrics={"recall@5": 0.5}))
    names = json.loads(projection.texts["metric_names.json"])
    (cleaned,) = [name for name in projection.metrics if name.startswith("recall")]
    assert names[cleaned] == "recall@5"


def test_the_documents_own_text_is_not_copied(write_run: Any) -> None:
    copied = {path.name for path in _project(write_run()).files}
    assert copied == {
        "metrics.json",
        "answers.parquet",
        "comparisons.parquet",
        "documents.parquet",
        "evidence.parquet",
        "questions.parquet",
    }


def test_a_table_above_the_limit_is_listed_instead_of_copied(write_run: Any) -> None:
    run = write_run()
    projection = project(run, (), 0)
    assert [path.name for path in projection.files] == ["metrics.json"]
    assert json.loads(projection.texts["tables_kept.json"])["answers"] == str(run.table_path("answers"))


def test_pictures_of_the_figures_are_kept_with_the_run(write_run: Any) -> None:
    run = write_run()
    (run.path / "figures").mkdir()
    (run.path / "figures" / "coverage.png").write_bytes(b"png")
    assert _project(run).files[run.path / "figures" / "coverage.png"] == "figures"


def test_the_same_files_have_the_same_hash_and_a_changed_metric_another(write_run: Any) -> None:
    first = _project(write_run(metrics={"absence_rate": 0.25})).content_sha256()
    assert _project(write_run(metrics={"absence_rate": 0.25})).content_sha256() == first
    assert _project(write_run(metrics={"absence_rate": 0.5})).content_sha256() != first
