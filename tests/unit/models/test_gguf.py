import struct
from pathlib import Path

import pytest

from transplantqa.errors import ModelError
from transplantqa.models.gguf import read_header


def text(value: str) -> bytes:
    return struct.pack("<Q", len(value.encode())) + value.encode()


def gguf(*pairs: bytes) -> bytes:
    return b"GGUF" + struct.pack("<IQQ", 3, 0, len(pairs)) + b"".join(pairs)


ARCHITECTURE = text("general.architecture") + struct.pack("<I", 8) + text("llama")
CONTEXT = text("llama.context_length") + struct.pack("<II", 4, 8192)
WORDS = text("tokenizer.ggml.tokens") + struct.pack("<IIQ", 9, 8, 2) + text("a") + text("bc")
SCORES = text("tokenizer.ggml.scores") + struct.pack("<IIQ", 9, 6, 2) + struct.pack("<ff", 0.5, 1.5)
TEMPLATE = text("tokenizer.chat_template") + struct.pack("<I", 8) + text("{{ messages }}")


def written(folder: Path, data: bytes) -> Path:
    path = folder / "m.gguf"
    path.write_bytes(data)
    return path


def test_values_after_arrays_are_read(tmp_path: Path) -> None:
    header = read_header(written(tmp_path, gguf(ARCHITECTURE, CONTEXT, WORDS, SCORES, TEMPLATE)))
    assert (header.trained_context_tokens, header.chat_template) == (8192, "{{ messages }}")


def test_a_file_without_template_or_context_says_so(tmp_path: Path) -> None:
    header = read_header(written(tmp_path, gguf(ARCHITECTURE)))
    assert (header.trained_context_tokens, header.chat_template) == (None, None)


@pytest.mark.parametrize("size", [0, 3, 10, 40, 120])
def test_a_file_cut_anywhere_is_a_users_error(tmp_path: Path, size: int) -> None:
    data = gguf(ARCHITECTURE, CONTEXT, WORDS, SCORES, TEMPLATE)[:size]
    with pytest.raises(ModelError, match=r"m\.gguf"):
        read_header(written(tmp_path, data))


def test_another_format_is_named(tmp_path: Path) -> None:
    with pytest.raises(ModelError, match="not a GGUF file"):
        read_header(written(tmp_path, b"PK\x03\x04 a zip file"))
