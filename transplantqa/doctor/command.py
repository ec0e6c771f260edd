"""``transplantqa doctor``: checks what a composed system needs, and says what to do about what fails.

Exit codes: 0 when nothing that the system needs fails (warnings included), 4 (a model or engine) otherwise.
"""

from collections.abc import Iterator, Mapping
from contextlib import closing
from pathlib import Path
from typing import Any

from rich.console import Console
from rich.text import Text

from transplantqa.config import RunConfig, build
from transplantqa.doctor import machine, models, services
from transplantqa.doctor.findings import Finding, State, components, target
from transplantqa.doctor.probes import probes
from transplantqa.errors import EXIT_OK, ModelError
from transplantqa.report.text import plain

STYLES = {State.OK: "", State.WARNS: "yellow", State.FAILS: "bold red", State.SKIPPED: "dim"}
LANGUAGE_MODELS = frozenset({"model", "generator's model", "judge's model"})


def examine(config: RunConfig) -> Iterator[Finding]:
    """Yield every finding, the quick ones first."""
    used = components(config)
    needed = {target(component) for component in used.values()}
    yield from machine.engines(needed)
    wanting = [f"the {role} ({target(component)})" for role, component in used.items() if machine.needs_gpu(component)]
    yield machine.gpu(needed_for=", ".join(wanting) or None)
    yield machine.slurm()
    yield machine.disk(Path(config.artifacts))
    yield services.mlflow(config.tracking)
    yield services.hub()
    for role, component in used.items():
        yield from _examine_model(role, component)


def _examine_model(role: str, config: Mapping[str, Any]) -> Iterator[Finding]:
    built = build(config)
    found = models.model(role, config, built)
    yield found
    if role not in LANGUAGE_MODELS:
        return
    if found.state is not State.OK:
        yield Finding("probes", role, State.SKIPPED, "not tried: see the model above")
        return
    with closing(built):
        yield from probes(role, built, str(config.get("reasoning", "default")))


def doctor_and_show(config: RunConfig) -> int:
    """Print the findings as they come and return the exit code."""
    console = Console()
    failed = []
    for finding in examine(config):
        for line in lines(finding):
            console.print(line, soft_wrap=True)
        if finding.state is State.FAILS:
            failed.append(finding.name)
    if failed:
        names = ", ".join(dict.fromkeys(failed))
        console.print(Text(f"Not ready: {len(failed)} of the things this system needs fail ({names})."), soft_wrap=True)
        return ModelError.exit_code
    console.print("Ready: `transplantqa plan` with the same arguments says what a run would cost.")
    return EXIT_OK


def lines(finding: Finding) -> Iterator[Text]:
    """Yield a finding as it is printed: state, area, what was seen; below it what to do."""
    state = Text(f"{finding.state:<8}", style=STYLES[finding.state])
    yield state + Text(f" {finding.area:<9} {finding.name}: {plain(finding.seen)}")
    if finding.remedy:
        yield Text(f"{'':<18} {plain(finding.remedy)}", style=STYLES[finding.state])
