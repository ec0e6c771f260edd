from collections.abc import Callable

from transplantqa.controls.folder import control_sentences, controls_folder, write_control
from transplantqa.store.run_folder import RunFolder


def test_what_controls_found_is_said_with_the_run(write_run: Callable[..., RunFolder]) -> None:
    run = write_run()
    assert control_sentences(run) == []
    write_control(run, "b", {"sentences": ["Second."]})
    write_control(run, "a", {"sentences": ["First."]})
    (controls_folder(run) / "c.json").write_text("{", encoding="utf-8")
    assert control_sentences(run)[:2] == ["First.", "Second."]
    assert "can't be read" in control_sentences(run)[2]
