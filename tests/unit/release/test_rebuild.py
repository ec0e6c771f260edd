"""A release as runs again: what it says is data, its rows come back, and its figures are checked."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from transplantqa.errors import InputError
from transplantqa.release import ReleaseSettings, build_release
from transplantqa.release.rebuild import Origin, Rebuilt, analysis_settings, rebuild
from transplantqa.release.record import RECORD_FILE, listed_files

ORIGIN = Origin("owner/audit", "c" * 40)
Change = Callable[[dict[str, Any]], object]


def _rebuilt(folder: Path, tmp_path: Path, change: Change = lambda _: None) -> Rebuilt:
    """Rebuild a release of one system whose manifest was changed, its record with it."""
    path = folder / "manifests/baseline.json"
    manifest = json.loads(path.read_text(encoding="utf-8"))
    change(manifest)
    path.write_text(json.dumps(manifest), encoding="utf-8")
    record = json.loads((folder / RECORD_FILE).read_text(encoding="utf-8"))
    record["files"] = listed_files(folder)
    (folder / RECORD_FILE).write_text(json.dumps(record), encoding="utf-8")
    (found,) = rebuild(folder, tmp_path / "artifacts", ORIGIN)
    return found


@pytest.fixture
def release(write_run: Any, tmp_path: Path) -> Path:
    """A release of one system, with pseudonyms."""
    settings = ReleaseSettings(
        folder="unused", name="audit", title="Audit", names="pseudonyms", pseudonym_map=str(tmp_path / "map.json")
    )
    return build_release({"baseline": write_run()}, tmp_path / "release", settings).folder


def test_rows_come_back_as_a_run_has_them(release: Path, write_run: Any, tmp_path: Path) -> None:
    run = _rebuilt(release, tmp_path).run
    local = write_run()
    assert [row["text"] for row in run.rows("answers")] == [row["text"] for row in local.rows("answers")]
    assert [row["label"] for row in run.rows("comparisons")] == ["ABSENT", "CONTRADICTORY"]
    assert run.table("evidence").schema.equals(local.table("evidence").schema)
    assert [row["text"] for row in run.rows("sections")] == ["Walk daily.\u2028Lift nothing."]


def test_figures_that_follow_from_the_rows_are_computed_again(release: Path, tmp_path: Path) -> None:
    found = _rebuilt(release, tmp_path)
    # One of four cells is silent; the one pair that both answer contradicts.
    assert found.run.measures.metrics["absence_rate"] == 0.25
    assert found.run.measures.metrics["divergence_rate"] == 1.0
    assert found.verified > 5


def test_a_published_figure_that_does_not_follow_is_named_and_replaced(release: Path, tmp_path: Path) -> None:
    found = _rebuilt(release, tmp_path, lambda manifest: manifest["metrics"].update(absence_rate=0.5))
    assert "absence_rate was published as 0.5 and is 0.25 from the published rows" in found.differing
    assert found.run.measures.metrics["absence_rate"] == 0.25
    assert set(found.differing) <= set(found.run.measures.notes)


def test_figures_that_do_not_follow_from_what_is_published_are_kept(release: Path, tmp_path: Path) -> None:
    assert _rebuilt(release, tmp_path).run.measures.metrics["recall@5"] == 0.5


def test_nothing_that_a_manifest_names_is_made(release: Path, tmp_path: Path) -> None:
    made = tmp_path / "made"
    bomb = {"_target_": "pathlib.Path.touch", "self": str(made)}

    def change(manifest: dict[str, Any]) -> None:
        manifest["config"] |= {"analysis": {**bomb, "embedder": bomb, "seed": 7}, "tracking": bomb, "artifacts": "/"}

    run = _rebuilt(release, tmp_path, change).run
    assert not made.exists()
    assert "tracking" not in run.config
    assert "artifacts" not in run.config


def test_of_an_analysis_only_its_numbers_are_taken() -> None:
    given = {"_target_": "os.system", "embedder": {"_target_": "os.system"}, "seed": 7, "unknown": 1}
    settings = analysis_settings({"config": {"analysis": given}})
    assert (settings.seed, settings.embedder) == (7, None)


def test_a_setting_that_is_none_is_refused() -> None:
    with pytest.raises(InputError, match="seed"):
        analysis_settings({"config": {"analysis": {"seed": "rm -rf /"}}})


def test_a_fingerprint_that_is_a_path_is_refused(release: Path, tmp_path: Path) -> None:
    with pytest.raises(InputError, match="fingerprints of compare"):
        _rebuilt(release, tmp_path, lambda manifest: manifest["fingerprints"].update(compare="../../x"))


def test_questions_that_a_manifest_invents_are_refused(release: Path, tmp_path: Path) -> None:
    with pytest.raises(InputError, match="no question_id 'q9'"):
        _rebuilt(release, tmp_path, lambda manifest: manifest["question_ids"].append("q9"))


def test_the_same_release_gives_the_same_run(release: Path, tmp_path: Path) -> None:
    first, second = (rebuild(release, tmp_path / name, ORIGIN)[0].run for name in ("one", "two"))
    assert first.run_id == second.run_id
    assert first.section("extra")["pulled"]["commit"] == ORIGIN.commit
