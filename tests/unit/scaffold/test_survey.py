from transplantqa.scaffold.survey import Proposal, folders_with_contents, survey


def only(*paths: str, groups: tuple[str, ...] = ()) -> Proposal:
    return survey(paths, groups).proposals[0]


def test_subfolders_name_institution_and_group() -> None:
    found = only("North/kidney/guide.pdf")
    assert (found.institution, found.group, found.guessed) == ("North", "kidney", "")


def test_a_group_that_a_person_named_is_found_in_the_file_name_and_marked() -> None:
    found = only("North/Kidney-Guide.pdf", groups=("kidney", "heart"))
    assert (found.group, found.guessed) == ("kidney", "group: from the file name")


def test_two_named_groups_in_one_file_name_leave_the_group_empty_and_marked() -> None:
    found = only("North/kidney_and_heart.pdf", groups=("kidney", "heart"))
    assert found.group == ""
    assert "group: not found" in found.guessed


def test_words_that_files_of_several_institutions_share_are_taken_for_groups() -> None:
    found = survey(["A/kidney_guide.pdf", "A/heart_guide.pdf", "B/kidney_guide.pdf", "B/heart_guide.pdf"])
    assert [proposal.group for proposal in found.proposals] == ["heart", "kidney", "heart", "kidney"]


def test_a_word_in_every_file_name_is_no_group() -> None:
    assert survey(["A/guide.pdf", "B/guide.pdf"]).groups == ()


def test_a_file_outside_any_subfolder_has_no_institution_and_is_marked() -> None:
    found = only("guide.pdf")
    assert found.institution == ""
    assert found.guessed.startswith("institution: fill it in")


def test_a_year_in_the_file_name_is_proposed_and_marked() -> None:
    found = only("North/guide_2024_v2.pdf")
    assert (found.year, found.guessed) == ("2024", "year: from the file name")


def test_a_longer_number_is_no_year() -> None:
    assert only("North/form-120245.pdf").year == ""


def test_files_no_reader_takes_are_listed_and_tables_are_neither() -> None:
    found = survey(["A/a.pdf", "A/slides.pptx", "questions.csv"])
    assert found.passed_over == ("A/slides.pptx",)
    assert len(found.proposals) == 1


def test_names_that_differ_only_in_their_kind_get_ids_of_their_own() -> None:
    ids = [proposal.document_id for proposal in survey(["A/guide.html", "A/guide.pdf"]).proposals]
    assert ids == ["a_guide", "a_guide_2"]


def test_the_order_of_the_paths_does_not_matter() -> None:
    paths = ["B/x.pdf", "A/x.pdf", "A/y.txt"]
    assert survey(paths) == survey(reversed(paths))


def test_linked_html_files_are_proposed_as_one_document_beside_their_pdf() -> None:
    files = ["A/manual/a.html", "A/manual/index.html", "A/manual/guide.pdf", "A/manual/_src/a.txt", "A/manual/x.css"]
    found = survey(files, (), {"A/manual": 2})
    assert [(one.path, one.institution) for one in found.proposals] == [
        ("A/manual", "A"),
        ("A/manual/guide.pdf", "A"),
    ]
    assert found.passed_over == ()


def test_a_folder_of_html_files_with_an_index_may_be_one_manual() -> None:
    pages = [f"A/manual/{n}.html" for n in range(6)]
    assert folders_with_contents([*pages, "A/manual/index.html", *(f"B/x/{n}.html" for n in range(9))]) == ["A/manual"]
