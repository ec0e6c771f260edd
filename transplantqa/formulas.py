"""Where a spreadsheet would take text for a formula, and the apostrophe that keeps it from that."""

import re

_SIGN = "[=+\\-@\uff1d\uff0b\uff0d\uff20]"
"""What a formula begins with; the last four are the wide forms of the first, which spreadsheets read alike."""

_AT_START = re.compile(rf"\A(?='*[\s\"]*{_SIGN})")
_GUARD = re.compile(rf"\A'(?='*[\s\"]*{_SIGN})")
_IN_LINE = re.compile(rf"(^|[;|])(?=[\s\"]*{_SIGN})")


def guarded(text: str) -> str:
    """Return text with an apostrophe before it where it would be a formula; ``unguarded`` gives the text back."""
    return _AT_START.sub("'", text)


def unguarded(text: str) -> str:
    """Return what was guarded: a spreadsheet may have kept the apostrophe or not."""
    return _GUARD.sub("", text)


def harmless(text: str) -> str:
    """Return text as one line that is no formula, in whole or after a semicolon or bar that may separate cells."""
    line = re.sub(r"[ \t]*[\r\n\v\f\x85\u2028\u2029]+[ \t]*", " ¶ ", text.strip()).replace("\t", " ")
    return _IN_LINE.sub(r"\1'", line)
