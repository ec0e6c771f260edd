"""Tables of what controls found."""

from collections.abc import Mapping

from rich import box
from rich.table import Table
from rich.text import Text

from transplantqa.controls.ratios import Ratio
from transplantqa.report.text import number, plain


def figures_table(title: str, measured: Mapping[str, Ratio], exploratory_below: int) -> Table:
    """Return a row for each figure: value, interval, what it is of, and from how many questions.

    Intervals over fewer than ``exploratory_below`` questions are marked.
    """
    note = f"* exploratory: fewer than {exploratory_below} questions"
    table = Table(box=box.SIMPLE_HEAD, pad_edge=False, title=Text(title), title_justify="left", caption=note)
    table.caption_justify = "left"
    for name, justify in (("", "left"), ("value", "right"), ("interval", "right"), ("of", "right")):
        table.add_column(name, justify=justify)  # type: ignore[arg-type]
    table.add_column("questions", justify="right")
    for name, found in measured.items():
        mark = " *" if found.clusters < exploratory_below else ""
        interval = "-"
        if found.low is not None and found.high is not None:
            interval = f"[{number(found.low)},{number(found.high)}]{mark}"
        value = "-" if found.value is None else number(found.value)
        words = plain(name.replace("_", " ").replace("/", ": "))
        table.add_row(Text(words), value, interval, f"{found.n:,}", f"{found.clusters:,}")
    return table
