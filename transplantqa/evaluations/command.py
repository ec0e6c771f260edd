"""From a checked configuration to the table of retrievers: evidence, gold, figures, files, tracking."""

import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from transplantqa.analysis import Analysis
from transplantqa.config import EvaluateRetrievalConfig, build
from transplantqa.corpus.gold import load_gold
from transplantqa.corpus.plan import plan
from transplantqa.corpus.protocols import Corpus, QuestionSource
from transplantqa.errors import EXIT_OK, ConfigError, InputError
from transplantqa.evaluations.console import print_evaluation
from transplantqa.evaluations.folder import Evaluation, Retrieved, write_evaluation
from transplantqa.pipeline import readable, shared_models
from transplantqa.records import GoldEvidence, evidence_from_row
from transplantqa.retrieval.comparison import Bootstrap, compare_retrievers
from transplantqa.retrieval.evaluation import pair_with_gold
from transplantqa.retrieval.protocols import Retriever
from transplantqa.signals import StopRequest
from transplantqa.stages import CellKey, Readings, ingest, retrieve
from transplantqa.store import WHOLE
from transplantqa.store.hashing import file_sha256
from transplantqa.tracking.protocols import Tracker
from transplantqa.workshop import Workshop

Configs = Mapping[str, Mapping[str, Any]]


def evaluate_and_show(config: EvaluateRetrievalConfig, plain: Mapping[str, Any], retrievers: Configs) -> int:
    """Evaluate retrievers, write and track what came out, print it, and return the exit code.

    Args:
        config: the checked configuration.
        plain: the same as plain values.
        retrievers: entry to the configuration of each, in the order to be shown; the first is compared with.

    Raises:
        TransplantQAError: what the user can mend; evidence found stays in the ledger.
    """
    evaluation = evaluate(config, plain, retrievers)
    record, runs = write_evaluation(Path(config.artifacts), evaluation)
    tracker: Tracker = build(config.tracking)
    tracked = [tracker.track(run) for run in runs]
    print_evaluation(record, config.output, list(dict.fromkeys(one.command for one in tracked if one.command)))
    for warning in dict.fromkeys(one.warning for one in tracked if one.warning):
        sys.stderr.write(f"{warning}\n")
    return EXIT_OK


def evaluate(config: EvaluateRetrievalConfig, plain: Mapping[str, Any], retrievers: Configs) -> Evaluation:
    """Find the evidence of every retriever, through the ledger that runs use too, and measure it against gold.

    Raises:
        ConfigError: if the questions have no gold.
        InputError: documents, questions or gold that can't be read as given.
    """
    built = shared_models(config)
    corpus: Corpus = build(config.corpus, built)
    asked: QuestionSource = build(config.questions, built)
    made: dict[str, Retriever] = {name: build(one, built) for name, one in retrievers.items()}
    for retriever in made.values():
        retriever.identity()  # a missing model is told before documents are read
    if asked.gold is None:
        raise ConfigError("questions.gold: there is no gold to evaluate with.\nGive its file: questions.gold=FILE")
    questions = asked.load()[: config.limit.questions]
    with StopRequest() as stop:
        shop = Workshop(Path(config.artifacts), frozenset({"ingest", "retrieve"}), WHOLE, (), stop)
        sources = readable(ingest(shop, corpus, config.limit.documents).rows().to_pylist())
        documents = [source.document for source in sources.values()]
        gold = load_gold(asked.gold, questions, documents).evidence
        cells = plan(questions, documents, corpus.groups())
        if not cells:
            raise InputError("No question is to be asked of any readable document.\nCheck the groups of both.")
        readings = Readings(sources, {question.question_id: question for question in questions})
        found = {}
        for name, retriever in made.items():
            sys.stderr.write(f"Retriever {name}\n")
            found[name] = _retrieve(shop, retriever, cells, readings, gold)
    settings: Analysis = build(config.analysis)
    ids = [question_id for question_id, _ in cells]
    bootstrap = Bootstrap.over(ids, settings.bootstrap_replicates, settings.seed, settings.confidence)
    figures = compare_retrievers({name: one.cells for name, one in found.items()}, bootstrap)
    drawn = {name: getattr(settings, name) for name in ("bootstrap_replicates", "confidence", "seed")}
    facts = {**drawn, "gold_sha256": file_sha256(asked.gold), "questions": len(questions), "documents": len(documents)}
    return Evaluation(facts, found, retrievers, tuple(figures), plain)


def _retrieve(
    shop: Workshop,
    retriever: Retriever,
    cells: Sequence[CellKey],
    readings: Readings,
    gold: Sequence[GoldEvidence],
) -> Retrieved:
    stage = retrieve(shop, retriever, cells, readings)
    evidence = [evidence_from_row(row) for row in stage.rows().to_pylist()]
    sections = {name: source.sections for name, source in readings.sources.items()}
    chunks = {chunk.chunk_id: chunk.section_id for source in readings.sources.values() for chunk in source.chunks}
    return Retrieved(stage, shop.summaries["retrieve"], pair_with_gold(evidence, gold, sections, chunks))
