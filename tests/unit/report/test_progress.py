import io
from typing import Any

import pytest
from rich.console import Console

from transplantqa.report.console import StageProgress


class _Clock:
    """A clock that is set by hand."""

    now = 0.0

    def __call__(self) -> float:
        return self.now


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> _Clock:
    clock = _Clock()
    monkeypatch.setattr("transplantqa.report.console.time.monotonic", clock)
    return clock


def _console(*, terminal: bool) -> Console:
    return Console(file=io.StringIO(), width=100, force_terminal=terminal)


def _output(console: Console) -> str:
    file: Any = console.file
    return str(file.getvalue())


def test_elsewhere_than_on_a_terminal_a_stage_is_one_line_at_its_end(clock: _Clock) -> None:
    console = _console(terminal=False)
    with StageProgress("generate", 4, console=console) as step:
        clock.now = 2.0
        for _ in range(4):
            step(tokens=1000)
        assert _output(console) == ""
    assert _output(console) == "generate  4/4  2.0/s  2 s  4,000 tokens\n"


def test_reused_units_count_as_done_and_not_in_the_rate(clock: _Clock) -> None:
    with StageProgress("generate", 10, 8, _console(terminal=False)) as step:
        clock.now = 4.0
        step(advance=2)
        assert step.closing_line() == "generate  10/10  8 reused  0.5/s  4 s"


def test_a_stage_that_has_nothing_to_do_has_no_rate(clock: _Clock) -> None:
    with StageProgress("compare", 3, 3, _console(terminal=False)) as step:
        assert step.closing_line() == "compare   3/3  3 reused  0 s"


def _interrupted(console: Console) -> None:
    with StageProgress("generate", 4, console=console) as step:
        step()
        raise KeyboardInterrupt


def test_an_interrupted_stage_says_how_far_it_came(clock: _Clock) -> None:
    console = _console(terminal=False)
    with pytest.raises(KeyboardInterrupt):
        _interrupted(console)
    assert _output(console).startswith("generate  1/4")


def test_on_a_terminal_the_display_leaves_its_closing_line(clock: _Clock) -> None:
    console = _console(terminal=True)
    with StageProgress("generate", 2, console=console) as step:
        clock.now = 1.0
        step(advance=2)
    assert "generate  2/2  2.0/s  1 s" in _output(console)
