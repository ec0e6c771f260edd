import pytest
from hypothesis import given
from hypothesis import strategies as st

from transplantqa.generation.abstention import Stance, read

PHRASE = "NOT ADDRESSED"


@pytest.mark.parametrize(
    "reply",
    [
        "NOT ADDRESSED",
        "**NOT ADDRESSED**",
        "__Not addressed__.",
        "not addressed",
        "“NOT ADDRESSED”",
        "### NOT ADDRESSED",
        "Answer: NOT ADDRESSED",
        "NOT_ADDRESSED",
        "NOT ADDRESSED: the leaflet does not mention bicycles.",
        "NOT ADDRESSED (the sections are about parking only)",
        "NOT ADDRESSED because the leaflet only covers parking.",
        "NOT ADDRESSED in the provided leaflet text.",
        "NOT ADDRESSED\n\nReason: the evidence does not discuss it.",
        "NOT ADDRESSED. Please ask your team.",
    ],
)
def test_the_standard_reply_is_recognised_in_every_spelling(reply: str) -> None:
    assert read(reply, PHRASE, "leaflet") is Stance.ABSTAINS


@pytest.mark.parametrize(
    "reply",
    [
        "The given text does not contain information on tattoos.",
        "The handbook doesn't mention tattoos.",
        "There is no information about tattoos in the passages.",
        "I cannot answer this from the context.",
        "I'm sorry, but the document does not say when.",
        "Tattoos are not discussed in the handbook.",
        "This question is not answered in the sections above.",
        "The booklet is silent on this.",
        "No information provided.",
    ],
)
def test_silence_in_the_models_own_words_is_silence(reply: str) -> None:
    assert read(reply, PHRASE, "handbook") is Stance.ABSTAINS


@pytest.mark.parametrize(
    "reply",
    [
        "NOT ADDRESSED\n\nHowever, people should generally rest for two days.",
        "NOT ADDRESSED. Rest for two days.",
        "NOT ADDRESSED, but you should wait 3 weeks.",
        "Rest for two days.\n\nNOT ADDRESSED",
        "The context does not contain information about tattoos. However, tattoos should wait a year.",
    ],
)
def test_silence_with_advice_is_both(reply: str) -> None:
    assert read(reply, PHRASE, "handbook") is Stance.BOTH


@pytest.mark.parametrize(
    "reply",
    [
        "Worries not addressed by the clinic within a day go to the coordinator [Calling, p. 2].",
        "If your pain is not addressed, call us.",
        "The handbook does not mention lemons, but forbids grapefruit [Diet, p. 3].",
        "Avoid it. The handbook does not give a reason [Diet, p. 3].",
        "There is no need to wait; drive from week 6 on [Driving, p. 4].",
        "This drug is not covered by the plan [Costs, p. 5].",
        "Call your coordinator if you cannot find the answer.",
        "Report effects that are not mentioned here [Medicines, p. 2].",
    ],
)
def test_an_answer_that_merely_contains_the_words_is_an_answer(reply: str) -> None:
    assert read(reply, PHRASE, "handbook") is Stance.ANSWERS


@given(st.text(max_size=200))
def test_any_text_is_read_as_one_of_the_three(text: str) -> None:
    assert read(text, PHRASE) in set(Stance)


@given(
    st.sampled_from(["", "**", '"', "“", "> ", "# "]),
    st.sampled_from(["", ".", "**", '"', "”", "!\n"]),
    st.sampled_from([str.upper, str.lower, str.title]),
)
def test_decoration_and_case_never_hide_the_standard_reply(before: str, after: str, case: object) -> None:
    assert callable(case)
    assert read(f"{before}{case(PHRASE)}{after}", PHRASE) is Stance.ABSTAINS
