from pathlib import Path

import pytest

from transplantqa.errors import ModelError
from transplantqa.models.chat_template import CHATML, FIXED_DATE, ChatTemplate, template_source

SYSTEM, USER = {"role": "system", "content": "Be brief."}, {"role": "user", "content": "Hello"}
NO_SYSTEM = (
    "{% for m in messages %}{% if m['role'] == 'system' %}{{ raise_exception('no system') }}{% endif %}"
    "{{ m['content'] }}{% endfor %}"
)


def template(source: str, **arguments: object) -> ChatTemplate:
    return ChatTemplate(source, special_tokens={"bos_token": "<s>", "eos_token": "</s>"}, arguments=arguments)


def test_chatml_ends_where_the_assistant_begins() -> None:
    assert template(CHATML).render([USER]) == "<|im_start|>user\nHello<|im_end|>\n<|im_start|>assistant\n"


def test_a_refused_system_message_goes_in_front_of_the_user_message() -> None:
    assert template(NO_SYSTEM).render([SYSTEM, USER]) == "Be brief.\n\nHello"


def test_a_template_that_refuses_everything_says_why() -> None:
    with pytest.raises(ValueError, match="never"):
        template("{{ raise_exception('never') }}").render([USER])


def test_the_date_in_a_prompt_is_fixed() -> None:
    assert template("{{ strftime_now('%d %b %Y') }}").render([USER]) == FIXED_DATE


def test_arguments_reach_the_template() -> None:
    assert template("{{ enable_thinking }}", enable_thinking=False).render([USER]) == "False"


def test_a_template_cannot_reach_python() -> None:
    with pytest.raises(ValueError, match="refused"):
        template("{{ ''.__class__.__mro__ }}").render([USER])


def test_a_broken_template_is_a_users_error() -> None:
    with pytest.raises(ModelError, match="compiled"):
        template("{% for %}")


def test_a_template_file_that_is_not_there_is_named(tmp_path: Path) -> None:
    with pytest.raises(ModelError, match=r"missing\.jinja"):
        template_source(str(tmp_path / "missing.jinja"))
