"""The engine knows documents, institutions, groups and questions; only samples and configurations name a domain."""

import re
from pathlib import Path

import transplantqa

PACKAGE = Path(transplantqa.__file__).parent
DOMAIN_WORDS = re.compile(
    r"handbook|\bcenters?\b(?!\")|\borgans?\b|\bpatients?\b|\bkidney|\bliver\b|tacrolimus|rejection|\bheart\b|\btransplant\b|\bclinical\b"
    r"|\btenan|\bstudent",
    re.IGNORECASE,
)
ALLOWED = {
    "corpus/cleaning.py": "headings of contents pages, among them what a document calls itself",
    "corpus/curation.py": "patterns of personal data",
    "release/personal_data.py": "patterns of personal data",
    "scaffold/files.py": "examples in a new project's configuration",
}
"""Files that may hold such a word, and what for."""


def test_no_module_or_template_of_the_engine_names_a_domain() -> None:
    named = [
        f"{path.relative_to(PACKAGE)}:{number}: {line.strip()}"
        for path in sorted(PACKAGE.rglob("*"))
        if path.suffix in {".py", ".j2", ".js", ".html"} and "samples" not in path.parts
        if path.relative_to(PACKAGE).as_posix() not in ALLOWED
        for number, line in enumerate(path.read_text(encoding="utf-8").split("\n"), start=1)
        if DOMAIN_WORDS.search(line)
    ]
    assert named == []
