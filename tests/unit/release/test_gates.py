"""What may not leave: each gate with a release that it must hold back, and one that passes them all."""

import json
from pathlib import Path
from typing import Any

import pytest

from transplantqa.errors import InputError
from transplantqa.release import ReleaseSettings, build_release
from transplantqa.release.gates import Finding, findings, paragraphs, require_no_findings
from transplantqa.release.personal_data import personal_data
from transplantqa.release.record import RECORD_FILE, read_record

WAIVER = "The judge is a plumbing model; its labels are shown as such."


@pytest.fixture
def build(write_run: Any, tmp_path: Path) -> Any:
    """Build a release of one run with an open licence and changes to its rows."""

    def made(settings: dict[str, Any] | None = None, **run: Any) -> Path:
        rows = run.pop("rows", {})
        documents = rows.get("documents") or write_run.rows["documents"]
        licensed = [{**row, "licence": row["licence"] or "CC-BY-4.0"} for row in documents]
        found = write_run(rows={"documents": licensed, **{k: v for k, v in rows.items() if k != "documents"}}, **run)
        facts: dict[str, Any] = {"folder": "unused", "name": "sample", "title": "Sample", "waiver": WAIVER}
        return build_release(
            {"baseline": found}, tmp_path / "release", ReleaseSettings(**facts | (settings or {}))
        ).folder

    return made


def _answers(write_run: Any, text: str) -> list[dict[str, Any]]:
    return [
        {**row, "text": text if row["document_id"] == "kidney_b" else row["text"]} for row in write_run.rows["answers"]
    ]


def test_a_release_with_nothing_against_it_passes(build: Any) -> None:
    assert findings(build()) == []


def test_text_without_a_licence_is_held_back(write_run: Any, tmp_path: Path) -> None:
    settings = ReleaseSettings(folder="unused", name="sample", title="Sample", waiver=WAIVER)
    folder = build_release({"baseline": write_run()}, tmp_path / "release", settings).folder
    assert findings(folder) == [Finding("licence", "kidney_a", "its text is included, and no licence is stated")]


def test_a_licence_that_contradicts_is_held_back(build: Any, write_run: Any) -> None:
    documents = [{**row, "licence": "All Rights Reserved"} for row in write_run.rows["documents"]]
    found = findings(build(rows={"documents": documents}))
    assert [(finding.gate, finding.where) for finding in found] == [("licence", "kidney_a")]


def test_a_judge_that_was_not_validated_needs_a_waiver(build: Any) -> None:
    assert [finding.gate for finding in findings(build({"waiver": None}))] == ["judge"]


def test_a_validated_judge_needs_no_waiver(build: Any) -> None:
    assert findings(build({"waiver": None}, metrics={"judge_kappa": 0.7})) == []


def test_a_waiver_is_printed_on_the_card(build: Any) -> None:
    assert WAIVER in (build() / "README.md").read_text(encoding="utf-8")


def test_more_failures_than_allowed_are_held_back(build: Any) -> None:
    found = findings(build(metrics={"failure_rate": 0.2}))
    assert found == [Finding("failures", "baseline", "20.0% of its units failed, more than 5.0%")]
    assert findings(build({"max_failure_rate": 0.25}, metrics={"failure_rate": 0.2})) == []


def test_a_telephone_number_in_a_question_is_held_back(build: Any, write_run: Any) -> None:
    questions = [{**row, "text": "Call me at (555) 010-7788?"} for row in write_run.rows["questions"][:1]]
    rows = {"questions": [*questions, *write_run.rows["questions"][1:]]}
    found = findings(build(rows=rows))
    assert found == [Finding("personal data", "questions/shared, q1", "telephone number '(555) 010-7788'")]


def test_what_a_person_found_public_is_no_finding(build: Any, write_run: Any) -> None:
    rows = {"answers": _answers(write_run, "Call the coordinator, 555-010-7788.")}
    assert [finding.gate for finding in findings(build(rows=rows))] == ["personal data"]
    assert findings(build({"reviewed": ("(555) 010 7788",)}, rows=rows)) == []


def test_a_number_that_the_document_itself_publishes_is_no_finding(build: Any, write_run: Any) -> None:
    sections = [
        {**row, "text": row["text"] + " Call 555.010.7788." if row["document_id"] == "kidney_b" else row["text"]}
        for row in write_run.rows["sections"]
    ]
    rows = {"answers": _answers(write_run, "Call the coordinator, 555-010-7788."), "sections": sections}
    folder = build(rows=rows)
    assert findings(folder) == []
    assert read_record(folder).contacts == ["555-010-7788"]


def test_a_value_found_often_is_one_finding(build: Any, write_run: Any) -> None:
    rows = {"answers": _answers(write_run, "Write to someone@example.org.")}
    (found,) = findings(build(rows=rows))
    assert found == Finding(
        "personal data", "answers/baseline, q1, kidney_b and 1 more", "e-mail address 'someone@example.org'"
    )


def test_a_token_in_an_answer_is_held_back(build: Any, write_run: Any) -> None:
    token = "hf_" + "a1B2c3D4e5F6g7H8i9J0"
    found = findings(build(rows={"answers": _answers(write_run, f"Use {token}.")}))
    assert [(finding.gate, finding.where) for finding in found] == [("secrets", "answers/baseline, text")]


def test_a_file_changed_after_the_build_is_held_back(build: Any) -> None:
    folder = build()
    (folder / "README.md").write_text("mine", encoding="utf-8")
    (folder / "notes.txt").write_text("mine", encoding="utf-8")
    (folder / "schema.md").unlink()
    assert [finding.what.split(" (")[0] for finding in findings(folder)] == [
        "README.md isn't what was built",
        "notes.txt was added",
        "schema.md is missing",
    ]


def test_all_findings_come_at_once_with_their_remedies(build: Any, write_run: Any) -> None:
    rows = {"answers": _answers(write_run, "SSN 078-05-1120")}
    found = findings(build({"waiver": None}, rows=rows, metrics={"failure_rate": 0.2}))
    with pytest.raises(InputError) as caught:
        require_no_findings(found)
    for words in ("failures (1)", "judge (1)", "personal data (1)", "release.waiver", "release.reviewed"):
        assert words in str(caught.value)


def test_a_long_list_is_cut_and_counted() -> None:
    (text,) = paragraphs([Finding("licence", f"document {n:03}", "no licence") for n in range(60)])
    assert "licence (60)" in text
    assert "and 10 more" in text


def test_a_record_that_points_outside_of_the_release_is_refused(build: Any) -> None:
    folder = build()
    record = json.loads((folder / RECORD_FILE).read_text(encoding="utf-8"))
    record["files"]["../../etc/passwd"] = {"bytes": 1, "sha256": "0" * 64}
    (folder / RECORD_FILE).write_text(json.dumps(record), encoding="utf-8")
    with pytest.raises(InputError, match="outside of the release"):
        findings(folder)


@pytest.mark.parametrize(
    ("text", "kind", "value"),
    [
        ("Mail j.doe+x@mail.example.com now", "e-mail address", "j.doe+x@mail.example.com"),
        ("at 212 555 0147 or later", "telephone number", "212 555 0147"),
        ("ring +44 20 7946 0958 today", "telephone number", "+44 20 7946 0958"),
        ("my SSN is 078-05-1120", "social security number", "078-05-1120"),
        ("MRN: 00123456", "record number", "MRN: 00123456"),
        ("I was born on 03/14/1962 in", "date of birth", "born on 03/14/1962"),
        ("I live at 12 Old Mill Road with", "street address", "12 Old Mill Road"),
        ("Hi, my name is Robin and", "a person's own name", "my name is Robin"),
    ],
)
def test_each_kind_of_personal_data_is_recognised(text: str, kind: str, value: str) -> None:
    assert (kind, value) in list(personal_data(text))


@pytest.mark.parametrize(
    "text",
    [
        "Drink 2,000 to 3,000 mL a day, about 100 oz.",
        "Take 0.5 mg at 8:00 and 20:00 for 12-14 weeks, 3 to 6 months.",
        "Tacrolimus 5-10 ng/mL; creatinine 1.2 (2024-05-01).",
        "On 1 Road trip bring 100-200 pills; page 12-3456.",
    ],
)
def test_doses_dates_and_pages_are_no_personal_data(text: str) -> None:
    assert list(personal_data(text)) == []
