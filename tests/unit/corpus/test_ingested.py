"""From an extraction to sections and chunks: ids, spans, and the way through the ingest table."""

from pathlib import Path

import pyarrow as pa
import pytest

from transplantqa.corpus import IngestedDocument, SourceFile, from_row, to_row
from transplantqa.corpus.extraction import Extraction, PageFacts, Part
from transplantqa.corpus.ingested import assemble, slug
from transplantqa.corpus.lines import Removed
from transplantqa.models.protocols import Tokenizer
from transplantqa.store import Ledger, Method, Unit
from transplantqa.store.tables import INGEST

SOURCE = SourceFile("d", Path("d.pdf"), "d.pdf", "A", "kidney", "0" * 64)
FIRST = "Drink two litres a day. Keep a bottle near. " * 6


@pytest.fixture
def ingested(tokenizer: Tokenizer) -> IngestedDocument:
    text = FIRST.strip() + "\nCall us when you can not."
    parts = (
        Part(1, "Flüssigkeit & Salz", ("Flüssigkeit & Salz",), text, 2, ((0, 2), (100, 3))),
        Part(1, "Foo", ("Foo",), "One.", 3, ((0, 3),)),
        Part(2, "Foo", ("Foo", "Foo"), "Two.", 4, ((0, 4),)),
    )
    pages = tuple(PageFacts(number, 500) for number in range(1, 5))
    source = SourceFile(
        "doc/1", Path("x/doc.pdf"), "doc.pdf", "Center A", "kidney", "0" * 64, title="Guide", notes=("a note",)
    )
    return assemble(source, Extraction("Printed title", parts, pages, 4), tokenizer, 24)


def test_section_ids_are_unique_and_readable(ingested: IngestedDocument) -> None:
    assert [section.section_id for section in ingested.sections] == [
        "doc/1#001-flussigkeit-salz",
        "doc/1#002-foo",
        "doc/1#003-foo",
    ]


def test_a_chunk_is_a_slice_of_its_section(ingested: IngestedDocument) -> None:
    sections = {section.section_id: section.text for section in ingested.sections}
    assert all(chunk.text == sections[chunk.section_id][chunk.char_start : chunk.char_end] for chunk in ingested.chunks)


def test_a_chunk_knows_its_pages(ingested: IngestedDocument) -> None:
    spans = [
        (chunk.page_start, chunk.page_end) for chunk in ingested.chunks if chunk.section_id.startswith("doc/1#001")
    ]
    assert spans == [(2, 2), (2, 3), (3, 3), (3, 3)]


def test_chunks_are_numbered_through_the_document(ingested: IngestedDocument) -> None:
    assert [chunk.order for chunk in ingested.chunks] == list(range(1, len(ingested.chunks) + 1))


def test_the_manifests_title_comes_before_the_printed_one(ingested: IngestedDocument) -> None:
    assert ingested.document.title == "Guide"


def test_notes_of_the_source_are_among_the_reasons(ingested: IngestedDocument) -> None:
    assert (ingested.document.verdict, ingested.document.reasons) == ("accept", ("a note",))


def test_a_rejected_document_has_no_sections(tokenizer: Tokenizer) -> None:
    ingested = assemble(SOURCE, Extraction(failure="empty file: it has 0 bytes"), tokenizer, 24)
    assert (ingested.document.verdict, ingested.sections, ingested.chunks) == ("reject", (), ())


def test_a_fault_of_the_file_is_a_finding(tokenizer: Tokenizer) -> None:
    ingested = assemble(SOURCE, Extraction(failure="the PDF has no pages"), tokenizer, 24)
    assert (to_row(ingested)["verdict"], to_row(ingested)["outcome"]) == ("reject", "ok")


def test_a_fault_of_reading_is_tried_again_by_the_ledger(tokenizer: Tokenizer, tmp_path: Path) -> None:
    ingested = assemble(SOURCE, Extraction(failure="the reading process ended", transient=True), tokenizer, 24)
    ledger = Ledger(tmp_path, INGEST, Method("ingest", {"made": "by hand"}))
    unit = Unit(("d",), "inputs")
    tries = []
    while ledger.pending([unit]):
        with ledger.writer() as writer:
            writer.append({**to_row(ingested), "inputs_sha256": "inputs"})
        tries.append(ledger.current([unit]).to_pylist()[0]["attempt"])
    assert tries == [1, 2, 3]


def test_a_row_keeps_what_was_removed_and_the_printed_page_numbers(tokenizer: Tokenizer) -> None:
    extraction = Extraction(
        "Guide",
        (Part(1, "Foo", ("Foo",), FIRST, 1, ((0, 1),)),),
        (PageFacts(1, 300, label="iv"), PageFacts(2, 300)),
        2,
        headings_from="outline",
        removed={"page_numbers": 1},
        removed_texts=(Removed(1, "page_numbers", "iv", spans=((0, 2),)),),
        page_texts=("iv\r\nDrink.", ""),
    )
    row = to_row(assemble(SOURCE, extraction, tokenizer, 24))
    stored = pa.Table.from_pylist([{**row, "attempt": 1, "inputs_sha256": "x"}], schema=INGEST.schema).to_pylist()[0]
    assert {name: stored[name] for name in ("headings_from", "removed", "removed_texts", "page_labels")} == {
        "headings_from": "outline",
        "removed": [{"kind": "page_numbers", "count": 1}],
        "removed_texts": [
            {"page": 1, "kind": "page_numbers", "text": "iv", "became": "", "spans": [{"start": 0, "end": 2}]}
        ],
        "page_labels": ["iv", None],
    }


def test_a_row_goes_through_the_table_unchanged(ingested: IngestedDocument) -> None:
    table = pa.Table.from_pylist([{**to_row(ingested), "attempt": 1, "inputs_sha256": "x"}], schema=INGEST.schema)
    back = from_row(table.to_pylist()[0])
    assert (back.document, back.sections, back.chunks) == (ingested.document, ingested.sections, ingested.chunks)


@pytest.mark.parametrize(
    ("text", "name"), [("What's new?", "what-s-new"), ("Größe", "große"), ("你好", "你好"), ("—", "section")]
)
def test_a_slug_is_letters_and_hyphens(text: str, name: str) -> None:
    assert slug(text) == name.replace("ß", "ss")


def test_a_table_that_goes_on_in_the_next_chunk_has_its_header_there_on_the_page_of_its_rows(
    tokenizer: Tokenizer,
) -> None:
    rows = [f"Pill{number} | {number} mg | with food every day" for number in range(6)]
    text = "\n".join(["Pill | Dose | When", *rows])
    third = text.index("Pill3")
    part = Part(1, "Pills", ("Pills",), text, 1, ((0, 1), (third, 2)), ((0, 18, len(text)),))
    ingested = assemble(SOURCE, Extraction("Guide", (part,), (PageFacts(1, 90), PageFacts(2, 90)), 2), tokenizer, 24)
    assert [chunk.text.split("\n")[0] for chunk in ingested.chunks] == ["Pill | Dose | When"] * 3
    assert [(chunk.page_start, chunk.page_end) for chunk in ingested.chunks] == [(1, 1), (1, 2), (2, 2)]
    (section,) = ingested.sections
    assert all(section.text[chunk.char_start : chunk.char_end] == chunk.text for chunk in ingested.chunks)
    assert [line for line in section.text.split("\n") if line.startswith("Pill") and line[4] != " "] == rows
    assert all(chunk.tokens == len(tokenizer.offsets(chunk.text)) <= 24 for chunk in ingested.chunks)
    assert ingested.removed == {"repeated_headers": 2}


def test_a_row_longer_than_a_chunk_leaves_its_page_and_document_to_a_person(tokenizer: Tokenizer) -> None:
    text = f"Pill | Advice\n1 | 2\nPrednisone | {FIRST}\n3 | 4"
    part = Part(1, "Foo", ("Foo",), text, 1, ((0, 1), (14, 2)), ((0, 13, len(text)),))
    extraction = Extraction("T", (part,), (PageFacts(1, 500), PageFacts(2, 500)), 2)
    read = assemble(SOURCE, extraction, tokenizer, 24)
    assert read.removed["cut_rows"] == 1
    assert read.document.verdict == "review"
    assert "a table row is longer than a chunk and cut between cells, first on page 2" in read.document.reasons
    assert [page.verdict for page in read.pages] == ["accept", "review"]
