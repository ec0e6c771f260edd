"""Files that harm careless readers, read by one reading process after the other as in a run."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from benchmarks.hard_pdfs import encrypted, hard_pdfs
from transplantqa.corpus.quality import judge
from transplantqa.corpus.reader import Reader

SECONDS = 5
"""Processor time within which every one of them must end by itself."""


@pytest.fixture(scope="module")
def reader() -> Iterator[Reader]:
    reader = Reader(timeout_seconds=SECONDS, max_pages=2000)
    yield reader
    reader.close()


@pytest.mark.parametrize("data", [pytest.param(data, id=name) for name, data in hard_pdfs()])
def test_a_hard_input_ends_soon_with_text_or_a_reason_of_its_own(reader: Reader, tmp_path: Path, data: bytes) -> None:
    path = tmp_path / "hard.pdf"
    path.write_bytes(data)
    extraction = reader.read(path)
    judgement = judge(extraction)
    assert "took longer" not in (extraction.failure or "")
    assert not extraction.transient
    assert judgement.verdict != "reject" or judgement.reasons


def test_a_damaged_file_is_not_given_the_reason_of_the_file_before_it(reader: Reader, tmp_path: Path) -> None:
    circle = next(data for name, data in hard_pdfs() if name == "page tree in a circle")
    failures = []
    for data in (encrypted("secret"), circle):
        (tmp_path / "hard.pdf").write_bytes(data)
        failures.append(reader.read(tmp_path / "hard.pdf").failure)
    assert failures == [
        "password required: the file is encrypted and opens only with a password",
        "not a readable PDF: damaged or cut short",
    ]


def test_a_page_with_more_text_than_can_be_read_is_named(reader: Reader, tmp_path: Path) -> None:
    (tmp_path / "hard.pdf").write_bytes(next(data for name, data in hard_pdfs() if name == "page of 30,000 words"))
    assert (reader.read(tmp_path / "hard.pdf").failure or "").startswith("more text than anyone could read")
