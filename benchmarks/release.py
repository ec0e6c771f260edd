"""A release of the papers' size: built, searched, and read from a Hub on loopback: ``python -m benchmarks.release``.

A run of 48,056 answers and 1.77 million comparisons is made up; building it into a release and searching it are timed
in a process of their own. ``datasets`` reads one split from a Hub on loopback, whole and its first rows streamed,
beside pyarrow reading the file, in one process.
"""

import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq

from benchmarks.figures import Figure, Target, figure, main
from benchmarks.loopback_hub import serving
from benchmarks.loopback_hub_state import LFS_SUFFIX, File, Hub, git_oid
from benchmarks.release_run import Size, write_run
from transplantqa.release import ReleaseSettings

QUICK_SHARE = 0.02
REPO = "tester/audit"
STREAMED_ROWS = 1_000
SETTINGS: dict[str, Any] = {
    "folder": "unused",
    "name": "audit",
    "title": "Made up",
    "waiver": "Made-up labels: there is no judge, and none is claimed.",
}

BUILD = """
import json, resource, sys, time
from pathlib import Path
from transplantqa.release import ReleaseSettings, build_release
from transplantqa.release.gates import findings
from transplantqa.store.run_folder import RunFolder
run, target, settings = RunFolder(sys.argv[1]), Path(sys.argv[2]), ReleaseSettings(**json.loads(sys.argv[3]))
def timed(work):
    wall, cpu = time.perf_counter(), time.process_time()
    result = work()
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20
    return result, [time.perf_counter() - wall, time.process_time() - cpu, peak]
_, built = timed(lambda: build_release({"made_up": run}, target, settings))
found, searched = timed(lambda: findings(target))
assert not found, found
print(json.dumps([*built, *searched]))
"""
READ = """
import itertools, json, sys, tempfile, time
import datasets, pyarrow.parquet as pq
datasets.disable_progress_bars()
repo, rows, path = sys.argv[1], int(sys.argv[2]), sys.argv[3]
def timed(work):
    start = time.perf_counter(); result = work(); return time.perf_counter() - start, result
pq.read_table(path, columns=["question_id"])
plain, table = timed(lambda: pq.read_table(path))
with tempfile.TemporaryDirectory() as cache:
    loaded, split = timed(lambda: datasets.load_dataset(repo, "comparisons", split="made_up", cache_dir=cache))
    again, _ = timed(lambda: datasets.load_dataset(repo, "comparisons", split="made_up", cache_dir=cache))
def stream():
    return list(itertools.islice(datasets.load_dataset(repo, "comparisons", split="made_up", streaming=True), rows))
streamed, first = timed(stream)
head, _ = timed(lambda: next(pq.ParquetFile(path).iter_batches(batch_size=rows)).to_pylist())
assert len(split) == table.num_rows and len(first) == rows
print(json.dumps([plain, loaded, again, streamed, head]))
"""


def measure(quick: bool) -> list[Figure]:
    """Return every figure of this benchmark, in a folder that is gone afterwards."""
    with tempfile.TemporaryDirectory(prefix="bench-release-") as work:
        folder = Path(work)
        size = write_run(folder / "run", QUICK_SHARE if quick else 1.0)
        release = folder / "release"
        found = child(BUILD, str(folder / "run"), str(release), json.dumps(SETTINGS))
        return [
            *built(size, *found[:3]),
            figure("gates: search for personal data, secrets, licences", found[3], "s"),
            figure("the same", found[4], "CPU s"),
            figure("peak memory of build and gates", found[5], "GiB", Target("<=", 2)),
            *sizes(release),
            *reading(folder, release),
        ]


def built(size: Size, wall: float, cpu: float, peak: float) -> list[Figure]:
    """Return what the build took, with its targets."""
    what = f"build {size.answers:,} answers and {size.comparisons:,} comparisons"
    return [
        figure(what, wall, "s", Target("<=", 60)),
        figure("the same", cpu, "CPU s"),
        figure("peak memory of the build", peak, "GiB", Target("<=", 2)),
    ]


def sizes(release: Path) -> list[Figure]:
    """Compare Parquet with JSON lines of the same rows."""
    found = []
    for config in ("answers", "comparisons"):
        path = release / config / "made_up.parquet"
        with pq.ParquetFile(path) as file:
            lines = sum(
                len(json.dumps(row, ensure_ascii=False).encode()) + 1
                for batch in file.iter_batches()
                for row in batch.to_pylist()
            )
        found.append(figure(f"{config}: Parquet", path.stat().st_size / 2**20, "MiB"))
        found.append(figure(f"{config}: JSON lines over Parquet", lines / path.stat().st_size, "times"))
    return found


def reading(folder: Path, release: Path) -> list[Figure]:
    """Time ``load_dataset`` against the Hub on loopback beside pyarrow on the file."""
    hub = Hub()
    hub.create(REPO, private=False)
    repository = hub.repositories[REPO]
    commit = hub.new_commit_id(REPO)
    repository.commits[commit] = {
        str(path.relative_to(release)): offered(hub, path) for path in release.rglob("*") if path.is_file()
    }
    repository.branches["main"] = commit
    with serving(hub) as url:
        own = {"HF_ENDPOINT": url, "HF_HOME": str(folder / "hf"), "HF_HUB_DISABLE_XET": "1"}
        path = str(release / "comparisons" / "made_up.parquet")
        plain, loaded, again, streamed, head = child(READ, REPO, str(STREAMED_ROWS), path, environment=own)
    return [
        figure("pyarrow reads the comparisons' file", plain, "s"),
        figure("load_dataset of that split, from the Hub on loopback", loaded, "s"),
        figure("load_dataset over pyarrow", loaded / plain, "times"),
        figure("load_dataset again, from its cache", again, "s"),
        figure(f"streaming its first {STREAMED_ROWS:,} rows", streamed, "s"),
        figure(f"pyarrow reads those {STREAMED_ROWS:,} rows of the file", head, "s"),
        figure("streaming over loading the split whole", streamed / loaded, "times"),
    ]


def offered(hub: Hub, path: Path) -> File:
    """Put a file on the Hub on loopback."""
    content = path.read_bytes()
    return File(hub.keep(content), len(content), git_oid(content), lfs=path.suffix == LFS_SUFFIX)


def child(code: str, *arguments: str, environment: dict[str, str] | None = None) -> list[float]:
    """Run code in a process of its own and return the numbers of its last line."""
    command = [sys.executable, "-c", code, *arguments]
    done = subprocess.run(
        command, capture_output=True, text=True, env={**os.environ, **(environment or {})}, check=False
    )
    assert done.returncode == 0, done.stderr
    result: list[float] = json.loads(done.stdout.strip().rpartition("\n")[2])
    return result


if __name__ == "__main__":
    ReleaseSettings(**SETTINGS)
    raise SystemExit(main("release", measure))
