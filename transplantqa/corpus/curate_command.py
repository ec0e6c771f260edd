"""The command ``curate-questions``: a question set from raw candidates, with a log of every decision."""

import csv
import io
import json
import sys
from collections.abc import Sequence
from pathlib import Path

from transplantqa.corpus.curation import Decision, curate, step_counts
from transplantqa.corpus.questions import QuestionFile
from transplantqa.errors import EXIT_OK, ConfigError
from transplantqa.store.atomic import write_atomically

USAGE = "transplantqa curate-questions FILE [out=FOLDER]"
_COLUMNS = ("question_id", "text", "groups", "topics", "subtopics", "source", "flags")


def main(arguments: Sequence[str]) -> int:
    """Write ``questions.csv`` (what is kept) and ``log.jsonl`` (every candidate's fate); print the counts.

    Raises:
        ConfigError: not exactly one file is named.
        InputError: the file can't be read, with every problem.
    """
    files = [argument for argument in arguments if "=" not in argument]
    options = dict(argument.split("=", 1) for argument in arguments if "=" in argument)
    if len(files) != 1 or not options.keys() <= {"out"}:
        raise ConfigError(f"Name one file of candidates.\nUsage: {USAGE}")
    decisions = curate(QuestionFile(path=files[0]).load())
    folder = Path(options.get("out", "curated"))
    folder.mkdir(parents=True, exist_ok=True)
    write_atomically(folder / "questions.csv", as_csv(decisions).encode("utf-8", "replace"))
    write_atomically(folder / "log.jsonl", as_log(decisions).encode("utf-8", "replace"))
    for step, count in step_counts(decisions).items():
        sys.stdout.write(f"{step:<16}{count:>8,}\n")
    sys.stdout.write(f"Kept questions: {folder / 'questions.csv'}. Every decision: {folder / 'log.jsonl'}\n")
    sys.stdout.write("Flags name what may be personal data: look at each before the questions are shared.\n")
    return EXIT_OK


def as_csv(decisions: Sequence[Decision]) -> str:
    """Return the kept questions as a file that ``QuestionFile`` reads, with their flags in a column of their own."""
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(_COLUMNS)
    for decision in decisions:
        if decision.step == "kept":
            question = decision.question
            lists = ("|".join(names) for names in (question.groups, question.topics, question.subtopics))
            writer.writerow(
                [question.question_id, question.text, *lists, question.source or "", "|".join(decision.flags)]
            )
    return text.getvalue()


def as_log(decisions: Sequence[Decision]) -> str:
    """Return one JSON line a candidate: id, text, step, reason, flags."""
    lines = []
    for decision in decisions:
        facts = {"question_id": decision.question.question_id, "text": decision.question.text}
        facts |= {"step": decision.step, "why": decision.why, "flags": "|".join(decision.flags)}
        lines.append(json.dumps(facts, ensure_ascii=False))
    return "".join(f"{line}\n" for line in lines)
