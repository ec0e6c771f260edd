"""Figures that follow from a release whose documents have other names."""

from pathlib import Path

from transplantqa.release import ReleaseSettings, build_release
from transplantqa.release.rebuild import Origin, rebuild
from transplantqa.store.run_folder import RunFolder


def test_pseudonyms_change_no_figure(planted_runs: dict[str, RunFolder], tmp_path: Path) -> None:
    settings = ReleaseSettings(
        folder="unused",
        name="audit",
        title="Audit",
        names="pseudonyms",
        pseudonym_map=str(tmp_path / "private.json"),
    )
    folder = build_release(planted_runs, tmp_path / "release", settings).folder
    for found in rebuild(folder, tmp_path / "artifacts", Origin("owner/audit", "c" * 40)):
        assert found.differing == []
        assert found.verified > 300
