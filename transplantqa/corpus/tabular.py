"""Strict reading of small tables that people write: CSV, JSON lines, JSON and YAML lists; each fault with its line."""

import csv
import difflib
import io
import json
import re
import sys
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from transplantqa.errors import InputError

_CONTROL = re.compile(r"[\x00-\x08\x0b\x0c\x0e-\x1f\x7f]")
_DELIMITERS = (",", ";", "\t")
_NAMED_DELIMITER = re.compile(r"sep=([,;\t])(?=\n)")


Value = Any
"""What JSON or YAML can hold."""

_UNREADABLE = object()
"""Stands for a value that isn't valid; ``None`` is a valid one."""


@dataclass(frozen=True, slots=True)
class TableRow:
    """One record. ``line`` counts from 1: the line it starts on, or its number in a JSON or YAML list."""

    line: int
    values: Mapping[str, Any]


class Problems:
    """Collects the faults of one file, to be raised all at once in the order of the file."""

    def __init__(self, path: Path, unit: str = "line") -> None:
        self.name = path.name
        self.unit = unit
        self._found: list[tuple[int, str]] = []

    def add(self, line: int, what: str, remedy: str = "") -> None:
        """Note a fault; ``line`` 0 means the file as a whole."""
        where = f"{self.name}, {self.unit} {line}" if line else self.name
        self._found.append((line, f"{where}: {what}" + (f"\n{remedy}" if remedy else "")))

    def raise_any(self) -> None:
        """Raise an InputError with every fault noted so far, if there is one."""
        if self._found:
            ordered = sorted(dict.fromkeys(self._found))
            raise InputError("\n\n".join(message for _, message in ordered))


def read_table(path: Path, what: str) -> tuple[list[TableRow], Problems]:
    """Read the records of a file by the kind its name ends in; raises InputError when it has none or is malformed.

    Blank lines are passed over. In CSV every value is text; the delimiter is the one of comma, semicolon and tab that
    the header has most of.

    Args:
        path: a .csv, .tsv, .jsonl, .ndjson, .json, .yaml, .yml or .parquet file.
        what: what the records are, in the plural, for messages.
    """
    suffix = path.suffix.lower()
    if suffix == ".parquet":
        from transplantqa.corpus.parquet_rows import read_parquet  # noqa: PLC0415 - only for such files

        return read_parquet(path, what)
    is_list = suffix in (".json", ".yaml", ".yml")
    text = _load(path, what)
    problems = Problems(path, "entry" if is_list else "line")
    if not text.strip():
        problems.add(0, f"no {what}: the file is empty.", f"Give it a header line and one line for each of the {what}.")
    elif suffix in (".csv", ".tsv"):
        rows = list(_csv_rows(text, problems, what))
    elif suffix in (".jsonl", ".ndjson"):
        rows = list(_json_lines(text, problems))
    elif suffix == ".json":
        rows = list(_json_list(text, problems, what))
    elif suffix in (".yaml", ".yml"):
        rows = list(_yaml_list(text, problems, what))
    else:
        problems.add(
            0, f"files of type {suffix or '(none)'} aren't read.", "Use .csv, .jsonl, .json, .yaml or .parquet."
        )
    problems.raise_any()
    if not rows:
        problems.add(0, f"no {what}: there is nothing under the header.", f"Give it one line for each of the {what}.")
        problems.raise_any()
    return rows, problems


def _load(path: Path, what: str) -> str:
    try:
        data = path.read_bytes()
    except FileNotFoundError:
        near = _near_files(path)
        raise InputError(
            f"{path}: there is no such file of {what}.{near}\nCheck the path; it is taken from {Path.cwd()}."
        ) from None
    except OSError as error:
        raise InputError(f"{path}: the file of {what} can't be read: {error.strerror}.") from None
    if data.startswith((b"\xff\xfe", b"\xfe\xff")):
        encoding = "utf-16"
    elif data[:200].count(0) > len(data[:200]) // 4:
        encoding = "utf-16-le" if data[1:2] == b"\0" else "utf-16-be"
    else:
        encoding = "utf-8-sig"
    try:
        text = data.decode(encoding)
    except UnicodeDecodeError as error:
        if encoding.startswith("utf-16"):
            raise InputError(
                f"{path.name}: not UTF-16 text after byte {error.start:,}; was the file cut short?\n"
                "Save it again as UTF-8."
            ) from None
        line = data.count(b"\n", 0, error.start) + 1
        raise InputError(
            f"{path.name}, line {line}: not UTF-8 text (byte 0x{data[error.start]:02x}); "
            f"it looks like Latin-1 or Windows-1252.\n"
            f"Save it as UTF-8, for example: iconv -f WINDOWS-1252 -t UTF-8 {path.name} > utf8_{path.name}"
        ) from None
    return text.replace("\r\n", "\n").replace("\r", "\n").removesuffix("\x1a")


def _near_files(path: Path) -> str:
    if not path.parent.is_dir():
        return f" There is no folder {path.parent} either."
    close = difflib.get_close_matches(path.name, sorted(entry.name for entry in path.parent.iterdir()), n=1)
    return f" Did you mean {close[0]}?" if close else ""


def _csv_rows(text: str, problems: Problems, what: str) -> Iterator[TableRow]:
    header_text = next(line for line in text.split("\n") if line.strip())
    delimiter = max(_DELIMITERS, key=lambda d: (header_text.count(d), -_DELIMITERS.index(d)))
    if named := _NAMED_DELIMITER.match(text):  # a spreadsheet's own first line; blank, it keeps the count of lines
        delimiter = named.group(1)
        text = text[named.end() :]
    previous = csv.field_size_limit(min(sys.maxsize, 2**31 - 1))
    reader = csv.reader(io.StringIO(text, newline="\n"), delimiter=delimiter, strict=True)
    header: list[str] | None = None
    start = 1
    try:
        for fields in reader:
            line, start = start, reader.line_num + 1
            if not any(field.strip() for field in fields):
                continue
            if header is None:
                header = [field.strip() for field in fields]
                while not header[-1]:  # columns a spreadsheet has beside the table
                    header.pop()
                _check_header(header, line, problems)
                continue
            while len(fields) > len(header) and not fields[-1].strip():
                fields.pop()
            if len(fields) != len(header):
                problems.add(
                    line,
                    f"{len(fields)} fields, {len(header)} expected ({', '.join(header)}).",
                    f'Put a value that has a "{delimiter}" or a line break in it in double quotes.',
                )
            else:
                yield TableRow(line, dict(zip(header, fields, strict=True)))
    except csv.Error as error:
        problems.add(
            start,
            f"a quoted value isn't closed or goes on after its closing quote ({error}).",
            'Write a quote inside a quoted value twice: "".',
        )
    finally:
        csv.field_size_limit(previous)
    if header is None:
        problems.add(0, f"no header and no {what}.")


def _check_header(header: Sequence[str], line: int, problems: Problems) -> None:
    folded = [name.casefold() for name in header]
    for name in sorted({name for name in folded if name and folded.count(name) > 1}):
        problems.add(line, f'the header names column "{name}" more than once.', "Give each column its own name.")
    if "" in header:
        problems.add(line, "the header has a column without a name.", "Name it, or take the column out.")


def _json_lines(text: str, problems: Problems) -> Iterator[TableRow]:
    for number, line in enumerate(text.split("\n"), start=1):
        if not line.strip():
            continue
        value = _json(line, number, problems)
        if value is not _UNREADABLE:
            yield from _record(value, number, problems)


def _json_list(text: str, problems: Problems, what: str) -> Iterator[TableRow]:
    value = _json(text, 0, problems)
    if isinstance(value, dict) and len(value) == 1 and isinstance(next(iter(value.values())), list):
        value = next(iter(value.values()))
    if value is _UNREADABLE:
        return
    if not isinstance(value, list):
        problems.add(
            0, f"a JSON list of {what} is expected.", "Put the objects between [ and ], or use .jsonl with one a line."
        )
        return
    for number, item in enumerate(value, start=1):
        yield from _record(item, number, problems)


def _yaml_list(text: str, problems: Problems, what: str) -> Iterator[TableRow]:
    import yaml  # noqa: PLC0415 - only for YAML manifests

    try:
        twice = _key_given_twice(yaml.compose(text, Loader=yaml.BaseLoader))
        value = yaml.load(text, Loader=yaml.BaseLoader)  # noqa: S506 - BaseLoader makes nothing but text, lists and maps
    except yaml.YAMLError as error:
        mark = getattr(error, "problem_mark", None)
        where = f" (line {mark.line + 1})" if mark else ""
        problems.add(
            0,
            f"not valid YAML{where}: {getattr(error, 'problem', None) or error}.",
            "Mend that line; check its indents.",
        )
        return
    if twice is not None:
        problems.add(0, f'"{twice[0]}" is given twice in one entry (line {twice[1]}).', "Keep one of them.")
    if isinstance(value, dict) and len(value) == 1:
        value = next(iter(value.values()))
    if not isinstance(value, list):
        problems.add(0, f"a YAML list of {what} is expected.", "Start each entry with a dash.")
        return
    for number, item in enumerate(value, start=1):
        yield from _record(item, number, problems)


def _key_given_twice(node: Any) -> tuple[str, int] | None:
    """Return a key that some mapping of a composed YAML document has twice, and its line; YAML keeps the last."""
    waiting = [node]
    visited: set[int] = set()  # an alias may lead back to where it stands
    while waiting:
        node = waiting.pop()
        if isinstance(getattr(node, "value", None), list) and id(node) not in visited:
            visited.add(id(node))
            pairs = [item for item in node.value if isinstance(item, tuple)]
            seen: set[str] = set()
            for key, _ in pairs:
                if str(key.value) in seen:
                    return str(key.value), key.start_mark.line + 1
                seen.add(str(key.value))
            waiting += [value for _, value in pairs] if pairs else node.value
    return None


def _record(value: Value, number: int, problems: Problems) -> Iterator[TableRow]:
    if isinstance(value, dict):
        yield TableRow(number, value)
    else:
        problems.add(number, f"an object with named values is expected, not {type(value).__name__}.")


def _json(text: str, number: int, problems: Problems) -> Value:
    try:
        return json.loads(text, object_pairs_hook=_unique, parse_constant=_no_constant)
    except json.JSONDecodeError as error:
        where = f" (line {error.lineno}, column {error.colno})" if not number else f" (column {error.colno})"
        problems.add(
            number, f"not valid JSON{where}: {error.msg}.", "Mend or take out this line; was the file cut short?"
        )
    except (ValueError, RecursionError) as error:
        problems.add(number, f"not valid JSON: {error}.", "Mend or take out this line.")
    return _UNREADABLE


def _unique(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    result = dict(pairs)
    if len(result) != len(pairs):
        names = [name for name, _ in pairs]
        raise ValueError(f'"{next(name for name in names if names.count(name) > 1)}" is given twice in one object')
    return result


def _no_constant(name: str) -> Value:
    raise ValueError(f"{name} is not a value JSON knows")


def find_columns(
    rows: Sequence[TableRow], accepted: Mapping[str, Sequence[str]], required: Iterable[str], problems: Problems
) -> dict[str, str]:
    """Return field to the name its column has in the file, in any case; raises InputError for what is missing.

    A column that is no field but nearly has the name of one that is absent is taken for a spelling mistake.

    Args:
        rows: the records.
        accepted: field to the names its column may have, the usual one first.
        required: fields that must be there.
        problems: of the file, whose faults are raised with these.
    """
    present = {str(name).strip().casefold(): str(name) for row in rows for name in row.values}
    found: dict[str, str] = {}
    for field, names in accepted.items():
        matches = [present[name.casefold()] for name in names if name.casefold() in present]
        if len(matches) > 1:
            problems.add(0, f'columns "{matches[0]}" and "{matches[1]}" both give the {field}.', "Keep one of them.")
        if matches:
            found[field] = matches[0]
    others = sorted(name for name in present.values() if name not in found.values())
    required = set(required)
    for field, names in accepted.items():
        if field in found:
            continue
        close = difflib.get_close_matches(names[0], others, n=1, cutoff=0.75)
        if field in required:
            listed = ", ".join(f'"{name}"' for name in present.values())
            hint = f' Did you mean "{names[0]}" by "{close[0]}"?' if close else ""
            problems.add(0, f'no column "{names[0]}"; there are {listed}.{hint}', "Name the columns in the first line.")
        elif close:
            problems.add(0, f'column "{close[0]}" isn\'t known.', f'Did you mean "{names[0]}"?')
    problems.raise_any()
    return found


def text_value(row: TableRow, column: str | None, problems: Problems) -> str:
    """Return a value as text without outer white space; absent is "". Whole numbers are written as they stand."""
    value = row.values.get(column) if column is not None else None
    if value is None:
        return ""
    if isinstance(value, bool | float | list | dict):
        problems.add(
            row.line, f'"{column}" must be text, not {json.dumps(value, ensure_ascii=False)[:60]}.', "Put it in quotes."
        )
        return ""
    text = str(value).strip()
    _check_text(text, row, column, problems)
    return text


def _check_text(text: str, row: TableRow, column: str | None, problems: Problems) -> None:
    if _CONTROL.search(text) or any("\ud800" <= c <= "\udfff" for c in text):
        problems.add(
            row.line,
            f'"{column}" has characters that are no text (control characters or half a character).',
            "Take them out, or save the file again as UTF-8 text.",
        )


def list_value(row: TableRow, column: str | None, problems: Problems, separator: str = "|") -> tuple[str, ...]:
    """Return the values of a list: a list, or text with a separator between; repeats and empty ones are left out."""
    value = row.values.get(column) if column is not None else None
    if isinstance(value, list):
        parts = []
        for item in value:
            if isinstance(item, str | int) and not isinstance(item, bool):
                parts.append(str(item))
                _check_text(parts[-1], row, column, problems)
            else:
                problems.add(row.line, f'"{column}" must be a list of texts, not of {type(item).__name__}.')
    else:
        parts = text_value(row, column, problems).split(separator)
    return tuple(dict.fromkeys(part.strip() for part in parts if part.strip()))


def nearest(name: str, known: Iterable[str]) -> str:
    """Return " Did you mean ...?" for the known name closest in spelling, letters' case aside, or nothing."""
    by_fold = {other.casefold(): other for other in sorted(known)}
    close = difflib.get_close_matches(name.casefold(), list(by_fold), n=1)
    return f' Did you mean "{by_fold[close[0]]}"?' if close else ""
