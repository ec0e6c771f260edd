"""Checksummed batches: what damage costs."""

import errno
import os
from pathlib import Path

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from transplantqa.errors import StoreError
from transplantqa.store.journal import Journal, read_journal


def batch(*texts: str) -> pa.RecordBatch:
    return pa.RecordBatch.from_pylist([{"text": text} for text in texts])


def texts_of(path: Path) -> list[list[str]]:
    return [found["text"].to_pylist() for found in read_journal(path).batches]


@pytest.fixture(scope="module")
def three_frames(tmp_path_factory: pytest.TempPathFactory) -> bytes:
    path = tmp_path_factory.mktemp("journal") / "journal"
    journal = Journal(path)
    for name in ("first", "second", "third"):
        journal.append(batch(name))
    journal.close()
    return path.read_bytes()


def test_batches_are_read_as_they_were_appended(tmp_path: Path) -> None:
    journal = Journal(tmp_path / "journal")
    journal.append(batch("a\u2028b", "c\u0085d"))
    journal.append(batch("e\x00f"))
    assert texts_of(tmp_path / "journal") == [["a\u2028b", "c\u0085d"], ["e\x00f"]]


@given(data=st.data())
def test_a_truncated_journal_keeps_the_batches_before_the_cut(
    three_frames: bytes, tmp_path_factory: pytest.TempPathFactory, data: st.DataObject
) -> None:
    path = tmp_path_factory.mktemp("cut") / "journal"
    path.write_bytes(three_frames[: data.draw(st.integers(0, len(three_frames)))])
    assert texts_of(path) == [["first"], ["second"], ["third"]][: len(texts_of(path))]
    assert read_journal(path).damaged_bytes < len(three_frames) // 3 + 1


@given(data=st.data())
def test_a_flipped_bit_costs_the_batch_it_hit_and_no_other(
    three_frames: bytes, tmp_path_factory: pytest.TempPathFactory, data: st.DataObject
) -> None:
    position = data.draw(st.integers(0, len(three_frames) - 1))
    content = bytearray(three_frames)
    content[position] ^= 1 << data.draw(st.integers(0, 7))
    path = tmp_path_factory.mktemp("flip") / "journal"
    path.write_bytes(content)
    lost = {"first", "second", "third"} - {text for found in texts_of(path) for text in found}
    assert len(lost) == 1


def test_an_unfinished_last_frame_is_a_torn_tail(three_frames: bytes, tmp_path: Path) -> None:
    (tmp_path / "journal").write_bytes(three_frames[:-5])
    assert read_journal(tmp_path / "journal").torn_tail_only


def test_a_damaged_frame_before_a_sound_one_is_more_than_a_torn_tail(three_frames: bytes, tmp_path: Path) -> None:
    (tmp_path / "journal").write_bytes(b"\x00" + three_frames[1:])
    assert not read_journal(tmp_path / "journal").torn_tail_only


def test_a_sound_journal_has_no_torn_tail(three_frames: bytes, tmp_path: Path) -> None:
    (tmp_path / "journal").write_bytes(three_frames)
    assert not read_journal(tmp_path / "journal").torn_tail_only


def test_two_writers_never_share_a_journal(tmp_path: Path) -> None:
    Journal(tmp_path / "journal")
    with pytest.raises(StoreError):
        Journal(tmp_path / "journal")


def test_a_full_disk_keeps_what_was_appended_before(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    journal = Journal(tmp_path / "journal")
    journal.append(batch("kept"))
    write = os.write

    def half_then_full(descriptor: int, data: memoryview) -> int:
        if len(data) > 8:
            return write(descriptor, data[:8])
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(os, "write", half_then_full)
    with pytest.raises(StoreError, match="disk is full"):
        journal.append(batch("lost"))
    monkeypatch.undo()
    assert texts_of(tmp_path / "journal") == [["kept"]]
    assert read_journal(tmp_path / "journal").damaged_bytes == 0


def test_a_disk_that_fills_between_two_batches_of_one_append_keeps_neither(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    journal = Journal(tmp_path / "journal")
    journal.append(batch("kept"))
    size = (tmp_path / "journal").stat().st_size
    write = os.write
    written: list[int] = []

    def full_after_a_frame(descriptor: int, data: memoryview) -> int:
        if sum(written) >= size:
            raise OSError(errno.ENOSPC, "No space left on device")
        written.append(write(descriptor, data))
        return written[-1]

    monkeypatch.setattr(os, "write", full_after_a_frame)
    with pytest.raises(StoreError, match="disk is full"):
        journal.append(batch("lost"), batch("lost too"))
    monkeypatch.undo()
    journal.append(batch("after"), batch("it"))
    assert texts_of(tmp_path / "journal") == [["kept"], ["after"], ["it"]]
