from collections import Counter
from pathlib import Path

import pytest

from transplantqa.corpus.gold import Gold
from transplantqa.records import Document, Label, Question
from transplantqa.samples import tenancy


@pytest.fixture(scope="module")
def folder() -> Path:
    return Path(tenancy.__file__).parent


def test_there_are_seven_guides_of_four_institutions_in_two_groups(documents: list[Document]) -> None:
    assert len(documents) == 7
    assert len({d.institution for d in documents}) == 4
    assert Counter(d.group for d in documents) == {"private": 4, "public": 3}


def test_there_are_general_and_group_questions(questions: list[Question]) -> None:
    assert Counter(q.groups for q in questions) == {(): 12, ("private",): 4, ("public",): 4}


def test_every_label_is_planted_at_least_five_times(gold: Gold) -> None:
    counts = Counter(pair.label for pair in gold.pairs)
    assert min(counts[label] for label in Label) >= 5


def test_a_quarter_or_more_of_the_cells_are_silent(gold: Gold) -> None:
    assert sum(cell.silent for cell in gold.evidence) / len(gold.evidence) >= 0.25
