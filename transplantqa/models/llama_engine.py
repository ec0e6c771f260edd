"""llama.cpp, held in this process: tokens in, tokens out, and nothing printed."""

import os
from collections.abc import Iterator, Sequence
from functools import lru_cache
from pathlib import Path

import numpy as np

from transplantqa.errors import ModelError
from transplantqa.models.llama_grammar import GreedyGrammar
from transplantqa.models.sampling import Sampling


def block_tokens(gpu_layers: int) -> int:
    """Return how many tokens of a prompt are computed together: on a CPU more are no faster, and reuse would suffer."""
    return 64 if gpu_layers == 0 else 512


def _spin_briefly() -> None:
    """Ask OpenMP, before it loads, to let waiting threads spin only for a moment.

    On two cores a count of 1,000 generates as fast as spinning without end when nothing else runs (92 tokens a second
    against 41 with ``OMP_WAIT_POLICY=PASSIVE``), and beside two busy processes as fast as not spinning (36 against 4).
    """
    if "OMP_WAIT_POLICY" not in os.environ:
        os.environ.setdefault("GOMP_SPINCOUNT", "1000")


class LlamaEngine:
    """A loaded GGUF with one sequence, whose common beginning with the next prompt is not computed again."""

    def __init__(self, path: Path, *, context_tokens: int, threads: int, gpu_layers: int) -> None:
        """Load the model.

        Raises:
            ModelError: if the library is missing, or the file is no model that it can load in this much context.
        """
        _spin_briefly()
        try:
            import llama_cpp  # noqa: PLC0415
        except (ImportError, RuntimeError, OSError) as error:
            raise ModelError(
                f"the embedded engine can't be loaded ({error}).\nInstall it: pip install llama-cpp-python"
            ) from error
        self._library = llama_cpp
        self._prompt_size = 0
        self._block_tokens = block_tokens(gpu_layers)
        try:
            self._llama = llama_cpp.Llama(
                str(path),
                n_ctx=context_tokens,
                n_batch=self._block_tokens,
                n_threads=threads,
                n_threads_batch=threads,
                n_gpu_layers=gpu_layers,
                verbose=False,
            )
        except ValueError as error:
            raise ModelError(
                f"model file {path}: llama.cpp can't load it with context_tokens={context_tokens} ({error}).\n"
                "Get the file again, or lower context_tokens if memory is short."
            ) from error
        self._vocabulary = llama_cpp.llama_model_get_vocab(self._llama.model)
        self._grammar = lru_cache(maxsize=32)(self._compiled)

    @property
    def special_tokens(self) -> dict[str, str]:
        """The texts of the beginning and end tokens, by the names that chat templates use."""
        return {
            "bos_token": self._piece(self._llama.token_bos()),
            "eos_token": self._piece(self._llama.token_eos()),
        }

    @property
    def begin(self) -> int | None:
        """The token of beginning; null where the model has none."""
        token = int(self._llama.token_bos())
        return None if token < 0 else token

    def prompt_tokens(self, prompt: str) -> list[int]:
        """Tokenize a rendered prompt, with exactly one token of beginning where the model wants one."""
        tokens = self._tokenize(prompt, special=True)
        begin = self._llama.token_bos()
        while tokens[:2] == [begin, begin]:
            del tokens[0]
        if self._library.llama_vocab_get_add_bos(self._vocabulary) and tokens[:1] != [begin]:
            tokens.insert(0, begin)
        return tokens

    def text(self, tokens: Sequence[int], after: Sequence[int] = ()) -> str:
        """Return the text of generated tokens, as it stands ``after`` others."""
        raw: bytes = self._llama.detokenize(list(tokens), prev_tokens=list(after) or None)
        return raw.decode("utf-8", errors="replace")

    def reusable_prefix(self, tokens: Sequence[int]) -> int:
        """Count the leading tokens of a prompt that needn't be computed again: blocks shared with the last one."""
        size = min(self._prompt_size, len(tokens) - 1)
        held = self._llama.input_ids[:size]
        different = np.flatnonzero(held != np.asarray(tokens[:size], dtype=held.dtype))
        shared = int(different[0]) if len(different) else size
        return shared // self._block_tokens * self._block_tokens

    def decode(
        self, prompt: Sequence[int], sampling: Sampling, schema: str | None, written: Sequence[int] = ()
    ) -> Iterator[int]:
        """Yield tokens that follow a prompt until the model ends its turn; the caller stops it sooner.

        A prompt is computed in blocks that begin at the same places whether or not their beginning is reused, because
        the arithmetic depends on how many tokens are computed together: so replies don't depend on what came before.

        Args:
            prompt: what is replied to.
            sampling: how a token is chosen.
            schema: JSON schema as text, which the tokens can't but follow.
            written: the beginning of the reply, which the last call to this prompt yielded.

        Raises:
            ValueError: if the schema can't be enforced.
            RuntimeError: if the engine fails; it is reset.
        """
        grammar = None if schema is None else self._grammar(schema)
        if not written:
            self._llama.n_tokens = self.reusable_prefix(prompt)
            self._prompt_size = len(prompt)
        tokens = [*prompt, *written]
        greedy = grammar is not None and sampling.temperature == 0
        try:
            for token in self._greedy(tokens, grammar) if greedy else self._sampled(tokens, sampling, grammar):
                if self._library.llama_vocab_is_eog(self._vocabulary, token):
                    return
                yield token
        except RuntimeError:
            self._llama.reset()
            self._prompt_size = 0
            raise

    def _sampled(self, tokens: Sequence[int], sampling: Sampling, grammar: str | None) -> Iterator[int]:
        from llama_cpp.llama_grammar import LlamaGrammar  # noqa: PLC0415

        self._llama.set_seed(sampling.seed)
        for token in self._llama.generate(
            tokens,
            temp=sampling.temperature,
            top_p=sampling.top_p,
            top_k=0,
            min_p=0.0,
            repeat_penalty=1.0,
            grammar=None if grammar is None else LlamaGrammar.from_string(grammar, verbose=False),
        ):
            yield int(token)

    def _greedy(self, tokens: Sequence[int], grammar: str | None) -> Iterator[int]:
        """Yield what ``_sampled`` would at temperature 0, without putting the whole vocabulary to the grammar."""
        choice = GreedyGrammar(self._library, self._vocabulary, grammar or "")
        held = self._llama.input_ids[: self._llama.n_tokens]
        size = min(len(held), len(tokens) - 1)
        different = np.flatnonzero(held[:size] != np.asarray(tokens[:size], dtype=held.dtype))
        self._llama.n_tokens = int(different[0]) if len(different) else size
        waiting = list(tokens[self._llama.n_tokens :])
        try:
            while self._llama.n_tokens + len(waiting) <= self._llama.n_ctx():
                self._llama.eval(waiting)
                logits = self._library.llama_get_logits_ith(self._llama.ctx, -1)
                waiting = [choice.choose(np.ctypeslib.as_array(logits, shape=(self._llama.n_vocab(),)))]
                yield waiting[0]
        finally:
            choice.close()

    def close(self) -> None:
        """Release the memory."""
        self._llama.close()

    def _tokenize(self, text: str, *, special: bool) -> list[int]:
        return list(self._llama.tokenize(text.encode("utf-8", "replace"), add_bos=False, special=special))

    def _piece(self, token: int) -> str:
        return "" if token < 0 else self._llama.detokenize([token], special=True).decode("utf-8", "replace")

    def _compiled(self, schema: str) -> str:
        from llama_cpp.llama_grammar import json_schema_to_gbnf  # noqa: PLC0415

        try:
            grammar: str = json_schema_to_gbnf(schema)
        except (AssertionError, KeyError, TypeError, ValueError) as error:
            raise ValueError(f"the JSON schema can't be enforced: {error}") from error
        # The library's rule for strings lets raw line breaks through, which JSON doesn't.
        grammar = grammar.replace(r'[^"\\]', r'[^"\\\x00-\x1F\x7F]')
        try:
            GreedyGrammar(self._library, self._vocabulary, grammar).close()
        except ValueError as error:
            raise ValueError(f"the JSON schema can't be enforced: {error}") from error
        return grammar
