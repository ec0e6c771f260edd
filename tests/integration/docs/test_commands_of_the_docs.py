"""Every command that README and docs show is run, page by page, in the order of the page.

A fence is preceded by ``<!-- not run: REASON -->`` where a command needs what isn't here (a GPU, the Hub); then what
Hydra makes of it is composed and checked instead. ``<!-- setup: NAME -->`` does what the page tells the reader to do by
hand, ``<!-- setup: file PATH -->`` saves the fence under that path.
"""

import os
import re
import shlex
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

import pytest

from transplantqa.cli import COMMANDS
from transplantqa.samples import tenancy

ROOT = Path(__file__).parents[3]
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md")), ROOT / "slurm_launchers" / "README.md"]
FENCE = re.compile(
    r"(?:<!-- (?P<mark>not run|setup): (?P<about>[^\n]*?) -->\n+)?^```(?P<language>\w*)\n(?P<body>.*?)^```",
    re.MULTILINE | re.DOTALL,
)
SHELLS = {"", "bash", "console", "sh"}
ELSEWHERE: Mapping[str, str] = {
    "pip install": "installation, tested from a clean clone by .ci/run",
    "uv sync": "installation, tested from a clean clone by .ci/run",
    "pytest": "this",
    ".ci/run": "runs this",
    "apt-get": "the machine's own packages",
    "cp slurm_launchers": "tests/integration/slurm submits the real array",
    "TQA_DRY_RUN": "tests/integration/slurm submits the real array",
    "slurm_launchers/submit.sh": "tests/integration/slurm submits the real array",
    "scontrol": "needs a job in the queue",
    "mlflow ui": "a server that doesn't end; tests/integration/tracking starts one",
    "hf auth login": "asks for a token",
}
"""Beginnings of commands that are tested elsewhere, or are not ours, and where or why."""
HYDRA = {"run", "ingest", "release", "contrast", "validate", "evaluate-retrieval", "status"}


@dataclass(frozen=True)
class Shown:
    """One command of a page, or the whole of a fence that is set up, and what its fence is marked with."""

    command: str
    mark: str | None
    about: str


def shown_commands(page: Path) -> Iterator[Shown]:
    for fence in FENCE.finditer(page.read_text(encoding="utf-8")):
        if fence["mark"] == "setup":
            yield Shown(fence["body"], "setup", fence["about"])
        if fence["language"] not in SHELLS:
            continue
        mark = "not run" if fence["mark"] == "not run" else None
        for line in re.sub(r"\\\n\s*", "", fence["body"]).split("\n"):
            command = bare(line)
            if command:
                yield Shown(command, mark, fence["about"] or "")


def bare(line: str) -> str:
    """Return a command without prompt, comment, installation of uv and ``uv run``."""
    text = re.sub(r"\s+#.*$", "", line.strip().removeprefix("$ "))
    return (
        re.sub(r"^(?:pip install uv && )?uv run (?:--[\w-]+(?: (?:vllm|flag|slurm|ocr))? )*", "", text) if text else ""
    )


def own_corpus(folder: Path) -> None:
    for state, kind in (("p", "private"), ("q", "private"), ("r", "private")):
        target = folder / "documents" / f"State {state.upper()}" / kind / "guide.pdf"
        target.parent.mkdir(parents=True)
        shutil.copy(Path(str(tenancy.__file__)).parent / "pdf" / f"{kind}_state_{state}.pdf", target)


def questions(folder: Path) -> None:
    with (folder / "questions.csv").open("a", encoding="utf-8") as file:
        file.write("visit_notice,How much notice do I get before somebody comes in?,,Access,,\n")


SETUPS: Mapping[str, Callable[[Path], None]] = {
    "own_corpus": own_corpus,
    "questions": questions,
}


@dataclass
class Reader:
    """Somebody who types what a page shows, in a folder of their own."""

    folder: Path

    def follow(self, shown: Shown) -> None:
        if shown.about.startswith("file ") and shown.mark == "setup":
            target = self.folder / shown.about.removeprefix("file ")
            target.parent.mkdir(parents=True, exist_ok=True)
            target.write_text(shown.command, encoding="utf-8")
        elif shown.mark == "setup":
            SETUPS[shown.about](self.folder)
        elif shown.command.startswith("cd "):
            self.folder = self.folder / shown.command.removeprefix("cd ")
        elif not any(shown.command.startswith(beginning) for beginning in ELSEWHERE):
            self.type(shlex.split(shown.command), composed_only=shown.mark == "not run")

    def type(self, words: list[str], *, composed_only: bool) -> None:
        assert words[0] in {"transplantqa", "python"}, f"nobody runs {words}: mark its fence, or name it in ELSEWHERE"
        if words[0] == "transplantqa":
            assert words[1] in COMMANDS or words[1].startswith("-"), words
            if composed_only:
                if words[1] not in HYDRA:
                    return
                words = [*words, "--cfg", "job"]
            words = [sys.executable, "-m", *words]
        else:
            words[0] = sys.executable
        environment = {
            **os.environ,
            "MLFLOW_DISABLE_TELEMETRY": "true",
            "OMP_WAIT_POLICY": "PASSIVE",
            "PYTHONPATH": str(self.folder),
        }
        done = subprocess.run(words, cwd=self.folder, env=environment, capture_output=True, text=True, check=False)
        assert done.returncode == 0, f"{shlex.join(words)}\n{done.stdout[-3000:]}\n{done.stderr[-3000:]}"


@pytest.mark.timeout(1500)
@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.relative_to(ROOT).as_posix())
def test_the_commands_of_a_page_run_as_shown(page: Path, tmp_path: Path) -> None:
    reader = Reader(tmp_path)
    for shown in shown_commands(page):
        reader.follow(shown)


def test_a_fence_with_a_reason_is_read_with_its_mark(tmp_path: Path) -> None:
    page = tmp_path / "page.md"
    page.write_text("<!-- not run: a GPU -->\n\n```\n$ uv run --extra vllm transplantqa run a=b  # why\n```\n", "utf-8")
    assert list(shown_commands(page)) == [Shown("transplantqa run a=b", "not run", "a GPU")]
