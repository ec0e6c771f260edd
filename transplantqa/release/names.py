"""Names that a release may use: split names fit for the Hub, and what documents are called."""

import hashlib
import hmac
import json
import re
import secrets
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from transplantqa.errors import StoreError
from transplantqa.release.features import SHARED_SPLIT
from transplantqa.store.hashing import text_sha256

_ILLEGAL = re.compile(r"\W+", re.ASCII)
_LONGEST = 80
_RESERVED = "all"  # the union of all splits, to datasets


def split_names(systems: Iterable[str]) -> dict[str, str]:
    """Return system to split name: letters, digits and underscores, all different even where case is ignored.

    ``datasets`` takes no hyphen in a split name. Systems whose names would meet, or meet a reserved one, each get a
    short hash of their own name, so that a split's name doesn't depend on the order of systems.
    """
    plain = {system: _split_name(system) for system in systems}
    taken = {SHARED_SPLIT: 1, _RESERVED: 1}
    for name in plain.values():
        taken[name.casefold()] = taken.get(name.casefold(), 0) + 1
    return {
        system: name if taken[name.casefold()] == 1 else f"{name}_{text_sha256(system)[:8]}"
        for system, name in plain.items()
    }


def _split_name(system: str) -> str:
    name = _ILLEGAL.sub("_", system).strip("_")[:_LONGEST]
    return name or "system"


@dataclass(frozen=True)
class DocumentNames:
    """What documents, sections and chunks are called in the release: by default what they are called in the runs."""

    def document(self, document_id: str) -> str:
        """Return the published id of a document."""
        return document_id

    def part(self, part_id: str) -> str:
        """Return the published id of a section or chunk."""
        return part_id

    def row(self, document: Mapping[str, Any]) -> dict[str, Any]:
        """Return the published row of a document."""
        return dict(document)

    def reason(self, text: str) -> str | None:
        """Return what is published of a program's own words, which may name a document."""
        return text


@dataclass(frozen=True)
class Pseudonyms(DocumentNames):
    """Pseudonyms keyed by a private secret: the same in every release, and not to be guessed from the names.

    Institution and group stay. A document's title and file name become its pseudonym, and the hash of its file is left
    out, since it would identify the document.
    """

    key: str
    known: dict[str, str] = field(default_factory=dict)

    @classmethod
    def load(cls, path: Path) -> "Pseudonyms":
        """Read the private map, or begin one.

        Raises:
            StoreError: if the file is there and isn't such a map.
        """
        if not path.is_file():
            return cls(key=secrets.token_hex(32))
        try:
            content = json.loads(path.read_text(encoding="utf-8"))
            return cls(key=str(content["key"]), known=dict(content["documents"]))
        except (OSError, ValueError, KeyError, TypeError) as error:
            raise StoreError(
                f"{path}: can't be read as a map of pseudonyms ({error}).\n"
                "Restore it from a copy: a new one would give every document another name than in earlier releases."
            ) from error

    def content(self) -> bytes:
        """Return the private map as it is kept; it holds every document named so far."""
        content = {"key": self.key, "documents": dict(sorted(self.known.items()))}
        return (json.dumps(content, indent=2, ensure_ascii=False) + "\n").encode()

    def document(self, document_id: str) -> str:
        """Return the document's pseudonym."""
        if document_id not in self.known:
            self.known[document_id] = f"document_{self._keyed(document_id)}"
        return self.known[document_id]

    def part(self, part_id: str) -> str:
        """Return the pseudonym of a section or chunk; ids of parts are told from each other and say nothing else."""
        return f"part_{self._keyed('part', part_id)}"

    def row(self, document: Mapping[str, Any]) -> dict[str, Any]:
        """Return the published row: named by its pseudonym throughout."""
        name = self.document(document["document_id"])
        suffix = Path(document["source_file"]).suffix.lower()
        hidden = (document["document_id"], document["title"], document["source_file"])
        return {
            **document,
            "document_id": name,
            "title": name,
            "source_file": f"{name}{suffix}",
            "sha256": None,
            "reasons": [_hide(reason, hidden, name) for reason in document["reasons"]],
        }

    def reason(self, text: str) -> str | None:
        """Return nothing: the words may name the document."""
        del text
        return None

    def _keyed(self, *parts: str) -> str:
        message = "\0".join(parts).encode("utf-8", "surrogatepass")
        return hmac.new(self.key.encode(), message, hashlib.sha256).hexdigest()[:12]


def _hide(text: str, hidden: Iterable[str], name: str) -> str:
    for word in sorted(filter(None, hidden), key=len, reverse=True):
        text = text.replace(word, name)
    return text
