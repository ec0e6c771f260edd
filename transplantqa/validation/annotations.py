"""What annotators wrote, read from their files: spreadsheets in many shapes, and the page's own JSON."""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from transplantqa.corpus.tabular import Problems, TableRow, find_columns, read_table, text_value
from transplantqa.errors import InputError
from transplantqa.records import CONFLICT_LABELS, Label
from transplantqa.validation.page import SIGNIFICANCES

COLUMNS: Mapping[str, tuple[str, ...]] = {
    "item": ("item", "item_id", "id"),
    "label": ("label", "relation"),
    "significance": ("significance", "severity"),
    "note": ("note", "notes", "comment", "comments"),
    "annotator": ("annotator", "rater", "coder"),
    "sample": ("sample", "sample_id"),
}
_SHOWN_SPELLING = 40
_TAKEN = frozenset({"judge", "people"})


@dataclass(frozen=True, slots=True)
class Annotation:
    """What one annotator said of one item; null is missing."""

    label: Label | None
    significance: str | None
    note: str | None


@dataclass
class Annotations:
    """Every file's rows.

    Args:
        said: annotator to item to what was said; annotators and items in the files' order.
        unknown: spelling that is no label, as written, to how often; the label stays missing.
        unknown_significances: the same of significances.
        unplaced: significances given where the label is no conflict; they are left out.
        named_by_file: annotators that only a file's name names, and that file.
    """

    said: dict[str, dict[str, Annotation]] = field(default_factory=dict)
    unknown: Counter[str] = field(default_factory=Counter)
    unknown_significances: Counter[str] = field(default_factory=Counter)
    unplaced: int = 0
    named_by_file: dict[str, Path] = field(default_factory=dict)


def read_annotations(
    files: Sequence[Path], items: Mapping[str, str], sample_id: str, spellings: Mapping[str, Label]
) -> Annotations:
    """Read annotators' files; an annotator is named by a column, else by the file.

    Letters' case and outer blanks don't matter. Whatever else isn't a label is counted and stays missing: nothing is
    guessed.

    Args:
        files: .csv, .tsv, .json or .jsonl.
        items: the sample's items; their values aren't looked at.
        sample_id: what a column ``sample`` must say.
        spellings: other spellings of labels.

    Raises:
        InputError: a file can't be read as a table, has items that aren't the sample's, or says two things of one item;
            every fault of every file.
    """
    found = Annotations()
    faults = []
    for file in files:
        try:
            _read(file, items, sample_id, _Spellings(spellings), found)
        except InputError as error:
            faults.append(str(error))
    if faults:
        raise InputError("\n\n".join(faults))
    return found


class _Spellings:
    """Labels by spelling."""

    def __init__(self, others: Mapping[str, Label]) -> None:
        self._labels = {_folded(str(label)): label for label in Label}
        self._labels |= {_folded(spelling): Label(label) for spelling, label in others.items()}

    def label(self, text: str) -> Label | None:
        return self._labels.get(_folded(text))


def _folded(text: str) -> str:
    return " ".join(text.split()).casefold()


def _read(file: Path, items: Mapping[str, str], sample_id: str, spellings: _Spellings, found: Annotations) -> None:
    rows, problems = read_table(file, "annotations")
    columns = find_columns(rows, COLUMNS, {"item", "label"}, problems)
    lines: dict[tuple[str, str], int] = {}
    for row in rows:
        item = text_value(row, columns["item"], problems)
        annotator = text_value(row, columns.get("annotator"), problems)
        if not annotator:
            annotator = file.stem
            if found.named_by_file.setdefault(annotator, file) != file:
                problems.add(
                    0,
                    f"{found.named_by_file[annotator]} has this name too: whose labels are whose?",
                    "Name each annotator's file after their code, or add a column annotator.",
                )
                break
        if annotator in _TAKEN or "~" in annotator:
            problems.add(0, f'"{annotator}" means something else in the figures.', "Give the annotator another code.")
            break
        sample = text_value(row, columns.get("sample"), problems)
        if sample not in {"", sample_id}:
            problems.add(
                0,
                f'these are labels of sample "{sample}", not of {sample_id}.',
                f"Add sample={sample}, or leave the file out.",
            )
            continue
        if item not in items:
            problems.add(row.line, f'the sample has no item "{item}".', "Leave the ids as they were given out.")
            continue
        if (annotator, item) in lines:
            problems.add(
                row.line,
                f'item "{item}" of {annotator} was already on {problems.unit} {lines[annotator, item]}.',
                "Keep one of them.",
            )
            continue
        lines[annotator, item] = row.line
        annotation = _annotation(row, columns, spellings, problems, found)
        earlier = found.said.setdefault(annotator, {}).get(item)
        for here, before in () if earlier is None else _contradictions(earlier, annotation):
            problems.add(
                row.line,
                f'{annotator} called item "{item}" {before} in another file and {here} here.',
                "Keep one of them.",
            )
        found.said[annotator][item] = annotation if earlier is None else _together(earlier, annotation)
    problems.raise_any()


def _contradictions(earlier: Annotation, later: Annotation) -> Iterator[tuple[str, str]]:
    """Yield what a later file says otherwise than an earlier one, and what that said."""
    for here, before in ((later.label, earlier.label), (later.significance, earlier.significance)):
        if here is not None and before is not None and here != before:
            yield str(here), str(before)


def _together(earlier: Annotation, later: Annotation) -> Annotation:
    """Return what two files say of one item: the later one fills in what the earlier one leaves out."""
    return Annotation(
        earlier.label or later.label, earlier.significance or later.significance, earlier.note or later.note
    )


def _annotation(
    row: TableRow, columns: Mapping[str, str], spellings: _Spellings, problems: Problems, found: Annotations
) -> Annotation:
    written = text_value(row, columns["label"], problems)
    label = spellings.label(written)
    if written and label is None:
        found.unknown[written[:_SHOWN_SPELLING]] += 1
    rated = _folded(text_value(row, columns.get("significance"), problems))
    if rated and rated not in SIGNIFICANCES:
        found.unknown_significances[rated[:_SHOWN_SPELLING]] += 1
        rated = ""
    if rated and label not in CONFLICT_LABELS:
        found.unplaced += 1
        rated = ""
    return Annotation(label, rated or None, text_value(row, columns.get("note"), problems) or None)
