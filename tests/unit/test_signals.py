"""Signals: where units are made they are finished first; elsewhere the program ends at once, with the same code."""

import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from transplantqa.errors import EXIT_OK, Interrupted
from transplantqa.signals import StopRequest, interruptible

SLICE = ("experiment=tiny", "debug=scripted", "embedder=minilm", "retriever=bm25", "tracking=none")


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGUSR1, signal.SIGINT])
def test_where_no_unit_is_made_a_signal_ends_at_once(number: signal.Signals) -> None:
    with pytest.raises(KeyboardInterrupt), interruptible():
        signal.raise_signal(number)


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGUSR1, signal.SIGINT])
def test_an_item_in_flight_is_finished_first(number: signal.Signals) -> None:
    made = []

    def make() -> None:
        with interruptible(), StopRequest() as stop:
            for item in stop.guard([1, 2, 3]):
                if item == 2:
                    signal.raise_signal(number)
                made.append(item)

    with pytest.raises(Interrupted, match=number.name):
        make()
    assert made == [1, 2]


def test_handlers_are_as_before_afterwards() -> None:
    before = signal.getsignal(signal.SIGTERM), signal.getsignal(signal.SIGUSR1)
    with interruptible(), StopRequest():
        pass
    assert (signal.getsignal(signal.SIGTERM), signal.getsignal(signal.SIGUSR1)) == before


@pytest.mark.timeout(300)
def test_a_signal_while_measuring_ends_with_the_code_that_a_requeue_understands(tmp_path: Path) -> None:
    script = (
        "import sys, time\nimport transplantqa.findings\nfrom transplantqa.cli import main\n"
        "def audit(*_):\n    open('measuring', 'w').close()\n    time.sleep(200)\n"
        "transplantqa.findings.audit = audit\nsys.exit(main(sys.argv[1:]))\n"
    )
    command = [sys.executable, "-c", script, "run", *SLICE]
    process = subprocess.Popen(command, cwd=tmp_path, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
    while not (tmp_path / "measuring").exists() and process.poll() is None:
        time.sleep(0.05)
    process.send_signal(signal.SIGTERM)
    _, told = process.communicate()
    assert process.returncode == Interrupted.exit_code != EXIT_OK, told
    assert "Run the same command again to go on" in told
    assert "Traceback" not in told
