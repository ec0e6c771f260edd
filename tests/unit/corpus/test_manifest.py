"""Which files are documents and whose: manifests, folders, and every fault told at once."""

from pathlib import Path

import pytest

from transplantqa.corpus.manifest import NO_GROUP_NOTE, find_sources
from transplantqa.errors import InputError


def corpus(tmp_path: Path, *files: str, manifest: str | None = None, name: str = "manifest.csv") -> Path:
    for file in files:
        path = tmp_path / file
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(f"text of {file}", encoding="utf-8")
    if manifest is not None:
        (tmp_path / name).write_text(manifest, encoding="utf-8")
    return tmp_path


def problems(folder: Path) -> list[str]:
    with pytest.raises(InputError) as caught:
        find_sources(folder, None)
    return [problem.split("\n")[0] for problem in str(caught.value).split("\n\n")]


def test_a_manifest_gives_the_metadata(tmp_path: Path) -> None:
    header = "document_id,path,institution,group,phase,title,year,license,redistributable\n"
    text = f"{header}007,a.txt,Center A,kidney,post,Guide,2024,CC0,yes\n"
    (source,) = find_sources(corpus(tmp_path, "a.txt", manifest=text), None)
    assert (source.document_id, source.institution, source.group, source.phase) == ("007", "Center A", "kidney", "post")
    assert (source.title, source.year, source.licence, source.redistributable) == ("Guide", 2024, "CC0", True)


def test_a_yaml_manifest_is_read(tmp_path: Path) -> None:
    text = "- path: a.txt\n  institution: Center A\n  year: 2024\n"
    (source,) = find_sources(corpus(tmp_path, "a.txt", manifest=text, name="manifest.yaml"), None)
    assert (source.document_id, source.year) == ("a", 2024)


def test_a_document_without_group_says_so(tmp_path: Path) -> None:
    (source,) = find_sources(corpus(tmp_path, "a.txt", manifest="path,institution\na.txt,Center A\n"), None)
    assert (source.group, source.notes) == ("general", (NO_GROUP_NOTE,))


def test_sources_are_in_order_of_id(tmp_path: Path) -> None:
    text = "document_id,path,institution\nb,a.txt,A\na,b.txt,A\n"
    assert [s.document_id for s in find_sources(corpus(tmp_path, "a.txt", "b.txt", manifest=text), None)] == ["a", "b"]


def test_every_fault_of_a_manifest_is_told_at_once(tmp_path: Path) -> None:
    text = "document_id,path,institution,year,redistributable\nx,a.txt,A,2024,true\nx,b.txt,,24,maybe\ny,c.txt,A,,\n"
    assert problems(corpus(tmp_path, "a.txt", "b.txt", manifest=text)) == [
        'manifest.csv, line 3: document id "x" was already used on line 2.',
        'manifest.csv, line 3: redistributable "maybe" is neither true nor false.',
        "manifest.csv, line 3: the institution is empty.",
        'manifest.csv, line 3: year "24" isn\'t a year of four digits.',
        f'manifest.csv, line 4: file "c.txt" doesn\'t exist in {tmp_path}.',
    ]


def test_a_missing_column_is_told_with_its_likely_misspelling(tmp_path: Path) -> None:
    assert problems(corpus(tmp_path, "a.txt", manifest="path,instituton\na.txt,A\n"))[0].endswith(
        'no column "institution"; there are "path", "instituton". Did you mean "institution" by "instituton"?'
    )


def test_subfolders_name_institution_and_group(tmp_path: Path) -> None:
    first, second = find_sources(corpus(tmp_path, "Center A/kidney/My Guide.pdf", "Center B/guide.pdf"), None)
    assert (first.document_id, first.institution, first.group) == ("center-a-kidney-my-guide", "Center A", "kidney")
    assert (second.document_id, second.institution, second.notes) == ("center-b-guide", "Center B", (NO_GROUP_NOTE,))


def test_hidden_files_are_passed_over(tmp_path: Path) -> None:
    folder = corpus(tmp_path, "A/guide.pdf", "A/.DS_Store", ".git/config", "A/~$guide.docx", "A/Thumbs.db")
    assert [source.source_file for source in find_sources(folder, None)] == ["A/guide.pdf"]


def test_a_document_of_no_institution_is_an_error(tmp_path: Path) -> None:
    assert problems(corpus(tmp_path, "guide.pdf")) == [
        f"{tmp_path / 'guide.pdf'}: this document belongs to no institution."
    ]


def test_two_files_with_one_id_are_an_error(tmp_path: Path) -> None:
    assert "would have the same id" in problems(corpus(tmp_path, "A/guide.pdf", "A/guide.md"))[0]


def test_an_empty_folder_is_an_error(tmp_path: Path) -> None:
    assert problems(tmp_path) == [f"{tmp_path}: no documents."]


def test_a_missing_folder_is_an_error(tmp_path: Path) -> None:
    assert problems(tmp_path / "nowhere") == [f"{tmp_path / 'nowhere'}: the corpus folder doesn't exist."]


def test_the_hash_of_inputs_follows_the_file_and_its_metadata(tmp_path: Path) -> None:
    folder = corpus(tmp_path, "A/x/guide.txt")
    (before,) = find_sources(folder, None)
    (tmp_path / "A/x/guide.txt").write_text("changed!", encoding="utf-8")
    (after,) = find_sources(folder, None)
    assert before.inputs_sha256 != after.inputs_sha256
