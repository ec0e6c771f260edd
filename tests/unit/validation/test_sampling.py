"""The draw: sizes, equal chances within a stratum, balance, determinism, and what annotators can't see."""

import re
from collections import Counter
from typing import Any, Literal

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from transplantqa.errors import InputError
from transplantqa.validation.frame import Frame, frame
from transplantqa.validation.sample_folder import find_sample, write_sample
from transplantqa.validation.sampling import SampleDesign, draw


def made_frame(sizes: dict[str, int], institutions: int = 4) -> Frame:
    """Return a population of strata of these sizes, institutions and lengths in turn."""
    strata = tuple(sorted(sizes))
    stratum = np.repeat(np.arange(len(strata)), [sizes[name] for name in strata])
    place = np.concatenate([np.arange(sizes[name]) for name in strata])
    nothing = np.zeros(len(place), dtype=np.int64)
    return Frame(
        ("q",), ("a",), nothing, nothing, nothing, strata, stratum, place * 7919 % 1000, place % institutions, 0
    )


def test_each_stratum_gives_the_same_number_or_all_it_has() -> None:
    population = made_frame({"judge/DIVERGENT": 100, "judge/CONTRADICTORY": 3, "prescreen/ABSENT": 500})
    drawn = draw(population, SampleDesign(per_stratum=40))
    counted = Counter(population.strata[place] for place in population.stratum[drawn])
    assert counted == {"judge/DIVERGENT": 40, "judge/CONTRADICTORY": 3, "prescreen/ABSENT": 40}
    assert len(set(drawn.tolist())) == len(drawn)


def test_silence_by_the_judge_and_by_the_pre_screen_are_strata_of_their_own() -> None:
    assert made_frame({"judge/ABSENT": 5, "prescreen/ABSENT": 5}).strata == ("judge/ABSENT", "prescreen/ABSENT")


def test_allocation_to_the_rate_of_conflict_is_neymans() -> None:
    design = SampleDesign(
        allocation="target",
        total=100,
        least=1,
        expected_conflict={"CONSISTENT": 0.1, "DIVERGENT": 0.5},  # type: ignore[dict-item]
    )
    sizes = design.sizes({"judge/CONSISTENT": 1000, "judge/DIVERGENT": 400})
    # 1000 * sqrt(0.09) = 300 and 400 * sqrt(0.25) = 200
    assert sizes == {"judge/CONSISTENT": 60, "judge/DIVERGENT": 40}


@settings(max_examples=100, deadline=None)
@given(
    st.dictionaries(
        st.sampled_from(
            ["judge/ABSENT", "judge/CONSISTENT", "judge/COMPLEMENTARY", "judge/DIVERGENT", "prescreen/ABSENT"]
        ),
        st.integers(1, 5000),
        min_size=1,
    ),
    st.integers(1, 300),
    st.integers(1, 20),
)
def test_an_allocation_adds_up_and_stays_within_its_bounds(population: dict[str, int], total: int, least: int) -> None:
    sizes = SampleDesign(allocation="target", total=total, least=least).sizes(population)
    assert all(min(least, population[name]) <= size <= population[name] for name, size in sizes.items())
    floor = sum(min(least, size) for size in population.values())
    assert sum(sizes.values()) == min(max(total, floor), sum(population.values()))


def test_every_pair_of_a_stratum_is_drawn_as_often_as_its_inclusion_probability_says() -> None:
    population = made_frame({"judge/DIVERGENT": 20})
    times = np.zeros(20)
    for seed in range(2000):
        times[draw(population, SampleDesign(per_stratum=8, seed=seed))] += 1
    assert np.abs(times / 2000 - 8 / 20).max() < 5 * np.sqrt(0.4 * 0.6 / 2000)


def test_lengths_and_institutions_come_in_their_shares() -> None:
    population = made_frame({"judge/CONSISTENT": 1200})
    drawn = draw(population, SampleDesign(per_stratum=36))
    lengths = population.length
    thirds = np.argsort(np.argsort(lengths, kind="stable"), kind="stable") * 3 // len(lengths)
    assert sorted(Counter(thirds[drawn].tolist()).values()) == [12, 12, 12]
    institutions = Counter(population.institutions[drawn].tolist())
    assert all(7 <= count <= 11 for count in institutions.values())


def test_a_stratums_draw_does_not_depend_on_the_other_strata() -> None:
    alone = made_frame({"judge/DIVERGENT": 90})
    together = made_frame({"judge/DIVERGENT": 90, "judge/CONSISTENT": 50})
    design = SampleDesign(per_stratum=10)
    assert set(draw(alone, design)) == {row - 50 for row in draw(together, design) if row >= 50}


def test_a_sample_is_the_same_when_drawn_again_and_another_with_another_seed(audit: Any) -> None:
    run = audit()
    first = write_sample(audit.artifacts, run, frame(run), SampleDesign(per_stratum=5))
    again = write_sample(audit.artifacts, run, frame(run), SampleDesign(per_stratum=5))
    other = write_sample(audit.artifacts, run, frame(run), SampleDesign(per_stratum=5, seed=1))
    assert first.pairs == again.pairs
    assert first.sample_id == again.sample_id != other.sample_id


def test_the_key_keeps_inclusion_probabilities_that_sum_to_the_population(audit: Any) -> None:
    run = audit()
    sample = write_sample(audit.artifacts, run, frame(run), SampleDesign(per_stratum=5))
    weights = Counter[str]()
    for row in sample.pairs:
        weights[row["stratum"]] += 1 / row["inclusion_probability"]
    assert dict(weights) == pytest.approx(sample.population)
    assert sum(sample.population.values()) == 8 * 15


def test_annotators_see_neither_label_nor_stratum_nor_document_nor_institution(audit: Any) -> None:
    run = audit()
    sample = write_sample(audit.artifacts, run, frame(run), SampleDesign(per_stratum=5))
    page = (sample.path / "annotate.html").read_text(encoding="utf-8")
    data = page[page.index('<script type="application/json"') :]
    items = data[data.index('"items"') : data.index('"labels"')]
    sheet = (sample.path / "annotate.csv").read_text(encoding="utf-8-sig")
    for text in (items, sheet):
        assert "[source] says" in text
        assert not re.search(r"Alpha|Beta|Gamma|prescreen|judge|DIVERGENT|document_a", text)
        assert not re.search(r"\bdoc\d", text)


def test_shown_names_stay_in_the_texts(audit: Any) -> None:
    run = audit()
    sample = write_sample(audit.artifacts, run, frame(run), SampleDesign(per_stratum=5, names="shown"))
    assert "Alpha Clinic says" in (sample.path / "annotate.csv").read_text(encoding="utf-8-sig")


@pytest.mark.parametrize(("citations", "seen"), [("hidden", False), ("shown", True)])
def test_citations_are_in_the_texts_only_where_they_are_to_be_shown(
    audit: Any, citations: Literal["hidden", "shown"], *, seen: bool
) -> None:
    run = audit(q1__doc0="Wait for six weeks. [Looking ahead, p. 3]")
    sample = write_sample(audit.artifacts, run, frame(run), SampleDesign(citations=citations))
    sheet = (sample.path / "annotate.csv").read_text(encoding="utf-8-sig")
    assert "Wait for six weeks." in sheet
    assert ("Looking ahead" in sheet) == seen


def test_both_orders_of_answers_occur_and_the_key_knows_which(audit: Any) -> None:
    run = audit()
    sample = write_sample(audit.artifacts, run, frame(run), SampleDesign(per_stratum=20, names="shown"))
    assert {row["first"] for row in sample.pairs} == {"a", "b"}


def test_failed_pairs_are_counted_and_never_drawn(audit: Any) -> None:
    run = audit()
    rows = run.rows("comparisons")
    rows[0] |= {"outcome": "parse_failed", "label": None}
    failed = audit.write("failed", rows={**{name: run.rows(name) for name in run.tables()}, "comparisons": rows})
    found = frame(failed)
    assert (len(found.question), found.unlabelled) == (119, 1)


def test_a_sample_that_is_not_there_is_named_with_how_to_draw_one(audit: Any) -> None:
    with pytest.raises(InputError, match="transplantqa validate sample run=r1"):
        find_sample(audit.artifacts, None, "r1")
    with pytest.raises(InputError, match="there is none in"):
        find_sample(audit.artifacts, "zzz", "r1")
