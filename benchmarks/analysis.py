"""All measures over the full design beside plain pandas, themes, the report: ``python -m benchmarks.analysis``."""

import resource
import runpy
import shutil
import tempfile
import time
import tracemalloc
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from threadpoolctl import threadpool_limits  # type: ignore[import-untyped]

from benchmarks.figures import Figure, Target, figure, main
from benchmarks.large_run import write_large_run
from transplantqa.analysis import Analysis, AuditTables, audit
from transplantqa.analysis.linkage import average_linkage, cut
from transplantqa.analysis.simulate import Plan, plant
from transplantqa.report.page import write_page

PANDAS_REPLICATES = 20
QUESTIONS, INSTITUTIONS, DOCUMENTS_EACH = 1115, 17, 6
REPORT_QUESTIONS = 1092  # of 44 documents: 48,048 answers
STRINGS = 16_000  # topics of the paper
WITH_INTERVALS = Analysis(bootstrap_replicates=1000)
POINTS_ONLY = Analysis(bootstrap_replicates=0, permutations=0)


def measure(quick: bool) -> list[Figure]:
    """Return every figure of this benchmark; quick ones are of a fifteenth of the questions."""
    whole = QUESTIONS // 15 if quick else QUESTIONS
    smaller = [all_measures(planted(whole // part)) for part in (4, 2)]
    tables = planted(whole)
    growth = [*smaller, all_measures(tables)]
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20
    return [
        *growth,
        figure("peak memory, rows included", peak, "GiB", Target("<=", 2)),
        *beside_pandas(tables),
        recovered(10 if quick else 100),
        *themes(STRINGS // 16 if quick else STRINGS),
        *report(REPORT_QUESTIONS // 50 if quick else REPORT_QUESTIONS),
    ]


def beside_pandas(tables: AuditTables) -> list[Figure]:
    """Time ours beside pandas on the same tables, and assert that the headlines are equal."""
    ours, findings = cpu_seconds(lambda: audit(tables, POINTS_ONLY))
    whole_seconds, _ = cpu_seconds(lambda: audit(tables, WITH_INTERVALS))
    visible = visible_pairs(tables)
    theirs, rates = cpu_seconds(lambda: with_pandas(tables))
    drawn, _ = cpu_seconds(lambda: pandas_bootstrap(visible, PANDAS_REPLICATES))
    bootstrapped = theirs + drawn * 1000 / PANDAS_REPLICATES
    for name, value in rates.items():
        assert abs(findings.metrics[name] - value) < 1e-9, name
    return [
        figure("every measure, no intervals", ours, "CPU s"),
        figure("pandas, headlines and some strata, no intervals", theirs, "CPU s"),
        figure("pandas over ours, no intervals", theirs / ours, "times"),
        figure("pandas, one rate's intervals, 1,000 replicates scaled from 20", bootstrapped, "CPU s"),
        figure("pandas over ours, with intervals", bootstrapped / whole_seconds, "times", Target(">=", 8)),
    ]


def recovered(audits: int) -> Figure:
    """Plant stances by chances whose expected rates are known in closed form; count intervals that hold them."""
    plan = Plan(questions=150, institutions=6, institution_spread=0.0)
    variance = plan.dissent * (1 - plan.dissent) / (1 / plan.question_spread + 1)  # of the beta distribution
    truth = {
        "absence_rate": 1 - (1 - plan.silence) * (1 - plan.omission),
        "divergence_rate": 1 - ((1 - plan.dissent) ** 2 + variance),  # two institutions agree when neither dissents
    }
    held = 0
    for seed in range(audits):
        found = audit(plant(replace(plan, seed=seed)).tables, Analysis(bootstrap_replicates=400, permutations=0))
        held += sum(found.metrics[f"{name}_lo"] <= rate <= found.metrics[f"{name}_hi"] for name, rate in truth.items())
    name = f"planted rates inside their 95 % intervals, {audits} audits, {len(truth)} rates each"
    return figure(name, held / (audits * len(truth)), "share", Target(">=", 0.9))


def themes(strings: int) -> list[Figure]:
    """Cluster vectors around centres of very different sizes, as topics are."""
    rng = np.random.default_rng(0)
    centres = rng.normal(size=(strings // 16, 384))
    chance = rng.pareto(1.0, len(centres)) + 0.1
    of = rng.choice(len(centres), size=strings, p=chance / chance.sum())
    vectors = centres[of] + rng.uniform(0.3, 1.0, (strings, 1)) * rng.normal(size=(strings, 384))
    vectors = (vectors / np.linalg.norm(vectors, axis=1, keepdims=True)).astype(np.float32)
    tracemalloc.start()
    with threadpool_limits(1):  # on a busy machine, threads that wait for one another count as work
        seconds, merges = cpu_seconds(lambda: average_linkage(vectors, 0.4))
    peak = tracemalloc.get_traced_memory()[1] / 2**20
    tracemalloc.stop()
    found = len(np.unique(cut(merges, 0.35)))
    return [
        figure(f"themes of {strings:,} strings ({found:,} found), vectors given", seconds, "CPU s"),
        figure("the same, memory above the vectors; a matrix of distances takes n * n * 8 bytes", peak, "MiB"),
        figure("that matrix", strings**2 * 8 / 2**20, "MiB"),
    ]


def report(questions: int) -> list[Figure]:
    """Time the page of a large run, and its first paint where there is a Chromium."""
    with tempfile.TemporaryDirectory() as folder:
        run, answers = write_large_run(Path(folder) / "run", questions)
        started, cpu = time.monotonic(), time.process_time()
        path = write_page(run)
        seconds, cpu = time.monotonic() - started, time.process_time() - cpu
        pairs = run.table("comparisons", ["outcome"]).num_rows
        size = path.stat().st_size / 2**20
        painted = first_paint(path)
        return [
            figure(
                f"report of {answers:,} answers and {pairs:,} pairs, figures and CSV included",
                seconds,
                "s",
                Target("<=", 20),
            ),
            figure("the same", cpu, "CPU s"),
            figure("its size", size, "MiB", Target("<=", 15)),
            *([] if painted is None else [figure("first contentful paint in Chromium", painted, "s", Target("<=", 2))]),
        ]


def first_paint(page: Path) -> float | None:
    """Return seconds from navigation to the first content shown, in a browser already running; None without one."""
    tests = runpy.run_path(str(Path(__file__).parents[1] / "tests" / "integration" / "conftest.py"))
    program = next((found for found in map(shutil.which, tests["NAMES"]) if found), None)
    if program is None:
        return None
    with tempfile.TemporaryDirectory() as profile:
        browser = tests["Browser"](program, Path(profile))
        try:
            browser.open(page)
            paint = "performance.getEntriesByName('first-contentful-paint')[0]?.startTime ?? null"
            while (shown := browser.evaluate(paint)) is None:
                time.sleep(0.05)
        finally:
            browser.close()
    return float(shown) / 1000


def planted(questions: int) -> AuditTables:
    """Return the tables of a planted audit of so many questions."""
    plan = Plan(questions=questions, institutions=INSTITUTIONS, documents_per_institution=DOCUMENTS_EACH)
    return plant(plan).tables


def all_measures(tables: AuditTables) -> Figure:
    """Time every measure with 1,000 replicates."""
    seconds, _ = cpu_seconds(lambda: audit(tables, WITH_INTERVALS))
    name = f"every measure, 1,000 replicates, {tables.comparisons.num_rows:,} pair rows"
    return figure(name, seconds, "CPU s", Target("<=", 20))


def cpu_seconds(work: Callable[[], Any]) -> tuple[float, Any]:
    """Return the CPU seconds that some work took, and its result."""
    start = time.process_time()
    result = work()
    return time.process_time() - start, result


def with_pandas(tables: AuditTables) -> dict[str, float]:
    """Compute the headlines, and divergence by topic, institution and document, as one would in a notebook."""
    answers = tables.answers.select(["question_id", "document_id", "outcome"]).to_pandas()
    pairs = with_institutions(tables)
    topics = tables.questions.select(["question_id", "topics"]).to_pandas().explode("topics")
    visible = pairs[pairs["label"] != "ABSENT"]
    any_conflict = pairs.groupby("question_id")["conflict"].any()
    visible.merge(topics, on="question_id").groupby("topics")["conflict"].mean()
    for column in ("institution", "document"):
        sides = [visible[[f"{column}_{side}", "conflict"]].set_axis([column, "conflict"], axis=1) for side in "ab"]
        pd.concat(sides).groupby(column)["conflict"].mean()
    visible.groupby(["institution_a", "institution_b"])["conflict"].mean()
    visible.groupby(["document_a", "document_b"])["conflict"].mean()
    silent = answers["outcome"].isin(["abstained", "empty_retrieval"])
    asked = silent | (answers["outcome"] == "ok")
    answers.assign(silent=silent)[asked].groupby("document_id")["silent"].mean()
    return {
        "absence_rate": float(silent.sum() / asked.sum()),
        "pair_absence_rate": float((pairs["label"] == "ABSENT").mean()),
        "divergence_rate": float(visible["conflict"].mean()),
        "divergence_rate_question_mean": float(visible.groupby("question_id")["conflict"].mean().mean()),
        "any_divergence_rate": float(any_conflict.mean()),
    }


def with_institutions(tables: AuditTables) -> pd.DataFrame:
    """Return decided pairs of different institutions, with the institutions and whether the two conflict."""
    documents = tables.documents.select(["document_id", "institution"]).to_pandas().set_index("document_id")
    pairs = tables.comparisons.select(["question_id", "document_a", "document_b", "outcome", "label"]).to_pandas()
    pairs["institution_a"] = pairs["document_a"].map(documents["institution"])
    pairs["institution_b"] = pairs["document_b"].map(documents["institution"])
    pairs = pairs[(pairs["outcome"] == "ok") & (pairs["institution_a"] != pairs["institution_b"])].copy()
    pairs["conflict"] = pairs["label"].isin(["DIVERGENT", "CONTRADICTORY"])
    return pd.DataFrame(pairs)


def visible_pairs(tables: AuditTables) -> pd.DataFrame:
    """Return those of them in which both documents answer."""
    pairs = with_institutions(tables)
    visible: pd.DataFrame = pairs[pairs["label"] != "ABSENT"]
    return visible


def pandas_bootstrap(visible: pd.DataFrame, replicates: int) -> list[pd.Series]:
    """Resample questions for the divergence of the whole and of each institution and document, from question counts."""
    frames = [visible.groupby("question_id")["conflict"].agg(["sum", "count"]).assign(member="")]
    for column in ("institution", "document"):
        sides = [
            visible[["question_id", f"{column}_{side}", "conflict"]].set_axis(
                ["question_id", "member", "conflict"], axis=1
            )
            for side in "ab"
        ]
        by_member = pd.concat(sides).groupby(["question_id", "member"])["conflict"].agg(["sum", "count"])
        frames.append(by_member.reset_index("member"))
    questions = pd.Series(frames[0].index)
    rates = []
    for seed in range(replicates):
        weight = questions.sample(frac=1.0, replace=True, random_state=seed).value_counts()
        for frame in frames:
            weights = frame.index.map(weight.to_dict()).fillna(0).to_numpy()
            sums = frame[["sum", "count"]].mul(weights, axis=0).groupby(frame["member"]).sum()
            rates.append(sums["sum"] / sums["count"])
    return rates


if __name__ == "__main__":
    raise SystemExit(main("analysis", measure))
