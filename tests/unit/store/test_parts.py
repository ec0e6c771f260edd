"""Sealed parts: damage is found, whatever byte it hits."""

from pathlib import Path

import pyarrow as pa
import pytest

from transplantqa.store.parts import DamagedError, is_intact, ledger_files, read_part, write_part

TABLE = pa.table({"id": ["a", "b", "a"], "text": ["x" * 50, "y\u2028z", None]})


@pytest.fixture
def part(tmp_path: Path) -> Path:
    return write_part(tmp_path, "000-of-001-000001", TABLE)


def test_a_part_gives_back_what_was_sealed(part: Path) -> None:
    (file,) = ledger_files(part.parent)
    assert read_part(file, ["id", "text"]).equals(TABLE)


def test_a_part_is_named_after_its_shard_number_and_digest(part: Path) -> None:
    (file,) = ledger_files(part.parent)
    assert (file.kind, file.stem, file.shard_label) == ("part", "000-of-001-000001", "000-of-001")
    assert is_intact(file)


def test_a_flipped_bit_is_found_by_the_digest_and_never_changes_what_is_read(part: Path) -> None:
    (file,) = ledger_files(part.parent)
    sound = part.read_bytes()
    for position in range(len(sound)):
        flipped = bytearray(sound)
        flipped[position] ^= 1 << (position % 8)
        part.write_bytes(flipped)
        assert not is_intact(file)
        try:
            found = read_part(file, ["id", "text"])
        except DamagedError:
            continue
        assert found.to_pydict() == TABLE.to_pydict(), position


def test_a_truncated_part_is_found(part: Path) -> None:
    (file,) = ledger_files(part.parent)
    part.write_bytes(part.read_bytes()[:-20])
    with pytest.raises(DamagedError):
        read_part(file, ["id"])


def test_a_part_set_aside_is_not_listed(part: Path) -> None:
    part.rename(part.with_name(part.name + ".damaged"))
    assert ledger_files(part.parent) == []
