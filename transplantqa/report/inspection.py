"""A document's inspection page: beside a picture of each page what was read from it, and what was taken out and why.

Everything comes from files that anybody may have written: all of it is escaped, and the page forbids scripts.
"""

import html
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from transplantqa.report.text import plain

Row = Mapping[str, Any]
REASONS_OF_REMOVAL: Mapping[str, str] = {
    "running_lines": "running head or foot: near the same edge of several pages",
    "page_numbers": "page number: keeps its distance from the page's place in the file",
    "contents_lines": "table of contents: titles that end in page numbers",
    "doubled_fragments": "drawn twice at one place: a shadow or a second text layer",
    "doubled_objects": "drawn again at the same place: PDFium reads it once",
    "note_marks": "note mark: a small raised number apart from its line",
    "slanted_words": "set at a slant: a watermark",
    "deletions": "deleted in the file's tracked changes",
    "left_out": "what the file marks as navigation, comment or decoration",
    "ligatures": "ligatures and presentation forms written as plain letters",
    "unseen_characters": "characters that show nothing",
    "composed_accents": "accents set apart from their letters, composed",
    "line_end_hyphens": "hyphens at line ends, joined or kept by the document's own words",
    "white_space": "runs of white space, tabs and wide or narrow spaces written as one space",
    "reordered_lines": "kept, but read later than the file draws it (columns)",
    "bullets": "bullets of every shape written as one",
}
_COUNTED_ONLY = {
    "cut_rows": "table rows longer than a chunk, cut between cells",
    "repeated_headers": "table headers written again where a table goes on in the next chunk",
}
_NAMED = 8
"""Characters of a run of white space that are named. Ours."""
_STYLE = """
body{font:15px/1.45 system-ui,sans-serif;margin:2em auto;max-width:75em;padding:0 1em;color:#222}
table{border-collapse:collapse;margin:.6em 0}td,th{padding:.15em .8em .15em 0;text-align:left;vertical-align:top}
.page{display:flex;gap:1.5em;border-top:2px solid #bbb;padding:1em 0}.page>div{flex:1;min-width:0}
.shot{flex:0 0 320px!important}img{width:320px;border:1px solid #ccc}
.chunk{white-space:pre-wrap;overflow-wrap:anywhere;border-left:3px solid #7a9;padding-left:.7em;margin:.4em 0 1em}
.removed{overflow-wrap:anywhere;color:#833}.note{color:#666}.accept{color:#161}.review{color:#850}.reject{color:#a11}
h2,h3,h4{margin:.5em 0 .2em}
"""


def inspection_page(row: Row, pictures: Mapping[int, str], inputs_sha256: str) -> str:
    """Return the HTML of one row of the ingest table.

    Args:
        row: the document with its sections and chunks.
        pictures: base64 PNG by page number, for the pages that have one.
        inputs_sha256: what the page is made from, kept in it so that it is made only once.
    """
    body = [*_summary(row), *_sections(row)]
    for page in range(1, row["pages"] + 1):
        body += _page(row, page, pictures.get(page))
    return _document(row["title"], body, inputs_sha256)


def index_page(rows: Sequence[Row], names: Mapping[str, str]) -> str:
    """Return the HTML of the table of all documents; ``names`` gives each its page's file name."""
    columns = ("document", "institution", "group", "pages", "sections", "chunks", "characters", "verdict", "reasons")
    body = ["<h1>Documents read</h1>", "<table><tr>", *(f"<th>{name}</th>" for name in columns), "</tr>"]
    for row in rows:
        link = f'<a href="{_safe(names[row["document_id"]])}">{_safe(row["document_id"])}</a>'
        counts = [row["pages"], len(row["sections"]), len(row["chunks"]), row["characters"]]
        cells = [link, _safe(row["institution"]), _safe(row["group"]), *(f"{count:,}" for count in counts)]
        cells += [_verdict(row), _safe("; ".join(row["reasons"]))]
        body.append("<tr>" + "".join(f"<td>{cell}</td>" for cell in cells) + "</tr>")
    return _document("Documents read", [*body, "</table>"], "")


def _document(title: str, body: Sequence[str], inputs_sha256: str) -> str:
    policy = "default-src 'none'; img-src data:; style-src 'unsafe-inline'"
    return "\n".join(
        [
            '<!doctype html><html lang="en"><head><meta charset="utf-8">',
            f'<meta name="inputs" content="{_safe(inputs_sha256)}">',
            f'<meta http-equiv="Content-Security-Policy" content="{policy}">',
            f"<title>{_safe(title)}</title><style>{_STYLE}</style></head><body>",
            *body,
            "</body></html>\n",
        ]
    )


def _summary(row: Row) -> Iterator[str]:
    yield f"<h1>{_safe(row['title'])}</h1>"
    facts = {
        "document": _safe(row["document_id"]),
        "file": _safe(row["source_file"]),
        "institution": _safe(row["institution"]),
        "group": _safe(row["group"]),
        "verdict": _verdict(row) + ("" if not row["reasons"] else ": " + _safe("; ".join(row["reasons"]))),
        "read": f"{row['pages']:,} pages, {len(row['sections']):,} sections, {len(row['chunks']):,} chunks, "
        f"{row['characters']:,} characters, {row['tokens']:,} tokens",
        "headings from": _safe(row["headings_from"] or "none"),
    }
    yield "<table>" + "".join(f"<tr><th>{name}</th><td>{value}</td></tr>" for name, value in facts.items())
    why = {**REASONS_OF_REMOVAL, **_COUNTED_ONLY}
    for removed in row["removed"] or ():
        kind = removed["kind"]
        yield f"<tr><th>{removed['count']:,}</th><td>{_safe(why.get(kind, kind.replace('_', ' ')))}</td></tr>"
    yield "</table>"


def _sections(row: Row) -> Iterator[str]:
    if not row["sections"]:
        return
    yield "<h2>Sections</h2><table><tr><th>section</th><th>pages</th><th>tokens</th></tr>"
    for section in row["sections"]:
        start = f'<a href="#page-{section["page_start"]}">{_span(section)}</a>'
        yield f"<tr><td>{_path(section['heading_path'])}</td><td>{start}</td><td>{section['tokens']:,}</td></tr>"
    yield "</table>"


def _page(row: Row, page: int, picture: str | None) -> Iterator[str]:
    labels = row["page_labels"] or ()
    label = labels[page - 1] if page <= len(labels) else None
    facts = next((one for one in row.get("page_facts") or () if one["page"] == page), None)
    printed = f' <span class="note">(its label: {_safe(label)})</span>' if label else ""
    yield f'<div class="page" id="page-{page}"><div class="shot"><h3>Page {page:,} of {row["pages"]:,}{printed}</h3>'
    if picture is None:
        yield '<p class="note">No picture.</p>'
    else:
        yield f'<img alt="page {page}" src="data:image/png;base64,{_safe(picture)}">'
    yield "</div><div>"
    yield from _page_verdict(facts)
    chunks = [chunk for chunk in row["chunks"] if chunk["page_start"] <= page <= chunk["page_end"]]
    if not chunks:
        yield '<p class="note">Nothing that was read stands on this page.</p>'
    yield from _chunks(row, chunks, page)
    yield from _removed([removed for removed in row["removed_texts"] or () if removed["page"] == page])
    if facts is not None and facts["text"]:
        yield "<details><summary>The page's text before cleaning, in the order of the file</summary>"
        yield f'<pre class="chunk">{_safe_lines(facts["text"])}</pre></details>'
    yield "</div></div>"


def _page_verdict(facts: Row | None) -> Iterator[str]:
    if facts is None:
        return
    source = " by OCR" if facts["text_from"] == "ocr" else ""
    reasons = ": " + _safe("; ".join(facts["reasons"])) if facts["reasons"] else ""
    yield f'<p class="note">{_verdict(facts)}{reasons}; {facts["characters"]:,} characters{source}</p>'


def _chunks(row: Row, chunks: Sequence[Row], page: int) -> Iterator[str]:
    paths = {section["section_id"]: section["heading_path"] for section in row["sections"]}
    shown = ""
    for chunk in chunks:
        if chunk["section_id"] != shown:
            shown = chunk["section_id"]
            yield f"<h4>{_path(paths[shown])}</h4>"
        note = f"chunk {chunk['order']:,}, {chunk['tokens']:,} tokens"
        first = chunk["page_start"]
        if first < page:
            yield f'<p class="note">{note}, shown on <a href="#page-{first}">page {first}</a></p>'
            continue
        if chunk["page_end"] > page:
            note += f", goes on to page {chunk['page_end']}"
        yield f'<p class="note">{note}</p><div class="chunk">{_safe(chunk["text"])}</div>'


def _removed(texts: Sequence[Row]) -> Iterator[str]:
    if not texts:
        return
    yield "<h4>Taken out, moved or written another way</h4><table>"
    found: dict[tuple[str, str, str], list[str]] = {}
    for one in texts:
        spans = [f"{span['start']}-{span['end']}" for span in one.get("spans") or ()]
        places = spans if one["kind"] == "white_space" else [", ".join(spans)]
        found.setdefault((one["kind"], one["text"], one.get("became") or ""), []).extend(places)
    for (kind, text, became), places in found.items():
        times = f" ({len(places)} times)" if len(places) > 1 else ""
        old, new = (_named(text), _named(became)) if kind == "white_space" else (text, became)
        arrow = f" \u2192 {_safe(new)}" if new else ""
        why = _safe(REASONS_OF_REMOVAL.get(kind, kind.replace("_", " ")))
        where = f'<span class="note">at {_safe("; ".join(places[:3]))}</span>' if any(places) else ""
        yield f'<tr><td class="removed">{_safe(old)}{arrow}{times}</td><td>{why} {where}</td></tr>'
    yield "</table>"


def _named(text: str) -> str:
    """Name white space, which can't be seen."""
    more = "\u2026" if len(text) > _NAMED else ""
    return " ".join(f"U+{ord(character):04X}" for character in text[:_NAMED]) + more


def _path(headings: Sequence[str]) -> str:
    return _safe(" \u203a ".join(headings))


def _span(part: Row) -> str:
    first, last = part["page_start"], part["page_end"]
    return f"{first}" if first == last else f"{first}-{last}"


def _verdict(row: Row) -> str:
    verdict = _safe(row["verdict"])
    return f'<span class="{verdict}">{verdict}</span>'


def _safe_lines(text: str) -> str:
    return "\n".join(_safe(line) for line in text.replace("\r\n", "\n").split("\n"))


def _safe(text: object) -> str:
    return html.escape(plain(str(text)), quote=True)
