"""What must hold of any audit, and agreement with the definitions written out pair by pair."""

from itertools import combinations
from random import Random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from transplantqa.analysis import Analysis, audit
from transplantqa.analysis.sketch import Sketch
from transplantqa.records import Label

PLAIN = Analysis(bootstrap_replicates=0, permutations=0)
CONFLICT = {"DIVERGENT", "CONTRADICTORY"}
VISIBLE = {str(label) for label in Label} - {"ABSENT"}
OUTCOMES = ["ok", "ok", "ok", "abstained", "empty_retrieval", "engine_error"]


@st.composite
def sketches(draw: st.DrawFn) -> Sketch:
    """Draw an audit of up to 4 questions and 5 documents; a pair may lack its comparison or have a failed one."""
    sketch = Sketch()
    documents = [f"d{place}" for place in range(draw(st.integers(1, 5)))]
    for name in documents:
        sketch.document(name, draw(st.sampled_from("ABC")))
    for place in range(draw(st.integers(1, 4))):
        question = f"q{place}"
        cells = {name: draw(st.sampled_from(OUTCOMES)) for name in documents if draw(st.booleans())}
        sketch.question(question, cells)
        for a, b in combinations(sorted(name for name, outcome in cells.items() if outcome == "ok"), 2):
            outcome = draw(st.sampled_from(["ok", "ok", "ok", "parse_failed", None]))
            if outcome is None:
                continue
            label = draw(st.sampled_from([str(label) for label in Label])) if outcome == "ok" else None
            side = draw(st.sampled_from(["a", "b", "both", None])) if label == "ABSENT" else None
            sketch.compare(question, a, b, label, outcome=outcome, silent_side=side)
    return sketch


def pair_states(sketch: Sketch) -> dict[tuple[str, str, str], str]:
    """Say of every in-design pair of different institutions what the definitions say."""
    states = {}
    for question in sketch.questions:
        asked = sorted(document for q, document in sketch.cells if q == question)
        for a, b in combinations(asked, 2):
            if sketch.documents[a]["institution"] != sketch.documents[b]["institution"]:
                states[question, a, b] = pair_state(sketch, question, a, b)
    return states


def pair_state(sketch: Sketch, question: str, a: str, b: str) -> str:
    sides = [sketch.cells[question, a], sketch.cells[question, b]]
    if "engine_error" in sides:
        return "undecided"
    silent = [side != "ok" for side in sides]
    if any(silent):
        return "both silent" if all(silent) else "one silent"
    row = sketch.compared.get((question, a, b))
    if row is None or row["outcome"] != "ok":
        return "undecided"
    if row["label"] == "ABSENT":
        side = row["silent_side"]
        return "absent" if side is None else "both silent" if side == "both" else "one silent"
    return str(row["label"])


def by_definition(sketch: Sketch) -> dict[str, float]:
    """Compute the headline measures from lists of pair states."""
    states = pair_states(sketch)
    decided = {key: state for key, state in states.items() if state != "undecided"}
    visible = {key: state for key, state in decided.items() if state in VISIBLE}
    conflict = {key for key, state in visible.items() if state in CONFLICT}
    one_silent = [key for key, state in decided.items() if state == "one silent"]
    rates = [
        sum(key in conflict for key in visible if key[0] == question) / count
        for question in sketch.questions
        if (count := sum(key[0] == question for key in visible))
    ]
    asked = {key[0] for key in decided}
    figures: dict[str, tuple[float, int]] = {
        "pair_absence_rate": (len(decided) - len(visible), len(decided)),
        "divergence_rate": (len(conflict), len(visible)),
        "divergence_rate_question_mean": (sum(rates), len(rates)),
        "any_divergence_rate": (len({key[0] for key in conflict}), len(asked)),
        "source_dependence_index": (len(one_silent) + len(conflict), len(one_silent) + len(visible)),
    }
    return {name: top / bottom for name, (top, bottom) in figures.items() if bottom}


@settings(max_examples=60, deadline=None)
@given(sketches())
def test_headlines_are_what_the_definitions_give_pair_by_pair(sketch: Sketch) -> None:
    found = audit(sketch.tables(), PLAIN).metrics
    names = ("pair_absence_rate", "divergence_rate", "divergence_rate_question_mean", "any_divergence_rate")
    computed = {name: found[name] for name in (*names, "source_dependence_index") if name in found}
    assert computed == pytest.approx(by_definition(sketch))


@settings(max_examples=30, deadline=None)
@given(sketches())
def test_label_shares_sum_to_one(sketch: Sketch) -> None:
    found = audit(sketch.tables(), PLAIN).metrics
    for prefix in ("label", "label_visible", "label_judged"):
        shares = [found[f"{prefix}/{label}"] for label in Label if f"{prefix}/{label}" in found]
        assert not shares or sum(shares) == pytest.approx(1.0)


@settings(max_examples=30, deadline=None)
@given(sketches())
def test_headlines_lie_between_their_bounds(sketch: Sketch) -> None:
    found = audit(sketch.tables(), PLAIN).metrics
    for name in (name.removesuffix("_best") for name in list(found) if name.endswith("_best")):
        if name in found:
            assert found[f"{name}_best"] <= found[name] + 1e-12
            assert found[name] <= found[f"{name}_worst"] + 1e-12


@settings(max_examples=30, deadline=None)
@given(sketches())
def test_renaming_documents_changes_no_headline(sketch: Sketch) -> None:
    """Reversing the order of names swaps the sides of every pair."""
    new = {name: f"r{9 - int(name[1:])}" for name in sketch.documents}
    renamed = Sketch()
    for name, row in sketch.documents.items():
        renamed.documents[new[name]] = row
    renamed.questions = sketch.questions
    renamed.cells = {(question, new[name]): outcome for (question, name), outcome in sketch.cells.items()}
    swap = {"a": "b", "b": "a"}
    for (question, a, b), row in sketch.compared.items():
        side = row["silent_side"]
        renamed.compared[question, new[b], new[a]] = row | {"silent_side": swap.get(side, side)}
    before, after = (audit(one.tables(), PLAIN).metrics for one in (sketch, renamed))
    headlines = {name: value for name, value in before.items() if not name.startswith("document/")}
    assert {name: after[name] for name in headlines} == pytest.approx(headlines)


@settings(max_examples=30, deadline=None)
@given(sketches())
def test_a_silent_document_moves_absence_but_no_divergence(sketch: Sketch) -> None:
    before = audit(sketch.tables(), PLAIN).metrics
    sketch.document("silent", "its own")
    sketch.cells |= {(question, "silent"): "abstained" for question in sketch.questions}
    after = audit(sketch.tables(), PLAIN).metrics
    assert after["absence_rate_n"] == before["absence_rate_n"] + len(sketch.questions)
    for name in ("divergence_rate", "divergence_rate_question_mean", "any_divergence_rarefied"):
        assert after.get(name) == before.get(name)


@settings(max_examples=20, deadline=None)
@given(sketches(), st.randoms(use_true_random=False))
def test_the_order_of_rows_changes_nothing(sketch: Sketch, random: Random) -> None:
    shuffled = Sketch(dict(sketch.documents), dict(sketch.questions))
    cells, compared = list(sketch.cells.items()), list(sketch.compared.items())
    random.shuffle(cells)
    random.shuffle(compared)
    shuffled.cells, shuffled.compared = dict(cells), dict(compared)
    settings_ = Analysis(bootstrap_replicates=20)
    assert audit(shuffled.tables(), settings_).metrics == audit(sketch.tables(), settings_).metrics
