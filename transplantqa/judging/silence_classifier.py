"""Whether a text says that its source is silent: a logistic regression over words, learned from given labels.

Chosen over a call of the language model because it costs microseconds a text, gives a probability that a threshold can
be set on, is the same on every machine, and learns a new language or domain from a few dozen labelled lines.
"""

import csv
import re
from collections.abc import Sequence
from functools import cached_property
from importlib.metadata import version
from typing import Any

import numpy as np
from numpy.typing import NDArray

from transplantqa.corpus.paths import located
from transplantqa.errors import InputError
from transplantqa.generation import citations
from transplantqa.generation.lexical import normalise
from transplantqa.models.protocols import Identity
from transplantqa.store.hashing import file_sha256

COLUMNS = ("text", "silent")
_SAID = {"yes": True, "no": False}
_LEAST = 5
"""Texts of each kind below which nothing is learned. Ours."""

REGULARISATION = 10.0
"""scikit-learn's C. Ours: leaving out one of the 80 shipped labels at a time, 1 to 100 are alike (0.79 to 0.80)."""


class SilenceClassifier:
    """Learns from a file of labelled texts when first asked.

    Args:
        labels: CSV with columns ``text`` and ``silent`` (yes, no); a path or ``package:NAME/FILE``.
    """

    def __init__(self, labels: str) -> None:
        self._labels = located(labels)

    def identity(self) -> Identity:
        """The labels' content, and the library that learns.

        Raises:
            InputError: if there is no such file.
        """
        if not self._labels.is_file():
            raise InputError(
                f"prescreen.labels: there is no file {self._labels}.\nGive a CSV with columns text, silent."
            )
        return {
            "labels_sha256": file_sha256(self._labels),
            "learner": f"logistic regression, words, C={REGULARISATION:g}, scikit-learn {version('scikit-learn')}",
        }

    def silence(self, texts: Sequence[str]) -> NDArray[np.float64]:
        """Return the probability of silence of each text; citations in it do not count.

        Raises:
            InputError: if the labels can't be used.
        """
        if not texts:
            return np.empty(0)
        found: NDArray[np.float64] = self._fitted.predict_proba(list(texts))[:, 1]
        return found

    @cached_property
    def _fitted(self) -> Any:
        from sklearn.feature_extraction.text import TfidfVectorizer  # noqa: PLC0415
        from sklearn.linear_model import LogisticRegression  # noqa: PLC0415
        from sklearn.pipeline import make_pipeline  # noqa: PLC0415

        texts, silent = self._read()
        words = TfidfVectorizer(analyzer=_terms, sublinear_tf=True)
        learner = LogisticRegression(C=REGULARISATION, class_weight="balanced")
        return make_pipeline(words, learner).fit(texts, silent)

    def _read(self) -> tuple[list[str], list[bool]]:
        try:
            with self._labels.open(encoding="utf-8-sig", newline="") as file:
                rows = list(csv.DictReader(file))
        except (OSError, UnicodeDecodeError, csv.Error) as error:
            raise InputError(f"{self._labels}: can't be read ({error}).\nGive a CSV in UTF-8.") from error
        if not rows or any(name not in rows[0] for name in COLUMNS):
            raise InputError(f"{self._labels}: needs columns {' and '.join(COLUMNS)}, and rows.")
        said = [str(row["silent"]).strip().casefold() for row in rows]
        unknown = sorted({word for word in said if word not in _SAID})
        if unknown:
            raise InputError(f"{self._labels}: silent is {', '.join(map(repr, unknown))}.\nWrite yes or no.")
        silent = [_SAID[word] for word in said]
        if min(silent.count(True), silent.count(False)) < _LEAST:
            raise InputError(f"{self._labels}: needs at least {_LEAST} texts of each kind.")
        return [str(row["text"]) for row in rows], silent


def _terms(text: str) -> list[str]:
    return re.findall(r"\w+", normalise(citations.strip(text)))
