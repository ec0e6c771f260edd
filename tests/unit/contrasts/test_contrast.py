"""The command: which runs it refuses, what it names, what it writes."""

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from rich.console import Console

from transplantqa.analysis.simulate import Plan, plant
from transplantqa.analysis.tables import AuditTables
from transplantqa.cli import main
from transplantqa.contrasts.components import components
from transplantqa.contrasts.console import print_contrast
from transplantqa.contrasts.design import require_same_design
from transplantqa.contrasts.folder import ContrastFolder
from transplantqa.errors import ConfigError, InputError
from transplantqa.report.page.contrasted import contrasts_of

PLAN = Plan(questions=40, institutions=4, seed=5)
BEFORE = plant(replace(PLAN, omission=0.5)).tables
AFTER = plant(replace(PLAN, omission=0.1)).tables


@pytest.fixture(autouse=True)
def _in_its_own_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


def changed(tables: AuditTables, table: str, row: int, **values: object) -> AuditTables:
    rows = getattr(tables, table).to_pylist()
    rows[row] |= values
    return replace(tables, **{table: pa.Table.from_pylist(rows, schema=getattr(tables, table).schema)})


def contrast(*overrides: str) -> int:
    return main(
        ["contrast", "baseline=old", "candidate=new", "tracking=none", "analysis.bootstrap_replicates=50", *overrides]
    )


def test_a_contrast_is_written_with_its_tables(make_run: Any, tmp_path: Path) -> None:
    make_run("old", BEFORE)
    make_run("new", AFTER, {"retrieve": "other"})
    assert contrast() == 0
    (folder,) = (tmp_path / "artifacts" / "contrasts").iterdir()
    record = json.loads((folder / "contrast.json").read_text(encoding="utf-8"))
    assert record["contrast_id"] == folder.name
    assert record["metrics"]["delta/absence_rate"] < 0
    assert {file.stem for file in folder.glob("*.parquet")} == {"deltas", "terms", "newly_answered", "questions"}


def test_contrasting_again_gives_the_same_contrast(make_run: Any, tmp_path: Path) -> None:
    make_run("old", BEFORE)
    make_run("new", AFTER)
    contrast()
    (file,) = tmp_path.glob("artifacts/contrasts/*/contrast.json")
    first = file.read_bytes()
    contrast()
    assert file.read_bytes() == first


@pytest.mark.parametrize(
    ("fingerprints", "said"),
    [
        ({"retrieve": "other"}, "retriever alone differs: what changed is the retriever's"),
        ({"generate": "other"}, "generator alone differs: what changed is not retrieval's"),
        ({"retrieve": "other", "generate": "other"}, "Retriever and generator differ: what changed can't be put down"),
        ({"ingest": "other", "retrieve": "other"}, "Document reading and retriever differ"),
        ({}, "No component differs"),
    ],
)
def test_a_change_is_the_retrievers_only_when_it_alone_differs(
    make_run: Any, fingerprints: dict[str, str], said: str
) -> None:
    runs = (make_run("old", BEFORE), make_run("new", AFTER, fingerprints))
    assert said in components(*runs).attribution()


RULE = {"prescreen": {"prescreen": "rule", "identical": "judge"}, "disagreement": "a_first"}


@pytest.mark.parametrize(
    ("judging", "said", "detail"),
    [
        (
            RULE | {"disagreement": "milder"},
            "Retriever and judge differ",
            ("judge", 'disagreement: "a_first" / "milder"'),
        ),
        (
            RULE | {"prescreen": {"prescreen": "rule", "identical": "consistent"}},
            "Retriever and pre-screen differ",
            ("pre-screen", 'prescreen.identical: "judge" / "consistent"'),
        ),
        (dict(RULE), "The retriever alone differs", None),
    ],
)
def test_how_pairs_are_decided_is_a_difference_though_no_fingerprint_has_it(
    make_run: Any, judging: dict[str, object], said: str, detail: tuple[str, str] | None
) -> None:
    runs = (make_run("old", BEFORE, judging=RULE), make_run("new", AFTER, {"retrieve": "other"}, judging))
    found = components(*runs)
    assert said in found.attribution()
    assert contrast() == (ConfigError.exit_code if detail else 0)
    if detail:
        assert found.details[detail[0]] == (detail[1],)


def test_of_a_pulled_run_the_configuration_says_how_pairs_were_decided(make_run: Any) -> None:
    configs: list[dict[str, object]] = [
        {"prescreen": None, "judge": {"disagreement": way}} for way in ("a_first", "milder")
    ]
    runs = (make_run("old", BEFORE, judging=RULE, config=configs[0]), make_run("new", AFTER, config=configs[1]))
    assert components(*runs).details == {"judge": ('disagreement: "a_first" / "milder"',)}


def test_what_differs_in_a_component_is_named_from_its_methods(make_run: Any, tmp_path: Path) -> None:
    runs = (make_run("old", BEFORE), make_run("new", AFTER, {"retrieve": "other"}))
    for fingerprint, top_k in (("r" * 64, 3), ("other", 5)):
        path = tmp_path / "artifacts" / "retrieve" / fingerprint / "method.json"
        path.parent.mkdir(parents=True)
        path.write_text(json.dumps({"stage": "retrieve", "identity": {"top_k": top_k}}), encoding="utf-8")
    assert components(*runs).details == {"retriever": ("top_k: 3 / 5",)}


def test_other_judges_are_refused_unless_allowed(make_run: Any, capsys: pytest.CaptureFixture[str]) -> None:
    make_run("old", BEFORE)
    make_run("new", AFTER, {"compare": "other"})
    assert contrast() == ConfigError.exit_code
    assert "judges=may_differ" in capsys.readouterr().err
    assert contrast("judges=may_differ") == 0


@pytest.mark.parametrize(
    ("other", "said"),
    [
        (changed(AFTER, "documents", 0, sha256="x"), "1 documents have another file in the candidate: d00000"),
        (changed(AFTER, "documents", 1, document_id="new"), "1 documents are in the candidate alone: new"),
        (changed(AFTER, "documents", 1, verdict="reject"), "can be read in one of them alone: d00001"),
        (changed(AFTER, "questions", 2, text="x"), "1 questions have another text in the candidate: q00002"),
        (changed(AFTER, "questions", 2, groups=["x"]), "1 questions have other groups in the candidate: q00002"),
    ],
)
def test_other_files_or_questions_are_refused_by_name(make_run: Any, other: AuditTables, said: str) -> None:
    with pytest.raises(InputError, match=said):
        require_same_design(make_run("old", BEFORE), make_run("new", other))


def test_other_titles_are_the_same_corpus(make_run: Any) -> None:
    require_same_design(make_run("old", BEFORE), make_run("new", changed(AFTER, "documents", 0, title="x")))


def test_one_run_twice_is_refused(make_run: Any, capsys: pytest.CaptureFixture[str]) -> None:
    make_run("old", BEFORE)
    assert main(["contrast", "baseline=old", "candidate=system_old", "tracking=none"]) == ConfigError.exit_code
    assert "are both run old" in capsys.readouterr().err


def test_a_run_that_isnt_there_is_said_with_what_there_is(make_run: Any, capsys: pytest.CaptureFixture[str]) -> None:
    make_run("old", BEFORE)
    assert contrast() == InputError.exit_code
    assert "old  system_old" in capsys.readouterr().err


@pytest.mark.parametrize("name", ["0123456789012345", "12e4567890123456", "sample_top_k=2", "it's"])
def test_names_that_look_like_something_else_are_taken_as_text(make_run: Any, name: str) -> None:
    make_run("old", BEFORE)
    make_run(name, AFTER)
    arguments = [f"candidate={name}", "baseline=old", "tracking=none", "analysis.bootstrap_replicates=0"]
    assert main(["contrast", *arguments]) == 0


def test_the_table_has_denominators_points_and_the_attribution(make_run: Any, tmp_path: Path) -> None:
    make_run("old", BEFORE)
    make_run("new", AFTER, {"generate": "other"})
    contrast()
    (folder,) = (tmp_path / "artifacts" / "contrasts").iterdir()
    console = Console(width=160, record=True)
    print_contrast(ContrastFolder(folder), console=console)
    text = console.export_text()
    assert "of 320" in text
    assert "newly answered" in text
    assert "The generator alone differs" in text


def test_each_side_says_what_people_make_of_its_judge(
    make_run: Any, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    make_run("old", BEFORE, {"compare": "d" * 64})
    run = make_run("new", AFTER)
    validated = tmp_path / "artifacts" / "validation" / "judges" / ("c" * 64) / "s1" / "record.json"
    validated.parent.mkdir(parents=True)
    people = {"annotators": ["r1", "r2"], "adjudicator": None, "counts": {"disputed": 0}}
    figures = {"judge_kappa": 0.31, "judge_kappa_n": 40, "judge_kappa_lo": 0.2, "judge_kappa_hi": 0.4}
    record = {"run_id": "new", "created": "2026", **people, "metrics": figures, "not_an_instrument": ["kappa 0.31"]}
    validated.write_text(json.dumps(record), encoding="utf-8")
    assert contrast("judges=may_differ") == 0
    said = capsys.readouterr().out
    assert "system_old: judge not validated against people" in said
    assert "system_new: judge against people: kappa 0.31 [0.20,0.40] (2 annotators, 40 judged pairs)" in said
    assert "system_new is not an instrument: kappa 0.31" in said
    (shown,) = contrasts_of(run)
    assert [line.partition(":")[0] for line in shown["judged"]] == [
        "system_old",
        "system_new",
        "system_new is not an instrument",
    ]


def test_every_table_of_a_contrast_can_be_read(make_run: Any, tmp_path: Path) -> None:
    make_run("old", BEFORE)
    make_run("new", AFTER)
    contrast("scope=all")
    (folder,) = (tmp_path / "artifacts" / "contrasts").iterdir()
    questions = pq.read_table(folder / "questions.parquet")
    assert questions.num_rows == 40
