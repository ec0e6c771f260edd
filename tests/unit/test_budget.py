"""Evidence, prompt and answer are checked against the context when a configuration is composed."""

from typing import Any

import pytest

from transplantqa.budget import overflow
from transplantqa.compose import CommandLine, check
from transplantqa.errors import ConfigError


def config(context: int, evidence: int, **retriever: Any) -> dict[str, Any]:
    """A composition with a prompt of five words and 100 tokens of room for the answer."""
    prompt = {"system": "answer shortly", "user": "text and question"}
    generator = {"model": {"context_tokens": context}, "max_answer_tokens": 100, "prompt": prompt}
    return {"retriever": {"evidence_tokens": evidence, **retriever}, "generator": generator}


def test_what_fits_exactly_is_no_problem() -> None:
    assert overflow(config(1105, 1000)) is None


def test_one_token_too_many_is_told_with_all_the_numbers_and_a_budget_that_fits() -> None:
    assert overflow(config(1104, 1000)) == (
        "retriever.evidence_tokens",
        (
            "1,000 tokens of evidence, about 5 of prompt and 100 for the answer are 1,105, more than the generator's "
            "context of 1,104 (model.context_tokens)"
        ),
        "Show less: retriever.evidence_tokens=999; or set model.context_tokens as high as the model allows.",
    )


def test_a_fallback_counts_where_it_can_happen() -> None:
    found = overflow(config(2000, 1000, fallback_tokens=5000, fallback_below=0.1))
    assert found is not None
    assert found[0] == "retriever.fallback_tokens"
    assert overflow(config(2000, 1000, fallback_tokens=5000, fallback_below=0.0)) is None


def test_a_retriever_or_generator_without_these_numbers_is_left_alone() -> None:
    assert overflow({"retriever": {"evidence_tokens": 9000}, "generator": {"model": None}}) is None
    assert overflow({**config(1104, 1000), "retriever": {}}) is None
    assert overflow({}) is None


def test_a_command_line_that_promises_too_much_is_refused_before_anything_runs() -> None:
    with pytest.raises(ConfigError, match=r"retriever.evidence_tokens: 24,000 tokens of evidence"):
        check(CommandLine("run", ("retriever=hero_qa", "model=smollm2"), sweep=False, config_dir=None))
