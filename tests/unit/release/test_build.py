import json
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
import yaml

from transplantqa.errors import InputError
from transplantqa.release import ReleaseSettings, build_release
from transplantqa.release.command import by_system
from transplantqa.release.features import features
from transplantqa.validation.reference import reference_table


def _settings(**changes: object) -> ReleaseSettings:
    facts: dict[str, Any] = {"folder": "unused", "name": "sample", "title": "Sample", **changes}
    return ReleaseSettings(**facts)


@pytest.fixture
def target(tmp_path: Path) -> Path:
    return tmp_path / "release"


def _bytes_of(folder: Path) -> bytes:
    tables = [repr(pq.read_table(path).to_pylist()).encode() for path in sorted(folder.rglob("*.parquet"))]
    pages = [path.read_bytes() for path in sorted(folder.rglob("*")) if path.is_file() and path.suffix != ".parquet"]
    return b"".join([*tables, *pages])


def test_each_config_has_one_file_a_split(write_run: Any, target: Path) -> None:
    build_release({"baseline": write_run(), "hybrid-14b": write_run("hybrid-14b")}, target, _settings())
    assert sorted(str(path.relative_to(target)) for path in target.rglob("*.parquet")) == [
        "answers/baseline.parquet",
        "answers/hybrid_14b.parquet",
        "comparisons/baseline.parquet",
        "comparisons/hybrid_14b.parquet",
        "documents/shared.parquet",
        "evidence/baseline.parquet",
        "evidence/hybrid_14b.parquet",
        "questions/shared.parquet",
    ]


def test_a_table_that_only_some_systems_have_is_a_split_of_those(write_run: Any, target: Path) -> None:
    themed = write_run("themed")
    facts: dict[str, Any] = {
        "theme": "driving",
        "instances": 3,
        "strings": 2,
        "questions": 1,
        "documents": 2,
        "rated": 2,
        "high": 1,
    }
    row = {**facts, "high_share": 0.5, "stability": None, "paraphrases": ["driving", "when to drive"]}
    schema = features()["themes"].arrow_schema
    pq.write_table(pa.Table.from_pylist([row], schema=schema), themed.path / "themes.parquet")
    summary = build_release({"baseline": write_run(), "themed": themed}, target, _settings())
    assert summary.rows["themes"] == {"themed": 1}
    assert pq.read_table(target / "themes/themed.parquet").to_pylist() == [row]


def test_what_people_said_follows_its_pair_when_names_turn_it(write_run: Any, target: Path, tmp_path: Path) -> None:
    run = write_run()
    row: dict[str, Any] = {
        "question_id": "q2",
        "document_a": "kidney_a",
        "document_b": "kidney_b",
        "stratum": "judge/CONTRADICTORY",
    }
    row |= {
        "answer_a_sha256": "of a",
        "answer_b_sha256": "of b",
        "inclusion_probability": 0.5,
        "stratum_pairs": 2,
        "judge_label": "CONTRADICTORY",
        "label": None,
    }
    row |= {"judge_significance": "high", "decided_by": "judge", "significance": None, "decided": "missing"}
    pq.write_table(reference_table([{**row, "ratings": 0}]), run.path / "judge_validation.parquet")
    settings = _settings(names="pseudonyms", pseudonym_map=str(tmp_path / "private.json"))
    build_release({"baseline": run}, target, settings)
    (pair,) = [row for row in pq.read_table(target / "comparisons/baseline.parquet").to_pylist() if row["label"] == 4]
    (said,) = pq.read_table(target / "judge_validation/baseline.parquet").to_pylist()
    assert (said["document_a"], said["document_b"]) == (pair["document_a"], pair["document_b"])
    assert (said["judge_label"], said["label"], said["inclusion_probability"]) == (4, None, 0.5)
    known = json.loads((tmp_path / "private.json").read_text(encoding="utf-8"))["documents"]
    of = {known["kidney_a"]: "of a", known["kidney_b"]: "of b"}
    assert (said["answer_a_sha256"], said["answer_b_sha256"]) == (of[said["document_a"]], of[said["document_b"]])


def test_text_that_may_not_be_passed_on_is_nowhere_in_the_release(write_run: Any, target: Path) -> None:
    build_release({"baseline": write_run()}, target, _settings())
    assert b"SECRET TEXT" not in _bytes_of(target)
    assert b"Walk daily." in _bytes_of(target)


def test_withheld_documents_are_counted(write_run: Any, target: Path) -> None:
    # One may not be passed on, one is unreadable.
    assert build_release({"baseline": write_run()}, target, _settings()).withheld_documents == 2


def test_pseudonyms_leave_no_trace_of_a_document_name_or_file(write_run: Any, target: Path, tmp_path: Path) -> None:
    settings = _settings(names="pseudonyms", pseudonym_map=str(tmp_path / "private.json"))
    build_release({"baseline": write_run()}, target, settings)
    assert b"kidney_" not in _bytes_of(target)
    assert b"Center A" in _bytes_of(target)


def test_evidence_still_points_at_the_sections_it_was_taken_from(write_run: Any, target: Path, tmp_path: Path) -> None:
    settings = _settings(names="pseudonyms", pseudonym_map=str(tmp_path / "private.json"))
    build_release({"baseline": write_run()}, target, settings)
    documents = pq.read_table(target / "documents/shared.parquet").to_pylist()
    known = {section["section_id"] for row in documents for section in row["sections"]}
    evidence = pq.read_table(target / "evidence/baseline.parquet").to_pylist()
    given = {passage["section_id"] for row in evidence for passage in row["passages"] if passage["text"]}
    assert given
    assert given <= known


def test_the_map_of_pseudonyms_may_not_lie_in_the_release(write_run: Any, target: Path) -> None:
    settings = _settings(names="pseudonyms", pseudonym_map=str(target / "map.json"))
    with pytest.raises(InputError, match="must stay private"):
        build_release({"baseline": write_run()}, target, settings)


def test_two_builds_of_the_same_runs_are_equal(write_run: Any, tmp_path: Path) -> None:
    runs = {"baseline": write_run(), "other": write_run("other")}
    build_release(runs, tmp_path / "one", _settings())
    build_release(dict(reversed(runs.items())), tmp_path / "two", _settings())
    assert _bytes_of(tmp_path / "one") == _bytes_of(tmp_path / "two")


def test_an_earlier_release_is_replaced_whole(write_run: Any, target: Path) -> None:
    build_release({"old": write_run("old")}, target, _settings())
    build_release({"new": write_run("new")}, target, _settings())
    assert not (target / "answers/old.parquet").exists()
    assert [path.name for path in target.parent.iterdir() if path.name.startswith(".")] == []


def test_a_folder_with_something_else_is_left_alone(write_run: Any, target: Path) -> None:
    target.mkdir()
    (target / "thesis.tex").write_text("mine", encoding="utf-8")
    with pytest.raises(InputError, match="left alone"):
        build_release({"baseline": write_run()}, target, _settings())
    assert (target / "thesis.tex").read_text(encoding="utf-8") == "mine"


def test_a_build_that_fails_leaves_the_earlier_release(write_run: Any, target: Path) -> None:
    build_release({"good": write_run("good")}, target, _settings())
    bad = write_run("bad")
    bad.table_path("comparisons").unlink()
    with pytest.raises(InputError, match="is missing"):
        build_release({"bad": bad}, target, _settings())
    assert (target / "comparisons/good.parquet").exists()


def test_runs_over_different_questions_are_refused_by_name(write_run: Any, target: Path) -> None:
    run = write_run()
    questions = [{**row, "text": row["text"] + "!"} for row in run.rows("questions")]
    other = write_run("other", rows={"questions": questions})
    with pytest.raises(InputError, match="question 'q1' differs"):
        build_release({"baseline": run, "other": other}, target, _settings())


def test_no_run_is_refused(target: Path) -> None:
    with pytest.raises(InputError, match="no run to release"):
        build_release({}, target, _settings())


def test_two_runs_of_one_system_are_refused(write_run: Any) -> None:
    with pytest.raises(InputError, match="are both called 'baseline'"):
        by_system([write_run(run_id="one"), write_run(run_id="two")])


def test_a_manifest_holds_no_secret_and_no_local_path(write_run: Any, target: Path) -> None:
    config = {"model": {"path": "/home/me/models/m.gguf", "api_key": "hunter22"}, "corpus": {"folder": "/data/x"}}
    build_release({"baseline": write_run(config=config)}, target, _settings())
    manifest = json.loads((target / "manifests/baseline.json").read_text(encoding="utf-8"))
    assert manifest["config"] == {"model": {"path": "m.gguf", "api_key": "[redacted]"}, "corpus": {"folder": "x"}}


def test_the_card_says_what_the_findings_are_worth(write_run: Any, target: Path) -> None:
    build_release({"baseline": write_run()}, target, _settings())
    card = (target / "README.md").read_text(encoding="utf-8")
    for words in (
        "No ranking of institutions",
        "No medical advice",
        "not validated",
        "not an instrument",
        "0.250 of 4",
    ):
        assert words in card


def test_the_card_has_every_section_of_a_datasheet_provenance_and_citation(write_run: Any, target: Path) -> None:
    build_release({"baseline": write_run()}, target, _settings())
    card = (target / "README.md").read_text(encoding="utf-8")
    sections = ("Motivation", "Composition", "Collection", "Processing", "Uses", "Non-uses", "Upkeep")
    for heading in (*(f"### {name}\n" for name in sections), "## Provenance\n", "## Citation\n"):
        assert heading in card
    assert "`run-baseline`" in card
    assert "arXiv 2605.29084" in card
    assert "No judge of this release was validated against people." in card
    assert "$" not in card.split("---\n", 2)[2]


def test_a_validated_judge_is_a_table_on_the_card(write_run: Any, target: Path) -> None:
    figures = {"judge_kappa": 0.71, "judge_kappa_n": 120, "judge_kappa_lo": 0.6, "judge_kappa_hi": 0.8}
    build_release({"baseline": write_run(metrics=figures)}, target, _settings())
    card = (target / "README.md").read_text(encoding="utf-8")
    assert "| judge against people, kappa | 0.710 of 120 [0.600,0.800] |" in card


def test_the_cards_metadata_names_licence_configs_and_features(write_run: Any, target: Path) -> None:
    build_release({"baseline": write_run()}, target, _settings(licence="cc0-1.0"))
    metadata = yaml.safe_load((target / "README.md").read_text(encoding="utf-8").split("---\n")[1])
    assert metadata["license"] == "cc0-1.0"
    configs = ["questions", "documents", "answers", "evidence", "comparisons"]
    assert [entry["config_name"] for entry in metadata["configs"]] == configs
    assert {entry["config_name"] for entry in metadata["dataset_info"]} == set(configs)


def test_a_system_name_cannot_break_the_cards_table(write_run: Any, target: Path) -> None:
    build_release({"a | b\n# x": write_run("a | b\n# x", run_id="r")}, target, _settings())
    card = (target / "README.md").read_text(encoding="utf-8")
    assert "| `a_b_x` | a \\| b # x |" in card
