"""The tokenizer of a GGUF without its weights, for counting tokens before anything is loaded."""

import ctypes
import logging
from pathlib import Path

from transplantqa.errors import ModelError


class LlamaVocabulary:
    """A GGUF's vocabulary alone: a fraction of a second and a few megabytes, whatever the size of the model."""

    def __init__(self, path: Path) -> None:
        """Load the vocabulary.

        Raises:
            ModelError: if llama.cpp is missing or can't read the file.
        """
        try:
            import llama_cpp  # noqa: PLC0415
        except (ImportError, RuntimeError, OSError) as error:
            raise ModelError(
                f"the embedded engine can't be loaded ({error}).\nInstall it: pip install llama-cpp-python"
            ) from error
        logging.getLogger("llama-cpp-python").setLevel(logging.ERROR)
        self._library = llama_cpp
        parameters = llama_cpp.llama_model_default_params()
        parameters.vocab_only = True
        self._model = llama_cpp.llama_model_load_from_file(str(path).encode(), parameters)
        if not self._model:
            raise ModelError(f"model file {path}: llama.cpp can't read it.\nGet the file again.")
        self._vocabulary = llama_cpp.llama_model_get_vocab(self._model)

    def count(self, text: str) -> int:
        """Count the tokens of plain text, without special tokens."""
        data = text.encode("utf-8", "replace")
        room = (self._library.llama_token * 0)()
        # With no room, llama.cpp returns the number of tokens, negative.
        needed = self._library.llama_tokenize(self._vocabulary, data, len(data), room, ctypes.c_int32(0), False, False)
        return abs(int(needed))

    def close(self) -> None:
        """Release the memory."""
        if self._model:
            self._library.llama_model_free(self._model)
            self._model = None
