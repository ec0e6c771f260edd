"""Chat templates rendered the same way on every day and machine."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from transplantqa.errors import ModelError

CHATML = (
    "{% for message in messages %}{{ '<|im_start|>' + message['role'] + '\n' + message['content'] + '<|im_end|>\n' }}"
    "{% endfor %}{% if add_generation_prompt %}{{ '<|im_start|>assistant\n' }}{% endif %}"
)
FIXED_DATE = "01 Jan 2026"
"""What templates that print today's date print instead: a prompt must not change with the clock."""


def template_source(named: str) -> str:
    """Return the Jinja source that a config names: ``chatml`` or a file.

    Raises:
        ModelError: if it is neither.
    """
    if named == "chatml":
        return CHATML
    path = Path(named).expanduser()
    if not path.is_file():
        raise ModelError(f"chat_template {named!r}: no such file.\nGive chatml or the path of a Jinja template.")
    return path.read_text(encoding="utf-8")


class ChatTemplate:
    """A sandboxed Jinja template; a system message that it refuses is put in front of the first user message."""

    def __init__(self, source: str, *, special_tokens: Mapping[str, str], arguments: Mapping[str, Any]) -> None:
        """Compile ``source``; ``special_tokens`` and ``arguments`` (e.g. ``enable_thinking``) are its variables.

        Raises:
            ModelError: if the template can't be compiled.
        """
        import jinja2  # noqa: PLC0415
        from jinja2.ext import loopcontrols  # noqa: PLC0415
        from jinja2.sandbox import ImmutableSandboxedEnvironment  # noqa: PLC0415

        environment = ImmutableSandboxedEnvironment(trim_blocks=True, lstrip_blocks=True, extensions=[loopcontrols])
        environment.globals["raise_exception"] = _refuse
        environment.globals["strftime_now"] = lambda _format: FIXED_DATE
        self._variables = {**special_tokens, **arguments, "add_generation_prompt": True, "tools": None}
        self._errors = (jinja2.TemplateError, TypeError, KeyError)
        try:
            self._template = environment.from_string(source)
        except jinja2.TemplateError as error:
            raise ModelError(
                f"the model's chat template can't be compiled ({error}).\n"
                "Give another: chat_template=chatml, or a file."
            ) from error

    def render(self, messages: Sequence[Mapping[str, str]]) -> str:
        """Return the prompt text, ending where the assistant's turn begins.

        Raises:
            ValueError: if the template refuses the messages.
        """
        try:
            return self._rendered(messages)
        except ValueError:
            folded = _fold_system(messages)
            if folded == list(messages):
                raise
            return self._rendered(folded)

    def _rendered(self, messages: Sequence[Mapping[str, str]]) -> str:
        try:
            return self._template.render(messages=list(messages), **self._variables)
        except self._errors as error:
            raise ValueError(f"the chat template refused the messages: {error}") from error


def _refuse(message: str) -> None:
    raise ValueError(message)


def _fold_system(messages: Sequence[Mapping[str, str]]) -> list[Mapping[str, str]]:
    if len(messages) < 2 or messages[0]["role"] != "system" or messages[1]["role"] != "user":
        return list(messages)
    content = messages[0]["content"] + "\n\n" + messages[1]["content"]
    return [{"role": "user", "content": content}, *messages[2:]]
