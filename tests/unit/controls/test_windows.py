import pytest

from transplantqa.controls.windows import windows
from transplantqa.records import Chunk, Document, Section
from transplantqa.retrieval.protocols import SourceDocument


def source(*sections: list[int]) -> SourceDocument:
    """A document with sections of chunks of so many tokens each; a token is one character."""
    document = Document("d", "i", "g", None, "t", None, "f", "0", 1, 0, 0, None, True, "accept")
    made, chunks = [], []
    for number, sizes in enumerate(sections):
        name = f"d/s{number}"
        made.append(Section(name, "d", number, 1, "h", ("h",), 1, 1, "x" * sum(sizes), sum(sizes)))
        start = 0
        for place, size in enumerate(sizes):
            chunks.append(Chunk(f"{name}/c{place}", "d", name, place, 1, 1, start, start + size, "x" * size, size))
            start += size
    return SourceDocument(document, tuple(made), tuple(chunks))


@pytest.mark.parametrize(
    ("sections", "tokens", "expected"),
    [
        ([[3], [4]], 10, [[3, 4]]),
        ([[6], [5], [4]], 10, [[6], [5, 4]]),
        ([[6, 6, 6]], 12, [[6, 6], [6]]),
        ([[2], [20, 3]], 10, [[2], [20], [3]]),
        ([[0], [4]], 10, [[4]]),
        ([], 10, []),
    ],
)
def test_windows_leave_nothing_out_and_keep_the_reading_order(
    sections: list[list[int]], tokens: int, expected: list[list[int]]
) -> None:
    cut = windows(source(*sections), tokens)
    assert [[passage.tokens for passage in window] for window in cut] == expected
    assert sum(passage.char_end - passage.char_start for window in cut for passage in window) == sum(map(sum, sections))
