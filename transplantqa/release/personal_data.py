"""Clear patterns of personal data in text: what a person must look at before it is published.

Patterns find what is written like an address, a number or a date of birth; they can't find a story that gives somebody
away. They are written for RE2 as well as for Python, so that Arrow can sift millions of rows.
"""

import re
from collections.abc import Iterator, Mapping

PATTERNS: Mapping[str, str] = {
    "e-mail address": r"\b[A-Za-z0-9._%+-]{1,64}@[A-Za-z0-9-]{1,63}(?:\.[A-Za-z0-9-]{1,63})*\.[A-Za-z]{2,24}\b",
    "telephone number": (
        r"(?:\+1[ .-]?)?(?:\(\d{3}\) ?|\b\d{3}[ .-])\d{3}[ .-]\d{4}\b"  # North American
        r"|\+\d{1,3}(?:[ .-]?\(?\d{1,4}\)?){2,5}\b"  # international
    ),
    "social security number": r"\b\d{3}-\d{2}-\d{4}\b",
    "record number": r"(?i)\b(?:mrn|medical record|patient id|member id)\b[^\n\d]{0,16}\d{5,12}\b",
    "date of birth": (
        r"(?i)\b(?:born|date of birth|dob|birthday|birth date)\b[^.\n]{0,16}\b\d{1,4}[/.-]\d{1,2}[/.-]\d{1,4}\b"
    ),
    "street address": (
        r"\b\d{1,5} (?:[A-Z][a-z]+ ){1,3}(?:Street|St|Avenue|Ave|Road|Rd|Lane|Ln|Drive|Boulevard|Blvd|Court|Way)\b"
    ),
    "a person's own name": r"\b[Mm]y (?:full )?name is [A-Z][a-z]+",
}
"""Kind of personal data to the pattern of its values; all are ours."""

ANY = "|".join(f"(?:{pattern})" for pattern in PATTERNS.values() if not pattern.startswith("(?i)"))
ANY_CASE = "(?i)" + "|".join(f"(?:{pattern[4:]})" for pattern in PATTERNS.values() if pattern.startswith("(?i)"))
"""Two sieves for Arrow: a text in which neither is found has none of the patterns."""

_COMPILED = {kind: re.compile(pattern) for kind, pattern in PATTERNS.items()}


def personal_data(text: str) -> Iterator[tuple[str, str]]:
    """Yield (kind, value) of everything in a text that looks like personal data, kind by kind."""
    for kind, pattern in _COMPILED.items():
        for found in pattern.finditer(text):
            yield kind, found.group().strip()


def key(value: str) -> str:
    """Return what is the same in two ways of writing one value: letters and digits, in lower case."""
    return re.sub(r"[\W_]+", "", value).casefold()
