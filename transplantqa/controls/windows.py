"""A whole document as evidence, in windows where it is too long to be read at once."""

from collections import defaultdict
from collections.abc import Mapping, Sequence

from transplantqa.records import Chunk, Evidence, Outcome, Passage, Question, Section
from transplantqa.retrieval.protocols import SourceDocument
from transplantqa.store.hashing import text_sha256


def windows(source: SourceDocument, window_tokens: int) -> list[tuple[Passage, ...]]:
    """Cut a document into consecutive windows of at most ``window_tokens``, in reading order, leaving nothing out.

    Sections stay whole where they fit; a longer one is cut between its chunks; a chunk that is longer by itself is a
    window of its own.
    """
    chunks: dict[str, list[Chunk]] = defaultdict(list)
    for chunk in source.chunks:
        chunks[chunk.section_id].append(chunk)
    pieces = [piece for section in source.sections for piece in _pieces(section, chunks, window_tokens)]
    found: list[list[Passage]] = []
    room = 0
    for piece in pieces:
        if not found or piece.tokens > room:
            found.append([])
            room = window_tokens
        found[-1].append(piece)
        room -= piece.tokens
    return [tuple(window) for window in found]


def window_evidence(question: Question, document_id: str, window: Sequence[Passage]) -> Evidence:
    """Return a window as the evidence of a question."""
    ranked = tuple(window)
    tokens = sum(passage.tokens for passage in ranked)
    return Evidence(question.question_id, document_id, "full_document", ranked, (), None, tokens, Outcome.OK)


def _pieces(section: Section, chunks: Mapping[str, list[Chunk]], window_tokens: int) -> list[Passage]:
    if not section.text.strip():
        return []
    if section.tokens > window_tokens and section.section_id in chunks:
        return [_of_chunk(chunk, section.text) for chunk in chunks[section.section_id]]
    pages = (section.page_start, section.page_end)
    return [_passage(section.section_id, section.text, (0, len(section.text)), pages, section.tokens)]


def _of_chunk(chunk: Chunk, text: str) -> Passage:
    span = (chunk.char_start, chunk.char_end)
    return _passage(chunk.section_id, text, span, (chunk.page_start, chunk.page_end), chunk.tokens)


def _passage(section_id: str, text: str, span: tuple[int, int], pages: tuple[int, int], tokens: int) -> Passage:
    shown = text_sha256(text[span[0] : span[1]])
    return Passage(section_id, *span, shown, *pages, tokens, 1)
