"""Answers of one question gathered into stances: sources that agree with one another."""

from collections.abc import Mapping, Sequence

from transplantqa.records import CONFLICT_LABELS, Label

AGREEMENT = frozenset({str(Label.CONSISTENT), str(Label.COMPLEMENTARY)})
CONFLICT = frozenset(map(str, CONFLICT_LABELS))


def stances(documents: Sequence[str], labels: Mapping[tuple[str, str], str | None]) -> list[list[str]]:
    """Gather documents into stances, largest first.

    A document joins the first stance with a member that it agrees with and none that it conflicts with; else it opens
    one. Agreement as judged isn't transitive, so this is one reading of the pairs, not a finding.

    Args:
        documents: ids of the documents that answered, in the order to be tried.
        labels: (id, id) with the lesser first to the pair's label.
    """
    found: list[list[str]] = []
    for document in documents:
        for stance in found:
            relations = {labels.get((min(document, other), max(document, other))) for other in stance}
            if relations & AGREEMENT and not relations & CONFLICT:
                stance.append(document)
                break
        else:
            found.append([document])
    return sorted(found, key=lambda stance: (-len(stance), documents.index(stance[0])))
