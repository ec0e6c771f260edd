"""A corpus of the reference run's size, made up, and how long ``transplantqa plan`` takes over it."""

import csv
import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from benchmarks.figures import Figure, Target, figure

GROUPS = {"heart": 26, "lung": 26, "kidney": 22, "liver": 17, "pancreas": 11}
"""Documents of each organ, of 102 (companion paper)."""

ORGAN_QUESTIONS = {"heart": 150, "lung": 150, "kidney": 190, "liver": 190, "pancreas": 124}
"""Of 804; ours, so that there are about 48,000 cells as there were. The other 311 are general."""

SECTIONS, SENTENCES = 40, 24
"""Of a document: about 100,000 characters; ours."""

SENTENCE = "Call your transplant coordinator when sign {} of section {} lasts longer than a day or gets worse. "


def plan_at_reference_size(documents: int, questions: int) -> list[Figure]:
    """Read the documents, then plan the reference system over them: the command as a user types it."""
    with tempfile.TemporaryDirectory() as folder:
        place = Path(folder)
        _write_corpus(place / "corpus", documents / 102)
        _write_questions(place / "questions.csv", questions / 1_115)
        corpus = ["corpus=folder", f"corpus.folder={place / 'corpus'}"]
        _command("ingest", *corpus, cwd=place)
        asked = ["questions=file", f"questions.path={place / 'questions.csv'}"]
        started, used = time.perf_counter(), _children()
        printed = _command("plan", "experiment=hero_qa_32b_local", *corpus, *asked, cwd=place)
        wall, cpu = time.perf_counter() - started, _children() - used
    units = next(line.split()[1] for line in printed.split("\n") if line.strip().startswith("generate"))
    return [
        figure("plan_cells", float(units.strip("~").replace(",", "")), "cells"),
        figure("plan_wall", wall, "s", Target("<=", 10.0)),
        figure("plan_cpu", cpu, "CPU-s"),
    ]


def _children() -> float:
    times = os.times()
    return times.children_user + times.children_system


def _command(*arguments: str, cwd: Path) -> str:
    """Run a command with Python's bytecode cached, as it is from a user's second command on."""
    command = [sys.executable, "-m", "transplantqa", *arguments]
    environment = {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}
    return subprocess.run(command, capture_output=True, text=True, check=True, cwd=cwd, env=environment).stdout


def _write_corpus(folder: Path, share: float) -> None:
    folder.mkdir()
    rows = []
    for group, count in GROUPS.items():
        for number in range(max(1, round(count * share))):
            name = f"{group}_{number:02d}.md"
            parts = (
                f"# Part {part}\n\n" + "".join(SENTENCE.format(sign, part + number) for sign in range(SENTENCES)) + "\n"
                for part in range(SECTIONS)
            )
            (folder / name).write_text("\n".join(parts), encoding="utf-8")
            rows.append({"path": name, "institution": f"Center {number}", "group": group})
    with (folder / "manifest.csv").open("w", encoding="utf-8", newline="") as stream:
        writer = csv.DictWriter(stream, ["path", "institution", "group"])
        writer.writeheader()
        writer.writerows(rows)


def _write_questions(path: Path, share: float) -> None:
    with path.open("w", encoding="utf-8", newline="") as stream:
        writer = csv.writer(stream)
        writer.writerow(["id", "text", "groups"])
        for group, count in {"": 311, **ORGAN_QUESTIONS}.items():
            for number in range(round(count * share)):
                text = f"What should I do about sign {number} when my center is closed and I can't reach anyone there?"
                writer.writerow([f"{group or 'general'}_{number:03d}", text, group])
