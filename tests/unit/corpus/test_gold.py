from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from transplantqa.corpus.gold import Gold, load_gold, quotes_in_sections
from transplantqa.errors import InputError
from transplantqa.records import Document, GoldEvidence, GoldPair, Label, Question, Section, Verdict

GOLD = """
documents: [alpha, beta, gamma, delta]
questions:
  dose:
    stances: {early: Early., late: Late.}
    relations:
      - {between: [late, early], label: DIVERGENT, also_acceptable: [CONTRADICTORY], topic: timing, significance: low}
    cells:
      alpha: {stance: early, quotes: ["Take it early."]}
      beta: {stance: late, quotes: ["Take it late."]}
      gamma: {stance: early, quotes: ["At dawn.", "Before breakfast."]}
"""


def document(document_id: str, group: str = "g", verdict: Verdict = "accept") -> Document:
    return Document(document_id, "I", group, None, "T", None, "f", "0", 1, 1, 1, None, True, verdict)


DOCUMENTS = [document(name) for name in ("alpha", "beta", "gamma", "delta")]
DOSE = Question("dose", "When?")


def load(tmp_path: Path, text: str, *questions: Question, documents: list[Document] | None = None) -> Gold:
    path = tmp_path / "gold.yaml"
    path.write_text(text, encoding="utf-8")
    return load_gold(path, questions or [DOSE], DOCUMENTS if documents is None else documents)


def pair(gold: Gold, document_a: str, document_b: str) -> GoldPair:
    return next(p for p in gold.pairs if (p.document_a, p.document_b) == (document_a, document_b))


def problem(tmp_path: Path, text: str) -> str:
    with pytest.raises(InputError) as caught:
        load(tmp_path, text)
    return str(caught.value)


def section(section_id: str, text: str) -> Section:
    return Section(section_id, "alpha", 0, 1, "H", ("H",), 1, 1, text, 1)


def test_a_listed_document_takes_its_stance_with_its_quotes(tmp_path: Path) -> None:
    gold = load(tmp_path, GOLD)
    expected = GoldEvidence("dose", "gamma", silent=False, stance="early", quotes=("At dawn.", "Before breakfast."))
    assert expected in gold.evidence


def test_an_applicable_document_that_is_not_listed_is_silent(tmp_path: Path) -> None:
    assert GoldEvidence("dose", "delta", silent=True) in load(tmp_path, GOLD).evidence


def test_documents_of_one_stance_are_consistent(tmp_path: Path) -> None:
    assert pair(load(tmp_path, GOLD), "alpha", "gamma") == GoldPair("dose", "alpha", "gamma", Label.CONSISTENT)


def test_documents_of_two_stances_have_the_authored_relation_whichever_is_named_first(tmp_path: Path) -> None:
    expected = GoldPair("dose", "alpha", "beta", Label.DIVERGENT, (Label.CONTRADICTORY,), "timing", "low")
    assert pair(load(tmp_path, GOLD), "alpha", "beta") == expected


def test_a_pair_with_a_silent_side_is_absent(tmp_path: Path) -> None:
    assert pair(load(tmp_path, GOLD), "alpha", "delta") == GoldPair("dose", "alpha", "delta", Label.ABSENT)


def test_each_unordered_pair_comes_once_with_the_lesser_id_first(tmp_path: Path) -> None:
    pairs = [(p.document_a, p.document_b) for p in load(tmp_path, GOLD).pairs]
    assert pairs == [
        ("alpha", "beta"),
        ("alpha", "delta"),
        ("alpha", "gamma"),
        ("beta", "delta"),
        ("beta", "gamma"),
        ("delta", "gamma"),
    ]


def test_a_question_of_a_group_has_rows_for_that_groups_documents_alone(tmp_path: Path) -> None:
    documents = [document("alpha"), document("beta", group="other"), document("gamma")]
    gold = load(tmp_path, GOLD, Question("dose", "When?", groups=("g",)), documents=documents)
    assert [cell.document_id for cell in gold.evidence] == ["alpha", "gamma"]


def test_a_rejected_document_has_no_rows_and_is_not_silent(tmp_path: Path) -> None:
    documents = [document("alpha"), document("beta"), document("delta", verdict="reject")]
    gold = load(tmp_path, GOLD, documents=documents)
    assert [cell.document_id for cell in gold.evidence] == ["alpha", "beta"]


def test_what_the_file_covers_beyond_the_selection_is_left_out(tmp_path: Path) -> None:
    gold = load(tmp_path, GOLD, documents=[document("alpha"), document("beta")])
    assert [(p.document_a, p.document_b) for p in gold.pairs] == [("alpha", "beta")]


def test_the_order_of_the_selection_does_not_matter(tmp_path: Path) -> None:
    assert load(tmp_path, GOLD) == load(tmp_path, GOLD, documents=DOCUMENTS[::-1])


def test_a_selected_question_without_gold_is_refused(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="question other: no gold"):
        load(tmp_path, GOLD, DOSE, Question("other", "What?"))


def test_a_selected_document_that_is_not_covered_is_refused(tmp_path: Path) -> None:
    with pytest.raises(InputError, match='"omega" is not covered'):
        load(tmp_path, GOLD, documents=[document("omega")])


@pytest.mark.parametrize(
    ("found", "replacement", "message"),
    [
        ("gamma: {", "omega: {", 'question dose: unknown document "omega"'),
        ("beta: {stance: late", "beta: {stance: never", 'question dose: beta takes unknown stance "never"'),
        ("[late, early]", "[late, soon]", 'question dose: relation late - soon names unknown stance "soon"'),
        ("[late, early]", "[late, late]", "question dose: stances early and late meet but have no relation"),
        ("[late, early]", "[late, late]", "question dose: relation late - late is of a stance with itself"),
        ("label: DIVERGENT", "label: ABSENT", "question dose: relation late - early is ABSENT"),
        ("label: DIVERGENT", "label: SIMILAR", "questions.dose.relations.0.label: Input should be 'ABSENT'"),
        (", significance: low", "", "question dose: relation late - early is DIVERGENT without topic and significance"),
        ("label: DIVERGENT", "label: COMPLEMENTARY", "is COMPLEMENTARY, which has no topic or significance"),
        ('["Take it late."]', "[]", "questions.dose.cells.beta.quotes"),
        (', quotes: ["Take it late."]', "", "questions.dose.cells.beta.quotes: Field required"),
        ('["Take it late."]', '[" - "]', "question dose: beta has an empty quote"),
        ("late: Late.", "late: Late., never: Never.", "question dose: stance never is taken by no document"),
        ("beta: {", "alpha: {", 'key "alpha" is given twice'),
        ("    cells:", "    cell:", "questions.dose.cell"),
        ("documents: [", "documents: ]", "not valid YAML"),
        ("beta: {", "? [beta, gamma]\n    : {", "not valid YAML"),
    ],
)
def test_a_mistake_is_refused_with_its_place(tmp_path: Path, found: str, replacement: str, message: str) -> None:
    assert found in GOLD
    assert message in problem(tmp_path, GOLD.replace(found, replacement, 1))


def test_all_mistakes_come_at_once(tmp_path: Path) -> None:
    text = GOLD.replace("gamma: {", "omega: {").replace("beta: {stance: late", "beta: {stance: never")
    assert len(problem(tmp_path, text).split("\n\n")) == 3  # document, stance, and "late" is now taken by none


def test_a_missing_file_is_refused(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="can't be read"):
        load_gold(tmp_path / "none.yaml", [DOSE], DOCUMENTS)


def test_a_quote_is_found_through_case_line_breaks_hyphenation_and_ligatures() -> None:
    sections = [section("s1", "Other."), section("s2", "Stay \ufb01rm:  FOL-\nLOW the\nplan | today")]
    assert quotes_in_sections(["stay firm: follow the plan today"], sections) == {
        "stay firm: follow the plan today": ["s2"]
    }


def test_a_quote_cut_by_a_section_boundary_is_mapped_to_both_sides() -> None:
    quote = "Count six weeks from the day of surgery. Then ask the nurse before you drive."
    sections = [
        section("s1", "Heading. Count six weeks from the day of surgery."),
        section("s2", "Then ask the nurse before you drive. More text."),
        section("s3", "Count the tablets from the bottle."),
    ]
    assert quotes_in_sections([quote], sections) == {quote: ["s1", "s2"]}


def test_a_quote_with_a_running_head_in_its_middle_is_found() -> None:
    quote = "Never take a late dose before you have called the nurse on duty."
    text = "Never take a late dose Center X page 4 before you have called the nurse on duty."
    assert quotes_in_sections([quote], [section("s1", text)]) == {quote: ["s1"]}


def test_a_quote_found_whole_is_not_mapped_to_sections_that_only_resemble_it() -> None:
    sections = [section("s1", "Drink two liters of water a day."), section("s2", "Drink two liters of water a week.")]
    assert quotes_in_sections(["Drink two liters of water a day."], sections)["Drink two liters of water a day."] == [
        "s1"
    ]


def test_a_quote_that_begins_in_a_heading_is_found() -> None:
    headed = Section("s1", "alpha", 0, 1, "When may I drive?", ("When may I drive?",), 1, 1, "After six weeks.", 1)
    quote = "When may I drive? After six weeks."
    assert quotes_in_sections([quote], [headed]) == {quote: ["s1"]}


def test_a_quote_that_no_section_holds_is_mapped_to_none() -> None:
    assert quotes_in_sections(["Something else."], [section("s1", "Text.")]) == {"Something else.": []}


@given(
    words=st.lists(st.text("abcdefghij", min_size=2, max_size=8), min_size=4, max_size=12),
    gaps=st.lists(st.sampled_from([" ", "\n", "  ", " | ", "\n- "]), min_size=12, max_size=12),
    upper=st.booleans(),
)
def test_layout_never_hides_a_quote(words: list[str], gaps: list[str], upper: bool) -> None:
    quote = " ".join(words)
    laid_out = "".join(word + gap for word, gap in zip(words, gaps, strict=False))
    text = laid_out.upper() if upper else laid_out
    assert quotes_in_sections([quote], [section("s1", f"Before. {text} After.")]) == {quote: ["s1"]}
