"""The dataset card: YAML metadata that the Hub and ``datasets`` read, and the page people read."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from importlib.resources import files
from pathlib import Path
from string import Template
from typing import TYPE_CHECKING, Any

import yaml

from transplantqa.release.features import SHARED_CONFIGS, SHARED_SPLIT
from transplantqa.release.settings import ReleaseSettings
from transplantqa.report.summary import HEADLINES, figure
from transplantqa.report.text import figure_text
from transplantqa.store.run_folder import RunFolder
from transplantqa.validation import NOT_VALIDATED, describe_run, measured

if TYPE_CHECKING:
    from datasets import Features

TAGS = ("retrieval-augmented-generation", "llm-as-a-judge", "source-dependence", "benchmark", "transplantqa")
_SIZES = (
    (1_000, "n<1K"),
    (10_000, "1K<n<10K"),
    (100_000, "10K<n<100K"),
    (1_000_000, "100K<n<1M"),
    (10_000_000, "1M<n<10M"),
)


@dataclass(frozen=True)
class SplitFile:
    """One written file: rows and the bytes they take in memory."""

    config: str
    split: str
    path: str
    rows: int
    size_bytes: int


@dataclass(frozen=True)
class CardFacts:
    """What a card says beyond the settings: systems by split name, files, documents listed without text."""

    systems: Mapping[str, RunFolder]
    split_files: Sequence[SplitFile]
    withheld_documents: int


def templates() -> Path:
    """Return the folder of what is published: a wheel's own copy, or the repository's beside an editable install."""
    package = Path(str(files("transplantqa")))
    own = package / "hub_release"
    return own if own.is_dir() else package.parent / "hub_release"


def card(settings: ReleaseSettings, facts: CardFacts, schemas: Mapping[str, "Features"]) -> str:
    """Return the text of ``README.md``."""
    metadata = yaml.safe_dump(_metadata(settings, facts, schemas), sort_keys=False, allow_unicode=True, width=120)
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
        withheld=_withheld(facts),
        first_split=next(iter(facts.systems), SHARED_SPLIT),
        names=_names(settings),
    )


def _metadata(settings: ReleaseSettings, facts: CardFacts, schemas: Mapping[str, "Features"]) -> dict[str, Any]:
    rows = max((file.rows for file in facts.split_files), default=0)
    filled = {file.config for file in facts.split_files}
    present = {config: schema for config, schema in schemas.items() if config in filled}
    return {
        "pretty_name": settings.title,
        "license": settings.licence,
        "language": [settings.language],
        "task_categories": ["question-answering", "text-classification"],
        "tags": list(TAGS),
        "size_categories": [next((name for limit, name in _SIZES if rows < limit), "n>10M")],
        "configs": [_config(config, facts.split_files) for config in present],
        "dataset_info": _dataset_info(facts.split_files, present),
    }


def _config(config: str, split_files: Sequence[SplitFile]) -> dict[str, Any]:
    own = [file for file in split_files if file.config == config]
    entry: dict[str, Any] = {
        "config_name": config,
        "data_files": [{"split": file.split, "path": file.path} for file in own],
    }
    return {**entry, "default": True} if config == "comparisons" else entry


def _dataset_info(split_files: Sequence[SplitFile], schemas: Mapping[str, "Features"]) -> Any:
    from datasets import DatasetInfo, SplitDict, SplitInfo  # noqa: PLC0415
    from datasets.info import DatasetInfosDict  # noqa: PLC0415
    from huggingface_hub import DatasetCardData  # noqa: PLC0415

    infos = DatasetInfosDict()
    for config, features in schemas.items():
        splits = SplitDict()
        for file in split_files:
            if file.config == config:
                splits.add(SplitInfo(name=file.split, num_bytes=file.size_bytes, num_examples=file.rows))
        infos[config] = DatasetInfo(features=features, splits=splits, config_name=config)
    data = DatasetCardData()
    infos.to_dataset_card_data(data)
    return data["dataset_info"]


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
        figures = [figure(run.measures.metrics, name, title) for run in systems.values()]
        if any(item is not None for item in figures):
            lines.append(_line([f"{title} (`{name}`)", *map(figure_text, figures)]))
    return "\n".join(lines)


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
    return f"Text is included for {documents - facts.withheld_documents:,} of {documents:,} documents"


def _names(settings: ReleaseSettings) -> str:
    if settings.names == "pseudonyms":
        return "Document ids, titles and file names are pseudonyms; institutions keep their names."
    return "Documents keep their ids, titles and file names."


def _cell(text: str) -> str:
    return " ".join(text.split()).replace("|", "\\|").replace("<", "&lt;")
