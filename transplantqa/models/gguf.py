"""The header of a GGUF file, read without loading the model: what it is, its chat template, its trained context.

Format: https://github.com/ggml-org/ggml/blob/master/docs/gguf.md
"""

import mmap
import struct
from dataclasses import dataclass
from pathlib import Path

from transplantqa.errors import ModelError

Value = int | float | bool | str | None
_SCALARS = {0: "B", 1: "b", 2: "H", 3: "h", 4: "I", 5: "i", 6: "f", 7: "?", 10: "Q", 11: "q", 12: "d"}
_STRING, _ARRAY = 8, 9


@dataclass(frozen=True, slots=True)
class GgufHeader:
    """The scalar and text metadata of a model file; arrays are left out."""

    metadata: dict[str, Value]

    @property
    def chat_template(self) -> str | None:
        """The Jinja template of the chat format, if the file has one."""
        template = self.metadata.get("tokenizer.chat_template")
        return template if isinstance(template, str) else None

    @property
    def trained_context_tokens(self) -> int | None:
        """The context that the model was trained for, if the file says."""
        length = self.metadata.get(f"{self.metadata.get('general.architecture')}.context_length")
        return length if isinstance(length, int) else None


def read_header(path: Path) -> GgufHeader:
    """Read the metadata of a GGUF file.

    Raises:
        ModelError: if the file isn't GGUF or is cut short.
    """
    try:
        with path.open("rb") as stream, mmap.mmap(stream.fileno(), 0, access=mmap.ACCESS_READ) as data:
            if data[:4] != b"GGUF":
                raise ModelError(f"model file {path}: not a GGUF file.\nGive a model in llama.cpp's GGUF format.")
            return GgufHeader(_Reader(data).metadata())
    except (ValueError, struct.error, UnicodeDecodeError) as error:
        raise ModelError(f"model file {path}: its header is damaged or cut short ({error}).\nGet it again.") from error


class _Reader:
    def __init__(self, data: mmap.mmap) -> None:
        self._data = data
        self._at = 4

    def metadata(self) -> dict[str, Value]:
        self._scalar("I")  # version
        self._scalar("Q")  # number of tensors
        metadata = {}
        for _ in range(int(self._scalar("Q"))):
            key = self._text()
            metadata[key] = self._value(int(self._scalar("I")))
        return metadata

    def _value(self, kind: int) -> Value:
        if kind == _STRING:
            return self._text()
        if kind != _ARRAY:
            return self._scalar(_format(kind))
        item, count = int(self._scalar("I")), int(self._scalar("Q"))
        if item in _SCALARS:
            self._at += count * struct.calcsize("<" + _SCALARS[item])
        elif item == _STRING:
            self._skip_texts(count)
        else:
            for _ in range(count):
                self._value(item)
        return None

    def _skip_texts(self, count: int) -> None:
        """Pass over a vocabulary's hundreds of thousands of texts."""
        length, at = struct.Struct("<Q"), self._at
        for _ in range(count):
            at += length.size + length.unpack_from(self._data, at)[0]
        self._at = at

    def _scalar(self, code: str) -> int | float | bool:
        (value,) = struct.unpack_from("<" + code, self._data, self._at)
        self._at += struct.calcsize("<" + code)
        return value  # type: ignore[no-any-return]

    def _text(self) -> str:
        size = int(self._scalar("Q"))
        start, self._at = self._at, self._at + size
        if self._at > len(self._data):
            raise ValueError(f"{size} bytes of text at byte {start} of {len(self._data)}")
        return self._data[start : self._at].decode("utf-8", "replace")


def _format(kind: int) -> str:
    if kind not in _SCALARS:
        raise ValueError(f"unknown value type {kind}")
    return _SCALARS[kind]
