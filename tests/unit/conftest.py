"""What tests of whole runs with scripted replies share."""

from collections.abc import Iterator
from typing import Any

import pytest

from transplantqa.models import Scripted
from transplantqa.models.protocols import Completion, Request


@pytest.fixture
def calls(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The ids of all requests made to the scripted model, in order."""
    made: list[str] = []
    original = Scripted.generate

    def counted(self: Scripted, requests: Any) -> Iterator[Completion]:
        def noted() -> Iterator[Request]:
            for request in requests:
                made.append(request.id)
                yield request

        return original(self, noted())

    monkeypatch.setattr(Scripted, "generate", counted)
    return made
