"""Recognises the standard reply of a silent document in the spellings models give it.

Sentence by sentence, a reply is made of *silence* ("NOT ADDRESSED", "The provided context does not contain …"),
*reasons* for it ("The passages only cover diet.") and *referrals* ("Please ask your team."), or of *content*. Silence
with nothing but reasons and referrals is an abstention. Silence said in the standard words together with content is
both at once: advice that no source carries, so it is neither an answer nor silence. Words of silence inside a
sentence of content ("a concern not addressed within a day") are content.
"""

import re
from enum import StrEnum

from transplantqa.generation import citations
from transplantqa.generation.lexical import normalise, sentences
from transplantqa.generation.prompts import normal_key


class Stance(StrEnum):
    """What a reply is, as far as its silence goes."""

    ANSWERS = "answers"
    ABSTAINS = "abstains"
    BOTH = "both"


_MENTION = (
    r"(?:address|mention|contain|discuss|cover|say|state|specify|specif|provide|include|give|describe|answer|explain|offer|"
    r"indicate|talk about|speak|touch on|detail|list|have)"
)
_MENTIONED = (
    r"(?:addressed|mentioned|contained|discussed|covered|stated|specified|provided|included|given|described|answered|explained|"
    r"indicated|found|listed|available|present)"
)
_SOURCE = (
    r"(?:context|passages?|evidence|excerpts?|text|document|booklet|leaflet|brochure|guide|manual|sections?|sources?|"
    r"materials?|information|content|pages?|above)"
)
_ACCOUNT = r"(?:information|mention|answer|guidance|details?|discussion|reference|recommendations?|passages?|sections?)"
_GIVEN = r"(?:the|this|these|that|any of the|your)\s+(?:\w+\s+){0,3}?"
_SILENCE = re.compile(
    rf"""(?:^|\b(?:but|however|unfortunately|sorry|although|because|since|reason:),?\s)\s*(?:
      {_GIVEN}{_SOURCE}\s+(?:\w+\s+){{0,2}}?(?:does|do|did)(?:\s+not|n['\u2019]t)\s+(?:\w+\s+){{0,2}}?{_MENTION}\b
    | {_GIVEN}{_SOURCE}\s+(?:is|are)\s+silent\b
    | {_GIVEN}{_SOURCE}\s+(?:\w+\s+){{0,2}}?(?:contains?|provides?|has|have|gives?|includes?|offers?)\s+no\s
    | there\s+(?:is|are)\s+(?:no|not\s+any|not\s+enough)\s+(?:\w+\s+)?{_ACCOUNT}\b
    | there\s+(?:is|are)\s+(?:no|nothing)\b.{{0,120}}?\b(?:in|from|within)\s+{_GIVEN}{_SOURCE}\b
    | no\s+(?:\w+\s+){{0,3}}?{_ACCOUNT}\b
    | i\s+(?:can\s?not|(?:could|do|did|was|am)\s+not|(?:can|couldn|don|didn)['\u2019]t|(?:am|was)\s+unable)
      \s+(?:\w+\s+){{0,3}}?(?:answer|find|know|determine|see|have|locate)\b
    | (?:unable|not\s+possible)\s+to\s+(?:answer|determine|find)\b
    | (?:it|this|that|(?:the|this|your)\s+(?:question|topic|issue|matter|subject))
      \s+(?:is|was|has)\s*(?:not|n['\u2019]t)\s+
      (?:been\s+)?(?:\w+\s+){{0,2}}?{_MENTIONED}\b
    | not\s+{_MENTIONED}\b
    )""",
    re.VERBOSE,
)
_NOT_MENTIONED_HERE = re.compile(
    rf"\b(?:is|are|was|were|does|do)?\s*not\s+(?:\w+\s+)?(?:{_MENTIONED}|appear)\s+(?:anywhere\s+)?"
    rf"(?:in|by|within|on)\s+{_GIVEN}{_SOURCE}\b"
)
_CONTENT_AFTER = re.compile(
    r"(?:[,;]|\s[—\u2013-])\s*(?:but|however|although|though|yet|instead|so)\b|\bbut\s+(?:it|they|you|does)\b"
)
_ADVICE = re.compile(
    r"\b(?:should|must|avoid|never|always|recommended?|take|stop|limit|safe|typically|generally|usually|can|may|"
    r"\d+|wait|drink|eat|keep)\b"
)
_REASON = re.compile(
    rf"^(?:because|since|as|reason\b|note\b|only\b)|\b{_GIVEN}{_SOURCE}\b|\bthe question\b|\bno information\b"
)
_REFERRAL = re.compile(
    r"^(?:please|you (?:should|may want to|can)|it is best to|i recommend(?: that you)?|for [^,]{3,80},)?"
    r",?\s*(?:please\s+)?"
    r"(?:ask|call|contact|consult|check with|talk (?:to|with)|speak (?:to|with)|refer to|reach out to)\b"
)


def read(text: str, phrase: str, document_noun: str = "document") -> Stance:
    """Say whether ``text`` answers, abstains, or does both.

    Args:
        text: the reply without its reasoning.
        phrase: the standard reply, e.g. "NOT ADDRESSED"; compared without case, emphasis, quotes and final marks.
        document_noun: what the domain calls a document; "the … does not say" is silence of the document alone.
    """
    text = re.sub(rf"\b{re.escape(document_noun)}\b", "document", text, flags=re.IGNORECASE)
    parts = [part for line in text.split("\n") for part in sentences(_unlabelled(line))]
    standard = [_says_phrase(part, phrase) for part in parts]
    rest = [
        remainder
        for part, hit in zip(parts, standard, strict=True)
        if (remainder := _beside(part, phrase) if hit else part)
    ]
    content = [part for part in rest if not (_is_silence(part) or _excuses(part))]
    if any(standard):
        return Stance.BOTH if content else Stance.ABSTAINS
    silent = any(_is_silence(part) for part in rest)
    if not silent:
        return Stance.ANSWERS
    if not content:
        return Stance.ABSTAINS
    opens_silent = _is_silence(rest[0])
    return Stance.BOTH if opens_silent and not citations.find(text) else Stance.ANSWERS


def _unlabelled(line: str) -> str:
    return re.sub(
        r"^[\s>*_#-]*(?:answer|response|reply|output|final answer)[*_\s]*:[*_\s]*", "", line, flags=re.IGNORECASE
    )


def _says_phrase(sentence: str, phrase: str) -> bool:
    """The phrase is the sentence, or opens it and is set off by a mark or written as given."""
    key, wanted = normal_key(sentence), normal_key(phrase)
    if key == wanted:
        return True
    opening = re.match(
        rf"[\s#>*_`\"'“\u2018(\[]*{_loose(phrase)}(?P<mark>[\s*_`\"'”\u2019)\]]*[:.;,(\n—\u2013-])?",
        sentence,
        re.IGNORECASE,
    )
    return opening is not None and (bool(opening.group("mark")) or phrase in sentence)


def _beside(sentence: str, phrase: str) -> str:
    rest = re.sub(rf"^[\s#>*_`\"'“\u2018(\[]*{_loose(phrase)}", "", sentence, count=1, flags=re.IGNORECASE)
    rest = rest.strip(" \t*_`\"'“”\u2018\u2019()[].:;,—\u2013-")
    return "" if re.fullmatch(_in_the_source(), normalise(rest)) else rest


def _in_the_source() -> str:
    return rf"(?:anywhere )?(?:in|by|within|on) {_GIVEN}{_SOURCE}\b.{{0,80}}"


def _loose(phrase: str) -> str:
    return r"[\s_*-]+".join(re.escape(word) for word in phrase.split())


def _is_silence(sentence: str) -> bool:
    folded = normalise(sentence).strip(" \"'“”*_`.")
    said = _SILENCE.search(folded) or _NOT_MENTIONED_HERE.search(folded)
    if said is None or re.match(r"(?:if|when|unless|for|in case)\b", folded):
        return False
    return not _CONTENT_AFTER.search(folded, said.end())


def _excuses(sentence: str) -> bool:
    """A reason or a referral: it says nothing the question asked for."""
    folded = normalise(sentence).strip(" \"'“”*_`")
    if not re.search(r"\w", folded):
        return True
    if _REFERRAL.search(folded):
        return not re.search(r"\d", folded)
    return bool(_REASON.search(folded)) and not _ADVICE.search(folded)
