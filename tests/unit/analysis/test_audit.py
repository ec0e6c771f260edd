"""Measures against values worked out by hand."""

from dataclasses import replace

import pyarrow as pa
import pytest

from transplantqa.analysis import Analysis, Findings, audit
from transplantqa.analysis.sketch import Sketch
from transplantqa.errors import InputError

PLAIN = Analysis(bootstrap_replicates=0, permutations=0)


def metrics(sketch: Sketch, settings: Analysis = PLAIN) -> dict[str, float | int]:
    return dict(audit(sketch.tables(), settings).metrics)


@pytest.mark.parametrize(
    ("name", "value", "denominator"),
    [
        ("absence_rate", 3 / 9, 9),
        ("empty_retrieval_rate", 1 / 9, 9),
        # q1: 3 visible; q2: 1 visible, 2 absent; q3: 3 absent.
        ("pair_absence_rate", 5 / 9, 9),
        ("divergence_rate", 1 / 4, 4),
        # q1 has 1 of 3, q2 has 0 of 1, q3 has no visible pair.
        ("divergence_rate_question_mean", (1 / 3 + 0) / 2, 2),
        ("any_divergence_rate", 1 / 3, 3),
        # One silent: 2 in q2, 2 in q3; conflicts: 1; with an answer: 3 + 3 + 2.
        ("source_dependence_index", 5 / 8, 8),
        ("source_dependence_silence", 4 / 8, 8),
        ("source_dependence_conflict", 1 / 8, 8),
        ("severity_weighted_divergence", 1 / 4, 4),
        ("severity_high_share", 1.0, 1),
        ("label/ABSENT", 5 / 9, 9),
        ("label/CONSISTENT", 2 / 9, 9),
        ("label_visible/COMPLEMENTARY", 1 / 4, 4),
        ("label_judged/DIVERGENT", 1 / 4, 4),
        ("group/heart/absence_rate", 1 / 3, 3),
        ("group/general/absence_rate", 2 / 6, 6),
        ("group/general/divergence_rate", 1 / 3, 3),
        ("topic/diet/divergence_rate", 1 / 4, 4),
        ("topic/travel/any_divergence_rate", 0.0, 2),
        ("institution/of z/absence_rate", 2 / 3, 3),
        ("institution/of z/divergence_rate", 0.0, 2),
        ("institution/of x/divergence_rate", 1 / 3, 3),
        ("document_group/heart/divergence_rate", 1 / 2, 2),
        ("document/z/absence_rate", 2 / 3, 3),
        ("scope/all/divergence_rate", 1 / 4, 4),
        ("parse_success_rate", 1.0, 4),
        ("failure_rate", 0.0, 13),
    ],
)
def test_each_measure_is_what_its_definition_gives_by_hand(
    three_institutions: Sketch, name: str, value: float, denominator: int
) -> None:
    found = metrics(three_institutions)
    assert (found[name], found[f"{name}_n"]) == pytest.approx((value, denominator))


def test_a_measure_without_a_denominator_is_absent_and_its_denominator_is_zero(three_institutions: Sketch) -> None:
    found = metrics(three_institutions)
    assert "document_group/lung/divergence_rate" not in found
    assert found["document_group/lung/divergence_rate_n"] == 0


def test_rarefied_any_divergence_is_the_chance_of_a_conflict_among_drawn_pairs(three_institutions: Sketch) -> None:
    found = metrics(three_institutions, Analysis(bootstrap_replicates=0, rarefaction_pairs=2))
    # Only q1 has 2 visible pairs or more: 1 - C(2, 2) / C(3, 2).
    assert (found["any_divergence_rarefied"], found["any_divergence_rarefied_n"]) == pytest.approx((2 / 3, 1))


def test_severity_weights_come_from_the_settings(three_institutions: Sketch) -> None:
    found = metrics(three_institutions, Analysis(bootstrap_replicates=0, severity_weights={"high": 0.5}))
    assert found["severity_weighted_divergence"] == pytest.approx(0.5 / 4)


def test_an_unrated_conflict_is_in_no_severity_figure(sketch: Sketch) -> None:
    sketch.document("x").document("y").question("q", {"x": "ok", "y": "ok"}).compare("q", "x", "y", "DIVERGENT")
    found = metrics(sketch)
    assert found["divergence_rate"] == 1.0
    assert found["severity_weighted_divergence_n"] == found["severity_high_share_n"] == 0


def test_the_judges_absent_counts_as_silence_of_the_side_it_names(sketch: Sketch) -> None:
    sketch.document("x").document("y").document("z")
    sketch.question("q", {"x": "ok", "y": "ok", "z": "ok"})
    sketch.compare("q", "x", "y", "ABSENT", silent_side="a")
    sketch.compare("q", "x", "z", "ABSENT", silent_side="both")
    sketch.compare("q", "y", "z", "CONSISTENT")
    found = metrics(sketch)
    assert found["absence_rate"] == 0.0
    assert (found["pair_absence_rate"], found["source_dependence_index"]) == pytest.approx(
        (
            2 / 3,
            1 / 2,
        )
    )
    assert found["label_judged/ABSENT"] == pytest.approx(2 / 3)


def test_a_pair_excluded_since_its_orders_disagree_was_read(sketch: Sketch) -> None:
    sketch.document("x").document("y").document("z").question("q", {"x": "ok", "y": "ok", "z": "ok"})
    sketch.compare("q", "x", "y", None, outcome="parse_failed", consistent=False)
    sketch.compare("q", "x", "z", None, outcome="parse_failed")
    sketch.compare("q", "y", "z", "CONSISTENT", consistent=True)
    found = metrics(sketch)
    assert found["parse_success_rate"] == pytest.approx(2 / 3)
    assert found["comparison_failure_rate"] == pytest.approx(2 / 3)


def test_a_prescreen_that_finds_the_answer_beside_silence_silent_too_makes_silence_of_both(sketch: Sketch) -> None:
    sketch.document("x").document("y").document("z")
    sketch.question("q", {"x": "abstained", "y": "ok", "z": "ok"})
    sketch.compare("q", "x", "y", "ABSENT", silent_side="both", decided_by="prescreen")
    sketch.compare("q", "x", "z", "ABSENT", silent_side="a", decided_by="prescreen")
    sketch.compare("q", "y", "z", "ABSENT", silent_side="a", decided_by="prescreen")
    found = metrics(sketch)
    assert (found["source_dependence_index"], found["source_dependence_index_n"]) == (1.0, 2)
    assert (found["pair_absence_rate"], found["absence_rate"]) == pytest.approx((1.0, 1 / 3))


def test_the_judges_absent_without_a_side_is_absence_but_no_source_dependence(sketch: Sketch) -> None:
    sketch.document("x").document("y").question("q", {"x": "ok", "y": "ok"}).compare("q", "x", "y", "ABSENT")
    found = metrics(sketch)
    assert (found["pair_absence_rate"], found["source_dependence_index_n"]) == (1.0, 0)


class TestScope:
    @pytest.fixture
    def phases(self, sketch: Sketch) -> Sketch:
        sketch.document("pre1", "A", phase="pre").document("pre2", "B", phase="pre").document("post", "C", phase="post")
        sketch.document("both", "D", phase="combined").document("twin", "A", phase="pre")
        sketch.question("q", dict.fromkeys(["pre1", "pre2", "post", "both", "twin"], "ok"))
        return sketch

    def test_pairs_of_one_institution_or_of_different_phases_are_not_in_the_headline(self, phases: Sketch) -> None:
        found = metrics(phases)
        # Institutions: only pre1-twin is of one. Phases: post against three, combined against four.
        assert found["pairs"] == 2

    def test_a_phase_that_spans_all_is_compatible_with_each(self, phases: Sketch) -> None:
        found = metrics(phases, Analysis(bootstrap_replicates=0, spanning_phases=("combined",)))
        assert found["pairs"] == 2 + 4

    def test_every_scope_has_its_own_figures(self, phases: Sketch) -> None:
        phases.compare("q", "pre1", "twin", "CONSISTENT").compare("q", "post", "pre1", "DIVERGENT")
        phases.compare("q", "pre1", "pre2", "CONSISTENT")
        found = metrics(phases)
        rates = [
            found[f"scope/{name}/divergence_rate"] for name in ("cross_institution", "cross_phase", "same_institution")
        ]
        assert rates == [0.0, 1.0, 0.0]
        assert found["scope/all/divergence_rate"] == pytest.approx(1 / 3)
        assert found["divergence_rate"] == 0.0

    def test_an_unknown_phase_is_compatible_with_each(self, sketch: Sketch) -> None:
        sketch.document("x", phase=None).document("y", phase="pre").question("q", {"x": "ok", "y": "ok"})
        assert metrics(sketch)["pairs"] == 1


class TestFailures:
    @pytest.fixture
    def failed(self, sketch: Sketch) -> Sketch:
        for name in "wxyz":
            sketch.document(name)
        sketch.question("q", {"w": "ok", "x": "ok", "y": "engine_error", "z": "abstained"})
        return sketch.compare("q", "w", "x", "CONSISTENT")

    def test_failures_are_in_no_rate(self, failed: Sketch) -> None:
        found = metrics(failed)
        assert (found["absence_rate"], found["absence_rate_n"]) == pytest.approx((1 / 3, 3))
        assert (found["pair_absence_rate"], found["pair_absence_rate_n"]) == pytest.approx((2 / 3, 3))

    @pytest.mark.parametrize(
        ("name", "best", "worst"),
        [
            ("absence_rate", 1 / 4, 2 / 4),
            # Two of six pairs are undecided and may become visible; y-z can't, because z is silent.
            ("pair_absence_rate", 2 / 5, 5 / 6),
            ("divergence_rate", 0.0, 2 / 3),
            ("divergence_rate_question_mean", 0.0, 2 / 3),
            ("any_divergence_rate", 0.0, 1.0),
            ("source_dependence_index", 2 / 5, 5 / 6),
        ],
    )
    def test_headlines_are_bounded_by_what_failures_could_have_been(
        self, failed: Sketch, name: str, best: float, worst: float
    ) -> None:
        found = metrics(failed)
        assert (found[f"{name}_best"], found[f"{name}_worst"]) == pytest.approx((best, worst))

    def test_a_failed_judgement_is_counted_and_decides_nothing(self, failed: Sketch) -> None:
        failed.compared["q", "w", "x"]["outcome"] = "parse_failed"
        found = metrics(failed)
        assert found["divergence_rate_n"] == 0
        assert (found["parse_success_rate"], found["comparison_failure_rate"]) == (0.0, 1.0)
        assert (found["failure_rate"], found["failure_rate_n"]) == pytest.approx((2 / 5, 5))

    def test_a_call_that_returned_nothing_is_a_failure_but_not_of_parsing(self, failed: Sketch) -> None:
        failed.compared["q", "w", "x"]["outcome"] = "engine_error"
        found = metrics(failed)
        assert (found["parse_success_rate_n"], found["comparison_failure_rate"]) == (0, 1.0)

    def test_a_comparison_by_rule_is_no_judgement_to_parse(self, failed: Sketch) -> None:
        failed.compared["q", "w", "x"]["decided_by"] = "identical"
        assert metrics(failed)["parse_success_rate_n"] == 0

    def test_silence_decides_a_pair_whatever_its_comparison_says(self, failed: Sketch) -> None:
        failed.compare("q", "w", "z", "DIVERGENT")
        assert metrics(failed)["divergence_rate_n"] == 1


def test_an_unreadable_document_is_counted_apart_and_never_silent(three_institutions: Sketch) -> None:
    before = metrics(three_institutions)
    three_institutions.document("scan", verdict="reject")
    after = metrics(three_institutions)
    assert after["unreadable_documents"] == 1
    assert after["absence_rate_n"] == before["absence_rate_n"]


def test_an_unreadable_document_is_listed_without_counts(three_institutions: Sketch) -> None:
    three_institutions.document("scan", verdict="reject")
    rows = audit(three_institutions.tables(), PLAIN).tables["documents"].to_pylist()
    assert [(row["document_id"], row["silent"]) for row in rows] == [("scan", None), ("x", 0), ("y", 1), ("z", 2)]


def test_questions_are_ranked_by_source_dependence(three_institutions: Sketch) -> None:
    rows = audit(three_institutions.tables(), PLAIN).tables["questions"].to_pylist()
    assert [(row["question_id"], row["source_dependence_index"]) for row in rows] == [
        ("q3", 1.0),
        ("q2", pytest.approx(2 / 3)),
        ("q1", pytest.approx(1 / 3)),
    ]


def test_document_pairs_carry_their_counts(three_institutions: Sketch) -> None:
    rows = audit(three_institutions.tables(), PLAIN).tables["document_pairs"].to_pylist()
    assert [(row["a"], row["b"], row["visible"], row["conflicts"]) for row in rows] == [
        ("x", "y", 2, 1),
        ("x", "z", 1, 0),
        ("y", "z", 1, 0),
    ]


def test_tokens_are_those_of_answers_and_judgements(three_institutions: Sketch) -> None:
    tables = three_institutions.tables()
    place = tables.answers.schema.get_field_index("prompt_tokens")
    answers = tables.answers.set_column(place, tables.answers.field(place), pa.array([10] * 9, pa.int32()))
    judgements = pa.table({"prompt_tokens": [5], "completion_tokens": [7]})
    found = audit(replace(tables, answers=answers, judgements=judgements), PLAIN).metrics
    assert (found["tokens_prompt"], found["tokens_completion"]) == (95, 7)


def test_nothing_asked_gives_no_figure_and_no_error(sketch: Sketch) -> None:
    found: Findings = audit(sketch.tables(), Analysis())
    assert found.metrics["absence_rate_n"] == 0
    assert "absence_rate" not in found.metrics


class TestTablesThatDoNotBelongTogether:
    def test_an_answer_to_an_unknown_question_is_refused(self, three_institutions: Sketch) -> None:
        del three_institutions.questions["q1"]
        with pytest.raises(InputError, match="'q1'"):
            metrics(three_institutions)

    def test_an_answer_from_an_unknown_document_is_refused(self, three_institutions: Sketch) -> None:
        del three_institutions.documents["x"]
        with pytest.raises(InputError, match="'x'"):
            metrics(three_institutions)

    def test_a_comparison_without_its_answers_is_refused(self, three_institutions: Sketch) -> None:
        del three_institutions.cells["q1", "x"]
        with pytest.raises(InputError, match="no answer"):
            metrics(three_institutions)
