"""A judge's validation as others see it: looked up by its method's fingerprint, described in one line, as metrics."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

from transplantqa.store.json_record import read_json_record
from transplantqa.store.run_folder import RunFolder, RunMetrics

if TYPE_CHECKING:
    import pyarrow as pa

RECORD_FILE = "record.json"
NOT_VALIDATED = "judge not validated against people"


@dataclass(frozen=True)
class Validation:
    """One record of agreement with people, read from its folder when asked."""

    path: Path

    @cached_property
    def content(self) -> Mapping[str, Any]:
        """The whole of ``record.json``.

        Raises:
            InputError: it can't be read.
        """
        return read_json_record(self.path / RECORD_FILE, "Run transplantqa validate agreement again.")

    @property
    def metrics(self) -> dict[str, float]:
        """Flat figures by name; undefined ones are absent."""
        return {str(name): value for name, value in self.content["metrics"].items()}

    @property
    def run_id(self) -> str:
        """The run whose labels were compared with people's."""
        return str(self.content["run_id"])

    @property
    def not_an_instrument(self) -> tuple[str, ...]:
        """Reasons not to take this judge's labels as measurements; empty when the record gives none."""
        return tuple(map(str, self.content["not_an_instrument"]))


def judges_folder(artifacts: Path) -> Path:
    """Return where records lie, given the artifacts folder."""
    return artifacts / "validation" / "judges"


def record_of(artifacts: Path, fingerprint: str, run_id: str | None = None) -> Validation | None:
    """Return a judge's record: the one made from this run, else the newest; None when it was never validated.

    Args:
        artifacts: the artifacts folder.
        fingerprint: of the judging method, as ``run.json`` names it for stage compare.
        run_id: the run whose record goes before others.
    """
    found = [
        Validation(file.parent) for file in sorted(judges_folder(artifacts).glob(f"{fingerprint}/*/{RECORD_FILE}"))
    ]
    return max(found, key=lambda one: (one.run_id == run_id, one.content["created"]), default=None)


def of_run(run: RunFolder) -> Validation | None:
    """Return the record of a run's judge, from the artifacts folder the run lies in."""
    fingerprint = run.section("fingerprints").get("compare")
    return None if fingerprint is None else record_of(run.path.parent.parent, str(fingerprint), run.run_id)


def flat_metrics(found: Validation | None) -> dict[str, float]:
    """Return a record's figures by flat name; none when there is no record."""
    return {} if found is None else found.metrics


def measured(run: RunFolder) -> RunMetrics:
    """Return a run's measures with those of its judge's validation, and what that says against the judge.

    People's word on the judge takes the place of what gold says against it.

    Raises:
        InputError: the run isn't finished, or the record can't be read.
    """
    measures, found = run.measures, of_run(run)
    if found is None:
        return measures
    superseded = _against_judge(run, measures.gold, "judge_gold_kappa") if "judge_kappa" in found.metrics else ()
    kept = (reason for reason in measures.not_an_instrument if reason not in superseded)
    reasons = dict.fromkeys((*kept, *found.not_an_instrument))
    return replace(measures, metrics={**measures.metrics, **found.metrics}, not_an_instrument=tuple(reasons))


def describe(found: Validation | None) -> str:
    """Say in one line what a judge's labels are worth."""
    if found is None:
        return NOT_VALIDATED
    content, metrics = found.content, found.metrics
    people = ", ".join(
        [
            f"{len(content['annotators'])} annotator{'s' if len(content['annotators']) != 1 else ''}",
            *(["an adjudicator"] if content["adjudicator"] else []),
            f"{metrics['judge_kappa_n']:.0f} judged pairs",
        ]
    )
    disputed = content["counts"]["disputed"]
    unsettled = f"; {disputed} disputed pairs are not settled" if disputed else ""
    among = f"; people among themselves: alpha {metrics['people_alpha']:.2f}" if "people_alpha" in metrics else ""
    return f"judge against people: {_kappa(metrics)} ({people}), re-weighted to the run's labels{unsettled}{among}"


def describe_run(run: RunFolder) -> str:
    """Say in one line what the labels of a run are worth: by its judge's record, else by what came with its metrics.

    A run made from a release has its judge's figures and no record.
    """
    found = of_run(run)
    if found is None and "judge_kappa" in run.measures.metrics:
        metrics = run.measures.metrics
        pairs = f" of {metrics['judge_kappa_n']:.0f} judged pairs" if "judge_kappa_n" in metrics else ""
        return f"judge against people: {_kappa(metrics)}{pairs}"
    return describe(found)


def against_judge(run: RunFolder, metrics: Mapping[str, float]) -> tuple[str, ...]:
    """Return why a judge of these validation metrics is no instrument, by the thresholds of a run's analysis."""
    return _against_judge(run, metrics, "judge_kappa")


def _against_judge(run: RunFolder, figures: Mapping[str, float], name: str) -> tuple[str, ...]:
    from transplantqa.analysis.instrument import not_an_instrument  # noqa: PLC0415
    from transplantqa.analysis.settings import Analysis  # noqa: PLC0415

    configured = run.config.get("analysis")
    least = configured.get("min_judge_kappa") if isinstance(configured, Mapping) else None
    settings = Analysis() if least is None else Analysis(min_judge_kappa=float(least))
    named = {
        key: int(value) if key.endswith("_n") else value for key, value in figures.items() if key in {name, f"{name}_n"}
    }
    return not_an_instrument(named, settings)


def reference_labels(run: RunFolder) -> "pa.Table | None":
    """Return people's labels of this run's pairs, of the judge's record, or None without one.

    Only pairs of which the run has both answers word for word. Columns are those of ``docs/validation.md``.
    """
    found = of_run(run)
    if found is None:
        return None
    from transplantqa.validation.reference import labels_for  # noqa: PLC0415

    return labels_for(run, found.path)


def _kappa(metrics: Mapping[str, float]) -> str:
    if "judge_kappa" not in metrics:
        return "kappa undefined"
    interval = ""
    if "judge_kappa_lo" in metrics and "judge_kappa_hi" in metrics:
        interval = f" [{metrics['judge_kappa_lo']:.2f},{metrics['judge_kappa_hi']:.2f}]"
    if "judge_kappa_best" in metrics:
        return f"kappa between {metrics['judge_kappa']:.2f} and {metrics['judge_kappa_best']:.2f}{interval}"
    return f"kappa {metrics['judge_kappa']:.2f}{interval}"
