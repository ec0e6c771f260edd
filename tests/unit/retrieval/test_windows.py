from transplantqa.retrieval.windows import best_run, windows


def test_windows_step_by_one_sentence() -> None:
    text = "One. Two. Three."
    assert [text[start:end] for start, end in windows(text, 2)] == ["One. Two.", "Two. Three."]


def test_a_text_shorter_than_a_window_is_one_window() -> None:
    assert windows("One.", 3) == [(0, 4)]


def test_a_run_grows_from_the_heaviest_span_while_it_fits() -> None:
    assert best_run([(0, 4), (5, 9), (10, 14)], [0.0, 1.0, 2.0], max_chars=9) == (5, 14)


def test_a_span_that_does_not_fit_is_cut() -> None:
    assert best_run([(0, 40)], [1.0], max_chars=10) == (0, 10)
