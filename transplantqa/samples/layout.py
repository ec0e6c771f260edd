"""Blocks to PDF bytes with reportlab: the same blocks and look give the same bytes."""

import html
import re
from collections.abc import Sequence
from functools import partial
from io import BytesIO
from typing import Any

from transplantqa.samples.look import Look
from transplantqa.samples.markup import Block


def render(blocks: Sequence[Block], look: Look, title: str) -> bytes:
    """Set ``blocks`` in ``look`` as a US-letter PDF.

    Streams are left uncompressed and the standard fonts are used, so that the bytes depend on reportlab's version
    alone. Set twice, because running feet may print the number of pages.
    """
    _, pages = _render_once(blocks, look, title, pages=0)
    content, _ = _render_once(blocks, look, title, pages=pages)
    return content


def _render_once(blocks: Sequence[Block], look: Look, title: str, pages: int) -> tuple[bytes, int]:
    from reportlab.lib.pagesizes import letter  # noqa: PLC0415
    from reportlab.platypus import BaseDocTemplate, PageTemplate  # noqa: PLC0415

    target = BytesIO()
    document = BaseDocTemplate(
        target, pagesize=letter, title=title, author="", creator="transplantqa sample", invariant=1, pageCompression=0
    )
    frames = _frames(look, *letter)
    decorate = partial(_decorate, look=look, pages=pages)
    document.addPageTemplates([PageTemplate(id="page", frames=frames, onPage=decorate)])
    if look.outline:
        document.afterFlowable = partial(_add_outline_entry, document)
    document.build(_flowables(blocks, _styles(look), look, frames[0].width - 12))
    return target.getvalue(), document.page


def _frames(look: Look, width: float, height: float) -> list[Any]:
    from reportlab.platypus import Frame  # noqa: PLC0415

    gutter = 18.0
    column = (width - 2 * look.margin - gutter * (look.columns - 1)) / look.columns
    bottom, top = 66.0, height - 66.0
    return [
        Frame(look.margin + number * (column + gutter), bottom, column, top - bottom, id=f"column{number}")
        for number in range(look.columns)
    ]


def _decorate(canvas: Any, document: Any, look: Look, pages: int) -> None:
    width, height = document.pagesize
    canvas.saveState()
    canvas.setFont(look.body_font, 8.5)
    if document.page > 1:
        canvas.drawString(look.margin, height - 46, look.head)
    foot = look.foot.format(page=document.page, pages=pages)
    if look.foot_side == "left":
        canvas.drawString(look.margin, 40, foot)
    elif look.foot_side == "right":
        canvas.drawRightString(width - look.margin, 40, foot)
    else:
        canvas.drawCentredString(width / 2, 40, foot)
    canvas.restoreState()


def _add_outline_entry(document: Any, flowable: Any) -> None:
    level = getattr(flowable, "outline_level", None)
    if level is None:
        return
    key = f"{document.page}:{flowable.getPlainText()}"
    document.canv.bookmarkPage(key)
    document.canv.addOutlineEntry(flowable.getPlainText(), key, level=level)


def _styles(look: Look) -> dict[str, Any]:
    from reportlab.lib.colors import HexColor  # noqa: PLC0415
    from reportlab.lib.enums import TA_JUSTIFY, TA_LEFT  # noqa: PLC0415
    from reportlab.lib.styles import ParagraphStyle  # noqa: PLC0415

    size = look.body_size
    body = ParagraphStyle(
        "body",
        fontName=look.body_font,
        fontSize=size,
        leading=size * 1.35,
        spaceAfter=size * 0.6,
        alignment=TA_JUSTIFY if look.alignment == "justified" else TA_LEFT,
    )
    styles = {
        "body": body,
        "item": ParagraphStyle(
            "item", parent=body, leftIndent=20, bulletIndent=6, spaceAfter=size * 0.3, alignment=TA_LEFT
        ),
        "cell": ParagraphStyle(
            "cell", parent=body, fontSize=size - 1, leading=size * 1.2, spaceAfter=0, alignment=TA_LEFT
        ),
        "box": ParagraphStyle(
            "box",
            parent=body,
            borderWidth=0.8,
            borderColor=HexColor("#555555"),
            borderPadding=6,
            leftIndent=8,
            rightIndent=8,
            spaceBefore=size,
            spaceAfter=size * 1.2,
            alignment=TA_LEFT,
        ),
    }
    for level, heading in enumerate((look.title_size, *look.heading_sizes), start=1):
        styles[f"heading{level}"] = ParagraphStyle(
            f"heading{level}",
            fontName=look.heading_font,
            fontSize=heading,
            leading=heading * 1.2,
            textColor=HexColor(look.heading_colour),
            spaceBefore=heading * 0.8,
            spaceAfter=heading * 0.4,
            keepWithNext=1,
        )
    return styles


def _flowables(blocks: Sequence[Block], styles: dict[str, Any], look: Look, width: float) -> list[Any]:
    from reportlab.platypus import PageBreak, Paragraph  # noqa: PLC0415

    flow: list[Any] = []
    for block in blocks:
        if block.kind == "page_break":
            flow.append(PageBreak())
        elif block.kind == "table":
            flow.extend(_table(block, styles, width))
        elif block.kind == "heading":
            flow.append(_heading(block, styles, look))
        elif block.kind == "bullet":
            flow.append(Paragraph(_inline(block.text), styles["item"], bulletText=look.bullet))
        elif block.kind == "numbered":
            flow.append(Paragraph(_inline(block.text), styles["item"], bulletText=f"{block.number}."))
        else:
            style = styles["box" if block.kind == "box" else "body"]
            flow.append(Paragraph(_inline(block.text), style))
    return flow


def _heading(block: Block, styles: dict[str, Any], look: Look) -> Any:
    from reportlab.platypus import Paragraph  # noqa: PLC0415

    text = block.text.upper() if look.heading_case == "capitals" else block.text
    heading = Paragraph(html.escape(text, quote=False), styles[f"heading{block.level}"])
    if block.level > 1:
        heading.outline_level = block.level - 2
    return heading


def _table(block: Block, styles: dict[str, Any], width: float) -> list[Any]:
    from reportlab.lib.colors import HexColor  # noqa: PLC0415
    from reportlab.platypus import Paragraph, Spacer, Table, TableStyle  # noqa: PLC0415

    header, *rows = block.rows
    cells = [[Paragraph(f"<b>{_inline(cell)}</b>", styles["cell"]) for cell in header]]
    cells += [[Paragraph(_inline(cell), styles["cell"]) for cell in row] for row in rows]
    widths = _column_widths(block.rows, styles["cell"], width)
    ruled = TableStyle(
        [
            ("GRID", (0, 0), (-1, -1), 0.5, HexColor("#777777")),
            ("BACKGROUND", (0, 0), (-1, 0), HexColor("#E6E6E6")),
            ("VALIGN", (0, 0), (-1, -1), "TOP"),
        ]
    )
    return [Spacer(1, 4), Table(cells, colWidths=widths, repeatRows=1, style=ruled), Spacer(1, 10)]


def _column_widths(rows: Sequence[Sequence[str]], style: Any, width: float) -> list[float]:
    """Give each column room for its longest word, and share out the rest by the length of its longest cell."""
    from reportlab.pdfbase.pdfmetrics import stringWidth  # noqa: PLC0415

    columns = list(zip(*rows, strict=True))
    words = [max((word for cell in column for word in cell.split()), key=len) for column in columns]
    needed = [stringWidth(word, style.fontName, style.fontSize) * 1.1 + 14 for word in words]
    longest = [max(map(len, column)) ** 0.6 for column in columns]
    spare = width - sum(needed)
    return [least + spare * share / sum(longest) for least, share in zip(needed, longest, strict=True)]


def _inline(text: str) -> str:
    escaped = html.escape(text, quote=False)
    bold = re.sub(r"\*\*(.+?)\*\*", r"<b>\1</b>", escaped)
    return re.sub(r"\*(.+?)\*", r"<i>\1</i>", bold)
