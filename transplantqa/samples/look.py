"""Typography of one document of a sample."""

from dataclasses import dataclass
from typing import Literal

HeadingCase = Literal["as_written", "capitals"]


@dataclass(frozen=True, slots=True)
class Look:
    """Typography of one document. Sizes in points; ``{page}`` and ``{pages}`` are filled in the running foot."""

    body_font: str = "Helvetica"
    heading_font: str = "Helvetica-Bold"
    body_size: float = 10.5
    title_size: float = 22
    heading_sizes: tuple[float, float] = (15, 12)
    heading_case: HeadingCase = "as_written"
    heading_colour: str = "#000000"
    alignment: Literal["left", "justified"] = "left"
    columns: Literal[1, 2] = 1
    margin: float = 72
    bullet: str = "\N{BULLET}"
    head: str = ""
    foot: str = "{page}"
    foot_side: Literal["left", "centre", "right"] = "centre"
    outline: bool = False
