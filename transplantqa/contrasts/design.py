"""Whether two runs can be contrasted: the same files, read the same documents of, and the same questions."""

from collections.abc import Iterator, Mapping
from typing import Any

from transplantqa.errors import InputError
from transplantqa.store.run_folder import RunFolder

Rows = Mapping[str, Mapping[str, Any]]

DOCUMENT_FACTS: Mapping[str, str] = {
    "sha256": "another file",
    "institution": "another institution",
    "group": "another group",
    "phase": "another phase",
}
"""What of a document must be the same, with the words for when it isn't; its segmentation may differ."""

QUESTION_FACTS: Mapping[str, str] = {"text": "another text", "groups": "other groups", "topics": "other topics"}
SHOWN = 5


def require_same_design(baseline: RunFolder, candidate: RunFolder) -> None:
    """Refuse runs over different corpora or questions.

    Raises:
        InputError: saying everything that differs.
    """
    problems = [
        *_differences("documents", _rows(baseline, "documents"), _rows(candidate, "documents"), DOCUMENT_FACTS),
        *_readability(_rows(baseline, "documents"), _rows(candidate, "documents")),
        *_differences("questions", _rows(baseline, "questions"), _rows(candidate, "questions"), QUESTION_FACTS),
    ]
    if problems:
        raise InputError(
            "\n".join(
                [
                    (
                        f"{baseline.system} ({baseline.run_id}) and {candidate.system} ({candidate.run_id}) "
                        "can't be contrasted:"
                    ),
                    *problems,
                    "Contrast two runs over the same files and the same questions.",
                ]
            )
        )


def _rows(run: RunFolder, table: str) -> Rows:
    key = f"{table.removesuffix('s')}_id"
    return {row[key]: row for row in run.rows(table)}


def _differences(what: str, first: Rows, second: Rows, facts: Mapping[str, str]) -> Iterator[str]:
    for word, only in (
        ("baseline", first.keys() - second.keys()),
        ("candidate", second.keys() - first.keys()),
    ):
        if only:
            yield f"  {len(only)} {what} are in the {word} alone: {_listed(only)}"
    shared = first.keys() & second.keys()
    for fact, words in facts.items():
        other = {name for name in shared if first[name][fact] != second[name][fact]}
        if other:
            yield f"  {len(other)} {what} have {words} in the candidate: {_listed(other)}"


def _readability(first: Rows, second: Rows) -> Iterator[str]:
    """Name documents that only one run could read: it was asked nothing in the other."""
    shared = first.keys() & second.keys()
    other = {name for name in shared if (first[name]["verdict"] == "reject") != (second[name]["verdict"] == "reject")}
    if other:
        yield f"  {len(other)} documents can be read in one of them alone: {_listed(other)}"


def _listed(names: set[str]) -> str:
    shown = sorted(names)[:SHOWN]
    more = f" and {len(names) - SHOWN} more" if len(names) > SHOWN else ""
    return ", ".join(shown) + more
