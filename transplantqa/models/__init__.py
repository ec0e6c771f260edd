"""Language models, embedders, rerankers and tokenizers, each behind a small Protocol; engines load at first use."""

from transplantqa.models.flag import FlagEmbedder, FlagReranker
from transplantqa.models.late_interaction import LateInteractionReranker, TokenEmbedder
from transplantqa.models.llama_cpp import LlamaCpp
from transplantqa.models.onnx_embedder import OnnxEmbedder
from transplantqa.models.openai_embedder import OpenAIEmbedder
from transplantqa.models.openai_server import OpenAIServer
from transplantqa.models.protocols import (
    Completion,
    Embedder,
    Identity,
    LanguageModel,
    Message,
    Request,
    Reranker,
    Tokenizer,
)
from transplantqa.models.reasoning import split_reasoning
from transplantqa.models.scripted import Scripted
from transplantqa.models.vllm import VLLM
from transplantqa.models.weights import locate
from transplantqa.models.wordpiece import WordPieceTokenizer

__all__ = [
    "VLLM",
    "Completion",
    "Embedder",
    "FlagEmbedder",
    "FlagReranker",
    "Identity",
    "LanguageModel",
    "LateInteractionReranker",
    "LlamaCpp",
    "Message",
    "OnnxEmbedder",
    "OpenAIEmbedder",
    "OpenAIServer",
    "Request",
    "Reranker",
    "Scripted",
    "TokenEmbedder",
    "Tokenizer",
    "WordPieceTokenizer",
    "locate",
    "split_reasoning",
]
