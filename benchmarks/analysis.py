"""CPU time of all measures over the full design, against straightforward pandas on the same rows in the same process.

Run: python benchmarks/analysis.py [--questions 1115]. Three sizes are timed so that growth shows.
"""

import argparse
import json
import resource
import time
from collections.abc import Callable
from typing import Any

import pandas as pd

from transplantqa.analysis import Analysis, AuditTables, audit
from transplantqa.analysis.simulate import Plan, plant

INSTITUTIONS, DOCUMENTS_EACH = 17, 6


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--questions", type=int, default=1115)
    questions = parser.parse_args().questions
    rows = [measure(size) for size in (questions // 4, questions // 2, questions)]
    print(json.dumps(rows, indent=2))


def measure(questions: int) -> dict[str, Any]:
    plan = Plan(questions=questions, institutions=INSTITUTIONS, documents_per_institution=DOCUMENTS_EACH)
    tables = plant(plan).tables
    ours, findings = cpu_seconds(lambda: audit(tables, Analysis(bootstrap_replicates=1000)))
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024
    points, rates = cpu_seconds(lambda: with_pandas(tables))
    ours_points, _ = cpu_seconds(lambda: audit(tables, Analysis(bootstrap_replicates=0, permutations=0)))
    for name, value in rates.items():
        assert abs(findings.metrics[name] - value) < 1e-9, name
    return {
        "questions": questions,
        "pair_rows": tables.comparisons.num_rows,
        "all_measures_1000_replicates_cpu_s": round(ours, 2),
        "all_measures_no_intervals_cpu_s": round(ours_points, 2),
        "pandas_headlines_and_strata_no_intervals_cpu_s": round(points, 2),
        "ratio_no_intervals": round(points / ours_points, 2),
        "peak_mib_with_inputs": peak,
    }


def cpu_seconds(work: Callable[[], Any]) -> tuple[float, Any]:
    start = time.process_time()
    result = work()
    return time.process_time() - start, result


def with_pandas(tables: AuditTables) -> dict[str, float]:
    """Compute the headlines, and divergence by topic, institution and document, as one would in a notebook."""
    documents = tables.documents.select(["document_id", "institution"]).to_pandas().set_index("document_id")
    topics = tables.questions.select(["question_id", "topics"]).to_pandas().explode("topics")
    answers = tables.answers.select(["question_id", "document_id", "outcome"]).to_pandas()
    pairs = tables.comparisons.select(["question_id", "document_a", "document_b", "outcome", "label"]).to_pandas()
    pairs["institution_a"] = pairs["document_a"].map(documents["institution"])
    pairs["institution_b"] = pairs["document_b"].map(documents["institution"])
    pairs = pairs[(pairs["outcome"] == "ok") & (pairs["institution_a"] != pairs["institution_b"])]
    pairs["conflict"] = pairs["label"].isin(["DIVERGENT", "CONTRADICTORY"])
    visible = pairs[pairs["label"] != "ABSENT"]
    by_question = visible.groupby("question_id")["conflict"]
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
        "divergence_rate_question_mean": float(by_question.mean().mean()),
        "any_divergence_rate": float(any_conflict.mean()),
    }


if __name__ == "__main__":
    main()
