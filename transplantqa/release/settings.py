"""What a release can be told."""

from dataclasses import dataclass
from typing import Annotated, Literal

from pydantic import Field

Licence = Literal["cc-by-4.0", "cc-by-nc-4.0", "cc-by-sa-4.0", "cc0-1.0", "mit", "odc-by", "other"]
Names = Literal["kept", "pseudonyms"]


@dataclass(frozen=True, kw_only=True)
class ReleaseSettings:
    """The settings of a release; ``conf/release.yaml`` says where each value comes from.

    Args:
        folder: where the release is built; an earlier release there is replaced, anything else is left alone.
        name: the dataset's name on the Hub, without the owner.
        title: the name people read.
        licence: of what the release adds (answers, comparisons, questions); documents keep their own.
        language: ISO 639-1 code of the texts.
        names: whether documents keep their ids, titles and file names or get pseudonyms.
        pseudonym_map: private file that keeps the pseudonyms stable across releases; never inside ``folder``.
        waiver: why labels of a judge that wasn't validated against people are published all the same; it is printed on
            the card. Null: they may not leave.
        max_failure_rate: share of failed units of a system above which the release may not leave.
        reviewed: telephone numbers, addresses and the like that a person has looked at and found public.
    """

    folder: str
    name: Annotated[str, Field(pattern=r"^[\w.-]{1,96}$")]
    title: str
    licence: Licence = "cc-by-4.0"
    language: Annotated[str, Field(pattern=r"^[a-z]{2,3}$")] = "en"
    names: Names = "kept"
    pseudonym_map: str = "artifacts/pseudonyms.json"
    waiver: Annotated[str, Field(min_length=20)] | None = None
    max_failure_rate: Annotated[float, Field(ge=0.0, le=1.0)] = 0.05
    reviewed: tuple[str, ...] = ()
