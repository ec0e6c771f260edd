"""How each handbook is set: no two alike, as no two centers' print shops are."""

from dataclasses import dataclass
from typing import Literal

HeadingCase = Literal["as_written", "capitals"]


@dataclass(frozen=True, slots=True)
class Look:
    """Typography of one handbook. Sizes in points; ``{page}`` and ``{pages}`` are filled in running heads and feet."""

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


LOOKS: dict[str, Look] = {
    "kidney_center_a_combined": Look(
        body_size=11,
        heading_sizes=(17, 12.5),
        heading_colour="#1F3F77",
        head="Center A Kidney Transplant Program | Patient and Family Guide",
        foot="Page {page} of {pages}",
        outline=True,
    ),
    "kidney_center_b_post": Look(
        body_font="Times-Roman",
        heading_font="Times-Bold",
        body_size=12,
        title_size=26,
        heading_sizes=(17, 13),
        head="Your Questions Answered",
        foot="Center B Transplant Services - {page}",
        foot_side="right",
    ),
    "kidney_center_c_pre": Look(
        body_font="Times-Roman",
        heading_font="Times-BoldItalic",
        body_size=12.5,
        title_size=20,
        heading_sizes=(15, 13),
        alignment="justified",
        margin=90,
        head="Center C - Welcome to Kidney Evaluation",
        foot="- {page} -",
    ),
    "kidney_center_d_post": Look(
        body_size=13.5,
        title_size=22,
        heading_sizes=(16.5, 13.5),
        heading_case="capitals",
        columns=2,
        margin=48,
        bullet="-",
        head="KIDNEY HOME CHECKLIST",
        foot="Center D        Keep this on the refrigerator        p. {page}",
        foot_side="left",
    ),
    "heart_center_a_post": Look(
        body_size=10,
        title_size=24,
        heading_sizes=(16, 12),
        heading_colour="#7A1F1F",
        margin=60,
        head="Center A Heart Transplant Program | After Your Transplant",
        foot="Page {page} of {pages}",
        foot_side="right",
    ),
    "heart_center_b_pre": Look(
        body_font="Times-Roman",
        heading_font="Helvetica-Bold",
        body_size=11.5,
        title_size=24,
        heading_sizes=(14, 11.5),
        head="Waiting for a Heart",
        foot="Center B Transplant Services - {page}",
        foot_side="right",
    ),
    "heart_center_e_combined": Look(
        body_font="Times-Roman",
        heading_font="Times-Bold",
        body_size=11.5,
        title_size=28,
        heading_sizes=(18, 13),
        alignment="justified",
        margin=80,
        head="The Road to a New Heart",
        foot="{page}",
    ),
    "liver_center_c_pre": Look(
        body_font="Times-Roman",
        heading_font="Times-BoldItalic",
        body_size=12,
        title_size=20,
        heading_sizes=(15, 13),
        margin=90,
        head="Center C - Welcome to Liver Evaluation",
        foot="- {page} -",
    ),
    "liver_center_c_post": Look(
        body_font="Times-Roman",
        heading_font="Helvetica-Bold",
        body_size=11,
        title_size=22,
        heading_sizes=(14, 11),
        heading_colour="#2E5E3E",
        head="Center C - Going Home With a New Liver",
        foot="- {page} -",
    ),
    "liver_center_d_combined": Look(
        body_size=10,
        title_size=22,
        heading_sizes=(14, 11),
        heading_case="capitals",
        margin=64,
        bullet="-",
        head="LIVER TRANSPLANT HANDBOOK",
        foot="Center D        p. {page}",
        foot_side="left",
    ),
}
