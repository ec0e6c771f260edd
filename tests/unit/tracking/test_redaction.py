import pytest

from transplantqa.redaction import REDACTED, redact


@pytest.mark.parametrize("key", ["api_key", "openai_api_key", "password", "hf_token", "token", "client_secret"])
def test_a_value_under_a_secret_key_is_taken_out(key: str) -> None:
    assert redact({"model": [{key: "hunter22"}]}) == {"model": [{key: REDACTED}]}


@pytest.mark.parametrize("key", ["max_tokens", "evidence_tokens", "tokenizer", "eos_token", "api_key_env"])
def test_a_key_that_only_looks_like_one_keeps_its_value(key: str) -> None:
    assert redact({key: "VALUE"}) == {key: "VALUE"}


@pytest.mark.parametrize(
    ("text", "clean"),
    [
        ("https://me:pass1234@host/v1", f"https://{REDACTED}@host/v1"),
        ("Authorization: Bearer abcdefghijkl", f"Authorization: Bearer {REDACTED}"),
        ("use hf_abcdefghijklmnopqrst", f"use {REDACTED}"),
    ],
)
def test_a_secret_by_its_shape_is_taken_out_of_any_text(text: str, clean: str) -> None:
    assert redact(text) == clean


def test_a_secret_that_the_environment_holds_is_taken_out(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MY_SERVICE_TOKEN", "c0rrect-horse")
    assert redact({"header": "x c0rrect-horse y"}) == {"header": f"x {REDACTED} y"}
