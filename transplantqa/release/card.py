"""The pages of a release that people read: the dataset card, the datasheet, columns, licence."""

from collections.abc import Mapping, Sequence
from importlib.resources import files
from pathlib import Path
from string import Template
from typing import TYPE_CHECKING

import yaml

from transplantqa.release.card_metadata import card_metadata
from transplantqa.release.croissant import CITATION
from transplantqa.release.facts import CardFacts
from transplantqa.release.features import SHARED_CONFIGS, SHARED_SPLIT
from transplantqa.release.settings import ReleaseSettings
from transplantqa.report.summary import HEADLINES, figure
from transplantqa.report.text import figure_text
from transplantqa.store.run_folder import RunFolder
from transplantqa.validation import NOT_VALIDATED, describe_run, measured

if TYPE_CHECKING:
    from datasets import Features

VALIDATION_FIGURES: Mapping[str, str] = {
    "judge_kappa": "judge against people, kappa",
    "judge_kappa_linear": "the same, linearly weighted",
    "judge_raw_agreement": "agreement",
    "judge_constant_guess_raw": "agreement of always guessing the most frequent label",
    "judge_macro_f1": "macro F1",
    "people_alpha": "people among themselves, Krippendorff's alpha",
    "judge_severity_kappa_linear": "significance, linearly weighted kappa",
}
"""Figures of a judge's validation that a card shows, with their words."""


def templates() -> Path:
    """Return the folder of what is published: a wheel's own copy, or the repository's beside an editable install."""
    package = Path(str(files("transplantqa")))
    own = package / "hub_release"
    return own if own.is_dir() else package.parent / "hub_release"


def card(settings: ReleaseSettings, facts: CardFacts, schemas: Mapping[str, "Features"]) -> str:
    """Return the text of ``README.md``."""
    metadata = yaml.safe_dump(card_metadata(settings, facts, schemas), sort_keys=False, allow_unicode=True, width=120)
    return f"---\n{metadata}---\n{fill('card.md', settings, facts)}"


def fill(template: str, settings: ReleaseSettings, facts: CardFacts) -> str:
    """Return one of the published pages with its blanks filled."""
    text = (templates() / template).read_text(encoding="utf-8")
    return Template(text).substitute(
        title=settings.title,
        name=settings.name,
        licence=settings.licence,
        configs=_config_table(facts),
        systems=_system_table(facts.systems),
        measures=_measure_table(facts.systems),
        instrument=_instrument(facts.systems, settings.waiver),
        validation=_validation_table(facts.systems),
        provenance=_provenance(facts.systems),
        citation=CITATION,
        datasheet=_datasheet(settings, facts) if template == "card.md" else "",
        withheld=_withheld(facts),
        first_split=next(iter(facts.systems), SHARED_SPLIT),
        names=_names(settings),
    )


def _config_table(facts: CardFacts) -> str:
    lines = ["| config | split | rows |", "|---|---|---:|"]
    return "\n".join([*lines, *(f"| `{file.config}` | `{file.split}` | {file.rows:,} |" for file in facts.split_files)])


def _system_table(systems: Mapping[str, RunFolder]) -> str:
    lines = ["| split | system | how it was made |", "|---|---|---|"]
    rows = (
        f"| `{split}` | {_cell(run.system)} | [manifests/{split}.json](manifests/{split}.json) |"
        for split, run in systems.items()
    )
    return "\n".join([*lines, *rows])


def _measure_table(systems: Mapping[str, RunFolder]) -> str:
    header = ["measure", *(f"`{split}`" for split in systems)]
    lines = [_line(header), _line(["---", *("---:" for _ in systems)])]
    for name, title in HEADLINES:
        figures = [figure(measured(run).metrics, name, title) for run in systems.values()]
        if any(item is not None for item in figures):
            lines.append(_line([f"{title} (`{name}`)", *map(figure_text, figures)]))
    return "\n".join(lines)


def _validation_table(systems: Mapping[str, RunFolder]) -> str:
    """Return the figures of each judge's validation by people, or the sentence that there is none."""
    found = {split: measured(run).metrics for split, run in systems.items()}
    rows = [
        _line([title, *(figure_text(figure(metrics, name, title)) for metrics in found.values())])
        for name, title in VALIDATION_FIGURES.items()
        if any(name in metrics for metrics in found.values())
    ]
    if not rows:
        return "No judge of this release was validated against people."
    return "\n".join([_line(["", *(f"`{split}`" for split in found)]), _line(["---", *("---:" for _ in found)]), *rows])


def _provenance(systems: Mapping[str, RunFolder]) -> str:
    """Return which run each split is, when and by which version it was made, and its methods' fingerprints."""
    lines = [_line(["split", "run", "made", "transplantqa", "methods"]), _line(["---"] * 5)]
    for split, run in systems.items():
        methods = ", ".join(f"{stage} `{str(value)[:12]}`" for stage, value in run.section("fingerprints").items())
        made, version = run.record.get("created"), run.section("versions").get("transplantqa")
        cells = (f"`{split}`", f"`{run.run_id}`", str(made or "-")[:10], str(version or "-"), methods or "-")
        lines.append(_line([_cell(cell) for cell in cells]))
    return "\n".join(lines)


def _datasheet(settings: ReleaseSettings, facts: CardFacts) -> str:
    """Return the datasheet's sections one level down, without its title."""
    sections = fill("datasheet.md", settings, facts).split("\n## ")[1:]
    return "\n".join(f"### {section.strip()}\n" for section in sections)


def _line(cells: Sequence[str]) -> str:
    return f"| {' | '.join(cells)} |"


def _instrument(systems: Mapping[str, RunFolder], waiver: str | None) -> str:
    lines = [] if waiver is None else [f"- **Waiver**: {_cell(waiver)}"]
    for split, run in systems.items():
        said = describe_run(run)
        lines.append(f"- `{split}`: {f'**{said}**' if said == NOT_VALIDATED else _cell(said)}")
        lines += [f"  - **not an instrument**: {_cell(reason)}" for reason in measured(run).not_an_instrument]
    return "\n".join(lines)


def _withheld(facts: CardFacts) -> str:
    documents = sum(file.rows for file in facts.split_files if file.config == SHARED_CONFIGS[1])
    if not facts.withheld_documents:
        return f"Text is included for all {documents:,} documents"
    included = f"{documents - facts.withheld_documents:,} of {documents:,} documents"
    return f"Text is included for {included}; the others are listed without it, and so is the evidence taken from them"


def _names(settings: ReleaseSettings) -> str:
    if settings.names == "pseudonyms":
        return "Document ids, titles and file names are pseudonyms; institutions keep their names."
    return "Documents keep their ids, titles and file names."


def _cell(text: str) -> str:
    return " ".join(text.split()).replace("|", "\\|").replace("<", "&lt;")
