"""What text analysis shares, for search, quotes and judging: folding what looks the same, and stemming."""

import re
import unicodedata
from collections.abc import Callable
from functools import cache, lru_cache

INVISIBLE = re.compile("[\u00ad\u034f\u061c\u180e\u200b-\u200f\u202a-\u202e\u2060-\u2064\ufeff]")


def fold(text: str) -> str:
    """Fold what looks the same: ligatures and widths (NFKC), composed and decomposed, case, invisible characters."""
    if text.isascii():  # the same, several times faster
        return text.lower()
    return unicodedata.normalize("NFKC", INVISIBLE.sub("", text)).casefold()


@cache
def stemmer(language: str) -> Callable[[str], str]:
    """Return Snowball's stemmer of a language, for folded words, with a memory."""
    from Stemmer import Stemmer  # noqa: PLC0415 - a compiled library, loaded at first use

    stem: Callable[[str], str] = Stemmer(language).stemWord
    return lru_cache(maxsize=65_536)(stem)
