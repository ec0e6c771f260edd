"""The commands that look after the ledger."""

import re
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

import pytest

from transplantqa.cli import main
from transplantqa.errors import EXIT_OK, ConfigError, InputError
from transplantqa.store import Ledger, Method, Run, Unit
from transplantqa.store.tables import ANSWERS, EMBED

MakePlan = Callable[..., list[Unit]]
MakeRow = Callable[..., dict[str, object]]


def method(root: Path, temperature: float) -> Method:
    made = Method("generate", {"model": {"name": "m", "temperature": temperature}, "stage_version": 1})
    with Ledger(root, ANSWERS, made).writer():
        pass
    return made


def run_of(root: Path, system: str, generate: Method, plan: str = "p") -> Run:
    run = Run(f"{system}0000", system, "2026-01-01", {}, {"generate": generate.fingerprint}, plan)
    run.save(root)
    return run


@pytest.fixture
def root(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    return tmp_path / "artifacts"


def test_two_runs_are_told_apart_by_the_ingredient_that_differs(root: Path, capsys: pytest.CaptureFixture[str]) -> None:
    run_of(root, "cold", method(root, 0.0))
    run_of(root, "warm", method(root, 0.7), plan="other")
    assert main(["explain", "cold", "warm"]) == EXIT_OK
    shown = capsys.readouterr().out
    assert re.match(r"cold \(\w+\) / warm \(\w+\)\ngenerate: 1 differ\n  model.temperature: 0.0 / 0.7\n", shown)
    assert "plan: other questions" in shown


def test_methods_are_found_by_fingerprint_and_by_path(root: Path, capsys: pytest.CaptureFixture[str]) -> None:
    cold, warm = method(root, 0.0), method(root, 0.7)
    path = root / "generate" / warm.fingerprint / "method.json"
    assert main(["explain", cold.fingerprint[:12], str(path)]) == EXIT_OK
    assert "model.temperature: 0.0 / 0.7" in capsys.readouterr().out


def test_a_method_equals_itself(root: Path, capsys: pytest.CaptureFixture[str]) -> None:
    cold = method(root, 0.0)
    run_of(root, "cold", cold)
    assert main(["explain", "cold", cold.fingerprint]) == EXIT_OK
    assert capsys.readouterr().out.endswith(f" / generate/{cold.fingerprint[:8]}\ngenerate: the same method\n")


@pytest.mark.parametrize(
    ("arguments", "code", "words"),
    [
        (("one",), ConfigError.exit_code, "Name two to compare; 1 given"),
        (("nothing", "there"), InputError.exit_code, "no run is called 'nothing'"),
        (("a", "b", "artefacts=x"), ConfigError.exit_code, "'artefacts=x' is not one of artifacts="),
    ],
)
def test_what_cannot_be_compared_is_said_with_the_remedy(
    root: Path, capsys: pytest.CaptureFixture[str], arguments: tuple[str, ...], code: int, words: str
) -> None:
    run_of(root, "cold", method(root, 0.0))
    assert main(["explain", *arguments]) == code
    assert words in capsys.readouterr().err


def test_pruning_lists_and_deletes_only_when_asked(root: Path, capsys: pytest.CaptureFixture[str]) -> None:
    kept, loose = method(root, 0.0), method(root, 0.7)
    run_of(root, "cold", kept)
    assert main(["prune"]) == EXIT_OK
    assert loose.fingerprint in capsys.readouterr().out
    assert (root / "generate" / loose.fingerprint).exists()
    assert main(["prune", "delete=yes"]) == EXIT_OK
    assert not (root / "generate" / loose.fingerprint).exists()
    assert (root / "generate" / kept.fingerprint).exists()


def test_an_ingredient_of_a_method_in_use_is_not_pruned(root: Path, capsys: pytest.CaptureFixture[str]) -> None:
    embedder = {"name": "minilm", "weights": "abc"}
    embed, unused = Method("embed", embedder), Method("embed", {**embedder, "weights": "old"})
    retrieve = Method("retrieve", {"embedder": embedder, "rankers": ["dense"]})
    for found in (embed, unused, retrieve):
        with Ledger(root, EMBED, found).writer():
            pass
    Run("abcd", "dense", "2026-01-01", {}, {"retrieve": retrieve.fingerprint}, "p").save(root)
    main(["prune"])
    shown = capsys.readouterr().out
    assert unused.fingerprint in shown
    assert embed.fingerprint not in shown


@pytest.mark.parametrize(("arguments", "code"), [(("delete=maybe",), 2), (("artifacts=nowhere",), 3)])
def test_a_prune_that_makes_no_sense_deletes_nothing(root: Path, arguments: tuple[str, ...], code: int) -> None:
    method(root, 0.0)
    assert main(["prune", *arguments]) == code


def test_repairing_keeps_one_of_the_rows_that_are_there_twice(
    root: Path, plan: MakePlan, row: MakeRow, capsys: pytest.CaptureFixture[str]
) -> None:
    ledger = Ledger(root, ANSWERS, Method("generate", {"version": 1}))
    units = plan(3)
    for _ in range(2):
        with ledger.writer() as writer:
            for unit in units:
                writer.append(row(unit))
    assert len(ledger.report(units).duplicate) == len(units)
    assert main(["repair", str(ledger.folder)]) == EXIT_OK
    assert "6 repeated rows dropped" in capsys.readouterr().out
    assert ledger.merge(units).is_exact


def test_repairing_sets_damaged_parts_aside_and_says_that_their_rows_are_made_again(
    root: Path, plan: MakePlan, row: MakeRow, capsys: pytest.CaptureFixture[str]
) -> None:
    ledger = Ledger(root, ANSWERS, Method("generate", {"version": 1}))
    with ledger.writer() as writer:
        writer.append(row(plan(1)[0]))
    (part,) = ledger.folder.glob("part-*")
    content = bytearray(part.read_bytes())
    content[len(content) // 2] ^= 1
    part.write_bytes(content)
    assert main(["repair", str(ledger.folder)]) == EXIT_OK
    shown = capsys.readouterr().out
    assert "1 damaged parts set aside" in shown
    assert "made again by the next run" in shown
    assert ledger.pending(plan(1)) == plan(1)


def test_repairing_seals_what_a_killed_writer_left(
    root: Path, plan: MakePlan, row: MakeRow, capsys: pytest.CaptureFixture[str]
) -> None:
    ledger = Ledger(root, ANSWERS, Method("generate", {"version": 1}))
    with suppress(KeyboardInterrupt), ledger.writer() as writer:
        writer.append(row(plan(1)[0]))
        raise KeyboardInterrupt
    assert main(["repair", str(ledger.folder)]) == EXIT_OK
    assert "1 journals of killed writers sealed" in capsys.readouterr().out
    assert [path.suffix for path in ledger.folder.iterdir() if path.name != "method.json"] == [".parquet"]
