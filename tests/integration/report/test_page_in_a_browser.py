"""The page in a real headless Chromium."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow.parquet as pq
import pytest

from transplantqa.analysis import Analysis, AuditTables, audit, with_further_findings
from transplantqa.report.page import write_page
from transplantqa.store.run_folder import RunFolder

HOSTILE = "<script>window.attacked=1</script></script><img src=x onerror='window.attacked=1'> javascript:attack()"


class OneMeaning:
    """An embedder to which all texts mean the same."""

    def identity(self) -> Mapping[str, Any]:
        return {}

    def embed_queries(self, texts: Sequence[str]) -> Any:
        return np.ones((len(texts), 1), np.float32)

    embed_passages = embed_queries


def measured(run: RunFolder) -> RunFolder:
    """Give a run the tables of its findings, themes included."""
    tables = AuditTables(**{name: run.table(name) for name in ("documents", "questions", "answers", "comparisons")})
    settings = Analysis(bootstrap_replicates=20, permutations=0, embedder=OneMeaning())
    for name, table in with_further_findings(tables, audit(tables, settings), settings).run_tables().items():
        pq.write_table(table, run.table_path(name))
    return run


@pytest.fixture
def hostile_page(write_run: Any) -> Path:
    rows = {name: [dict(row) for row in found] for name, found in write_run.rows.items()}
    for row in rows["answers"]:
        row["text"] = HOSTILE
    for row in rows["questions"]:
        row["topics"] = [HOSTILE]
    for row in rows["comparisons"]:
        row |= {"reasoning": HOSTILE, "divergence_topic": HOSTILE}
    for row in rows["documents"]:
        row["institution"] = HOSTILE + row["document_id"]
    return write_page(measured(write_run(rows=rows)))


@pytest.mark.parametrize("width", [1200, 390])
def test_it_opens_without_an_error_a_request_or_a_sideways_scroll(browser: Any, write_run: Any, width: int) -> None:
    path = write_page(measured(write_run()))
    browser.open(path, width)
    assert browser.evaluate("document.querySelectorAll('figure svg').length") >= 4
    assert browser.problems == []
    assert set(browser.requests) == {path.as_uri()}
    assert browser.evaluate("document.documentElement.scrollWidth <= innerWidth")


def test_a_question_opens_with_its_answers_relations_and_reasons(browser: Any, write_run: Any) -> None:
    browser.open(write_page(write_run()))
    browser.evaluate("document.querySelector('[data-question=q2]').open = true")
    text = browser.evaluate(
        "new Promise(done => setTimeout(() => done(document.querySelector('[data-question=q2]').innerText), 100))"
    )
    assert "Never." in text
    assert "One says yes [/], one no." in text
    assert browser.evaluate("document.querySelectorAll('[data-question=q2] .m-conflict').length") == 2


@pytest.mark.parametrize(
    ("field", "value", "shown"),
    [
        ("search", "never", ["q2"]),
        ("search", "suitcase", ["q1"]),
        ("topic", "Lifestyle", ["q1"]),
        ("group", "general", ["q2"]),
    ],
)
def test_search_and_filters_leave_what_fits(
    browser: Any, write_run: Any, field: str, value: str, shown: list[str]
) -> None:
    browser.open(write_page(write_run()))
    browser.evaluate(
        f"(() => {{ const field = document.getElementById('{field}'); field.value = '{value}';"
        "field.dispatchEvent(new Event('input')); })()"
    )
    found = browser.evaluate(
        "[...document.querySelectorAll('.question')].filter(row => !row.hidden).map(row => row.dataset.question)"
    )
    assert found == shown


def test_an_address_leads_to_a_question(browser: Any, write_run: Any) -> None:
    browser.open(write_page(write_run()))
    browser.evaluate("location.hash = '#q-q2'")
    assert browser.evaluate(
        "new Promise(done => setTimeout(() => done(document.querySelector('[data-question=q2]').open), 100))"
    )


def test_choosing_a_cell_of_the_grid_leads_to_its_question(browser: Any, write_run: Any) -> None:
    browser.open(write_page(write_run()))
    opened = browser.evaluate(
        "(() => { const grid = document.getElementById('grid'); const box = grid.getBoundingClientRect();"
        "grid.dispatchEvent(new MouseEvent('click', {clientX: box.left + 2, clientY: box.top + 2}));"
        "return [...document.querySelectorAll('details.question')].filter(row => row.open).map(row => row.id); })()"
    )
    assert opened == ["q-q2"]


def test_hostile_text_is_shown_and_does_nothing(browser: Any, hostile_page: Path) -> None:
    browser.open(hostile_page)
    browser.evaluate("document.querySelectorAll('details').forEach(one => { one.open = true; })")
    text = browser.evaluate("new Promise(done => setTimeout(() => done(document.body.innerText), 200))")
    assert HOSTILE in text
    assert browser.evaluate("window.attacked === undefined && document.images.length === 0")
    assert browser.problems == []


def test_a_screenshot_has_something_on_it(browser: Any, write_run: Any, tmp_path: Path) -> None:
    browser.open(write_page(write_run()))
    browser.screenshot(tmp_path / "page.png")
    assert (tmp_path / "page.png").stat().st_size > 10_000
