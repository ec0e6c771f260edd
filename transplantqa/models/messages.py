"""Messages made safe and plain: what every backend sends to its chat template."""

import re
from collections.abc import Sequence

from transplantqa.models.protocols import Message

_CONTROL = re.compile(r"<(?=\|[^|<>\n]{1,40}\|>|/?(?:s|think|thinking|bos|eos|start_of_turn|end_of_turn)>)")


def plain_messages(messages: Sequence[Message]) -> list[dict[str, str]]:
    """Return role and content mappings in which documents can't speak as the system.

    Text that a tokenizer would read as a control token (``<|im_end|>``, ``</s>``, ``<think>`` …) gets a space after its
    bracket: documents are untrusted, and such a token would end their turn and begin another.
    """
    return [{"role": message.role, "content": _CONTROL.sub("< ", message.content)} for message in messages]
