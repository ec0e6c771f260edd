"""A JSON record that a command left in its folder, read back."""

import json
from pathlib import Path
from typing import Any

from transplantqa.errors import InputError


def read_json_record(file: Path, remedy: str) -> dict[str, Any]:
    """Return a JSON object's content.

    Args:
        file: the record.
        remedy: what to do where it can't be read, a sentence.

    Raises:
        InputError: it isn't there, is no JSON, or is no object.
    """
    try:
        content = json.loads(file.read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        raise InputError(f"{file}: can't be read ({error}).\n{remedy}") from error
    if not isinstance(content, dict):
        raise InputError(f"{file}: can't be read (not a JSON object).\n{remedy}")
    return content
