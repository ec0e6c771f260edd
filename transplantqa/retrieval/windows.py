"""Windows of a few sentences: pieces of a passage that one vector describes well, or that fit a small budget."""

from collections.abc import Sequence

from transplantqa.corpus.chunking import Span, sentences


def windows(text: str, size: int) -> list[Span]:
    """Return spans of ``size`` sentences, each starting one sentence after the one before, covering the text."""
    spans = sentences(text)
    if not spans:
        return []
    last = max(1, len(spans) - size + 1)
    return [(spans[i][0], spans[min(i + size, len(spans)) - 1][1]) for i in range(last)]


def best_run(spans: Sequence[Span], weights: Sequence[float], max_chars: int) -> Span:
    """Return the run of spans around the heaviest that fits ``max_chars``, growing towards the heavier neighbour.

    Ties go to the earlier span. A single span that doesn't fit is cut at its end.
    """
    first = last = max(range(len(spans)), key=lambda i: (weights[i], -i))
    while True:
        options = []
        if first > 0 and spans[last][1] - spans[first - 1][0] <= max_chars:
            options.append((weights[first - 1], 0, first - 1, last))
        if last + 1 < len(spans) and spans[last + 1][1] - spans[first][0] <= max_chars:
            options.append((weights[last + 1], 1, first, last + 1))
        if not options:
            start, end = spans[first][0], spans[last][1]
            return start, min(end, start + max_chars)
        _, _, first, last = max(options)
