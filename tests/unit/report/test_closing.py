import io
import json
from typing import Any

from rich.console import Console

from transplantqa.report import closing_summary
from transplantqa.report.closing import print_findings


def _printed(runs: list[Any], commands: list[str] | None = None, width: int = 120) -> str:
    console = Console(file=io.StringIO(), width=width)
    print_findings(runs, commands or [], console)
    output: io.StringIO = console.file  # type: ignore[assignment]
    return output.getvalue()


def test_the_summary_is_json() -> None:
    assert json.loads(json.dumps(closing_summary([]))) == {"runs": [], "next": []}


def test_a_finding_carries_its_denominator_and_interval(write_run: Any) -> None:
    (run,) = closing_summary([write_run()])["runs"]
    assert run["findings"][0] == {
        "name": "absence_rate",
        "title": "silent answers",
        "value": 0.25,
        "n": 4,
        "lo": 0.0,
        "hi": 0.5,
    }


def test_a_measure_over_nothing_is_shown_without_a_value(write_run: Any) -> None:
    (run,) = closing_summary([write_run(metrics={"divergence_rate_n": 0})])["runs"]
    assert run["findings"] == [{"name": "divergence_rate", "title": "divergent pairs, pooled", "value": None, "n": 0}]


def test_the_parts_of_a_gold_figure_are_not_figures_of_their_own(write_run: Any) -> None:
    (run,) = closing_summary([write_run()])["runs"]
    assert [figure["name"] for figure in run["gold"]] == ["absence_accuracy"]
    assert run["gold_details"] == []


def test_failures_are_counted_by_table_and_outcome(write_run: Any) -> None:
    run = write_run()
    answers = [{**row, "outcome": "engine_error"} for row in run.rows("answers")]
    (found,) = closing_summary([write_run(rows={"answers": answers})])["runs"]
    assert found["failures"] == {"answers": {"engine_error": 4}}
    assert found["undecided_pairs"] == 0


def test_pairs_whose_answers_failed_are_told_apart_from_judgements_that_failed(write_run: Any) -> None:
    run = write_run()
    lost = [{**row, "outcome": "parse_failed", "label": None} for row in run.rows("comparisons")]
    (found,) = closing_summary([write_run(rows={"comparisons": lost})])["runs"]
    assert (found["failures"], found["undecided_pairs"]) == ({}, 2)


def test_unreadable_documents_are_listed_with_their_reasons(write_run: Any) -> None:
    (run,) = closing_summary([write_run()])["runs"]
    assert run["unreadable_documents"] == [{"document_id": "kidney_z", "reasons": ["no text on any page"]}]


def test_systems_stand_side_by_side(write_run: Any) -> None:
    other = write_run("hero_qa", metrics={"absence_rate": 0.75, "absence_rate_n": 4})
    line = next(line for line in _printed([write_run(), other]).split("\n") if "silent answers" in line)
    assert "0.250 of 4 [0.000,0.500]" in line
    assert line.rstrip().endswith("0.750 of 4")


def test_a_measure_that_one_system_lacks_is_a_dash_there(write_run: Any) -> None:
    printed = _printed([write_run(), write_run("other", metrics={"absence_rate": 0.5})])
    line = next(line for line in printed.split("\n") if "divergent pairs, pooled" in line)
    assert line.rstrip().endswith("-")


def test_a_system_that_is_no_instrument_says_so_with_its_reasons(write_run: Any) -> None:
    printed = _printed([write_run()])
    assert "baseline: not an instrument\n  absence accuracy 0.75 of 4 is below 0.80" in printed


def test_a_judge_without_validation_is_said_to_have_none(write_run: Any) -> None:
    assert "judge not validated against people" in _printed([write_run()])


def test_a_validated_judge_is_not(write_run: Any) -> None:
    assert "not validated" not in _printed([write_run(metrics={"judge_kappa": 0.8, "judge_kappa_n": 200})])


def test_reuse_is_shown(write_run: Any) -> None:
    line = next(line for line in _printed([write_run()]).split("\n") if line.strip().startswith("answers"))
    assert line.rstrip().endswith("3 of 4")


def test_next_commands_are_whole_in_a_narrow_terminal(write_run: Any) -> None:
    run = write_run()
    printed = _printed([run], ["mlflow ui --backend-store-uri sqlite:////a/very/long/path/of/a/store/mlflow.db"], 40)
    assert "  mlflow ui --backend-store-uri sqlite:////a/very/long/path/of/a/store/mlflow.db\n" in printed
    assert f"  transplantqa show question=q1 run={run.path}\n" in printed
    assert f"  transplantqa release 'runs=[{run.path}]'\n" in printed


def test_a_gold_figure_over_nothing_is_shown_as_such(write_run: Any) -> None:
    run = write_run()
    content = {"metrics": {}, "gold": {"silence_recall_n": 0, "section_recall_n": 0}}
    (run.path / "metrics.json").write_text(json.dumps(content), encoding="utf-8")
    (found,) = closing_summary([run])["runs"]
    assert found["gold"] == [{"name": "section_recall", "title": "sections retrieved", "value": None, "n": 0}]
    assert found["gold_details"] == [{"name": "silence_recall", "title": "silence recall", "value": None, "n": 0}]


def test_failures_are_shown_with_how_far_they_could_move_a_headline(write_run: Any) -> None:
    rows = [{**row, "outcome": "engine_error"} for row in write_run().rows("answers")]
    metrics = {"absence_rate": 0.3, "absence_rate_n": 10, "absence_rate_best": 0.2, "absence_rate_worst": 0.4}
    printed = _printed([write_run(metrics=metrics, rows={"answers": rows})])
    assert "failed answers: 4 engine_error" in printed
    assert "whatever the failed units would have said: silent answers 0.200 to 0.400" in printed


def test_what_calls_used_and_cost_is_shown_by_stage(write_run: Any) -> None:
    metrics = {
        "tokens_prompt_generate": 1200,
        "tokens_cached_generate": 300,
        "tokens_completion_generate": 45,
        "seconds_generate": 90.0,
        "cost_usd_generate": 1.5,
        "cost_usd": 1.5,
        "tokens_prompt_compare": 0,
    }
    run = write_run(metrics=metrics)
    (found,) = closing_summary([run])["runs"]
    assert [(entry["stage"], entry["cached_tokens"], entry["cost"]) for entry in found["usage"]] == [
        ("generate", 300, {"USD": 1.5})
    ]
    line = next(line for line in _printed([run]).split("\n") if "1,200 + 45" in line)
    assert line.rstrip().endswith("1,200 + 45, 1 min 30 s, 1.50 USD")
