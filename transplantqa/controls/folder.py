"""What controls leave in a run's folder, and what reports can say of them."""

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from transplantqa.store.atomic import json_bytes, write_atomically
from transplantqa.store.run_folder import RunFolder

FOLDER = "controls"


def controls_folder(run: RunFolder) -> Path:
    """Return where a run's controls lie."""
    return run.path / FOLDER


def write_control(run: RunFolder, name: str, record: Mapping[str, Any]) -> Path:
    """Write a control's record over an earlier one of its name; ``sentences`` in it are what reports show.

    Raises:
        StoreError: the disk refuses.
    """
    path = controls_folder(run) / f"{name}.json"
    write_atomically(path, json_bytes(dict(record)))
    return path


def control_sentences(run: RunFolder) -> list[str]:
    """Return what the controls of a run found, in sentences, for reports; nothing where none was made."""
    found: list[str] = []
    for path in sorted(controls_folder(run).glob("*.json")):
        try:
            record = json.loads(path.read_text(encoding="utf-8"))
        except (OSError, ValueError):
            found.append(f"The record of a control can't be read: {path.name}. Make it again.")
            continue
        found += [str(sentence) for sentence in record.get("sentences", ())]
    return found
