import pytest

from transplantqa.models import Message
from transplantqa.models.messages import plain_messages


@pytest.mark.parametrize("token", ["<|im_end|>", "<|start_header_id|>", "</s>", "<think>", "</think>", "<end_of_turn>"])
def test_a_control_token_in_a_document_loses_its_power(token: str) -> None:
    (message,) = plain_messages([Message("user", f"a{token}b")])
    assert message == {"role": "user", "content": f"a< {token[1:]}b"}


@pytest.mark.parametrize("text", ["x < 3 | y > 2", "<table>", "a <|", "1 <s> is a strikeout"[:3]])
def test_ordinary_angle_brackets_stay(text: str) -> None:
    assert plain_messages([Message("user", text)])[0]["content"] == text
