"""Files that are there whole or not at all."""

import errno
import os
from pathlib import Path

import pytest

from transplantqa.errors import StoreError
from transplantqa.store import json_bytes, write_atomically


def test_a_file_and_its_folder_are_made(tmp_path: Path) -> None:
    write_atomically(tmp_path / "a" / "b.json", b"{}")
    assert (tmp_path / "a" / "b.json").read_bytes() == b"{}"


def test_nothing_but_the_file_is_left_behind(tmp_path: Path) -> None:
    write_atomically(tmp_path / "b.json", b"1")
    write_atomically(tmp_path / "b.json", b"2")
    assert [path.name for path in tmp_path.iterdir()] == ["b.json"]


def test_a_full_disk_leaves_the_old_file_and_names_the_remedy(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "b.json"
    write_atomically(path, b"old")

    def full(_descriptor: int) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(StoreError, match=r"disk is full\. Free some space"):
        write_atomically(path, b"new")
    assert path.read_bytes() == b"old"
    assert [entry.name for entry in tmp_path.iterdir()] == ["b.json"]


def test_a_file_where_a_folder_should_be_is_named_with_its_remedy(tmp_path: Path) -> None:
    (tmp_path / "artifacts").write_text("not a folder")
    with pytest.raises(StoreError, match="not a folder"):
        write_atomically(tmp_path / "artifacts" / "runs" / "run.json", b"")


def test_json_is_readable_sorted_and_keeps_letters() -> None:
    assert json_bytes({"b": 1, "a": "ü"}) == '{\n  "a": "ü",\n  "b": 1\n}\n'.encode()
