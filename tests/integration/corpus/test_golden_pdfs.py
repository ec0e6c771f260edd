"""Handbooks whose headings and pages are known, read by each source of headings."""

from pathlib import Path

import pytest

from benchmarks.golden_pdfs import Kind, golden
from transplantqa.corpus.pdf import read_pdf

SOURCES: dict[Kind, str] = {"tagged": "tags", "outlined": "outline", "plain": "typography"}


@pytest.mark.parametrize("kind", list(SOURCES))
@pytest.mark.parametrize("seed", range(4))
def test_headings_levels_and_pages_are_those_that_were_set(tmp_path: Path, kind: Kind, seed: int) -> None:
    truth = golden(seed, kind, chapters=4)
    (tmp_path / "golden.pdf").write_bytes(truth.data)
    extraction = read_pdf(tmp_path / "golden.pdf", 100)
    found = [(part.heading, len(part.heading_path), part.page_start) for part in extraction.parts]
    assert extraction.headings_from == SOURCES[kind]
    assert found == [(heading.text, heading.level, heading.page) for heading in truth.headings]
