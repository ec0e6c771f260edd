"""The ingest command over a folder with a good file and a bad one."""

import subprocess
import sys
from pathlib import Path

import pytest
from reportlab.pdfgen.canvas import Canvas

BODY = "Drink two to three litres of water a day unless your doctor has told you otherwise. "


def ingest(folder: Path) -> "subprocess.CompletedProcess[str]":
    command = [sys.executable, "-m", "transplantqa", "ingest", "corpus=folder", "corpus.folder=handbooks"]
    return subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False, timeout=120)


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("ingest")
    (folder / "handbooks" / "A" / "kidney").mkdir(parents=True)
    canvas = Canvas(str(folder / "handbooks" / "A" / "kidney" / "good.pdf"))
    for line in range(6):
        canvas.drawString(72, 700 - 14 * line, BODY)
    canvas.save()
    (folder / "handbooks" / "A" / "kidney" / "<b>bad.pdf").write_bytes(b"%PDF-1.7 nothing")
    return folder


@pytest.fixture(scope="module")
def done(folder: Path) -> "subprocess.CompletedProcess[str]":
    return ingest(folder)


def test_it_says_where_the_inspection_pages_are(done: "subprocess.CompletedProcess[str]", folder: Path) -> None:
    assert done.returncode == 0, done.stderr
    assert "2 documents: 1 accept, 0 review, 1 reject." in done.stdout
    assert "What was read, page by page: artifacts/inspection/index.html" in done.stdout
    assert len(list((folder / "artifacts" / "inspection").glob("*.html"))) == 3


def test_a_page_shows_the_text_beside_its_picture(done: "subprocess.CompletedProcess[str]", folder: Path) -> None:
    (page,) = (folder / "artifacts" / "inspection").glob("a-kidney-good-*.html")
    html = page.read_text(encoding="utf-8")
    assert "Drink two to three litres of water" in html
    assert "data:image/png;base64," in html


def test_a_second_run_makes_no_page_again(done: "subprocess.CompletedProcess[str]", folder: Path) -> None:
    again = ingest(folder)
    assert [line.split() for line in again.stderr.split("\n") if line.startswith("inspect")] == [
        ["inspect", "2/2", "2", "reused", "0", "s"]
    ]
