"""Sentence vectors from an OpenAI-compatible endpoint: ``vllm serve``, llama.cpp's server, text-embeddings-inference.

Exercised by the test suite against a stand-in of the protocol, not against a server of each kind.
"""

import time
from collections.abc import Callable, Iterator, Sequence
from typing import TYPE_CHECKING, Annotated, Any

import numpy as np
from numpy.typing import NDArray
from pydantic import Field

from transplantqa.errors import ModelError
from transplantqa.models.openai_endpoint import LONGEST_WAIT_SECONDS, RETRIED_STATUSES, Endpoint, wished_wait
from transplantqa.models.protocols import Identity

if TYPE_CHECKING:
    import httpx

Vectors = NDArray[np.float32]
FIRST_WAIT_SECONDS = 0.5
TEXT_STATUSES = frozenset({400, 413, 422})
"""How servers say that a text is too long."""


class RefusedTextError(RuntimeError):
    """The server can't embed these texts, for a reason that isn't the same for all texts."""


class OpenAIEmbedder:
    """Sends texts in batches of near-equal length and brings the vectors to unit length.

    A text longer than the model's window is for the server to refuse or to cut: ``vllm serve`` and llama.cpp's server
    refuse, which fails the units that need these vectors, with the server's words; the run goes on.

    Args:
        base_url: up to and including the version, e.g. ``http://127.0.0.1:8000/v1``.
        model: the model's name as the server knows it.
        revision: what is served under that name, for the record: a commit, a date; part of the identity.
        query_prefix: put before each query, as the model's authors say.
        passage_prefix: put before each passage.
        api_key_env: NAME of the environment variable that holds the key; the key itself is never configured.
        batch_texts: texts a call.
        timeout_seconds: longest wait for one call.
        retries: further tries of a call that fails for a reason that may pass.
    """

    def __init__(  # noqa: PLR0913 - a component's parameters are its configuration
        self,
        *,
        base_url: str,
        model: str,
        revision: str | None = None,
        query_prefix: str = "",
        passage_prefix: str = "",
        api_key_env: str | None = None,
        batch_texts: Annotated[int, Field(ge=1)] = 64,
        timeout_seconds: Annotated[float, Field(gt=0)] = 120.0,
        retries: Annotated[int, Field(ge=0)] = 5,
    ) -> None:
        self._endpoint = Endpoint("embedder", base_url.rstrip("/") + "/", api_key_env, timeout_seconds)
        self._model = model
        self._revision = revision
        self._query_prefix = query_prefix
        self._passage_prefix = passage_prefix
        self._batch_texts = batch_texts
        self._retries = retries
        self._transport: httpx.BaseTransport | None = None
        self._sleep: Callable[[float], None] = time.sleep

    def identity(self) -> Identity:
        """Model, revision and prefixes; the address is no part of it."""
        return {
            "embedder": "openai",
            "model": self._model,
            "revision": self._revision,
            "query_prefix": self._query_prefix,
            "passage_prefix": self._passage_prefix,
        }

    def embed_queries(self, texts: Sequence[str]) -> Vectors:
        """Embed questions: float32, shape (len(texts), dimensions), rows of unit length.

        Raises:
            ModelError: if the server can't be used.
        """
        return self._embed([self._query_prefix + text for text in texts])

    def embed_passages(self, texts: Sequence[str]) -> Vectors:
        """Embed passages: float32, shape (len(texts), dimensions), rows of unit length.

        Raises:
            ModelError: if the server can't be used.
        """
        return self._embed([self._passage_prefix + text for text in texts])

    def _embed(self, texts: Sequence[str]) -> Vectors:
        if not texts:
            return np.zeros((0, 0), dtype=np.float32)
        rows: dict[int, Vectors] = {}
        with self._client() as http:
            for places in _batches(texts, self._batch_texts):
                rows.update(zip(places, self._call(http, [texts[place] for place in places]), strict=True))
        vectors = np.stack([rows[place] for place in range(len(texts))])
        lengths = np.linalg.norm(vectors, axis=1, keepdims=True)
        unit: Vectors = vectors / np.maximum(lengths, np.float32(1e-12))
        return unit

    def _client(self) -> "httpx.Client":
        import httpx  # noqa: PLC0415

        return httpx.Client(**self._endpoint.client_settings(), transport=self._transport)

    def _call(self, http: "httpx.Client", texts: list[str]) -> list[Vectors]:
        import httpx  # noqa: PLC0415

        body = {"model": self._model, "input": texts, "encoding_format": "float"}
        for tried in range(self._retries + 1):
            last = tried == self._retries
            wished = None
            try:
                response = http.post("embeddings", json=body)
            except (httpx.TransportError, httpx.InvalidURL) as error:
                if last or isinstance(error, httpx.InvalidURL | httpx.UnsupportedProtocol):
                    raise self._endpoint.unreachable(error) from error
            else:
                if response.is_success:
                    return self._read(response, len(texts))
                if last or response.status_code not in RETRIED_STATUSES:
                    raise self._refused(response)
                wished = wished_wait(response.headers.get("retry-after"))
            backed_off = min(LONGEST_WAIT_SECONDS, FIRST_WAIT_SECONDS * 2**tried)
            self._sleep(backed_off if wished is None else wished)
        raise AssertionError  # pragma: no cover - the last try returns or raises

    def _read(self, response: "httpx.Response", expected: int) -> list[Vectors]:
        """Return the vectors in the order of their texts, which a server may mix up and number by ``index``."""
        try:
            data: list[Any] = sorted(response.json()["data"], key=lambda entry: int(entry["index"]))
            places = [int(entry["index"]) for entry in data]
            vectors = [np.asarray(entry["embedding"], dtype=np.float32) for entry in data]
        except (KeyError, TypeError, ValueError) as error:
            raise self._unusable(f"no embeddings in its answer ({type(error).__name__}: {error})") from error
        if places != list(range(expected)):
            raise self._unusable(f"{len(places)} vectors for {expected} texts")
        if any(vector.ndim != 1 or not np.isfinite(vector).all() for vector in vectors):
            raise self._unusable("a vector that isn't a list of finite numbers")
        return vectors

    def _refused(self, response: "httpx.Response") -> Exception:
        if response.status_code in {401, 403}:
            return self._endpoint.key_refused(response.status_code)
        said = " ".join(response.text.split())[:200]
        if response.status_code in TEXT_STATUSES:
            return RefusedTextError(f"HTTP {response.status_code}: {said}")
        return ModelError(
            f"{self._endpoint.base_url}: the server refuses to embed (HTTP {response.status_code}: {said}).\n"
            "Check embedder.base_url and embedder.model."
        )

    def _unusable(self, what: str) -> ModelError:
        return ModelError(
            f"{self._endpoint.base_url}: {what}.\nIs it an embeddings endpoint, and {self._model!r} an embedding model?"
        )


def _batches(texts: Sequence[str], size: int) -> Iterator[list[int]]:
    """Yield the places of texts, longest first, so that a batch holds texts of near-equal length."""
    order = sorted(range(len(texts)), key=lambda place: (-len(texts[place]), place))
    for start in range(0, len(order), size):
        yield order[start : start + size]
