"""Names of institutions and documents taken out of what annotators read."""

import re
from collections.abc import Callable, Iterable, Mapping
from typing import Any

MASK = "[source]"
_SHORTEST = 3
"""Names of fewer characters are common words too often; ours."""


def masker(documents: Iterable[Mapping[str, Any]]) -> Callable[[str], str]:
    """Return a function that masks every institution, title, id and file name of documents, as written or in capitals.

    Args:
        documents: rows with institution, title, document_id and source_file.
    """
    columns = ("institution", "title", "document_id", "source_file")
    names = {str(row[name]).strip() for row in documents for name in columns if row[name]}
    spelled = {spelling for name in names if len(name) >= _SHORTEST for spelling in (name, name.upper())}
    if not spelled:
        return str
    longest_first = sorted(spelled, key=lambda name: (-len(name), name))
    pattern = re.compile(rf"(?<!\w)(?:{'|'.join(map(re.escape, longest_first))})(?!\w)")
    return lambda text: pattern.sub(MASK, text)
