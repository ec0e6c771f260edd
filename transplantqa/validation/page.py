"""The annotation page: one file that works offline, shows foreign text as text, and saves labels as a file."""

import base64
import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

from transplantqa.records import CONFLICT_LABELS, Label
from transplantqa.report.page.write import script_json
from transplantqa.report.text import plain
from transplantqa.validation.items import Item

TEMPLATES = Path(__file__).parent / "templates"
MEANINGS: Mapping[Label, str] = {
    Label.ABSENT: "at least one of the answers does not address the question",
    Label.CONSISTENT: "both say the same; wording and small details may differ",
    Label.COMPLEMENTARY: "they cover different aspects, and one could follow both",
    Label.DIVERGENT: "they recommend substantively different things on the same point, without excluding each other",
    Label.CONTRADICTORY: "they exclude each other: following one breaks the other",
}
SIGNIFICANCES: Mapping[str, str] = {
    "low": "acting on one or the other makes little difference",
    "medium": "it could change what somebody does, without likely harm",
    "high": "acting on the wrong one could do harm",
}


def annotation_page(items: Sequence[Item], sample_id: str, config: Mapping[str, Any]) -> bytes:
    """Return the page of these items as HTML; ``config`` is the run's, for what the domain calls things."""
    domain = config.get("domain")
    words = domain if isinstance(domain, Mapping) else {}
    script = (TEMPLATES / "annotate.js").read_text(encoding="utf-8")
    data = {
        "sample": sample_id,
        "items": [asdict(item) for item in items],
        "labels": [str(label) for label in Label],
        "conflicts": [str(label) for label in Label if label in CONFLICT_LABELS],
        "significances": list(SIGNIFICANCES),
    }
    page: str = _template().render(
        sample_id=sample_id,
        items=items,
        noun=plain(str(words.get("document_noun", "document"))),
        reader=plain(str(words.get("reader", "reader"))),
        labels=[{"name": str(label), "meaning": meaning} for label, meaning in MEANINGS.items()],
        significances=SIGNIFICANCES,
        style=(TEMPLATES / "annotate.css").read_text(encoding="utf-8"),
        script=script,
        script_hash="sha256-" + base64.b64encode(hashlib.sha256(script.encode()).digest()).decode(),
        data=script_json(data),
    )
    return page.encode("utf-8", "replace")


def _template() -> Any:
    from jinja2 import Environment, FileSystemLoader, StrictUndefined  # noqa: PLC0415
    from markupsafe import Markup  # noqa: PLC0415

    made = Environment(loader=FileSystemLoader(TEMPLATES), autoescape=True, undefined=StrictUndefined)
    made.filters["ours"] = Markup  # our own style, script and JSON; nothing else passes through it
    return made.get_template("annotate.html.j2")
