"""Chat models of any provider, the embedded one, structured replies, and what they cost."""

from planweave.models.call import Call, call
from planweave.models.chat import (
    ModelRequest,
    achat_model,
    chat_model,
    is_script,
    name_of,
    new_script,
    register_model,
    register_provider,
    registered,
)
from planweave.models.embeddings import embedding_id, embeddings, register_embeddings, tokenizer
from planweave.models.errors import ModelUnavailable
from planweave.models.extract import StructuredFailure
from planweave.models.plain import InPrompt, Program, Text
from planweave.models.samples import Chance, Samples, chance_of_yes, several_replies
from planweave.models.settings import ModelSettings, process_settings
from planweave.models.structured import Reply, ask
from planweave.models.usage import CallRecord, price_of, usage_by_role

__all__ = [
    "Call",
    "CallRecord",
    "Chance",
    "InPrompt",
    "ModelRequest",
    "ModelSettings",
    "ModelUnavailable",
    "Program",
    "Reply",
    "Samples",
    "StructuredFailure",
    "Text",
    "achat_model",
    "ask",
    "call",
    "chance_of_yes",
    "chat_model",
    "embedding_id",
    "embeddings",
    "is_script",
    "name_of",
    "new_script",
    "price_of",
    "process_settings",
    "register_embeddings",
    "register_model",
    "register_provider",
    "registered",
    "several_replies",
    "tokenizer",
    "usage_by_role",
]
