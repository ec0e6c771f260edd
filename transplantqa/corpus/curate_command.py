"""The command ``curate-questions``: a question set from raw candidates, with proposals for a person to accept."""

import csv
import io
import json
import sys
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from transplantqa.config import CurateConfig, build
from transplantqa.corpus.curation import Decision, Limits, curate, personal_data, step_counts
from transplantqa.corpus.proposals import Proposal, ask, known_topics, read_reply, request_for
from transplantqa.corpus.proposals import step_counts as proposal_counts
from transplantqa.corpus.questions import QuestionFile
from transplantqa.corpus.review import Reviewed, as_review, has_decisions, read_review, review_counts
from transplantqa.errors import ConfigError
from transplantqa.generation.prompts import Domain, Prompt, Renderer
from transplantqa.models.protocols import LanguageModel, Request
from transplantqa.records import Question
from transplantqa.report.console import stage_progress
from transplantqa.store.atomic import write_atomically
from transplantqa.store.hashing import digest

_COLUMNS = ("question_id", "text", "groups", "topics", "subtopics", "source", "flags")


def curate_and_show(config: CurateConfig) -> Path:
    """Curate candidates, or write the question set a person accepted; print the counts of each step.

    Raises:
        ConfigError: neither or both of candidates and review are named; a review with decisions would be overwritten.
        InputError: a file can't be read, with every problem.
    """
    if (config.file is None) == (config.accept is None):
        raise ConfigError(
            "Name one file: candidates to curate, or a review file to accept.\n"
            "Usage: transplantqa curate-questions FILE [out=FOLDER] | accept=REVIEW [out=FOLDER]"
        )
    folder = Path(config.out)
    if config.accept is not None:
        return _accept(Path(config.accept), folder)
    if has_decisions(folder / "review.csv"):
        raise ConfigError(
            f"{folder / 'review.csv'}: a person has filled in decisions there, which would be lost.\n"
            f"Take them first (accept={folder / 'review.csv'}), or choose another folder with out=."
        )
    limits = Limits(config.near, config.min_words, config.max_words)
    decisions = curate(QuestionFile(path=str(config.file)).load(), limits)
    kept = [decision.question for decision in decisions if decision.step == "kept"]
    folder.mkdir(parents=True, exist_ok=True)
    proposals = _proposals(config, kept, limits, folder)
    _write(folder / "questions.csv", as_csv(_unchanged(decisions)))
    _write(folder / "log.jsonl", as_log(decisions, proposals))
    if kept:
        _write(folder / "review.csv", as_review([one for one in decisions if one.step == "kept"], proposals))
    counts = step_counts(decisions)
    _print({**counts, **(proposal_counts(proposals.values()) if config.model is not None else {})})
    sys.stdout.write(f"Kept questions: {folder / 'questions.csv'}. Every decision: {folder / 'log.jsonl'}\n")
    sys.stdout.write("Flags name what may be personal data: look at each before the questions are shared.\n")
    if not kept:
        return folder
    sys.stdout.write(
        f"Proposals: {folder / 'review.csv'}. Fill in column accept (yes, text, topics, no, drop), then run\n"
        f"  transplantqa curate-questions accept={folder / 'review.csv'} out={folder}\n"
    )
    return folder


def _accept(review: Path, folder: Path) -> Path:
    reviewed = read_review(review)
    folder.mkdir(parents=True, exist_ok=True)
    kept = [one.question for one in reviewed if one.step != "dropped"]
    flagged = [(question, "|".join(personal_data(question.text))) for question in kept]
    _write(folder / "questions.csv", as_csv(flagged))
    _write(folder / "accepted.jsonl", _review_log(reviewed))
    _print({"reviewed": len(reviewed), **review_counts(reviewed)})
    sys.stdout.write(f"Questions: {folder / 'questions.csv'}. What was decided: {folder / 'accepted.jsonl'}\n")
    return folder


def _proposals(
    config: CurateConfig, questions: Sequence[Question], limits: Limits, folder: Path
) -> Mapping[str, Proposal]:
    """Ask the model about each question; replies it has given before are read again from the folder."""
    if config.model is None or not questions:
        return {}
    model: LanguageModel = build(config.model)
    prompt, domain = Prompt.model_validate(config.prompt), Domain.model_validate(config.domain)
    renderer = Renderer(prompt, domain, ("question", "topics"))
    topics = known_topics(questions, config.topics)
    by_id = {question.question_id: question for question in questions}
    requests = {name: request_for(question, renderer, topics) for name, question in by_id.items()}
    try:
        replies = dict(_replies(model, requests, folder / "replies.jsonl"))
    finally:
        model.close()
    return {
        name: Proposal(name, failure=failure) if failure else read_reply(by_id[name], reply, topics, limits)
        for name, (reply, failure) in ((name, replies[name]) for name in by_id)
    }


def _replies(
    model: LanguageModel, requests: Mapping[str, Request], path: Path
) -> Iterator[tuple[str, tuple[str, str]]]:
    identity = dict(model.identity())
    keys = {
        name: digest([identity, [[m.role, m.content] for m in one.messages], one.json_schema, one.max_tokens])
        for name, one in requests.items()
    }
    known = _known(path)
    yield from ((name, (known[key], "")) for name, key in keys.items() if key in known)
    pending = [one for name, one in requests.items() if keys[name] not in known]
    if pending and path.is_file() and not path.read_bytes().endswith(b"\n"):
        with path.open("ab") as half:  # else the next reply would go on in the line that a kill left
            half.write(b"\n")
    with stage_progress("propose", len(requests), len(requests) - len(pending)) as progress:
        for name, reply, failure in ask(model, pending):
            if not failure:
                with path.open("a", encoding="utf-8", newline="\n") as file:
                    file.write(json.dumps({"key": keys[name], "reply": reply}) + "\n")
            progress()
            yield name, (reply, failure)


def _known(path: Path) -> dict[str, str]:
    """Return the replies of earlier runs by key; a half line left by a kill is passed over."""
    known: dict[str, str] = {}
    if path.is_file():
        for line in path.read_text(encoding="utf-8", errors="replace").split("\n"):
            try:
                row = json.loads(line)
                known[row["key"]] = row["reply"]
            except (ValueError, KeyError, TypeError):
                continue
    return known


def _unchanged(decisions: Sequence[Decision]) -> list[tuple[Question, str]]:
    return [(one.question, "|".join(one.flags)) for one in decisions if one.step == "kept"]


def as_csv(questions: Sequence[tuple[Question, str]]) -> str:
    """Return questions with their flags as a file that ``QuestionFile`` reads, the flags in a column of their own."""
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(_COLUMNS)
    for question, flags in questions:
        lists = ("|".join(names) for names in (question.groups, question.topics, question.subtopics))
        writer.writerow([question.question_id, question.text, *lists, question.source or "", flags])
    return text.getvalue()


def as_log(decisions: Sequence[Decision], proposals: Mapping[str, Proposal]) -> str:
    """Return one JSON line a candidate: id, text, step, reason, flags, and what is proposed for it, if anything is."""
    lines = []
    for decision in decisions:
        name = decision.question.question_id
        facts: dict[str, Any] = {"question_id": name, "text": decision.question.text}
        facts |= {"step": decision.step, "why": decision.why, "flags": "|".join(decision.flags)}
        if name in proposals and decision.step == "kept":
            one = proposals[name]
            facts["proposed"] = {"text": one.text, "topic": one.topic, "subtopic": one.subtopic}
            facts |= {"doubts": list(one.doubts), "failure": one.failure}
        lines.append(json.dumps(facts, ensure_ascii=False))
    return "".join(f"{line}\n" for line in lines)


def _review_log(reviewed: Sequence[Reviewed]) -> str:
    lines = (
        json.dumps(
            {
                "question_id": one.question.question_id,
                "step": one.step,
                "original": one.original,
                "text": one.question.text,
                "topics": list(one.question.topics),
                "subtopics": list(one.question.subtopics),
            },
            ensure_ascii=False,
        )
        for one in reviewed
    )
    return "".join(f"{line}\n" for line in lines)


def _print(counts: Mapping[str, int]) -> None:
    for step, count in counts.items():
        sys.stdout.write(f"{step:<16}{count:>8,}\n")


def _write(path: Path, text: str) -> None:
    write_atomically(path, text.encode("utf-8", "replace"))
