"""A release to the Hub and back, over HTTP, with the Hub's own clients, faults included."""

import base64
import json
import time
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq

from benchmarks.loopback_hub_state import Fault, Hub
from transplantqa.cli import main
from transplantqa.release.record import RECORD_FILE, listed_files
from transplantqa.store.run_folder import RunFolder

REPO = "tester/audit"


def _push(program: Any, release: Path, *more: str, **how: Any) -> Any:
    return program("push", f"repo={REPO}", f"folder={release}", *more, **how)


def _offer(hub: Hub, release: Path) -> None:
    """Put a release on the Hub without the program, as a push would have."""
    lines: list[dict[str, Any]] = [{"key": "header", "value": {"summary": "offered"}}]
    for path in (*listed_files(release), RECORD_FILE):
        content = (release / path).read_bytes()
        if path.endswith(".parquet"):
            lines.append({"key": "lfsFile", "value": {"path": path, "oid": hub.keep(content)}})
        else:
            lines.append({"key": "file", "value": {"path": path, "content": base64.b64encode(content)}})
    hub.create(REPO, private=True)
    hub.commit(hub.repositories[REPO], "main", lines)


def _uploads(hub: Hub) -> int:
    return sum(method == "PUT" for method, _, _ in hub.log)


def test_a_dry_run_shows_what_would_be_sent_and_sends_nothing(program: Any, hub: Hub, planted_release: Path) -> None:
    result = _push(program, planted_release, "dry_run=yes", token=None)
    assert result.returncode == 0, result.stderr
    assert f"{REPO} isn't there yet; it would be private." in result.stdout
    assert "+ comparisons/deep.parquet" in result.stdout
    assert hub.repositories == {}
    assert {method for method, _, _ in hub.log} == {"GET"}


def test_a_pushed_release_comes_back_as_runs_with_the_same_figures(
    program: Any, hub: Hub, planted_release: Path, planted_runs: dict[str, RunFolder], tmp_path: Path
) -> None:
    pushed = _push(program, planted_release, "tag=v1")
    assert pushed.returncode == 0, pushed.stderr
    repository = hub.repositories[REPO]
    assert repository.private
    assert len(repository.messages) == 1
    assert repository.tags == {"v1": repository.branches["main"]}

    pulled = program("pull", f"repo={REPO}", "revision=v1")
    assert pulled.returncode == 0, pulled.stderr
    runs = {run.system: run for run in map(RunFolder, (tmp_path / "artifacts/runs").iterdir())}
    assert runs.keys() == planted_runs.keys()
    for system, run in runs.items():
        local = planted_runs[system]
        assert run.measures == local.measures
        for name in set(local.tables()) - {"answers", "evidence", "chunks"}:
            assert run.table(name).equals(local.table(name)), name
        assert run.table("answers").drop_columns("raw").equals(local.table("answers").drop_columns("raw"))
        assert main(["report", str(run.path)]) == 0

    def contrast(first: RunFolder, second: RunFolder, artifacts: Path) -> dict[str, float]:
        sides = (f"baseline={first.path}", f"candidate={second.path}")
        assert main(["contrast", *sides, "tracking=none", f"artifacts={artifacts}"]) == 0
        (record,) = artifacts.glob("contrasts/*/contrast.json")
        metrics: dict[str, float] = json.loads(record.read_text(encoding="utf-8"))["metrics"]
        return metrics

    ours = contrast(planted_runs["flat"], planted_runs["deep"], tmp_path / "ours")
    theirs = contrast(runs["flat"], runs["deep"], tmp_path / "theirs")
    assert "delta/any_divergence_rate" in ours
    assert theirs == ours

    def sampled(run: RunFolder, artifacts: Path) -> dict[str, Any]:
        assert main(["validate", "sample", f"run={run.path}", f"artifacts={artifacts}"]) == 0
        (record,) = artifacts.glob("validation/samples/*/sample.json")
        strata: dict[str, Any] = json.loads(record.read_text(encoding="utf-8"))["strata"]
        return strata

    assert sampled(runs["flat"], tmp_path / "sampled") == sampled(planted_runs["flat"], tmp_path / "sampled-local")


def test_a_busy_hub_is_waited_for_and_a_broken_upload_is_sent_again(
    program: Any, hub: Hub, planted_release: Path
) -> None:
    hub.faults += [
        Fault("GET", rf"^/api/datasets/{REPO}$", retry_after=2),
        Fault("POST", "/preupload/", retry_after=1),
        Fault("PUT", "/_lfs/", kind="drop_request", times=2),
        Fault("GET", r"/resolve/.*answers/flat", kind="drop_answer"),
    ]
    start = time.monotonic()
    result = _push(program, planted_release)
    assert result.returncode == 0, result.stderr
    assert time.monotonic() - start > 3
    assert [fault.times for fault in hub.faults] == [0, 0, 0, 0]
    assert len(hub.repositories[REPO].messages) == 1


def test_a_commit_whose_answer_is_lost_is_not_made_twice(program: Any, hub: Hub, planted_release: Path) -> None:
    hub.faults.append(Fault("POST", "/commit/", kind="drop_answer"))
    result = _push(program, planted_release)
    assert result.returncode == 0, result.stderr
    assert len(hub.repositories[REPO].messages) == 1


def test_an_interrupted_push_goes_on_without_sending_files_again(program: Any, hub: Hub, planted_release: Path) -> None:
    hub.faults.append(Fault("POST", "/commit/", status=403, retry_after=None))
    assert _push(program, planted_release).returncode == 2
    sent = _uploads(hub)
    assert sent >= 5
    assert hub.repositories[REPO].messages == []
    assert _push(program, planted_release).returncode == 0
    assert _uploads(hub) == sent
    assert len(hub.repositories[REPO].messages) == 1


def test_another_schema_is_refused_by_column_and_replaces_everything_when_meant(
    program: Any, hub: Hub, planted_release: Path, tmp_path: Path
) -> None:
    _offer(hub, _with_another_schema(planted_release, tmp_path / "older"))
    refused = _push(program, planted_release)
    assert refused.returncode == 2
    assert "answers: column text was large_string and is string" in refused.stderr
    assert "schema=replace" in refused.stderr
    replaced = _push(program, planted_release, "schema=replace")
    assert replaced.returncode == 0, replaced.stderr
    repository = hub.repositories[REPO]
    assert set(repository.commits[repository.branches["main"]]) == {*listed_files(planted_release), RECORD_FILE}
    assert "- answers/gone.parquet" in replaced.stdout


def _with_another_schema(release: Path, target: Path) -> Path:
    """Copy a release with another type of one column, and one split more."""
    import shutil

    import pyarrow as pa

    shutil.copytree(release, target)
    for path in (target / "answers").iterdir():
        table = pq.read_table(path).replace_schema_metadata(None)
        place = table.column_names.index("text")
        pq.write_table(table.set_column(place, "text", table["text"].cast(pa.large_string())), path)
    shutil.copy(target / "answers/flat.parquet", target / "answers/gone.parquet")
    card = (target / "README.md").read_text(encoding="utf-8")
    head, metadata, body = card.split("---\n", 2)
    import yaml

    facts = yaml.safe_load(metadata)
    facts.pop("dataset_info")
    for entry in facts["configs"]:
        if entry["config_name"] == "answers":
            entry["data_files"].append({"split": "gone", "path": "answers/gone.parquet"})
    (target / "README.md").write_text(f"{head}---\n{yaml.safe_dump(facts)}---\n{body}", encoding="utf-8")
    record = json.loads((target / RECORD_FILE).read_text(encoding="utf-8"))
    record["schemas"]["answers"]["text"]["dtype"] = "large_string"
    record["rows"]["answers"]["gone"] = record["rows"]["answers"]["flat"]
    record["files"] = listed_files(target)
    (target / RECORD_FILE).write_text(json.dumps(record), encoding="utf-8")
    return target


def test_a_taken_tag_and_a_public_dataset_are_refused_together(program: Any, hub: Hub, planted_release: Path) -> None:
    hub.create(REPO, private=False)
    repository = hub.repositories[REPO]
    repository.tags["v1"] = repository.branches["main"]
    unpinned = program("pull", f"repo={REPO}")
    assert unpinned.returncode == 2
    assert "Tags of tester/audit: v1" in unpinned.stderr
    result = _push(program, planted_release, "tag=v1")
    assert result.returncode == 2
    assert "is public" in result.stderr
    assert "Tag v1 is taken" in result.stderr
    assert repository.messages == []


def test_a_file_changed_on_the_hub_is_not_taken_for_the_release(
    program: Any, hub: Hub, planted_release: Path, tmp_path: Path
) -> None:
    _offer(hub, planted_release)
    repository = hub.repositories[REPO]
    head = repository.branches["main"]
    other = repository.commits[head]["manifests/deep.json"]
    changed = {**repository.commits[head], "manifests/flat.json": other}
    repository.commits["f" * 40] = changed
    result = program("pull", f"repo={REPO}", f"revision={'f' * 40}")
    assert result.returncode == 3
    assert "manifests/flat.json isn't what was built" in result.stderr
    assert not (tmp_path / "artifacts/runs").exists()


def test_what_is_not_there_is_said(program: Any) -> None:
    result = program("pull", "repo=tester/nothing", "revision=v1")
    assert result.returncode == 3
    assert "Traceback" not in result.stderr
    assert "tester/nothing: there is no such dataset" in result.stderr
