"""Can this text be what a page says? Shares of characters in words that no writing system has, and of letters."""

import re
import unicodedata

_COMMON = (
    # The commonest short words of English, Spanish, French, German, Italian, Portuguese, Dutch and Latin.
    "the of and to in a is you your for or if be are with as on not that this it can may will have from at by do when "
    "de la el en y los se del las un una por con no es para su al lo como le les des et du est dans pour que qui sur "
    "der die das und von zu mit sie ist nicht ein eine auf für im dem auch il di che è per non si da con alla o e os "
    "em um uma não na com het een van te dat op zijn met voor ut sed ac ad ex quis vel nec"
)
COMMON_WORDS = frozenset(re.split(" ", _COMMON))
_WORD = re.compile(r"\S+")
_PLAIN_CASE = re.compile(r"\b(?:[^\W\d_A-Z]+|[A-Z]{2,})\b")
_ADDRESS = re.compile(r"://|www\.|@|\.(?:com|org|edu|gov|net)\b|^[./\\]|/.*/")
_GLYPH_NAME = re.compile(r"/g\d+|\(cid:\d+\)|/[A-Z]\d{2,}")
_CASE_FLIPS = re.compile(r"[a-zà-ÿ][A-ZÀ-Þ]")
_INNER_SYMBOL = re.compile(r"[^\W\d_][\\^~`{}\u00a2-\u00a9\u00ac\u00af-\u00b4\u00b6\u00b8\u00bf]+[^\W\d_]")
_DIGITS_INSIDE = re.compile(r"[^\W\d_]{2,}\d+[^\W\d_]{2,}\d*[^\W\d_]|^\d[^\W\d_]{2,}[^\w\s-]")


def garbled_share(text: str) -> float:
    """Return the share of non-space characters that stand in words no writing system has.

    Such words have replacement, private or control characters, glyph names, capitals in their middle twice or more,
    symbols or digits between letters.
    """
    total = bad = 0
    for match in _WORD.finditer(text):
        word = match.group()
        total += len(word)
        bad += len(word) * _implausible(word)
    return bad / max(1, total)


def _implausible(word: str) -> bool:
    if any(unicodedata.category(c) in ("Co", "Cc", "Cn", "Cs") or c == "\ufffd" for c in word):
        return True
    if _GLYPH_NAME.search(word):
        return True
    if _ADDRESS.search(word):
        return False
    return len(_CASE_FLIPS.findall(word)) > 1 or bool(_INNER_SYMBOL.search(word)) or bool(_DIGITS_INSIDE.search(word))


def letter_share(text: str) -> float:
    """Return the share of letters and combining marks among characters that aren't white space."""
    visible = [c for c in text if not c.isspace()]
    return sum(unicodedata.category(c)[0] in "LM" for c in visible) / max(1, len(visible))


def unknown_language(text: str) -> bool:
    """Tell whether a text in Latin letters, of at least 60 words that aren't names, has hardly any common one."""
    words = [word.lower() for word in _PLAIN_CASE.findall(text[:200_000])]
    latin = [word for word in words if word.isascii() or all("LATIN" in unicodedata.name(c, "") for c in word)]
    if len(latin) < 60 or len(latin) < 0.8 * len(words):
        return False
    return sum(word in COMMON_WORDS for word in latin) < 0.08 * len(latin)
