"""Words, stems, numbers and sentences of a text, without a model: what quotes, support and the rules judge share."""

import re

from transplantqa.folding import fold, stemmer

_FUNCTION_WORDS = (
    "a about after again all also am an and any are as at be because been before being between both but by can "
    "could did do does doing down during each either few for from further had has have having he her here hers "
    "him his how i if in into is it its itself just me might more most must my no nor not of off on once one only "
    "or other our ours out over own per same shall she should since so some such than that the their theirs them "
    "then there these they this those through to too under until up upon us very was we were what when where "
    "whether which while who whom why will with within without would you your yours yourself may get got need "
    "needs let us use used using s t re ve ll d m don doesn didn isn aren wasn won "
)
STOP_WORDS = frozenset(_FUNCTION_WORDS.split())
"""Function words of English: they carry no content on their own. Ours."""

_COUNTING = (
    "zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen seventeen "
    "eighteen nineteen"
)
_TENS = "twenty thirty forty fifty sixty seventy eighty ninety hundred"
NUMBER_WORDS = {word: value for value, word in enumerate(_COUNTING.split())} | {
    word: 10 * value for value, word in enumerate(_TENS.split(), start=2)
}

_WORD = re.compile(r"[^\W_]+(?:['\u2019][^\W_]+)*")
_NUMBER = re.compile(r"(?<![\w.])\d{1,3}(?:,\d{3})+(?:\.\d+)?|(?<![\w.])\.\d+|\d+(?:\.\d+)?")
_BULLET = re.compile(r"^\s*(?:[-*•▪◦\u2013—]|\(?\d{1,2}[.)]|[a-z][.)])\s+")
_SENTENCE_END = re.compile(r"(?<=[.!?])[\"'”\u2019)\]]*\s+(?=[\"'“\u2018(\[]?[A-Z0-9])")
_ABBREVIATION = re.compile(r"(?:^|[\s(\"'])(?:Dr|Mr|Mrs|Ms|St|No|vs|e\.g|i\.e|etc|approx|Fig|p|pp|a\.m|p\.m)\.$")


def stem(word: str) -> str:
    """Return the Snowball English stem of one lower-case word."""
    return stemmer("english")(word)


def normalise(text: str) -> str:
    """Fold what looks the same (see ``fold``), and make runs of whitespace one space."""
    return " ".join(fold(text).split())


def words(text: str) -> list[str]:
    """Return the words of ``text`` in order, folded; an apostrophe ends a word's stem ("don't" is "don")."""
    return [re.split("['\u2019]", match.group())[0] for match in _WORD.finditer(normalise(text))]


def content_stems(text: str) -> list[str]:
    """Return the stems of the words that carry content, in order: no function words, no digits."""
    return [stem(word) for word in words(text) if word not in STOP_WORDS and not word.isdigit()]


def numbers(text: str) -> frozenset[str]:
    """Return the distinct numbers of ``text`` in plain decimal form, number words included."""
    folded = normalise(text)
    digits = {_plain(match.group().replace(",", "")) for match in _NUMBER.finditer(folded)}
    return frozenset(digits | {str(NUMBER_WORDS[word]) for word in words(folded) if word in NUMBER_WORDS})


def written_numbers(text: str) -> frozenset[str]:
    """Return the distinct numbers of ``text`` written in digits, in plain decimal form."""
    return frozenset(_plain(match.group().replace(",", "")) for match in _NUMBER.finditer(normalise(text)))


def _plain(number: str) -> str:
    whole, _, fraction = number.partition(".")
    fraction = fraction.rstrip("0")
    whole = whole.lstrip("0") or "0"
    return f"{whole}.{fraction}" if fraction else whole


def sentences(text: str) -> list[str]:
    """Split ``text`` into sentences, verbatim but for line breaks, in order.

    List items and lines set apart by an empty line are sentences of their own; other lines are joined before
    splitting, since PDF text breaks lines anywhere. A full stop of an abbreviation or initial ends nothing.
    """
    return [part for block in _blocks(text) for part in _split_block(block)]


def _blocks(text: str) -> list[str]:
    blocks: list[list[str]] = [[]]
    for line in text.split("\n"):
        if not line.strip():
            blocks.append([])
        elif _BULLET.match(line) or "|" in line:
            blocks.append([line.strip()])
            if "|" in line:
                blocks.append([])
        else:
            blocks[-1].append(line.strip())
    return [" ".join(block) for block in blocks if block]


def _split_block(block: str) -> list[str]:
    parts: list[str] = []
    start = 0
    for match in _SENTENCE_END.finditer(block):
        if _ABBREVIATION.search(block[start : match.start()]):
            continue
        parts.append(block[start : match.end()].strip())
        start = match.end()
    parts.append(block[start:].strip())
    return [part for part in parts if part]
