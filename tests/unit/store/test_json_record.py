from pathlib import Path

import pytest

from transplantqa.errors import InputError
from transplantqa.store.json_record import read_json_record


@pytest.mark.parametrize("content", [None, b"{", b"[1]", b"\xff"])
def test_what_is_no_json_object_is_told_with_its_file_and_the_remedy(tmp_path: Path, content: bytes | None) -> None:
    file = tmp_path / "record.json"
    if content is not None:
        file.write_bytes(content)
    with pytest.raises(InputError, match=r"record\.json: can't be read[\s\S]*\nMake it again\."):
        read_json_record(file, "Make it again.")


def test_an_object_is_returned_as_it_is(tmp_path: Path) -> None:
    file = tmp_path / "record.json"
    file.write_text('{"n": 1, "name": "é"}', encoding="utf-8")
    assert read_json_record(file, "") == {"n": 1, "name": "é"}
