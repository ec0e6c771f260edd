"""Finding and deleting what no run refers to."""

from collections.abc import Callable
from pathlib import Path

import pytest

from transplantqa.errors import StoreError
from transplantqa.store import Ledger, Run, Unit
from transplantqa.store.prune import delete_unreferenced, unreferenced

MakePlan = Callable[..., list[Unit]]
Fill = Callable[..., None]


def record(root: Path, fingerprint: str) -> None:
    Run("abcd", "baseline", "2026-01-01", {}, {"answers": fingerprint}, "p").save(root)


def test_a_method_that_a_run_refers_to_is_kept(ledger: Ledger, plan: MakePlan, fill: Fill, tmp_path: Path) -> None:
    fill(ledger, plan(1))
    record(tmp_path / "artifacts", ledger.method.fingerprint)
    assert unreferenced(tmp_path / "artifacts") == []


def test_a_method_without_a_run_is_listed_with_its_size(
    ledger: Ledger, plan: MakePlan, fill: Fill, tmp_path: Path
) -> None:
    fill(ledger, plan(1))
    (found,) = unreferenced(tmp_path / "artifacts")
    assert (found.stage, found.fingerprint) == ("answers", ledger.method.fingerprint)
    assert found.bytes == sum(path.stat().st_size for path in ledger.folder.iterdir())


def test_deleting_removes_the_folder_alone(ledger: Ledger, plan: MakePlan, fill: Fill, tmp_path: Path) -> None:
    fill(ledger, plan(1))
    delete_unreferenced(unreferenced(tmp_path / "artifacts")[0])
    assert not ledger.folder.exists()
    assert ledger.folder.parent.exists()


def test_what_somebody_is_writing_is_not_deleted(ledger: Ledger, tmp_path: Path) -> None:
    with ledger.writer(), pytest.raises(StoreError, match="is in use"):
        delete_unreferenced(unreferenced(tmp_path / "artifacts")[0])
