"""Peers of retrieval's parts: rank_bm25 and bare bm25s for BM25, one text at a time for embedding."""

import time
from collections.abc import Callable, Sequence

import numpy as np

from benchmarks.figures import Figure, Target, figure
from benchmarks.generated_corpus import questions as made_questions
from benchmarks.generated_corpus import sources
from transplantqa.models import OnnxEmbedder
from transplantqa.retrieval.counts import TermCounts
from transplantqa.retrieval.fusion import ranks_of
from transplantqa.retrieval.lexical import AskedTerms, LexicalIndex
from transplantqa.retrieval.terms import TermAnalyzer

DEPTH = 30
K1, B = 1.5, 0.75
Terms = Sequence[Sequence[str]]


def bm25_peers(documents: int, questions: int, peers: Sequence[str]) -> list[Figure]:
    """Index documents and rank their chunks for all questions, from the same terms; each in turn, CPU seconds."""
    terms = TermAnalyzer("english").terms
    asked = [terms(question.text) for question in made_questions(questions)]
    corpus = [[terms(chunk.text) for chunk in source.chunks] for source in sources(documents).values()]
    AskedTerms(asked[:1])  # imports are no part of the figure
    start = time.process_time()
    terms_asked = AskedTerms(asked)  # made once for all documents, as a run does
    once = time.process_time() - start
    ways: dict[str, Callable[[Terms], None]] = {"ours": lambda chunks: _ours(chunks, terms_asked)}
    if "rank_bm25" in peers:
        ways["rank_bm25"] = lambda chunks: _rank_bm25(chunks, asked)
    if "bm25s_numba" in peers:
        ways["bm25s_numba"] = lambda chunks: _bm25s(chunks, asked)
        ways["bm25s_numba"](corpus[0])  # compiled here, once, in 6 to 12 CPU-seconds
    ways["ours"](corpus[0])
    spent = {**dict.fromkeys(ways, 0.0), "ours": once}
    for chunks in corpus:
        for name, way in ways.items():
            start = time.process_time()
            way(chunks)
            spent[name] += time.process_time() - start
    figures = [figure("bm25_cpu", spent["ours"], "CPU-s")]
    if "rank_bm25" in peers:
        ratio = spent["rank_bm25"] / spent["ours"]
        figures.append(figure("bm25_rank_bm25_to_ours", ratio, "ratio", Target(">=", 15)))
    if "bm25s_numba" in peers:
        ratio = spent["ours"] / spent["bm25s_numba"]
        figures.append(figure("bm25_ours_to_bm25s_numba", ratio, "ratio", Target("<=", 1.5)))
    return figures


def _ours(chunks: Terms, asked: AskedTerms) -> None:
    ranks_of(LexicalIndex(TermCounts.of(chunks), K1, B).match(asked).scores, DEPTH)


def _bm25s(chunks: Terms, asked: Terms) -> None:
    import bm25s  # noqa: PLC0415

    engine = bm25s.BM25(k1=K1, b=B, method="lucene", backend="numba")
    engine.index(chunks, show_progress=False)
    engine.retrieve(asked, k=min(DEPTH, len(chunks)), show_progress=False, n_threads=1)


def _rank_bm25(chunks: Terms, asked: Terms) -> None:
    from rank_bm25 import BM25Okapi  # noqa: PLC0415

    engine = BM25Okapi(chunks, k1=K1, b=B)
    for words in asked:
        np.argsort(-engine.get_scores(words), kind="stable")[:DEPTH]


def embedding_throughput(texts: int, turns: int) -> list[Figure]:
    """Embed chunks and questions in one call and one text a call, in turn; the median ratio of wall seconds."""
    (source,) = sources(1).values()
    chunks = [" ".join(chunk.text.split()[:200]) for chunk in source.chunks][:texts]
    asked = [question.text for question in made_questions(4 * texts)]
    embedder = OnnxEmbedder()
    embedder.embed_passages(chunks[:1])
    return [
        figure("embed_chunks_together_to_one_by_one", _ratio(embedder, chunks, turns), "ratio", Target(">=", 1.0)),
        figure("embed_questions_together_to_one_by_one", _ratio(embedder, asked, turns), "ratio", Target(">=", 1.3)),
    ]


def _ratio(embedder: OnnxEmbedder, texts: Sequence[str], turns: int) -> float:
    ratios = []
    for _ in range(turns):
        together = _seconds(lambda: embedder.embed_passages(texts))
        one_by_one = _seconds(lambda: [embedder.embed_passages([text]) for text in texts])
        ratios.append(one_by_one / together)
    return float(np.median(ratios))


def _seconds(work: Callable[[], object]) -> float:
    start = time.perf_counter()
    work()
    return time.perf_counter() - start
