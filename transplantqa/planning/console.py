"""A plan on the screen."""

from collections.abc import Iterable

from rich import box
from rich.console import Console
from rich.table import Table
from rich.text import Text

from transplantqa.planning.outlook import Outlook, Plan
from transplantqa.report.text import duration, plain

BAR_WIDTH = 30
LITTLE_FREE = 2.0
"""Times what is to be written that should be free, for the journals before they are sealed."""


def print_plan(plan: Plan, console: Console | None = None) -> None:
    """Print the stages, the prompts of each that calls a model, the totals, and what is assumed."""
    console = console or Console()
    console.print(units_table(plan))
    if any(stage.calls is not None for stage in plan.stages):
        console.print(calls_table(plan))
    for stage in plan.stages:
        for line in prompt_lines(stage):
            console.print(Text(line), soft_wrap=True)
    for line in closing_lines(plan):
        console.print(Text(line), soft_wrap=True)


def units_table(plan: Plan) -> Table:
    """Return the stages' units; ``~`` marks what is estimated."""
    table = _table("stage", "units", "cached", "to do", "to disk")
    for stage in plan.stages:
        about = _about(stage)
        units = f"{about}{stage.planned:,}", f"{stage.cached:,}", f"{about}{stage.to_do:,}"
        table.add_row(*map(Text, (stage.stage, *units, f"~{_size(stage.bytes_to_write)}")))
    return table


def calls_table(plan: Plan) -> Table:
    """Return the calls of stages that make any, with their tokens, time and money."""
    table = _table("calls of", "calls", "prompt tokens", "reply tokens", "won't fit", "engine time", "cost")
    for stage in plan.stages:
        if stage.calls is None:
            continue
        used = stage.calls.usage()
        about = _about(stage)
        calls = stage.stage, f"{about}{stage.calls.total:,}"
        tokens = f"~{round(used.prompt_tokens):,}", f"~{round(used.completion_tokens):,}"
        time = "?" if stage.seconds is None else f"~{duration(stage.seconds)}"
        table.add_row(*map(Text, (*calls, *tokens, f"{about}{stage.calls.unfit:,}", time, _money(stage))))
    return table


def _table(first: str, *others: str) -> Table:
    table = Table(box=box.SIMPLE_HEAD, pad_edge=False)
    table.add_column(first)
    for name in others:
        table.add_column(name, justify="right")
    return table


def _about(stage: Outlook) -> str:
    return "" if stage.is_exact else "~"


def _money(stage: Outlook) -> str:
    if stage.price is None:
        return "-"
    return "?" if stage.cost is None else f"~{stage.cost:,.2f} {stage.price.currency}"


def prompt_lines(stage: Outlook) -> Iterable[str]:
    """Yield the histogram of a stage's prompts, a line a bin."""
    if stage.calls is None or not stage.calls.total:
        return
    calls = stage.calls
    room = calls.context_tokens - calls.reply_room
    yield (
        f"{stage.stage}: tokens of the prompts to send; {room:,} fit beside {calls.reply_room:,} for the reply "
        f"in a context of {calls.context_tokens:,}"
    )
    bins = calls.histogram()
    most = max(count for _, count in bins)
    for least, count in bins:
        bar = "#" * max(1 if count else 0, round(BAR_WIDTH * count / most))
        yield f"  from {least:>6,}  {count:>11,}  {bar}".rstrip()
    if calls.unfit:
        yield (
            f"  {calls.unfit:,} won't fit and would end as context_overflow: show less evidence "
            "(retriever.evidence_tokens), or raise model.context_tokens"
        )


def closing_lines(plan: Plan) -> Iterable[str]:
    """Yield totals, disk, what is assumed and what to do next."""
    hours = [stage.gpu_hours for stage in plan.stages if stage.price is not None and stage.price.gpus]
    known = [value for value in hours if value is not None]
    if hours:
        yield f"GPU hours: {'?' if len(known) < len(hours) else f'~{sum(known):,.1f}'}"
    costs: dict[str, float] = {}
    for stage in plan.stages:
        if stage.price is not None and stage.cost is not None:
            costs[stage.price.currency] = costs.get(stage.price.currency, 0.0) + stage.cost
    for currency, amount in sorted(costs.items()):
        yield f"Cost: ~{amount:,.2f} {currency}"
    short = plan.free_bytes < LITTLE_FREE * plan.bytes_to_write
    warning = "; too little: journals need as much again until they are sealed" if short else ""
    needed, free = _size(plan.bytes_to_write), _size(plan.free_bytes)
    yield f"Disk: ~{needed} to write, {free} free at {plain(plan.folder)}{warning}"
    if plan.notes:
        yield "~ is estimated:"
    for note in plan.notes:
        yield f"  {plain(note)}"
    left = sum(stage.to_do for stage in plan.stages)
    yield "Next: `transplantqa run` with the same arguments" + (
        " (all is done: it only analyses)." if not left else "."
    )


def _size(count: float) -> str:
    for unit in ("B", "kB", "MB"):
        if count < 1000:
            return f"{count:,.0f} {unit}"
        count /= 1000
    return f"{count:,.1f} GB"
