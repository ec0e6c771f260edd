"""Ties end the same way in every process, whatever its hash seed."""

import os
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

PROCESSES = 20
SCRIPT = """
import hashlib, json
import numpy as np
from transplantqa.records import Chunk, Document, Question, Section
from transplantqa.retrieval import HeroQA, SourceDocument
from transplantqa.retrieval.table import read_evidence

class Same:
    def identity(self): return {}
    def embed_queries(self, texts): return np.ones((len(texts), 1), dtype=np.float32)
    embed_passages = embed_queries

class Reranker:
    def identity(self): return {}
    def score(self, question, passages): return [0.5] * len(passages)

text = "take the tablet with water"
sections = [Section(f"s{i}", "d", i, 1, "H", ("H",), 1, 1, text, 5) for i in range(30)]
order = np.random.default_rng(0).permutation(30).tolist()
chunks = [Chunk(f"c{i:02d}", "d", f"s{i}", i, 1, 1, 0, len(text), text, 5) for i in order]
document = Document("d", "A", "g", None, "T", None, "f", "0" * 64, 1, 780, 150, None, True, "accept")
source = SourceDocument(document, tuple(sections), tuple(chunks))
rankers = ["dense", "bm25", "section_body", "section_title"]
asked = [Question(f"q{i}", words) for i, words in enumerate(["tablet", "water tablet", "the", "take water, tablet"])]
out = []
for reranker in (None, Reranker()):
    settings = {"route_max_chars": 0, "evidence_tokens": 40, "language": "none"}
    retriever = HeroQA(embedder=Same(), reranker=reranker, rankers=rankers, **settings)
    out += [one.row() for one in read_evidence(retriever.retrieve(asked, source))]
ends = [out[0]["candidates"][at]["chunk_id"] for at in (0, 29)]
print(*ends, hashlib.sha256(json.dumps(out).encode()).hexdigest())
"""


@pytest.mark.timeout(900)
def test_twenty_processes_with_other_hash_seeds_find_the_same_evidence(tmp_path: Path) -> None:
    def output(seed: int) -> str:
        environment = {**os.environ, "PYTHONHASHSEED": str(seed), "OMP_NUM_THREADS": "1"}
        environment |= {"PYTHONPYCACHEPREFIX": str(tmp_path / "compiled"), "PYTHONDONTWRITEBYTECODE": ""}
        done = subprocess.run(
            [sys.executable, "-c", SCRIPT], env=environment, cwd=tmp_path, capture_output=True, text=True, check=True
        )
        return done.stdout.strip()

    with ThreadPoolExecutor(os.cpu_count()) as pool:
        found = set(pool.map(output, range(PROCESSES)))
    assert len(found) == 1
    assert found.pop().startswith("c00 c29 ")
