"""Small audits shared by the tests of the measures."""

import pytest

from transplantqa.analysis.sketch import Sketch


@pytest.fixture
def sketch() -> Sketch:
    """An audit of nothing yet."""
    return Sketch()


@pytest.fixture
def three_institutions() -> Sketch:
    """Three institutions with a document each, three questions; worked out by hand in the tests.

    q1: x and y conflict (high), x and z agree, y and z complement. q2: z silent, x and y agree. q3: all silent but x.
    """
    return (
        Sketch()
        .document("x", group="heart")
        .document("y", group="heart")
        .document("z", group="lung")
        .question("q1", {"x": "ok", "y": "ok", "z": "ok"}, topics=["diet"])
        .question("q2", {"x": "ok", "y": "ok", "z": "abstained"}, topics=["diet", "travel"], groups=["heart"])
        .question("q3", {"x": "ok", "y": "empty_retrieval", "z": "abstained"}, topics=["travel"])
        .compare("q1", "x", "y", "DIVERGENT", significance="high")
        .compare("q1", "x", "z", "CONSISTENT")
        .compare("q1", "y", "z", "COMPLEMENTARY")
        .compare("q2", "x", "y", "CONSISTENT")
        .compare("q2", "x", "z", "ABSENT", silent_side="b", decided_by="prescreen")
        .compare("q2", "y", "z", "ABSENT", silent_side="b", decided_by="prescreen")
    )
