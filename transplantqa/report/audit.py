"""How one answer's evidence was chosen: route, passages given, candidates of each ranker and their fate."""

from collections.abc import Mapping
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc
from rich import box
from rich.console import RenderableType
from rich.table import Table
from rich.text import Text

from transplantqa.report.text import plain, shortened
from transplantqa.store.run_folder import RunFolder

Row = Mapping[str, Any]


def audit(run: RunFolder, evidence: Row) -> list[RenderableType]:
    """Return the audit trail of one row of evidence; headings and text are looked up where the run has sections."""
    return [_route(evidence), _passages(run, evidence), _candidates(evidence)]


def usage(answer: Row) -> Text:
    """Return what one answer cost."""
    return Text(
        f"{answer['prompt_tokens']:,} prompt tokens ({answer['cached_tokens']:,} cached), "
        f"{answer['completion_tokens']:,} written, {answer['seconds']:.1f} s, attempt {answer['attempt']}"
    )


def _route(evidence: Row) -> Text:
    score = "" if evidence["top_score"] is None else f", score {evidence['top_score']:.3f}"
    error = f": {plain(evidence['error'])}" if evidence["error"] else ""
    route = f"Evidence: {evidence['route']}, {evidence['tokens']:,} tokens{score}, {evidence['outcome']}{error}"
    return Text(f"\n{route}", style="bold")


def _passages(run: RunFolder, evidence: Row) -> RenderableType:
    sections: dict[str, Row] = {}
    if run.has_table("sections"):
        wanted = [passage["section_id"] for passage in evidence["passages"]]
        for batch in run.batches("sections"):
            rows = batch.filter(pc.is_in(batch["section_id"], value_set=pa.array(wanted, pa.string()))).to_pylist()
            sections |= {row["section_id"]: row for row in rows}
    table = Table(box=box.SIMPLE_HEAD, pad_edge=False, title="Passages given", title_justify="left")
    for column in ("rank", "section", "pages", "tokens", "begins"):
        table.add_column(column, overflow="fold")
    for passage in evidence["passages"]:
        section = sections.get(passage["section_id"])
        heading = " > ".join(section["heading_path"] or [section["heading"]]) if section else passage["section_id"]
        text = section["text"][passage["char_start"] : passage["char_end"]] if section else ""
        pages = f"{passage['page_start']}-{passage['page_end']}"
        table.add_row(
            str(passage["rank"]), Text(plain(heading)), pages, f"{passage['tokens']:,}", Text(shortened(text, 160))
        )
    return table


def _candidates(evidence: Row) -> RenderableType:
    rankers = sorted({score["ranker"] for row in evidence["candidates"] for score in row["rankers"]})
    table = Table(box=box.SIMPLE_HEAD, pad_edge=False, title="Candidates, best first", title_justify="left")
    for column in ("chunk", *rankers, "fused", "reranked", "kept", "why"):
        table.add_column(Text(plain(column)), overflow="fold")
    for row in evidence["candidates"]:
        ranks = {score["ranker"]: f"{score['rank']} ({score['score']:.3g})" for score in row["rankers"]}
        reranked = "" if row["rerank_score"] is None else f"{row['rerank_score']:.3f}"
        table.add_row(
            Text(plain(row["chunk_id"])),
            *(ranks.get(ranker, "-") for ranker in rankers),
            f"{row['fused_score']:.4f}",
            reranked,
            "yes" if row["kept"] else "no",
            Text(plain(row["why"])),
        )
    return table
