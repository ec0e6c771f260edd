"""The files of a new project: manifest, questions template and configurations, as text by relative path."""

import csv
import io
from dataclasses import dataclass

import yaml

from transplantqa.scaffold.survey import Survey

MANIFEST_COLUMNS = (
    "document_id", "path", "institution", "group", "phase", "title", "year", "licence", "redistributable", "guessed",
)  # fmt: skip
QUESTION_COLUMNS = ("id", "text", "groups", "topics", "subtopics", "source")


@dataclass(frozen=True, slots=True)
class Project:
    """A project's name, which its configurations carry, and the path of its documents from the project's folder."""

    name: str
    documents: str


def project_files(project: Project, survey: Survey) -> dict[str, str]:
    """Return every file of a new project: path from the project's folder to text."""
    return {
        "manifest.csv": manifest(survey),
        "questions.csv": ",".join(QUESTION_COLUMNS) + "\n",
        f"conf/domain/{project.name}.yaml": _domain(project),
        f"conf/corpus/{project.name}.yaml": _corpus(project),
        f"conf/questions/{project.name}.yaml": _questions(project),
        f"conf/experiment/{project.name}.yaml": _experiment(
            project, "baseline", "The model-free control over your documents: quotes as answers, rules as judge."
        ),
        f"conf/experiment/{project.name}_local.yaml": _experiment(
            project,
            "sample_full",
            "A language model in this process over your documents; set model.weights to one worth it.",
        ),
    }


def manifest(survey: Survey) -> str:
    """Return the proposed manifest as CSV; its last column, which ingestion passes over, marks what was guessed."""
    text = io.StringIO()
    writer = csv.DictWriter(text, MANIFEST_COLUMNS, restval="", lineterminator="\n")
    writer.writeheader()
    for line in survey.proposals:
        known = {"document_id": line.document_id, "path": line.path, "institution": line.institution}
        writer.writerow(
            {**known, "group": line.group, "year": line.year, "redistributable": "false", "guessed": line.guessed}
        )
    return text.getvalue()


def _quoted(text: str) -> str:
    return yaml.safe_dump(text, default_style='"', allow_unicode=True, width=1000).strip()


def _domain(project: Project) -> str:
    return f"""\
# What documents, institutions, groups and readers are called here; prompts and reports use these words.
name: {project.name}
document_noun: document              # such as: handbook, tenants' guide
institution_noun: institution        # who wrote it, such as: hospital, university
group_noun: group                    # what kinds of documents there are, such as: organ, faculty
general_label: general               # questions asked of every group
role: a careful assistant            # who the model is told to be
reader: reader                       # who asks, such as: patient, student
abstention: NOT ADDRESSED            # the exact reply of a silent document
significance: practical significance
significance_scale: "High: could cause harm; medium: changes what somebody does; low: matters little."
danger_words: []                     # words that make a conflict grave to the rules judge, such as: overdose, eviction
advice: professional                 # the kind of advice the documents give, such as: medical, legal
"""


def _corpus(project: Project) -> str:
    return f"""\
# The documents of {project.name}: what ingestion reads, described by manifest.csv.
defaults:
  - folder

folder: {_quoted(project.documents)}
manifest: manifest.csv
"""


def _questions(project: Project) -> str:
    return f"""\
# The questions of {project.name}.
defaults:
  - file

path: questions.csv
"""


def _experiment(project: Project, base: str, comment: str) -> str:
    return f"""\
# @package _global_
# {comment}
defaults:
  - {base}
  - override /domain: {project.name}
  - override /corpus: {project.name}
  - override /questions: {project.name}
  - _self_
"""
