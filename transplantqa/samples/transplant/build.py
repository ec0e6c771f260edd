"""Make the sample's PDFs from their sources: ``python -m transplantqa.samples.transplant.build``."""

import csv
import sys
from pathlib import Path

from transplantqa.samples.transplant.layout import render
from transplantqa.samples.transplant.looks import LOOKS
from transplantqa.samples.transplant.markup import parse

FOLDER = Path(__file__).parent


def titles(folder: Path = FOLDER) -> dict[str, str]:
    """Return the title of each document of the manifest in ``folder``, by document id."""
    with (folder / "manifest.csv").open(encoding="utf-8", newline="") as lines:
        return {row["document_id"]: row["title"] for row in csv.DictReader(lines)}


def build(document_id: str, title: str, folder: Path = FOLDER) -> bytes:
    """Return the PDF of one handbook, made from ``folder/source/<document_id>.md``."""
    markdown = (folder / "source" / f"{document_id}.md").read_text(encoding="utf-8")
    return render(parse(markdown), LOOKS[document_id], title)


def main() -> None:
    """Write every handbook of the manifest to ``pdf/``."""
    for document_id, title in titles().items():
        target = FOLDER / "pdf" / f"{document_id}.pdf"
        target.write_bytes(build(document_id, title))
        sys.stdout.write(f"{target.name}\n")


if __name__ == "__main__":
    main()
