"""A language model of random weights and 200 kB, with which an engine can be tried without any download.

Run in an environment that has torch and transformers: ``python tiny_model.py FOLDER [closes_reasoning]``.
"""

import sys
from pathlib import Path
from typing import Any

BEGIN, TURN, END, PAD = "<s>", "<|turn|>", "</s>", "<|pad|>"
OPEN, CLOSE = "<think>", "</think>"
TEMPLATE = (
    "{{ bos_token }}{% for message in messages %}<|turn|>{{ message['role'] }}\n{{ message['content'] }}</s>\n"
    "{% endfor %}{% if add_generation_prompt %}<|turn|>assistant\n"
    "{% if enable_thinking is defined and enable_thinking %}<think>\n"
    "{% elif enable_thinking is defined %}<think>\n\n</think>\n\n{% endif %}{% endif %}"
)


def tokenizer() -> Any:
    """Return a tokenizer of bytes, with a token of beginning that its template writes and it would also add."""
    from tokenizers import AddedToken, Tokenizer, decoders, models, pre_tokenizers, processors
    from transformers import PreTrainedTokenizerFast  # type: ignore[import-not-found]

    alphabet = sorted(pre_tokenizers.ByteLevel.alphabet())
    vocabulary = {piece: number for number, piece in enumerate([*alphabet, BEGIN, TURN, END, PAD])}
    made = Tokenizer(models.BPE(vocab=vocabulary, merges=[]))
    made.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    made.decoder = decoders.ByteLevel()
    made.post_processor = processors.TemplateProcessing(
        single=f"{BEGIN} $A", special_tokens=[(BEGIN, vocabulary[BEGIN])]
    )
    fast = PreTrainedTokenizerFast(
        tokenizer_object=made, bos_token=BEGIN, eos_token=END, pad_token=PAD, additional_special_tokens=[TURN]
    )
    fast.add_tokens([AddedToken(OPEN, special=False), AddedToken(CLOSE, special=False)])
    fast.chat_template = TEMPLATE
    return fast


def make(folder: Path, *habits: str) -> None:
    """Write tokenizer and weights to ``folder``; ``closes_reasoning`` makes a model that always wants to."""
    import torch  # type: ignore[import-not-found]
    from transformers import GenerationConfig, Qwen2Config, Qwen2ForCausalLM

    torch.manual_seed(0)
    words = tokenizer()
    ends = {"eos_token_id": words.eos_token_id, "pad_token_id": words.pad_token_id, "bos_token_id": words.bos_token_id}
    config = Qwen2Config(
        vocab_size=(len(words) + 63) // 64 * 64,
        hidden_size=64,
        intermediate_size=128,
        num_hidden_layers=2,
        num_attention_heads=2,
        num_key_value_heads=1,
        max_position_embeddings=4096,
        tie_word_embeddings=not habits,
        **ends,
    )
    model = Qwen2ForCausalLM(config)
    if "closes_reasoning" in habits:
        with torch.no_grad():
            # A constant value vector adds the same direction to every position's state, which this token's row meets.
            attention = model.model.layers[0].self_attn
            attention.v_proj.bias.fill_(100.0)
            direction = attention.o_proj.weight.sum(dim=1)
            model.lm_head.weight[words.convert_tokens_to_ids(CLOSE)] = 10 * direction / direction.norm()
    model.generation_config = GenerationConfig(**ends)
    words.save_pretrained(folder)
    model.save_pretrained(folder)


if __name__ == "__main__":
    make(Path(sys.argv[1]), *sys.argv[2:])
