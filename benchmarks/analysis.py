"""All measures over the full design beside the same in plain pandas: ``python -m benchmarks.analysis``."""

import resource
import time
from collections.abc import Callable
from typing import Any

import pandas as pd

from benchmarks.figures import Figure, Target, figure, main
from transplantqa.analysis import Analysis, AuditTables, audit
from transplantqa.analysis.simulate import Plan, plant

PANDAS_REPLICATES = 20
QUESTIONS, INSTITUTIONS, DOCUMENTS_EACH = 1115, 17, 6
WITH_INTERVALS = Analysis(bootstrap_replicates=1000)
POINTS_ONLY = Analysis(bootstrap_replicates=0, permutations=0)


def measure(quick: bool) -> list[Figure]:
    whole = QUESTIONS // 5 if quick else QUESTIONS
    smaller = [all_measures(planted(whole // part)) for part in (4, 2)]
    tables = planted(whole)
    growth = [*smaller, all_measures(tables)]
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20
    ours, findings = cpu_seconds(lambda: audit(tables, POINTS_ONLY))
    whole_seconds, _ = cpu_seconds(lambda: audit(tables, WITH_INTERVALS))
    visible = visible_pairs(tables)
    theirs, rates = cpu_seconds(lambda: with_pandas(tables))
    drawn, _ = cpu_seconds(lambda: pandas_bootstrap(visible, PANDAS_REPLICATES))
    bootstrapped = theirs + drawn * 1000 / PANDAS_REPLICATES
    for name, value in rates.items():
        assert abs(findings.metrics[name] - value) < 1e-9, name
    return [
        *growth,
        figure("peak memory, rows included", peak, "GiB", Target("<=", 2)),
        figure("every measure, no intervals", ours, "CPU s"),
        figure("pandas, headlines and some strata, no intervals", theirs, "CPU s"),
        figure("pandas over ours, no intervals", theirs / ours, "times"),
        figure("pandas, one rate's intervals, 1,000 replicates scaled from 20", bootstrapped, "CPU s"),
        figure("pandas over ours, with intervals", bootstrapped / whole_seconds, "times", Target(">=", 8)),
    ]


def planted(questions: int) -> AuditTables:
    plan = Plan(questions=questions, institutions=INSTITUTIONS, documents_per_institution=DOCUMENTS_EACH)
    return plant(plan).tables


def all_measures(tables: AuditTables) -> Figure:
    seconds, _ = cpu_seconds(lambda: audit(tables, WITH_INTERVALS))
    name = f"every measure, 1,000 replicates, {tables.comparisons.num_rows:,} pair rows"
    return figure(name, seconds, "CPU s", Target("<=", 20))


def cpu_seconds(work: Callable[[], Any]) -> tuple[float, Any]:
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
    documents = tables.documents.select(["document_id", "institution"]).to_pandas().set_index("document_id")
    pairs = tables.comparisons.select(["question_id", "document_a", "document_b", "outcome", "label"]).to_pandas()
    pairs["institution_a"] = pairs["document_a"].map(documents["institution"])
    pairs["institution_b"] = pairs["document_b"].map(documents["institution"])
    pairs = pairs[(pairs["outcome"] == "ok") & (pairs["institution_a"] != pairs["institution_b"])].copy()
    pairs["conflict"] = pairs["label"].isin(["DIVERGENT", "CONTRADICTORY"])
    return pairs


def visible_pairs(tables: AuditTables) -> pd.DataFrame:
    pairs = with_institutions(tables)
    return pairs[pairs["label"] != "ABSENT"]


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
            weights = frame.index.map(weight).fillna(0).to_numpy()
            sums = frame[["sum", "count"]].mul(weights, axis=0).groupby(frame["member"]).sum()
            rates.append(sums["sum"] / sums["count"])
    return rates


if __name__ == "__main__":
    raise SystemExit(main("analysis", measure))
