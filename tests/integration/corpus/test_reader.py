"""The reading process and its protocol: nothing it does wrong is held against a document."""

import json
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from transplantqa.corpus.extraction import Extraction, PageFacts, Part
from transplantqa.corpus.process import WorkerProcess
from transplantqa.corpus.reader import Reader

DOCUMENT = Path("handbook.pdf")
GOOD = Extraction("Guide", (Part(1, "Foo", ("Foo",), "One.", 1, ((0, 1),)),), (PageFacts(1, 4),), 1).to_json()
CHANGE = {"page": 1, "kind": "ligatures", "text": "x", "became": "y", "spans": []}
FAKE = """
import json, os, signal, sys
for line in sys.stdin:
    number = json.loads(line)["request"]
    {body}
    sys.stdout.flush()
"""
Faked = Callable[[str], Reader]


@pytest.fixture
def faked() -> Iterator[Faked]:
    """Return a reader whose process runs ``body`` for each request, its number in ``number``."""
    readers: list[Reader] = []

    def make(body: str) -> Reader:
        reader = Reader(timeout_seconds=5, max_pages=10)
        command = (sys.executable, "-c", FAKE.format(body=body))
        reader._process = WorkerProcess(seconds=5, memory_mb=100, command=command)
        readers.append(reader)
        return reader

    yield make
    for reader in readers:
        reader.close()


def replying(extraction: object, number: str = "number") -> str:
    return f"print(json.dumps({{'request': {number}, 'extraction': json.loads({json.dumps(extraction)!r})}}))"


def test_a_reply_to_this_request_is_taken(faked: Faked) -> None:
    assert faked(replying(GOOD)).read(DOCUMENT).parts[0].text == "One."


@pytest.mark.parametrize(
    "body",
    [
        replying(GOOD, "number + 1"),
        replying({}),
        replying([]),
        replying({**GOOD, "verdict": "accept"}),
        replying({**GOOD, "page_count": "1"}),
        replying({**GOOD, "pages": [], "page_count": 0}),
        replying({**GOOD, "page_count": 2}),
        replying({**GOOD, "failure": ""}),
        replying({**GOOD, "failure": "both text and a failure"}),
        replying({**GOOD, "parts": [{**GOOD["parts"][0], "page_marks": []}]}),
        replying({**GOOD, "parts": [{**GOOD["parts"][0], "page_marks": [[0, 7]]}]}),
        replying({**GOOD, "page_texts": ["One.", "Two."]}),
        replying({**GOOD, "page_texts": ["One."], "removed_texts": [{**CHANGE, "spans": [[2, 9]]}]}),
        replying({**GOOD, "removed_texts": [{**CHANGE, "page": 2}]}),
        "print('{')",
        "print('null')",
        "print()",
        "sys.stdout.buffer.write(bytes([255, 254, 10]))",
        "print(json.dumps(number))",
        "sys.exit(3)",
        "sys.exit(0)",
        "os.kill(os.getpid(), signal.SIGKILL)",
        "os.kill(os.getpid(), signal.SIGTERM)",
    ],
)
def test_whatever_else_comes_back_says_nothing_about_the_document(faked: Faked, body: str) -> None:
    extraction = faked(body).read(DOCUMENT)
    assert extraction.failure
    assert (extraction.transient, extraction.parts) == (True, ())


@pytest.mark.parametrize(
    ("body", "reason"),
    [
        ("os._exit(71)", "reading it needs more memory than the limit of 100 MB"),
        ("os.kill(os.getpid(), signal.SIGTRAP)", "reading it needs more memory than the limit of 100 MB"),
        ("os.kill(os.getpid(), signal.SIGSEGV)", "the reading process crashed on it (signal 11)"),
        ("os.kill(os.getpid(), signal.SIGXCPU)", "reading it took longer than 5 seconds (corpus.timeout_seconds)"),
    ],
)
def test_what_a_new_process_dies_of_is_the_documents_fault(faked: Faked, body: str, reason: str) -> None:
    extraction = faked(body).read(DOCUMENT)
    assert (extraction.failure, extraction.transient) == (reason, False)


def test_a_document_that_a_used_process_dies_on_is_tried_in_a_new_one(faked: Faked, tmp_path: Path) -> None:
    mark = tmp_path / "died"
    body = (
        f"if number == 2 and not os.path.exists({str(mark)!r}): "
        f"open({str(mark)!r}, 'w').close(); os.kill(os.getpid(), signal.SIGSEGV)\n    {replying(GOOD)}"
    )
    reader = faked(body)
    reader.read(DOCUMENT)
    assert (reader.read(DOCUMENT).failure, mark.exists()) == (None, True)


def test_a_process_that_can_not_be_started_is_not_the_documents_fault(tmp_path: Path) -> None:
    reader = Reader(timeout_seconds=5, max_pages=10)
    reader._process = WorkerProcess(seconds=5, memory_mb=100, command=(str(tmp_path / "gone"),))
    extraction = reader.read(DOCUMENT)
    assert extraction.failure == "the reading process can't be started: No such file or directory"
    assert extraction.transient


def test_an_extraction_comes_back_as_it_was_sent(faked: Faked) -> None:
    sent: dict[str, Any] = {**GOOD, "removed": {"notes": 2}, "notes": ["a doubt"], "title": "Größe 你好 \u2028"}
    assert json.loads(json.dumps(faked(replying(sent)).read(DOCUMENT).to_json())) == json.loads(json.dumps(sent))
