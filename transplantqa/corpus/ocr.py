"""Text read off the pictures of pages by RapidOCR (an extra). Runs in a reading process of its own.

The weights are those inside RapidOCR's wheel, named one by one: nothing is downloaded.
"""

import importlib.util
import math
import os
from dataclasses import dataclass
from pathlib import Path
from statistics import fmean, median
from typing import Any

from transplantqa.corpus.pdf_characters import Handle
from transplantqa.corpus.pdf_text import Fragment, PageText

LONGEST_SIDES = (1600, 1000)
"""Pixels of a page's longer side. Ours: 145 to the inch of a letter page; 90 where that shows next to nothing, as
happens on pages with little text. RapidOCR itself makes pictures above 2000 smaller."""
NEXT_TO_NOTHING = 20
"""Characters below which a page is looked at again, smaller."""
SMALLEST_SIDE = 32
"""Pixels of the shorter side below which there is nothing to read. Ours."""
MAX_OBJECTS = 20_000
"""Things drawn on a page above which it isn't drawn, for the time that takes. Ours."""
LEAST_CONFIDENCE = 0.5
"""Confidence below which a line is left out: RapidOCR's own default."""
SAME_SIZE = 0.3
"""How far, as a share, the height of a line's box may be from the page's usual one for the same size. Ours: boxes
hug the ink, so that lines of one size differ by a quarter."""
SIZE_OF_BOX = 0.8
"""Size of type over the height of a line's box. Ours, measured on pages of known sizes."""
BODY = 11.0
"""Size in points given to a page's usual lines where no other page has text. Ours."""
WEIGHTS = {
    "Det.model_path": "PP-OCRv6_det_small.onnx",
    "Cls.model_path": "ch_ppocr_mobile_v2.0_cls_mobile.onnx",
    "Rec.model_path": "PP-OCRv6_rec_small.onnx",
}


class NoOcrError(RuntimeError):
    """RapidOCR, or a file of its weights, isn't installed."""


@dataclass(frozen=True, slots=True)
class Recognised:
    """A page's text as read off its picture; ``confidence`` is the mean over its lines, 0 without any."""

    text: PageText
    confidence: float


def weights() -> dict[str, Path]:
    """Return the files of weights by RapidOCR's name for them; raises NoOcrError when they aren't all there."""
    spec = importlib.util.find_spec("rapidocr")
    folders = list(spec.submodule_search_locations or ()) if spec else []
    if not folders:
        raise NoOcrError("RapidOCR is not installed")
    found = {name: Path(folders[0], "models", file) for name, file in WEIGHTS.items()}
    missing = [path.name for path in found.values() if not path.is_file()]
    if missing:
        raise NoOcrError(f"this RapidOCR comes without the weights {', '.join(missing)}")
    return found


class Recogniser:
    """RapidOCR, loaded once a process; raises NoOcrError when it isn't installed.

    Args:
        max_pixels: most pixels of a page's picture.
    """

    def __init__(self, max_pixels: int) -> None:
        files = {name: str(path) for name, path in weights().items()}
        from rapidocr import RapidOCR  # noqa: PLC0415 - only where pages are recognised

        threads = min(4, os.cpu_count() or 1)
        engine = "EngineConfig.onnxruntime"
        quiet = {"Global.log_level": "critical", "Global.text_score": LEAST_CONFIDENCE, "Global.use_cls": False}
        threading = {f"{engine}.intra_op_num_threads": threads, f"{engine}.inter_op_num_threads": 1}
        self._engine: Any = RapidOCR(params={**files, **quiet, **threading})
        self._max_pixels = max_pixels

    def read(self, page: Handle, body: float) -> Recognised:
        """Read a pypdfium2 page's picture, turned as it is shown; ``body`` is the usual size of text, in points."""
        import pypdfium2.raw as pdfium_c  # noqa: PLC0415

        width, height = page.get_size()
        best = Recognised(PageText((0.0, 0.0, width, height), "", ()), 0.0)
        if pdfium_c.FPDFPage_CountObjects(page.raw) > MAX_OBJECTS:
            return best
        for side in LONGEST_SIDES:
            scale = _scale(width, height, side, self._max_pixels)
            if scale * min(width, height) >= SMALLEST_SIDE:
                best = max(best, self._read(page, scale, body), key=lambda one: len(one.text.text))
            if len(best.text.text) >= NEXT_TO_NOTHING:
                break
        return best

    def _read(self, page: Handle, scale: float, body: float) -> Recognised:
        width, height = page.get_size()
        bitmap = page.render(scale=scale)
        try:
            found = self._engine(bitmap.to_numpy(), use_det=True, use_cls=False, use_rec=True)
        finally:
            bitmap.close()
        if found.boxes is None or found.txts is None:
            return Recognised(PageText((0.0, 0.0, width, height), "", ()), 0.0)
        boxes = [_edges(box.tolist(), scale, height) for box in found.boxes]
        return page_of(list(zip(found.txts, boxes, strict=True)), (width, height), body, found.scores)


Box = tuple[float, float, float, float]
"""Left, bottom, right, top of a line, in points from the page's lower left corner."""


def page_of(
    lines: list[tuple[str, Box]], size: tuple[float, float], body: float, confidences: tuple[float, ...]
) -> Recognised:
    """Return recognised lines as a page's text.

    Lines about as high as the page's usual one are given the size ``body``, others one in proportion, in half points:
    boxes around ink say no more. The page is taken as if enlarged until its usual lines have that size.
    """
    usual = median(top - bottom for _, (_, bottom, _, top) in lines) if lines else 1.0
    larger = body / (max(usual, 0.1) * SIZE_OF_BOX)
    fragments = []
    text = ""
    for line, (left, bottom, right, top) in lines:
        ratio = (top - bottom) / max(usual, 0.1)
        own = body if abs(ratio - 1) <= SAME_SIZE else round(2 * ratio * body) / 2
        place = (len(text), len(text) + len(line))
        base = bottom + (1 - SIZE_OF_BOX) * (top - bottom)
        fragments.append(
            Fragment(
                line,
                larger * left,
                larger * right,
                larger * base,
                own,
                0.0,
                0,
                hyphen=line.endswith("-") and len(line) > 1,
                marks={-1: len(line)},
                starts=(larger * left,),
                ends=(larger * right,),
                places=(place,),
            )
        )
        text += f"{line}\n"
    return Recognised(
        PageText((0.0, 0.0, larger * size[0], larger * size[1]), text, tuple(fragments)),
        round(fmean(confidences), 3) if confidences else 0.0,
    )


def _scale(width: float, height: float, side: int, max_pixels: int) -> float:
    longest = max(width, height)
    if not 0 < longest < math.inf or min(width, height) <= 0:
        return 0.0
    return min(side / longest, math.sqrt(max_pixels / longest) / math.sqrt(min(width, height)))


def _edges(corners: list[list[float]], scale: float, height: float) -> Box:
    across, down = [x / scale for x, _ in corners], [y / scale for _, y in corners]
    return min(across), height - max(down), max(across), height - min(down)
