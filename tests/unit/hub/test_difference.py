"""What a push would change: files by content, rows, and columns."""

from dataclasses import replace
from pathlib import Path

from transplantqa.hub.difference import FileChange, LocalFile, RemoteFile, difference, local_files
from transplantqa.release.record import FORMAT, RECORD_FILE, ReleaseRecord

RECORD = ReleaseRecord(
    format=FORMAT,
    made_by="transplantqa 0",
    name="audit",
    title="Audit",
    licence="cc-by-4.0",
    waiver=None,
    max_failure_rate=0.05,
    reviewed=(),
    contacts=(),
    systems={"one": "one"},
    schemas={"answers": {"text": {"dtype": "string", "_type": "Value"}, "page": {"dtype": "int32", "_type": "Value"}}},
    rows={"answers": {"one": 3}},
)


def _local(name: str) -> LocalFile:
    return LocalFile(f"git-{name}", 10, f"sha-{name}")


def test_small_files_are_told_by_gits_id_and_large_ones_by_their_hash() -> None:
    local = {"README.md": _local("a"), "answers/one.parquet": _local("b")}
    remote = {"README.md": RemoteFile("git-a", 10, None), "answers/one.parquet": RemoteFile("pointer", 10, "sha-b")}
    found = difference(local, remote, (RECORD, RECORD))
    assert (found.changes, found.unchanged) == ([], 2)


def test_every_file_that_differs_is_named_with_what_becomes_of_it() -> None:
    local = {"a": _local("a"), "b": _local("b")}
    remote = {"b": RemoteFile("git-old", 7, None), "c": RemoteFile("git-c", 5, None)}
    found = difference(local, remote, (RECORD, None))
    assert found.changes == [
        FileChange("a", "added", 10),
        FileChange("b", "changed", 10),
        FileChange("c", "removed", 5),
    ]
    assert found.unchanged == 0


def test_what_the_hub_itself_puts_there_stays() -> None:
    remote = {".gitattributes": RemoteFile("git-x", 1, None)}
    assert difference({}, remote, (RECORD, None)).changes == []


def test_rows_are_compared_split_by_split() -> None:
    theirs = replace(RECORD, rows={"answers": {"one": 2, "old": 5}})
    assert difference({}, {}, (RECORD, theirs)).rows == [("answers", "old", 5, None), ("answers", "one", 2, 3)]


def test_columns_that_differ_are_named() -> None:
    old = {"text": {"dtype": "large_string", "_type": "Value"}, "pages": {"dtype": "int32", "_type": "Value"}}
    theirs = replace(RECORD, schemas={"answers": old, "themes": {}})
    assert difference({}, {}, (RECORD, theirs)).schemas == [
        "answers: column pages is taken out",
        "answers: column page is new",
        "answers: column text was large_string and is string",
    ]


def test_a_files_git_id_is_gits(tmp_path: Path) -> None:
    (tmp_path / RECORD_FILE).write_bytes(b"hello\n")
    # printf 'hello\n' | git hash-object --stdin; printf 'hello\n' | sha256sum
    assert local_files(tmp_path, RECORD)[RECORD_FILE] == LocalFile(
        "ce013625030ba8dba906f756967f9e9ca394464a",
        6,
        "5891b5b522d5df086d0ff0b110fbd9d21bb4fc7163af34d08286a2e846f6be03",
    )
