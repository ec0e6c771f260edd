"""Text to search terms: one analysis for questions and passages, so that what looks alike matches."""

import re
import runpy
import unicodedata
from collections.abc import Callable
from functools import cache
from importlib.util import find_spec
from pathlib import Path
from typing import Literal

from transplantqa.folding import fold, stemmer

Language = Literal[
    "danish",
    "dutch",
    "english",
    "french",
    "german",
    "italian",
    "norwegian",
    "portuguese",
    "russian",
    "spanish",
    "swedish",
    "turkish",
    "none",
]
"""Snowball stemmer and stop words of that language; ``none`` uses neither."""

DIGIT_GROUP = re.compile(r"(?<=\d),(?=\d{3}(?!\d))")
ASCII_WORD = re.compile(r"\d+(?:\.\d+)*|[a-z][a-z0-9]*")
"""What ``_pattern`` finds in folded ASCII text, several times faster."""
UNSPACED = "\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff"
"""Kana and ideographs, written without spaces: each character is a term."""


class TermAnalyzer:
    """Splits text into stemmed terms without stop words.

    Numbers keep their decimals, lose their thousands separators and part from a unit written to them: "2.5mg" and
    "2.5 mg" give the same terms. One-character terms are kept: in "2 mg" the dose is the point.
    """

    def __init__(self, language: Language = "english") -> None:
        self.language = language
        self._stop = _stop_words(language)
        self._stem: Callable[[str], str] = str if language == "none" else stemmer(language)
        self._known: dict[str, str | None] = {}

    def terms(self, text: str) -> list[str]:
        """Return the terms of ``text`` in order, repeats kept."""
        found = (self.term(word) for word in self.words(text))
        return [term for term in found if term is not None]

    def words(self, text: str) -> list[str]:
        """Return the folded words of ``text`` in order, stop words too; ``term`` makes terms of them."""
        plain = fold(text)
        plain = DIGIT_GROUP.sub("", plain) if "," in plain else plain
        return (ASCII_WORD if plain.isascii() else _pattern()).findall(plain)

    def term(self, word: str) -> str | None:
        """Return the term of a folded word; none where it is a stop word."""
        if word not in self._known:
            self._known[word] = None if word in self._stop else self._stem(word)
        return self._known[word]


@cache
def _pattern() -> re.Pattern[str]:
    marks = "".join(chr(code) for code in range(0x300, 0x20000) if unicodedata.category(chr(code)).startswith("M"))
    return re.compile(rf"\d+(?:\.\d+)*|[{UNSPACED}]|(?:(?![{UNSPACED}])[^\W\d_])(?:(?![{UNSPACED}])[^\W_]|[{marks}])*")


@cache
def _stop_words(language: Language) -> frozenset[str]:
    if language == "none":
        return frozenset()
    package = find_spec("bm25s")
    assert package is not None and package.origin is not None  # noqa: S101, PT018 - a requirement of this package
    # The file alone: importing the package compiles and loads numba, two CPU seconds that a plan has no use for.
    words = runpy.run_path(str(Path(package.origin).with_name("stopwords.py")))
    name = "STOPWORDS_EN_PLUS" if language == "english" else f"STOPWORDS_{language.upper()}"
    return frozenset(fold(word) for word in words[name])
