"""Canonical hashes: what a fingerprint, an input hash and a shard number are made of."""

import hashlib
import json
from functools import lru_cache
from pathlib import Path


def canonical_json(value: object) -> str:
    """Serialise JSON-safe data so that equal data gives equal text: sorted keys, no spaces, no NaN, UTF-8 kept."""
    return json.dumps(value, sort_keys=True, separators=(",", ":"), ensure_ascii=False, allow_nan=False)


def digest(value: object) -> str:
    """Return the SHA-256 (hex) of the canonical JSON of ``value``."""
    return hashlib.sha256(canonical_json(value).encode("utf-8", "surrogatepass")).hexdigest()


def text_sha256(text: str) -> str:
    """Return the SHA-256 (hex) of the UTF-8 bytes of ``text``."""
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()


def file_sha256(path: Path) -> str:
    """Return the SHA-256 (hex) of a file's bytes; remembered within the process while size and time stay the same."""
    status = path.stat()
    return _file_sha256(path, status.st_size, status.st_mtime_ns)


@lru_cache(maxsize=1024)
def _file_sha256(path: Path, _size: int, _mtime_ns: int) -> str:
    with path.open("rb") as stream:
        return hashlib.file_digest(stream, "sha256").hexdigest()
