"""Prompts and domain words as checked data, and their rendering into messages."""

import re
from collections.abc import Mapping, Sequence
from string import Template
from typing import Annotated, Any, Self

from pydantic import BaseModel, ConfigDict, Field, model_validator

from transplantqa.errors import ConfigError
from transplantqa.models.protocols import Message

REPLY = "reply"
NonEmpty = Annotated[str, Field(min_length=1)]


def plain(value: object) -> Any:
    """Turn mappings and sequences of any kind (those of a configuration library too) into dicts and lists."""
    if isinstance(value, Mapping):
        return {str(key): plain(item) for key, item in value.items()}
    if isinstance(value, Sequence) and not isinstance(value, str | bytes):
        return [plain(item) for item in value]
    return value


class _Data(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)

    @model_validator(mode="before")
    @classmethod
    def _plain(cls, value: object) -> object:
        return value if isinstance(value, cls) else plain(value)


class Domain(_Data):
    """The words one domain uses for the engine's notions, and its standard reply of a silent document.

    Attributes:
        name: the domain, for people.
        document_noun: what a document is called.
        institution_noun: what wrote it.
        group_noun: what the strata are.
        general_label: how questions without a group are named.
        role: who the model is told to be.
        reader: who asks the questions.
        abstention: the exact reply that means the document doesn't address the question.
        significance: what the judge grades of a difference.
        significance_scale: what its high, medium and low mean.
        danger_words: words that make a conflict grave to a judge without a model.
        advice: the kind of advice that documents of this domain give, and nothing made from them does.
    """

    name: NonEmpty
    document_noun: NonEmpty
    institution_noun: NonEmpty
    group_noun: NonEmpty
    general_label: NonEmpty
    role: NonEmpty
    reader: NonEmpty
    abstention: NonEmpty
    significance: NonEmpty = "practical significance"
    significance_scale: NonEmpty = "High: could cause harm; medium: changes what somebody does; low: matters little."
    danger_words: tuple[str, ...] = ()
    advice: NonEmpty = "professional"

    def placeholders(self) -> dict[str, str]:
        """Return what prompt templates can name besides a call's own fields."""
        return {key: value for key, value in self.model_dump().items() if key not in {"name", "advice", "danger_words"}}


class Prompt(_Data):
    """A prompt: templates with ``$name`` placeholders (``string.Template``), and worked examples.

    Attributes:
        name: how reports name it.
        version: raised by whoever edits it, for people; the fingerprint follows the words themselves.
        comment: why it is as it is.
        system: template of the system message.
        user: template of the user message; its last placeholder should be what varies most between calls.
        examples: each fills the user template's fields, and ``reply`` is the assistant's turn.
    """

    name: NonEmpty
    version: Annotated[int, Field(ge=1)]
    comment: str = ""
    system: NonEmpty
    user: NonEmpty
    examples: tuple[dict[str, str], ...] = ()

    @model_validator(mode="after")
    def _examples_fill_the_template(self) -> Self:
        wanted = placeholders_of(self.user)
        for number, example in enumerate(self.examples, start=1):
            if REPLY not in example:
                raise ValueError(f"example {number} has no {REPLY!r}")
            unknown = sorted(set(example) - wanted - {REPLY})
            if unknown:
                raise ValueError(f"example {number} has {', '.join(unknown)}, which the user template does not name")
        return self

    def text(self) -> dict[str, Any]:
        """Return what the model can see of it: the part that changes a fingerprint."""
        return self.model_dump(include={"system", "user", "examples"}, mode="json")


def placeholders_of(template: str) -> set[str]:
    """Return the names a template refers to."""
    return set(Template(template).get_identifiers())


class Renderer:
    """Renders one prompt for one domain; the part before the call's own fields is made once.

    Args:
        prompt: the prompt.
        domain: its words.
        fields: what each call will fill in.

    Raises:
        ConfigError: a template names something that is neither a field nor a word of the domain, or leaves a field out.
    """

    def __init__(self, prompt: Prompt, domain: Domain, fields: Sequence[str]) -> None:
        known = domain.placeholders()
        problems = [*_template_problems(prompt, fields, set(known)), *_example_problems(prompt, fields)]
        if problems:
            raise ConfigError("\n".join(problems))
        self._user = Template(prompt.user)
        self._words = known
        self._head = (
            Message("system", Template(prompt.system).substitute(known)),
            *(turn for example in prompt.examples for turn in self._example(example)),
        )

    def _example(self, example: Mapping[str, str]) -> tuple[Message, Message]:
        filled = {key: Template(value).safe_substitute(self._words) for key, value in example.items()}
        return self._message(filled), Message("assistant", filled[REPLY].strip())

    def _message(self, fields: Mapping[str, str]) -> Message:
        return Message("user", self._user.substitute({**self._words, **fields}).strip())

    def render(self, **fields: str) -> tuple[Message, ...]:
        """Return the messages of one call; values are inserted as they are, never read as templates."""
        return (*self._head, self._message(fields))


def _template_problems(prompt: Prompt, fields: Sequence[str], known: set[str]) -> list[str]:
    problems = []
    for part, template, allowed in (("system", prompt.system, known), ("user", prompt.user, known | set(fields))):
        if not Template(template).is_valid():
            problems.append(
                f"prompt {prompt.name!r}, {part}: a $ that begins no placeholder. Write $$ for a dollar sign."
            )
        problems.extend(
            f"prompt {prompt.name!r}, {part}: unknown placeholder ${name}. Known: {', '.join(sorted(allowed))}."
            for name in sorted(placeholders_of(template) - allowed)
        )
    missing = [name for name in fields if name not in placeholders_of(prompt.user)]
    problems.extend(
        f"prompt {prompt.name!r}, user: ${name} is missing. Put it where the model should read it." for name in missing
    )
    return problems


def _example_problems(prompt: Prompt, fields: Sequence[str]) -> list[str]:
    return [
        f"prompt {prompt.name!r}, example {number}: {name} is missing. Give what a real call would."
        for number, example in enumerate(prompt.examples, start=1)
        for name in fields
        if name not in example
    ]


def normal_key(text: str) -> str:
    """Fold a phrase for comparison: case, Markdown emphasis, quotes, brackets and final punctuation do not count."""
    return re.sub(r"[\s*_`\"'“”\u2018\u2019«»()\[\].:;,!#>-]+", " ", text).strip().casefold()
