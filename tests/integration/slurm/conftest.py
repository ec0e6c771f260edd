"""A SLURM of one node, started for these tests and stopped after them."""

import os
import re
import secrets
import shutil
import socket
import subprocess
import tempfile
import time
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

import pytest

DAEMONS = ("munged", "slurmctld", "slurmd", "sbatch", "scontrol")
SEARCHED = f"{os.environ.get('PATH', '')}:/usr/sbin:/usr/local/sbin"


@dataclass(frozen=True)
class Cluster:
    """A running SLURM: the environment its commands need."""

    environment: Mapping[str, str]

    def call(self, *command: str) -> str:
        """Run a command and return what it printed."""
        done = subprocess.run(command, env=dict(self.environment), capture_output=True, text=True, check=False)
        assert done.returncode == 0, f"{command}: {done.stderr}{done.stdout}"
        return done.stdout

    def tasks(self, job: str = "") -> list[Mapping[str, str]]:
        """Return what ``scontrol`` says of each task of a job, or of all jobs."""
        shown = self.call("scontrol", "--oneliner", "show", "job", *([job] if job else []))
        return [dict(re.findall(r"(\w+)=(\S*)", line)) for line in shown.strip().split("\n")]

    def states(self) -> str:
        """Return every task's state in a line."""
        names = ("JobId", "ArrayTaskId", "JobState", "Reason", "Restarts", "StartTime", "Dependency")
        return "\n".join(" ".join(f"{name}={task.get(name)}" for name in names) for task in self.tasks())

    def start_now(self, job: str, index: int) -> bool:
        """Lift the wait of a requeued task of an array; say whether it has left the queue."""
        task = next((task for task in self.tasks(job) if task.get("ArrayTaskId") == str(index)), {})
        if task.get("Restarts") != "1":
            return False
        if task["JobState"] == "PENDING":
            asked = ["scontrol", "update", f"JobId={job}_{index}", "StartTime=now"]
            subprocess.run(asked, env=dict(self.environment), capture_output=True, check=False)  # it may just have left
            return False
        return task["JobState"] in {"RUNNING", "COMPLETED"}


def wait_until(true: Callable[[], bool], seconds: float, what: Callable[[], str]) -> None:
    deadline = time.monotonic() + seconds
    while not true():
        assert time.monotonic() < deadline, what()
        time.sleep(0.1)


@pytest.fixture(scope="session")
def cluster() -> Iterator[Cluster]:
    missing = [name for name in DAEMONS if shutil.which(name, path=SEARCHED) is None]
    if missing:
        pytest.skip(f"NO SLURM HERE ({', '.join(missing)} not found): apt-get install slurm-wlm munge")
    if os.geteuid() != 0:
        pytest.skip("SLURM's daemons need root here")
    base = Path(tempfile.mkdtemp(prefix="tqa-slurm-"))
    processes: list[subprocess.Popen[bytes]] = []
    try:
        started = _start(base, processes)
        yield started
        _cancel_all(started)
    finally:
        for process in reversed(processes):
            process.terminate()
        for process in processes:
            process.wait(timeout=30)
        shutil.rmtree(base, ignore_errors=True)


def _cancel_all(cluster: Cluster) -> None:
    """Leave no job behind, whatever a failing test left running; a job's own steps outlive the daemons."""
    cluster.call("scancel", "--user=root")
    wait_until(lambda: not cluster.call("squeue", "-h").strip(), 60, cluster.states)


def _start(base: Path, processes: list["subprocess.Popen[bytes]"]) -> Cluster:
    host = socket.gethostname().partition(".")[0]
    base.chmod(0o755)
    for name in ("state", "spool"):
        (base / name).mkdir()
    key = base / "munge.key"
    key.write_bytes(secrets.token_bytes(1024))
    key.chmod(0o600)
    filled = Path(__file__).with_name("slurm.conf.in").read_text(encoding="utf-8")
    ports = {"@PORT@": _free_port(), "@NODE_PORT@": _free_port()}
    for name, value in {"@BASE@": base, "@HOST@": host, **ports}.items():
        filled = filled.replace(name, str(value))
    configuration = base / "slurm.conf"
    configuration.write_text(filled, encoding="utf-8")
    environment = {**os.environ, "SLURM_CONF": str(configuration), "PATH": SEARCHED}
    munge = [f"--{name}={base / file}" for name, file in MUNGE_FILES.items()]
    with (base / "daemons.log").open("wb") as log:
        for command in (
            ["munged", "--foreground", "--force", *munge],
            ["slurmctld", "-D", "-f", str(configuration)],
            ["slurmd", "-D", "-f", str(configuration), "-N", host],
        ):
            processes.append(subprocess.Popen(command, env=environment, stdout=log, stderr=subprocess.STDOUT))
            time.sleep(0.5)
    cluster = Cluster(environment)

    def idle() -> bool:
        asked = ["sinfo", "-h", "-o", "%T"]
        shown = subprocess.run(asked, env=environment, capture_output=True, text=True, check=False)
        return shown.stdout.strip() == "idle"

    wait_until(idle, 60, lambda: (base / "daemons.log").read_text(errors="replace")[-3000:])
    return cluster


MUNGE_FILES = {
    "key-file": "munge.key",
    "socket": "munge.socket",
    "pid-file": "munged.pid",
    "log-file": "munged.log",
    "seed-file": "munged.seed",
}


def _free_port() -> int:
    with socket.socket() as found:
        found.bind(("127.0.0.1", 0))
        port: int = found.getsockname()[1]
        return port
