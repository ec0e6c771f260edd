"""The card's YAML metadata, which the Hub and ``datasets`` read: configs, splits, features, licence, tags, size."""

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from transplantqa.release.facts import CardFacts, SplitFile
from transplantqa.release.settings import ReleaseSettings

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


def card_metadata(settings: ReleaseSettings, facts: CardFacts, schemas: Mapping[str, "Features"]) -> dict[str, Any]:
    """Return the metadata of ``README.md``."""
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
