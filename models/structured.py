"""Replies that code depends on: a Pydantic object, or a typed failure.

A :class:`planweave.models.plain.Plain` is requested as plain text, everything else as JSON.

Lines of defence, in order: the provider's own structured output; extraction with repair
(:mod:`planweave.models.extract`); one retry that shows the model its reply and what was wrong with
it; a :class:`StructuredFailure` for the caller to record.
"""

import asyncio
import json
from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Generic, Literal, TypeVar

from langchain_core.language_models import BaseChatModel
from langchain_core.messages import AIMessage, BaseMessage, HumanMessage
from langchain_core.runnables import RunnableConfig
from pydantic import BaseModel

from planweave.models.call import BoundModel, Call, call
from planweave.models.chat import name_of
from planweave.models.errors import ModelUnavailable, Trouble
from planweave.models.extract import StructuredFailure, read
from planweave.models.lengths import SchemaNode, fitted, marked
from planweave.models.plain import InPrompt, Plain
from planweave.models.usage import CallRecord
from planweave.prompts import load
from planweave.texts import shorten

T = TypeVar("T", bound=BaseModel)

_plain_only: set[tuple[str, str]] = set()
"""Pairs of model and schema whose server refuses the schema or repeatedly ignored it."""
_ignored: Counter[tuple[str, str]] = Counter()
"""The number of first replies in a row without any JSON, by model and schema."""
_IGNORED_AT_MOST = 3
_FAILURES: dict[Trouble, Literal["prompt_too_long", "out_of_time"]] = {
    "too_long": "prompt_too_long",
    "out_of_time": "out_of_time",
}
"""Troubles of a single call that do not end a run."""


@dataclass(frozen=True)
class StructuredReply(Generic[T]):
    """The result of a request for an object."""

    value: T | None
    failure: StructuredFailure | None
    calls: tuple[CallRecord, ...]  # none if the time of the run was over
    role: str = ""


async def ask(
    model: BaseChatModel,
    messages: Sequence[BaseMessage],
    schema: type[T],
    *,
    role: str = "",
    config: RunnableConfig | None = None,
) -> StructuredReply[T]:
    """Ask ``model`` for an object of ``schema``. No malformed reply raises.

    If there is no reply, ``ModelUnavailable`` holds the records of the calls so far.
    """
    records: list[CallRecord] = []
    prompt = list(messages)
    failure: StructuredFailure | None = None
    for tries in range(2):
        try:
            done = await _request(model, prompt, schema, role, config, records)
        except ModelUnavailable as error:
            if error.trouble not in _FAILURES:
                raise
            kind = _FAILURES[error.trouble]
            failed = StructuredFailure(kind=kind, message=error.problem)
            return StructuredReply(None, failed, tuple(records), role)
        outcome = await asyncio.to_thread(_read, done, schema, _enforced_form(model, schema))
        if not tries:  # the second prompt already shows the form
            _note_ignored(_pair(model, schema), outcome)
        if not isinstance(outcome, StructuredFailure):
            return StructuredReply(outcome, None, tuple(records), role)
        failure = outcome
        records[-1] = records[-1].model_copy(update={"error": failure.message})
        prompt = _corrected(messages, failure, schema)
    return StructuredReply(None, failure, tuple(records), role)


def _note_ignored(pair: tuple[str, str], outcome: object) -> None:
    """Stop sending a schema that the provider accepts and ignores; one reply is no proof."""
    if not isinstance(outcome, StructuredFailure) or outcome.kind != "no_json":
        _ignored.pop(pair, None)
        return
    _ignored[pair] += 1
    if _ignored[pair] >= _IGNORED_AT_MOST:
        _plain_only.add(pair)


def _read(done: Call, schema: type[T], form: SchemaNode | None) -> T | StructuredFailure:
    if issubclass(schema, Plain):
        return schema.read(done.text, cut=done.cut)
    found = read(done.text, schema, cut=done.cut)
    if form is None or isinstance(found, StructuredFailure):
        return found
    return schema.model_validate(marked(found.model_dump(), form))


async def _request(
    model: BaseChatModel,
    prompt: Sequence[BaseMessage],
    schema: type[BaseModel],
    role: str,
    config: RunnableConfig | None,
    records: list[CallRecord],
) -> Call:
    """Ask with the provider's structured output, or in plain text if it has none."""
    native = await asyncio.to_thread(_native, model, schema)  # may import a provider's package
    try:
        if native is not None:
            try:
                done = await call(model, prompt, role=role, config=config, asked=native)
            except ModelUnavailable as error:
                if error.trouble != "rejected":
                    raise
                records.extend(error.calls)
                _plain_only.add(_pair(model, schema))
            else:
                records.append(done.record)
                return done
        done = await call(model, _add_shape(prompt, schema), role=role, config=config)
    except ModelUnavailable as error:
        records.extend(error.calls)
        error.calls = tuple(records)
        raise
    records.append(done.record)
    return done


def _native(model: BaseChatModel, schema: type[BaseModel]) -> BoundModel | None:
    """The model bound to its provider's structured output, or None if it has none."""
    inherited = type(model).with_structured_output is BaseChatModel.with_structured_output
    if inherited or issubclass(schema, Plain) or _pair(model, schema) in _plain_only:
        return None
    from langchain_openai.chat_models.base import BaseChatOpenAI

    if isinstance(model, BaseChatOpenAI) and not model.use_responses_api:
        # In the body and not as an argument: with an argument the client raises for cut-off
        # replies.
        body = {**(model.extra_body or {}), "response_format": _accepted_format(model, schema)}
        return model.bind(extra_body=body)
    try:
        return model.with_structured_output(schema, method="json_schema", include_raw=True)
    except (NotImplementedError, ValueError, TypeError):
        _plain_only.add(_pair(model, schema))
        return None


def _pair(model: BaseChatModel, schema: type[BaseModel]) -> tuple[str, str]:
    return name_of(model), f"{schema.__module__}.{schema.__qualname__}"


def _accepted_format(model: BaseChatModel, schema: type[BaseModel]) -> object:
    """The response format; for OpenAI without limits on strings, since strict mode knows few."""
    form = _enforced_form(model, schema)
    if form is None:
        return _without_keywords(response_format(schema), ("minLength", "maxLength", "pattern"))
    return response_format(schema, form)


def _enforced_form(model: BaseChatModel, schema: type[BaseModel]) -> SchemaNode | None:
    """The JSON schema whose lengths the model's server enforces; None if it enforces none."""
    from langchain_openai.chat_models.base import BaseChatOpenAI

    if (
        not isinstance(model, BaseChatOpenAI)
        or model.use_responses_api
        or issubclass(schema, Plain)
        or name_of(model).startswith("openai:")
        or _pair(model, schema) in _plain_only
    ):
        return None
    form = schema.model_json_schema()
    return fitted(form, model.max_tokens) if model.max_tokens else form


def _without_keywords(node: object, names: Collection[str]) -> object:
    """A schema without these keywords."""
    if isinstance(node, list):
        return [_without_keywords(item, names) for item in node]
    if not isinstance(node, Mapping):
        return node
    return {key: _without_keywords(value, names) for key, value in node.items() if key not in names}


def response_format(schema: type[BaseModel], form: SchemaNode | None = None) -> dict[str, object]:
    """The ``response_format`` of OpenAI-compatible servers for ``schema`` or a shorter ``form``.

    It is strict if the schema allows it: the reply has every field, in the order of the class, and
    no other.
    """
    tightened, strict = _tighten(form or schema.model_json_schema())
    name = "".join(letter for letter in schema.__name__ if letter.isalnum() or letter in "_-")[:64]
    return {
        "type": "json_schema",
        "json_schema": {"name": name or "reply", "schema": tightened, "strict": strict},
    }


def _tighten(node: object) -> tuple[object, bool]:
    """``node`` with all fields required and no others allowed, and whether that was possible."""
    if isinstance(node, list):
        items = [_tighten(item) for item in node]
        return [item for item, _ in items], all(strict for _, strict in items)
    if not isinstance(node, Mapping):
        return node, True
    tight: dict[str, object] = {}
    strict = not isinstance(node.get("additionalProperties"), Mapping)
    for key, value in node.items():
        if key in ("properties", "$defs"):
            parts = {name: _tighten(part) for name, part in value.items()}
            tight[key] = {name: part for name, (part, _) in parts.items()}
            strict = strict and all(ok for _, ok in parts.values())
        elif key not in ("title", "default", "discriminator"):
            tight["anyOf" if key == "oneOf" else key], ok = _tighten(value)
            strict = strict and ok
    if "properties" in node:
        tight |= {"required": list(node["properties"]), "additionalProperties": False}
    return tight, strict


def _add_shape(prompt: Sequence[BaseMessage], schema: type[BaseModel]) -> list[BaseMessage]:
    """The prompt with the schema at its end; unchanged if it already shows the form."""
    shape = _shape_text(schema)
    if issubclass(schema, InPrompt) or (prompt and shape in prompt[-1].text):
        return list(prompt)
    if prompt and isinstance(prompt[-1], HumanMessage):
        return [*prompt[:-1], HumanMessage(f"{prompt[-1].text}\n\n{shape}")]
    return [*prompt, HumanMessage(shape)]


@lru_cache(maxsize=256)
def _shape_text(schema: type[BaseModel]) -> str:
    """The request for a form, with the schema; patterns are omitted, since only code needs them."""
    if issubclass(schema, Plain):
        return load(schema.asked).fill()
    shown = _without_keywords(_tighten(schema.model_json_schema())[0], ("pattern",))
    written = json.dumps(shown, separators=(",", ":"))
    return load("common/json_reply").fill(schema=written)


def _corrected(
    messages: Sequence[BaseMessage], failure: StructuredFailure, schema: type[BaseModel]
) -> list[BaseMessage]:
    """The prompt, the reply and its error; of a reply without end, only the beginning.

    A small model that sees all of it repeats all of it.
    """
    wording = load("common/json_again").fill(problem=failure.message, shape=_shape_text(schema))
    again = HumanMessage(wording)
    if not failure.reply:
        return [*messages, again]
    endless = failure.kind in ("repetition", "cut_off")
    shown = shorten(failure.reply, 200) if endless else failure.reply
    return [*messages, AIMessage(shown), again]
