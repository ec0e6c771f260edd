from pathlib import Path
from typing import Any

import pytest
import yaml
from pydantic import ValidationError

from transplantqa.errors import ConfigError
from transplantqa.generation.grounded import FIELDS
from transplantqa.generation.prompts import Domain, Prompt, Renderer
from transplantqa.judging import parse
from transplantqa.judging.batched import FIELDS as GROUP_FIELDS
from transplantqa.judging.label_only import DETAIL_FIELDS
from transplantqa.judging.structured import FIELDS as JUDGE_FIELDS

CONF = Path(__file__).parents[3] / "conf"


def prompt(**changes: object) -> dict[str, Any]:
    return {"name": "p", "version": 1, "system": "You are $role.", "user": "$evidence\n$question"} | changes


def test_values_are_inserted_and_never_read_as_templates(domain: Domain) -> None:
    messages = Renderer(Prompt.model_validate(prompt()), domain, FIELDS).render(
        evidence="costs $question", question="Why?"
    )
    assert messages[-1].content == "costs $question\nWhy?"


def test_examples_become_turns_before_the_question_and_know_the_domains_words(domain: Domain) -> None:
    examples = [{"evidence": "e", "question": "q", "reply": "$abstention"}]
    messages = Renderer(Prompt.model_validate(prompt(examples=examples)), domain, FIELDS).render(
        evidence="E", question="Q"
    )
    assert [(item.role, item.content) for item in messages] == [
        ("system", "You are a clerk."),
        ("user", "e\nq"),
        ("assistant", "NOT ADDRESSED"),
        ("user", "E\nQ"),
    ]


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({"system": "You are $rolle."}, "unknown placeholder $rolle"),
        ({"user": "$question"}, "$evidence is missing"),
        ({"user": "$evidence $question for 5 $ now"}, "Write $$ for a dollar sign"),
        ({"examples": [{"question": "q", "reply": "r"}]}, "example 1: evidence is missing"),
    ],
)
def test_a_template_that_cannot_be_filled_is_refused_with_its_place(
    changes: dict[str, Any], said: str, domain: Domain
) -> None:
    with pytest.raises(ConfigError, match="prompt 'p'") as caught:
        Renderer(Prompt.model_validate(prompt(**changes)), domain, FIELDS)
    assert said in str(caught.value)


@pytest.mark.parametrize("examples", [[{"evidence": "e", "question": "q"}], [{"reply": "r", "typo": "x"}]])
def test_an_example_without_a_reply_or_with_an_unknown_field_is_refused(examples: list[dict[str, str]]) -> None:
    with pytest.raises(ValidationError, match="example 1"):
        Prompt.model_validate(prompt(examples=examples))


def test_comment_and_version_are_not_part_of_what_the_model_sees() -> None:
    assert Prompt.model_validate(prompt(comment="a", version=2)).text() == Prompt.model_validate(prompt()).text()


def shipped(*stems: str) -> list[Path]:
    return [path for path in sorted((CONF / "prompt").glob("*.yaml")) if path.stem.startswith(stems)]


OF_A_PAIR = shipped("judge_structured", "judge_small", "judge_brief", "judge_label")
FIELDS_OF = {
    **dict.fromkeys(shipped("grounded"), FIELDS),
    **dict.fromkeys(OF_A_PAIR, JUDGE_FIELDS),
    **dict.fromkeys(shipped("judge_batched"), GROUP_FIELDS),
    **dict.fromkeys(shipped("judge_details"), DETAIL_FIELDS),
}


def test_no_shipped_judges_prompt_is_left_out() -> None:
    assert set(shipped("judge", "grounded")) == set(FIELDS_OF)


@pytest.mark.parametrize(
    ("path", "fields"), FIELDS_OF.items(), ids=lambda value: value.stem if isinstance(value, Path) else ""
)
def test_every_shipped_prompt_renders_for_the_shipped_domain(path: Path, fields: tuple[str, ...]) -> None:
    shipped_domain = Domain.model_validate(yaml.safe_load((CONF / "domain/transplant.yaml").read_text("utf-8")))
    loaded = Prompt.model_validate(yaml.safe_load(path.read_text("utf-8")))
    messages = Renderer(loaded, shipped_domain, fields).render(**dict.fromkeys(fields, "VALUE"))
    assert messages[-1].content.count("VALUE") == len(fields)


@pytest.mark.parametrize("path", OF_A_PAIR, ids=lambda path: path.stem)
def test_every_example_reply_of_a_judges_prompt_can_be_read(path: Path) -> None:
    loaded = Prompt.model_validate(yaml.safe_load(path.read_text("utf-8")))
    assert all(parse(example["reply"]).label is not None for example in loaded.examples)
