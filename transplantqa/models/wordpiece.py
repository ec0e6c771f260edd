"""The WordPiece tokenizer of BERT (uncased), for chunk sizes, budgets and the embedded embedder."""

from functools import cached_property
from importlib import resources
from typing import Any

from transplantqa.models.protocols import Identity
from transplantqa.store.hashing import text_sha256

_VOCABULARY = resources.files("transplantqa.models") / "data" / "bert-base-uncased-vocab.txt"


class WordPieceTokenizer:
    """BERT's uncased vocabulary of 30,522 pieces, the one MiniLM and the BGE models read with; it never truncates."""

    def identity(self) -> Identity:
        """Name and hash of the vocabulary."""
        return {"tokenizer": "bert-base-uncased", "vocabulary_sha256": text_sha256(self._vocabulary)}

    def offsets(self, text: str) -> list[tuple[int, int]]:
        """Return the span of every token in ``text`` itself, in characters, though tokens are lower-cased and stripped.

        Spans are in reading order, not empty, and don't overlap but where one character gives several tokens.
        """
        return [(start, end) for start, end in self._tokenizer.encode(text, add_special_tokens=False).offsets]

    def encode(self, texts: list[str]) -> list[list[int]]:
        """Return the token ids of each text, without special tokens and without truncation."""
        return [encoding.ids for encoding in self._tokenizer.encode_batch_fast(texts, add_special_tokens=False)]

    def token_id(self, piece: str) -> int:
        """Return the id of a piece of the vocabulary, ``[CLS]`` for instance."""
        return int(self._tokenizer.token_to_id(piece))

    @cached_property
    def _vocabulary(self) -> str:
        return _VOCABULARY.read_text(encoding="utf-8")

    @cached_property
    def _tokenizer(self) -> Any:
        from tokenizers import Tokenizer, models, normalizers, pre_tokenizers  # noqa: PLC0415

        pieces = self._vocabulary.rstrip("\n").split("\n")
        vocabulary = {piece: number for number, piece in enumerate(pieces)}
        tokenizer = Tokenizer(models.WordPiece(vocabulary, unk_token="[UNK]", max_input_chars_per_word=100))  # noqa: S106
        tokenizer.normalizer = normalizers.BertNormalizer(lowercase=True)
        tokenizer.pre_tokenizer = pre_tokenizers.BertPreTokenizer()
        return tokenizer
