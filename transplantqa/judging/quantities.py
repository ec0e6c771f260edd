"""Numbers with units in a text, in common units: durations, frequencies, volumes, doses, temperatures and more."""

import re
import unicodedata
from dataclasses import dataclass

from transplantqa.generation.lexical import NUMBER_WORDS, content_stems, normalise, sentences

_WORDS = "|".join(sorted(NUMBER_WORDS, key=len, reverse=True))
_NUMBER = rf"(?:\d{{1,3}}(?:,\d{{3}})+(?:\.\d+)?|\d+(?:\.\d+)?|\b(?:{_WORDS}|half an?|a dozen)\b)"
_AMOUNT = rf"(?P<low>{_NUMBER})(?:\s*(?:-|\u2013|—|\bto\b|\bor\b|\band\b)\s*(?P<high>{_NUMBER}))?"

_UNITS: dict[str, dict[str, float]] = {
    "duration": {  # in days
        r"minutes?|mins?": 1 / 1440,
        r"hours?|hrs?": 1 / 24,
        r"days?|nights?": 1.0,
        r"weeks?|wks?": 7.0,
        r"months?": 30.44,
        r"years?|yrs?": 365.25,
    },
    "volume": {  # in litres
        r"millilit(?:er|re)s?|ml|cc": 0.001,
        r"lit(?:er|re)s?|l": 1.0,
        r"quarts?": 0.946,
        r"(?:fluid\s+|fl\.?\s*)?(?:ounces?|oz)": 0.0296,
        r"cups?|glass(?:es)?": 0.237,
        r"gallons?": 3.785,
    },
    "dose": {  # in milligrams
        r"micrograms?|mcg|µg": 0.001,
        r"milligrams?|mgs?": 1.0,
        r"grams?|g": 1000.0,
    },
    "weight": {r"pounds?|lbs?\.?": 0.4536, r"kilograms?|kilos?|kgs?": 1.0},  # in kilograms
    "distance": {r"miles?": 1.609, r"kilomet(?:er|re)s?|km": 1.0, r"feet|foot|ft": 0.000305, r"blocks?": 0.1},  # in km
    "share": {r"%|percent": 0.01},
    "age": {r"years?\s+(?:old|of\s+age)": 1.0},
}
_PERIOD_DAYS = {"day": 1.0, "night": 1.0, "morning": 1.0, "evening": 1.0, "week": 7.0, "month": 30.44, "year": 365.25}
_PERIOD = "|".join(_PERIOD_DAYS)
_OCCASION = (
    r"(?:times|mornings|days|nights|evenings|visits|blood\s+draws|draws|sticks|blood\s+tests|tests|sessions|doses)"
)
_ADVERBS = {
    "daily": 1.0,
    "nightly": 1.0,
    "weekly": 1 / 7,
    "monthly": 1 / 30.44,
    "yearly": 1 / 365.25,
    "annually": 1 / 365.25,
}

_FREQUENCIES = (
    re.compile(rf"(?P<word>once|twice)\s+(?:a|an|per|each|every|in a)?\s*(?P<period>{_PERIOD})\b"),
    re.compile(r"\b(?P<word>once|twice)\s+(?P<adverb>daily|weekly|monthly|yearly)\b"),
    re.compile(rf"{_AMOUNT}\s+{_OCCASION}\s+(?:a|an|per|each|every)\s+(?P<period>{_PERIOD})\b"),
    re.compile(rf"{_AMOUNT}\s+(?:a|an|per|each|every)\s+(?P<period>week|month|year)\b"),
    re.compile(rf"\bevery\s+(?P<other>other\s+)?(?:{_AMOUNT}\s+)?(?P<unit>hours?|days?|weeks?|months?|years?)\b"),
    re.compile(rf"\b(?:every|each)\s+(?:single\s+)?(?P<period>{_PERIOD})\b"),
    re.compile(r"\b(?P<adverb>daily|nightly|weekly|monthly|yearly|annually)\b"),
)
_TEMPERATURE = re.compile(
    r"(?P<low>\d{2,3}(?:\.\d+)?)\s*(?:°|degrees?|º)?\s*(?P<scale>fahrenheit|celsius|f|c)\b|(?P<bare>\d{2,3}(?:\.\d+)?)\s*(?:°|degrees?)"
)
_PRESSURE = re.compile(r"\b(?P<low>\d{2,3})\s*(?:/|over)\s*\d{2,3}\b")
_MONEY = re.compile(r"\$\s*(?P<low>\d[\d,]*(?:\.\d+)?)")
_SINGLE = re.compile(
    r"\b(for|within|after|until|about|than|least|most)\s+an?\s+(?=(?:minute|hour|day|week|month|year)\b)"
)
_ORDINALS = ("third", "fourth", "fifth", "sixth", "seventh", "eighth", "ninth", "tenth", "eleventh", "twelfth")
_ORDINAL = re.compile(rf"\b({'|'.join(_ORDINALS)})\s+(day|week|month|year)\b")
_COUNTED = re.compile(rf"\b(day|week|month|year)\s+({_NUMBER})(?![\w-])")
_VULGAR = re.compile("[\u00bc-\u00be\u2150-\u215e]")
"""Fractions of one character, which folding would join with a number before them."""
_FRACTION = re.compile(
    r"(?<![\w.,/\u2044])(?:(?P<whole>\d{1,2})(?:\s+(?:and\s+)?|-))?(?P<above>[1-9])\s?[/\u2044]\s?(?P<below>[2-9]|[1-9]\d)"
    r"(?![\w/\u2044])"
)
_BARE_DECIMAL = re.compile(r"(?<![\w.])(?=\.\d)")
_FOREVER = re.compile(
    r"\b(?:for life|lifelong|life-long|forever|as long as you live|rest of your life|permanently|never again)\b"
)

TOLERANCE = {"duration": 0.12, "volume": 0.12, "temperature": 0.001}
"""Relative, 0.02 for other kinds: "four weeks" and "a month", "two quarts" and "two litres" are one advice. Ours."""


@dataclass(frozen=True, slots=True)
class Quantity:
    """An amount of one kind, an interval in the kind's common unit, with the content stems of its sentence."""

    kind: str
    low: float
    high: float
    context: frozenset[str]

    def agrees(self, other: "Quantity") -> bool:
        """Say whether the intervals meet, give or take the kind's tolerance."""
        slack = TOLERANCE.get(self.kind, 0.02)
        return self.low <= other.high * (1 + slack) and other.low <= self.high * (1 + slack)


def quantities(text: str) -> list[Quantity]:
    """Return the quantities of ``text`` in order of sentence; a frequency's parts are not durations as well."""
    return [found for sentence in sentences(text) for found in _in_sentence(_decimal(sentence))]


def _decimal(sentence: str) -> str:
    """Fold a sentence, its fractions and bare decimals ("1½", "1 1/2", ".5") written as decimals."""
    apart = _VULGAR.sub(lambda match: f" {unicodedata.normalize('NFKC', match.group())}", sentence)
    return _FRACTION.sub(_value_of_fraction, _BARE_DECIMAL.sub("0", normalise(apart)))


def _value_of_fraction(match: re.Match[str]) -> str:
    value = int(match["whole"] or 0) + int(match["above"]) / int(match["below"])
    return f"{value:.4g}"


def _in_sentence(sentence: str) -> list[Quantity]:
    context = frozenset(content_stems(sentence))
    sentence = _COUNTED.sub(r"\2 \1", _ORDINAL.sub(_cardinal, _SINGLE.sub(r"\1 1 ", sentence)))
    found: list[Quantity] = []
    rest = sentence
    for kind, pattern in (("pressure", _PRESSURE), ("money", _MONEY)):
        found.extend(Quantity(kind, *_amount(match), context) for match in pattern.finditer(rest))
        rest = pattern.sub(" ; ", rest)
    found.extend(Quantity("temperature", value, value, context) for value in map(_celsius, _TEMPERATURE.finditer(rest)))
    rest = _TEMPERATURE.sub(" ; ", rest)
    for pattern in _FREQUENCIES:
        found.extend(Quantity("frequency", *_per_day(match), context) for match in pattern.finditer(rest))
        rest = pattern.sub(" ; ", rest)
    if _FOREVER.search(rest):
        found.append(Quantity("duration", 36_525.0, 36_525.0, context))
    for kind, units in reversed(_UNITS.items()):
        for unit, factor in units.items():
            pattern = re.compile(rf"{_AMOUNT}[\s-]*(?:full\s+|whole\s+)?(?:{unit})(?!\w)")
            for match in pattern.finditer(rest):
                low, high = _amount(match)
                found.append(Quantity(kind, low * factor, high * factor, context))
            rest = pattern.sub(" ; ", rest)
    return found


def _cardinal(match: re.Match[str]) -> str:
    return f"{_ORDINALS.index(match.group(1)) + 3} {match.group(2)}"


def _value(text: str) -> float:
    if text in NUMBER_WORDS:
        return float(NUMBER_WORDS[text])
    if text.startswith("half"):
        return 0.5
    return 12.0 if text == "a dozen" else float(text.replace(",", ""))


def _amount(match: re.Match[str]) -> tuple[float, float]:
    groups = match.groupdict()
    low = _value(groups["low"])
    high = _value(groups["high"]) if groups.get("high") else low
    return min(low, high), max(low, high)


def _per_day(match: re.Match[str]) -> tuple[float, float]:
    groups = match.groupdict()
    if groups.get("adverb"):
        times = {"once": 1.0, "twice": 2.0}.get(groups.get("word") or "", 1.0)
        rate = times * _ADVERBS[groups["adverb"]]
        return rate, rate
    if groups.get("unit"):
        days = {"h": 1 / 24, "d": 1.0, "w": 7.0, "m": 30.44, "y": 365.25}[groups["unit"][0]]
        low, high = _amount(match) if groups.get("low") else (1.0, 1.0)
        factor = 2.0 if groups.get("other") else 1.0
        return 1 / (max(high, 0.01) * factor * days), 1 / (max(low, 0.01) * factor * days)
    days = _PERIOD_DAYS[groups["period"]]
    if groups.get("word"):
        low = high = {"once": 1.0, "twice": 2.0}[groups["word"]]
    else:
        low, high = _amount(match) if groups.get("low") else (1.0, 1.0)
    return low / days, high / days


def _celsius(match: re.Match[str]) -> float:
    value = float(match.group("low") or match.group("bare"))
    scale = (match.group("scale") or ("f" if value > 45 else "c"))[0]
    return round((value - 32) * 5 / 9, 2) if scale == "f" else value
