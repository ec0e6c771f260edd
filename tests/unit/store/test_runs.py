"""Records of runs, and finding the one a user means."""

from pathlib import Path

import pytest

from transplantqa.errors import InputError
from transplantqa.store import Run, find_run, list_runs, run_id_of


def record(run_id: str, system: str = "baseline", created: str = "2026-01-01T00:00:00+00:00") -> Run:
    return Run(
        run_id=run_id,
        system=system,
        created=created,
        config={"retriever": {"k": 4}},
        fingerprints={"answers": "f" * 64},
        plan_sha256="p",
        sweep_id="s1",
        versions={"transplantqa": "0.1.0"},
        outcomes={"answers": {"ok": 3}},
        reused={"answers": 2},
        seconds={"answers": 0.5},
    )


def test_a_run_is_read_back_as_it_was_saved(tmp_path: Path) -> None:
    run = record("0123456789abcdef")
    assert Run.load(run.save(tmp_path)) == run


def test_a_run_lies_in_its_own_folder(tmp_path: Path) -> None:
    assert record("0123456789abcdef").save(tmp_path) == tmp_path / "runs" / "0123456789abcdef" / "run.json"


def test_a_run_id_has_sixteen_characters_and_depends_on_identity_alone() -> None:
    assert run_id_of({"a": 1, "b": 2}) == run_id_of({"b": 2, "a": 1})
    assert run_id_of({"a": 1}) != run_id_of({"a": 2})
    assert len(run_id_of({})) == 16


def test_a_run_is_found_by_id_or_its_beginning(tmp_path: Path) -> None:
    record("0123456789abcdef").save(tmp_path)
    record("ffff456789abcdef").save(tmp_path)
    assert find_run(tmp_path, "0123456789abcdef").run_id == "0123456789abcdef"
    assert find_run(tmp_path, "ffff").run_id == "ffff456789abcdef"


def test_a_run_is_found_by_its_folder_or_file(tmp_path: Path) -> None:
    path = record("0123456789abcdef").save(tmp_path)
    assert find_run(tmp_path, str(path)) == find_run(tmp_path, str(path.parent))


def test_a_system_name_means_its_newest_run(tmp_path: Path) -> None:
    record("aaaa", "hybrid", "2026-01-02T00:00:00+00:00").save(tmp_path)
    record("bbbb", "hybrid", "2026-01-03T00:00:00+00:00").save(tmp_path)
    record("cccc", "baseline", "2026-01-04T00:00:00+00:00").save(tmp_path)
    assert find_run(tmp_path, "hybrid").run_id == "bbbb"


def test_an_ambiguous_beginning_lists_the_candidates(tmp_path: Path) -> None:
    record("abcd1").save(tmp_path)
    record("abcd2").save(tmp_path)
    with pytest.raises(InputError, match=r"2 runs begin with 'abcd'(.|\n)*abcd2(.|\n)*abcd1"):
        find_run(tmp_path, "abcd")


def test_an_unknown_reference_lists_what_there_is(tmp_path: Path) -> None:
    record("abcd1", "hybrid").save(tmp_path)
    with pytest.raises(InputError, match=r"no run is called 'hybird'(.|\n)*abcd1  hybrid"):
        find_run(tmp_path, "hybird")


def test_a_long_list_is_cut_and_says_so(tmp_path: Path) -> None:
    for number in range(12):
        record(f"run{number:02d}").save(tmp_path)
    with pytest.raises(InputError, match="and 2 older ones"):
        find_run(tmp_path, "nothing")


def test_no_runs_at_all_says_how_to_make_one(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="make one with `transplantqa run`"):
        find_run(tmp_path, "hybrid")


def test_a_broken_record_hides_no_other(tmp_path: Path) -> None:
    record("abcd1").save(tmp_path)
    broken = tmp_path / "runs" / "abcd2" / "run.json"
    broken.parent.mkdir()
    broken.write_text("{")
    assert [run.run_id for run in list_runs(tmp_path)] == ["abcd1"]
    with pytest.raises(InputError, match="not the record of a run"):
        find_run(tmp_path, str(broken))


def test_a_field_of_a_later_version_is_left_out(tmp_path: Path) -> None:
    path = record("abcd1").save(tmp_path)
    path.write_text(path.read_text().replace('"run_id"', '"later": 1, "run_id"'))
    assert Run.load(path).run_id == "abcd1"


def test_a_damaged_record_is_told_as_such_and_not_as_no_run(tmp_path: Path) -> None:
    record("0123456789abcdef").save(tmp_path).write_text('{"run_id": "01', encoding="utf-8")
    with pytest.raises(InputError, match="is not the record of a run"):
        find_run(tmp_path, "0123456789abcdef")
