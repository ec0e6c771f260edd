"""Fit the confidence of a retriever on the sample's gold: the weights that conf/retriever/*_local.yaml carry.

    python -m benchmarks.calibrate_silence

Each (question, document) of the sample is one case, addressed or silent by gold. Figures are cross-validated by leaving
out a question at a time, whole: cases of one question are too alike to be on both sides. Weights are fitted on all.
"""

from importlib.resources import as_file, files
from pathlib import Path

import numpy as np
import yaml
from numpy.typing import NDArray
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import roc_auc_score
from sklearn.model_selection import LeaveOneGroupOut, cross_val_predict

from transplantqa.config import conf_dir
from transplantqa.corpus import Folder, QuestionFile
from transplantqa.corpus.gold import load_gold
from transplantqa.models import OnnxEmbedder, WordPieceTokenizer
from transplantqa.retrieval import SourceDocument
from transplantqa.retrieval.confidence import SIGNALS, Signal
from transplantqa.retrieval.dense import QuestionVectors
from transplantqa.retrieval.indexed import index_document
from transplantqa.retrieval.rankers import DenseRanker, LexicalRanker
from transplantqa.retrieval.search import Search

CHOICES: tuple[tuple[Signal, ...], ...] = (
    ("cosine",),
    ("cosine_margin",),
    ("document_coverage",),
    ("cosine_margin", "document_coverage"),
    ("cosine", "cosine_margin", "coverage"),
    ("cosine", "cosine_margin", "document_coverage"),
)
USED: tuple[Signal, ...] = ("cosine_margin", "document_coverage")


def gather(
    folder: Path, settings: dict[str, object]
) -> tuple[dict[Signal, NDArray[np.float64]], list[bool], list[str]]:
    """Return each signal by case, whether the document addresses the question, and the question's id."""
    corpus = Folder(folder=str(folder), tokenizer=WordPieceTokenizer())
    ingested = [corpus.ingest(source) for source in corpus.sources()]
    corpus.close()
    questions = QuestionFile(path=str(folder / "questions.csv")).load()
    gold = load_gold(folder / "gold.yaml", questions, [one.document for one in ingested])
    silent = {(one.question_id, one.document_id): one.silent for one in gold.evidence}
    embedder = OnnxEmbedder()
    rankers = (
        LexicalRanker("english", float(str(settings["bm25_k1"])), float(str(settings["bm25_b"]))),
        DenseRanker(QuestionVectors(embedder), embedder, int(str(settings["dense_window_sentences"]))),
    )
    search = Search(rankers, reranker=None, confidence=None, depth=1, rerank_top=1)
    found = []
    for one in ingested:
        asked = [question for question in questions if (question.question_id, one.document.document_id) in silent]
        source = SourceDocument(one.document, one.sections, one.chunks)
        document = index_document(source, "headed" if settings["chunk_text"] == "headed" else "plain")
        found += [(document.document_id, block) for block in search.find(asked, document)]
    available = [name for name in SIGNALS if name in found[0][1].signals]
    signals = {name: np.concatenate([block.signals[name] for _, block in found]) for name in available}
    cases = [(question.question_id, document_id) for document_id, block in found for question in block.questions]
    return signals, [not silent[case] for case in cases], [question_id for question_id, _ in cases]


def main() -> None:
    """Print how well the signals tell silence, question by question left out, and the fitted confidence."""
    settings = yaml.safe_load((conf_dir() / "retriever" / "hybrid_local.yaml").read_text(encoding="utf-8"))
    with as_file(files("transplantqa.samples.transplant")) as folder:
        signals, addressed, groups = gather(folder, settings)
    y = np.array(addressed)
    print(f"{len(y)} cases, {int(y.sum())} addressed, {len(set(groups))} questions")
    print(f"{'signals':48} {'AUC':>6} {'accuracy at 0.5':>16}   leaving out a question at a time")
    for choice in CHOICES:
        x = np.column_stack([signals[name] for name in choice])
        model = LogisticRegression(C=100)
        left_out = cross_val_predict(model, x, y, groups=groups, cv=LeaveOneGroupOut(), method="predict_proba")[:, 1]
        accuracy = ((left_out >= 0.5) == y).mean()
        print(f"{' + '.join(choice):48} {roc_auc_score(y, left_out):6.3f} {accuracy:16.3f}")
        if choice == USED:
            curve = [(t, (left_out < t)[y].mean(), (left_out < t)[~y].mean()) for t in (0.1, 0.2, 0.3, 0.4, 0.5, 0.6)]
    print("\nsilence_below   addressed called silent   silent called silent")
    for threshold, wrong, right in curve:
        print(f"{threshold:13.1f} {wrong:25.3f} {right:22.3f}")
    fitted = LogisticRegression(C=100).fit(np.column_stack([signals[name] for name in USED]), y)
    weights = {"intercept": fitted.intercept_[0]} | dict(zip(USED, fitted.coef_[0], strict=True))
    print(f"\nconfidence: {{{', '.join(f'{name}: {weight:.2f}' for name, weight in weights.items())}}}")


if __name__ == "__main__":
    main()
