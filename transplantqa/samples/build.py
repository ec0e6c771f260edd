"""Make the samples' PDFs from their sources: ``python -m transplantqa.samples.build``."""

import csv
import sys
from collections.abc import Mapping
from pathlib import Path

from transplantqa.samples import tenancy, transplant
from transplantqa.samples.layout import render
from transplantqa.samples.look import Look
from transplantqa.samples.markup import parse
from transplantqa.samples.tenancy.looks import LOOKS as TENANCY_LOOKS
from transplantqa.samples.transplant.looks import LOOKS as TRANSPLANT_LOOKS

LOOKS: Mapping[Path, Mapping[str, Look]] = {
    Path(transplant.__file__).parent: TRANSPLANT_LOOKS,
    Path(tenancy.__file__).parent: TENANCY_LOOKS,
}


def titles(folder: Path) -> dict[str, str]:
    """Return the title of each document of the manifest in ``folder``, by document id."""
    with (folder / "manifest.csv").open(encoding="utf-8", newline="") as lines:
        return {row["document_id"]: row["title"] for row in csv.DictReader(lines)}


def build(folder: Path, document_id: str, title: str) -> bytes:
    """Return the PDF of one document, made from ``folder/source/<document_id>.md``."""
    markdown = (folder / "source" / f"{document_id}.md").read_text(encoding="utf-8")
    return render(parse(markdown), LOOKS[folder][document_id], title)


def main() -> None:
    """Write every document of every sample's manifest to its ``pdf/``."""
    for folder in LOOKS:
        for document_id, title in titles(folder).items():
            target = folder / "pdf" / f"{document_id}.pdf"
            target.write_bytes(build(folder, document_id, title))
            sys.stdout.write(f"{folder.name}/{target.name}\n")


if __name__ == "__main__":
    main()
