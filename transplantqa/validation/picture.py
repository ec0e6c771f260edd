"""The confusion matrix as a picture."""

from collections.abc import Sequence
from io import BytesIO
from typing import Any, Literal

from numpy.typing import NDArray

FORMATS: tuple[Literal["png", "svg"], ...] = ("png", "svg")
_DPI = 160


def confusion_pictures(matrix: NDArray[Any], labels: Sequence[str], title: str) -> dict[str, bytes]:
    """Draw counts over shares of each row (what the judge made of each label of people), as PNG and SVG.

    Args:
        matrix: (K, K) counts, rows people, columns the judge.
        labels: names of rows and columns.
        title: above the picture.

    Returns:
        Format to the file's bytes, the same for the same matrix.
    """
    import matplotlib as mpl  # noqa: PLC0415
    from matplotlib.figure import Figure  # noqa: PLC0415

    totals = matrix.sum(axis=1, keepdims=True)
    shares = matrix / totals.clip(min=1)
    with mpl.rc_context({"svg.hashsalt": "transplantqa", "svg.fonttype": "none", "font.size": 9}):
        drawing = Figure(figsize=(6.4, 5.4), layout="constrained")
        axes = drawing.add_subplot()
        image = axes.imshow(shares, cmap="Blues", vmin=0.0, vmax=1.0)
        axes.set_xticks(range(len(labels)), [name.capitalize() for name in labels], rotation=30, ha="right")
        axes.set_yticks(
            range(len(labels)), [f"{n.capitalize()} ({t})" for n, t in zip(labels, totals[:, 0], strict=True)]
        )
        axes.set_xlabel("judge")
        axes.set_ylabel("people (pairs)")
        axes.set_title(title, loc="left", fontsize=10)
        for row, column in ((row, column) for row in range(len(labels)) for column in range(len(labels))):
            shade = "white" if shares[row, column] > 0.5 else "black"
            axes.text(column, row, str(matrix[row, column]), ha="center", va="center", color=shade)
        drawing.colorbar(image, ax=axes, label="share of the row", shrink=0.8)
        return {kind: _drawn(drawing, kind) for kind in FORMATS}


def _drawn(drawing: Any, kind: Literal["png", "svg"]) -> bytes:
    content = BytesIO()
    metadata = {"svg": {"Date": None}, "png": {"Software": None}}[kind]
    drawing.savefig(content, format=kind, dpi=_DPI, metadata=metadata)
    return content.getvalue()
