"""Croissant metadata of a release (MLCommons, version 1.0): files with their hashes, and the columns in them."""

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any

from transplantqa.release.facts import CardFacts, SplitFile
from transplantqa.release.settings import ReleaseSettings

if TYPE_CHECKING:
    from datasets import Features

CROISSANT_FILE = "croissant.json"
CITATION = (
    "Cite this dataset by its name and revision, and the papers whose methods made it: "
    "arXiv 2605.29084 (TransplantQA, HERO-QA, the structured judge) and arXiv 2607.22606 (the measures)."
)
LICENCE_TEXTS: Mapping[str, str] = {
    "cc-by-4.0": "https://creativecommons.org/licenses/by/4.0/",
    "cc-by-nc-4.0": "https://creativecommons.org/licenses/by-nc/4.0/",
    "cc-by-sa-4.0": "https://creativecommons.org/licenses/by-sa/4.0/",
    "cc0-1.0": "https://creativecommons.org/publicdomain/zero/1.0/",
    "mit": "https://opensource.org/license/mit",
    "odc-by": "https://opendatacommons.org/licenses/by/1-0/",
}
"""Identifier of the Hub to the licence's own page."""

_CONTEXT = {
    "@language": "en",
    "@vocab": "https://schema.org/",
    "sc": "https://schema.org/",
    "cr": "http://mlcommons.org/croissant/",
    "dct": "http://purl.org/dc/terms/",
    "citeAs": "cr:citeAs",
    "column": "cr:column",
    "conformsTo": "dct:conformsTo",
    "data": {"@id": "cr:data", "@type": "@json"},
    "dataType": {"@id": "cr:dataType", "@type": "@vocab"},
    "extract": "cr:extract",
    "field": "cr:field",
    "fileObject": "cr:fileObject",
    "fileProperty": "cr:fileProperty",
    "fileSet": "cr:fileSet",
    "format": "cr:format",
    "includes": "cr:includes",
    "isLiveDataset": "cr:isLiveDataset",
    "jsonPath": "cr:jsonPath",
    "key": "cr:key",
    "md5": "cr:md5",
    "parentField": "cr:parentField",
    "path": "cr:path",
    "recordSet": "cr:recordSet",
    "references": "cr:references",
    "regex": "cr:regex",
    "repeated": "cr:repeated",
    "replace": "cr:replace",
    "separator": "cr:separator",
    "source": "cr:source",
    "subField": "cr:subField",
    "transform": "cr:transform",
}
_TYPES = {
    "string": "sc:Text",
    "bool": "sc:Boolean",
    "int32": "cr:Int32",
    "int64": "cr:Int64",
    "float64": "cr:Float64",
}


def croissant(
    settings: ReleaseSettings,
    facts: CardFacts,
    schemas: Mapping[str, "Features"],
    files: Mapping[str, Mapping[str, Any]],
) -> dict[str, Any]:
    """Return the metadata as JSON-LD data.

    A column of structures (sections, passages, candidates, citations) is named in its record set's description and not
    described field by field: version 1.0 has no way to read one from Parquet.

    Args:
        settings: of the release.
        facts: its systems and splits.
        schemas: config to its features.
        files: path to size in bytes and SHA-256.
    """
    dated = {"datePublished": date} if (date := _date(facts)) else {}
    return {
        "@context": _CONTEXT,
        "@type": "sc:Dataset",
        "name": settings.name,
        "description": f"{settings.title}: the same questions asked of every document, and every two answers compared. "
        "A research instrument; it doesn't rank institutions and is no basis for decisions about anybody.",
        "conformsTo": "http://mlcommons.org/croissant/1.0",
        "citeAs": CITATION,
        "license": LICENCE_TEXTS.get(settings.licence, "See DATA_LICENSE"),
        "url": f"https://huggingface.co/datasets?search={settings.name}",  # its owner isn't known before the push
        "version": "1.0.0",
        **dated,
        "distribution": [_file(file, files[file.path]) for file in facts.split_files],
        "recordSet": [_record_set(file, schemas[file.config]) for file in facts.split_files],
    }


def _date(facts: CardFacts) -> str:
    """Return the day of the newest run; a release says nothing of the day it was built, so that builds are equal."""
    return max((str(run.record.get("created") or "")[:10] for run in facts.systems.values()), default="")


def _file(file: SplitFile, listed: Mapping[str, Any]) -> dict[str, Any]:
    return {
        "@type": "cr:FileObject",
        "@id": file.path,
        "name": file.path,
        "contentUrl": file.path,
        "contentSize": f"{listed['bytes']} B",
        "encodingFormat": "application/x-parquet",
        "sha256": listed["sha256"],
    }


def _record_set(file: SplitFile, features: "Features") -> dict[str, Any]:
    name = f"{file.config}/{file.split}"
    fields = list(_fields(name, file.path, features))
    described = {field["name"] for field in fields}
    left = [column for column in features if column not in described]
    more = f" Columns of structures, see schema.md: {', '.join(left)}." if left else ""
    return {
        "@type": "cr:RecordSet",
        "@id": name,
        "name": name,
        "description": f"{file.rows} rows of config {file.config}, split {file.split}.{more}",
        "field": fields,
    }


def _fields(record_set: str, path: str, features: "Features") -> Iterator[dict[str, Any]]:
    for column, feature in features.items():
        repeated = type(feature).__name__ == "List"
        kind = feature.feature if repeated else feature
        names = getattr(kind, "names", None)
        data_type = "cr:Int64" if names else _TYPES.get(getattr(kind, "dtype", None) or "")
        if data_type is None:
            continue
        yield {
            "@type": "cr:Field",
            "@id": f"{record_set}/{column}",
            "name": column,
            **({"description": ", ".join(f"{place}: {label}" for place, label in enumerate(names))} if names else {}),
            "dataType": data_type,
            **({"repeated": True} if repeated else {}),
            "source": {"fileObject": {"@id": path}, "extract": {"column": column}},
        }
