"""The page of a run: what it says, what it bounds, and that foreign text stays text."""

import json
import re
from html.parser import HTMLParser
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from transplantqa.contrasts.folder import write_contrast
from transplantqa.report.page.collect import page_content
from transplantqa.report.page.coverage import Coverage
from transplantqa.report.page.detail import Bounds
from transplantqa.report.page.stances import stances
from transplantqa.report.page.write import page as rendered
from transplantqa.report.page.write import script_json, write_page
from transplantqa.store.run_folder import RunFolder

HOSTILE = [
    "<script>alert(1)</script>",
    "</script><img src=x onerror=alert(1)>",
    "javascript:alert(1)",
    '"><svg onload=alert(1)>',
    "{{ 7 * 7 }}",
    "<!-- <script>",
]


def page(run: RunFolder, bounds: Bounds) -> str:
    return rendered(page_content(run, bounds), {})


class Elements(HTMLParser):
    """Counts elements, and gathers scripts and event handlers."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.tags: dict[str, int] = {}
        self.handlers: list[str] = []
        self.addresses: list[str] = []
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags[tag] = self.tags.get(tag, 0) + 1
        self.handlers += [name for name, _ in attrs if name.startswith("on")]
        self.addresses += [value or "" for name, value in attrs if name in {"href", "src"}]


def data_of(text: str) -> dict[str, Any]:
    found = re.search(r'<script type="application/json" id="data">(.*?)</script>', text, re.DOTALL)
    assert found is not None
    content: dict[str, Any] = json.loads(found[1])
    return content


def hostile_rows(write_run: Any, text: str) -> dict[str, list[dict[str, Any]]]:
    rows = {name: [dict(row) for row in found] for name, found in write_run.rows.items()}
    for row in rows["answers"]:
        row["text"] = text
        row["citations"] = [{**citation, "heading": text} for citation in row["citations"]]
    for row in rows["questions"]:
        row |= {"text": text, "topics": [text]}
    for row in rows["documents"]:
        row |= {"institution": text + row["document_id"], "title": text}
    for row in rows["comparisons"]:
        row |= {"reasoning": text, "divergence_topic": text}
    return rows


def test_the_page_has_findings_with_denominators_and_intervals(write_run: Any) -> None:
    text = page(write_run(), Bounds())
    assert "silent answers<b>0.250</b>" in text
    assert "of 4 answers, interval 0.000 to 0.500" in text


@pytest.mark.parametrize(
    "said",
    [
        "The judge has not been validated against people",
        "absence accuracy 0.75 of 4 is below 0.80",
        "kidney_z (no text on any page)",
        "intervals are exploratory: 2 questions",
        "A research instrument",
        "nothing here is professional advice",
        "of the others only sections and pages are named",
    ],
)
def test_the_page_says_what_the_findings_are_worth(write_run: Any, said: str) -> None:
    text = page(write_run(), Bounds())
    assert said in text or said.replace("&#39;", "'") in text


@pytest.mark.parametrize("text", HOSTILE)
def test_hostile_text_stays_text(write_run: Any, text: str) -> None:
    harmless, attacked = (
        Elements(page(write_run(rows=rows), Bounds())) for rows in (None, hostile_rows(write_run, text))
    )
    assert attacked.tags.get("script") == 2
    assert {"img", "iframe", "object"} & attacked.tags.keys() == set()
    assert attacked.tags.get("svg") == harmless.tags.get("svg")
    assert attacked.handlers == []
    assert all(address.startswith("#") for address in attacked.addresses)


@pytest.mark.parametrize("text", HOSTILE)
def test_hostile_answers_arrive_whole(write_run: Any, text: str) -> None:
    data = data_of(page(write_run(rows=hostile_rows(write_run, text)), Bounds()))
    assert {answer["t"] for one in data["detail"] for answer in one["answers"]} == {text}


@given(st.text())
def test_json_for_a_script_is_the_same_value_and_has_no_markup(text: str) -> None:
    shown = script_json({"text": text})
    assert json.loads(shown) == {"text": text}
    assert not {"<", ">", "&", "\u2028", "\u2029"} & set(shown)


def test_nothing_is_fetched(write_run: Any) -> None:
    text = page(write_run(), Bounds())
    assert "default-src 'none'" in text
    assert re.findall(r"(?:https?:)?//[\w.-]+\.\w+", text) == []


def test_terminal_sequences_are_taken_out(write_run: Any) -> None:
    assert "\x1b" not in page(write_run(), Bounds())


def test_secrets_of_the_configuration_are_not_shown(write_run: Any) -> None:
    run = write_run(config={"model": {"api_key": "sk-verysecretkey0123456789", "url": "http://u:p4ss@host"}})
    text = page(run, Bounds())
    assert "verysecret" not in text
    assert "p4ss" not in text


def test_detail_is_bounded_and_the_bound_is_stated(write_run: Any) -> None:
    text = page(write_run(), Bounds(questions=1))
    assert len(data_of(text)["detail"]) == 1
    assert "first 1 of 2 questions" in text


def test_detail_stops_at_its_bytes_but_not_before_one_question(write_run: Any) -> None:
    assert len(data_of(page(write_run(), Bounds(bytes=1)))["detail"]) == 1


def test_long_answers_are_cut_with_an_ellipsis(write_run: Any) -> None:
    data = data_of(page(write_run(), Bounds(answer_characters=3)))
    texts = {answer["t"] for one in data["detail"] for answer in one["answers"]}
    assert "Aft…" in texts


def test_an_answer_has_its_citations_and_the_sections_read_with_pages(write_run: Any) -> None:
    data = data_of(page(write_run(), Bounds()))
    one = next(one for one in data["detail"] if one["q"] == "q1")
    answered = next(answer for answer in one["answers"] if answer["o"] == "ok")
    assert answered["c"] == [["Going home", 2, True]]
    assert answered["e"]


def test_evidence_is_quoted_only_from_documents_that_may_be_passed_on(write_run: Any) -> None:
    text = page(write_run(), Bounds())
    assert "SECRET TEXT" not in text
    answers = next(one for one in data_of(text)["detail"] if one["q"] == "q2")["answers"]
    assert [answer["e"] for answer in answers] == [
        [["Care > Going home", "p. 2-3", "Walk daily."]],
        [["Care > Going home", "p. 2-3", ""]],
    ]


def test_a_quote_is_bounded(write_run: Any) -> None:
    detail = data_of(page(write_run(), Bounds(quote_characters=6)))["detail"]
    quotes = [entry[2] for one in detail for answer in one["answers"] for entry in answer["e"]]
    assert {quote for quote in quotes if quote} == {"Walk…"}


def test_relations_have_a_mark_a_pair_and_the_judges_reasoning(write_run: Any) -> None:
    data = data_of(page(write_run(), Bounds()))
    one = next(one for one in data["detail"] if one["q"] == "q2")
    assert one["marks"] == "X"
    assert one["reasons"][0]["r"] == "One says yes [/], one no."
    assert one["stances"] == [[0], [1]]


def test_a_contrast_of_the_run_is_on_its_page(write_run: Any) -> None:
    run = write_run()
    sides = {side: {"run_id": name, "system": name} for side, name in (("baseline", "old"), ("candidate", run.run_id))}
    record = {
        "contrast_id": "c",
        **sides,
        "components": {"statement": "The retriever alone differs."},
        "metrics": {"baseline/absence_rate": 0.5, "candidate/absence_rate": 0.25, "delta/absence_rate": -25.0},
    }
    write_contrast(run.path.parent.parent, record, {})
    text = page(run, Bounds())
    assert "The retriever alone differs." in text
    assert "-25.0" in text


def test_a_damaged_contrast_leaves_the_page_as_it_is(write_run: Any) -> None:
    run = write_run()
    before = page(run, Bounds())
    damaged = run.path.parent.parent / "contrasts" / "c" / "contrast.json"
    damaged.parent.mkdir(parents=True)
    damaged.write_text("{", encoding="utf-8")
    assert page(run, Bounds()) == before


def test_the_page_is_written_into_the_run_and_the_same_each_time(write_run: Any) -> None:
    run = write_run()
    first = write_page(run).read_bytes()
    assert write_page(run).read_bytes() == first
    assert (run.path / "report.html").is_file()


def test_neighbouring_cells_of_a_state_are_one_rectangle() -> None:
    grid = Coverage(("q",), ("x", "y", "z", "w"), ("aas ",))
    assert grid.paths() == {"a": "M0 0h2v1h-2z", "s": "M2 0h1v1h-1z"}


def test_sources_that_agree_are_one_stance_and_the_largest_comes_first() -> None:
    labels = {("a", "b"): "DIVERGENT", ("b", "c"): "CONSISTENT", ("a", "c"): "DIVERGENT"}
    assert stances(["a", "b", "c"], labels) == [["b", "c"], ["a"]]


def test_a_source_in_conflict_with_a_member_opens_its_own_stance() -> None:
    """Agreement isn't transitive: c agrees with a and contradicts b."""
    labels = {("a", "b"): "CONSISTENT", ("a", "c"): "COMPLEMENTARY", ("b", "c"): "CONTRADICTORY"}
    assert stances(["a", "b", "c"], labels) == [["a", "b"], ["c"]]
