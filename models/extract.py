"""Reads a valid object from a reply, whatever text surrounds it.

There are two passes. The first finds everything in the text that *is* JSON; if several objects fit
the schema, the last one counts, since models draft first and decide last. Only if none fits, the
second pass repairs the text. Reading time is bounded: long texts lose their middle, and each repair
sees at most 16 000 characters. A reply that was cut off is never completed by guessing, since a
shortened number or query would be wrong without a trace.
"""

import html
import json
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Literal, TypeAlias, TypeVar

from pydantic import BaseModel, RootModel, ValidationError

from planweave.texts import MORE, shorten

T = TypeVar("T", bound=BaseModel)
Json: TypeAlias = "str | int | float | bool | Sequence[Json] | Mapping[str, Json] | None"
Details: TypeAlias = Mapping[str, object]

_LONGEST = 64_000
_LONGEST_REPAIR = 16_000
_REPAIRS = 2
_MOST_STARTS = 200
_NOISE = re.compile(r"\x1b\[[0-9;?]*[ -/]*[@-~]|[\x00\ufeff\u200b-\u200d\u2060]")
_FENCE = re.compile(r"```[\w-]*\s*\n?(.*?)(?:```|\Z)", re.DOTALL)
_LOOP = re.compile(r"(.{3,120}?)\1{6,}.{0,120}\Z", re.DOTALL)
_WRAPPERS = ("arguments", "parameters", "args", "input", "function", "properties")


class StructuredFailure(BaseModel):
    """Why a reply could not be used."""

    kind: Literal[
        "empty",
        "no_json",
        "no_program",
        "cut_off",
        "repetition",
        "invalid",
        "prompt_too_long",
        "out_of_time",
    ]
    message: str
    reply: str = ""


def read(text: str, schema: type[T], *, cut: bool = False) -> T | StructuredFailure:
    """Find the object in ``text``, or the reason why there is none; never raises.

    ``cut``: the reply ended at its limit of tokens.
    """
    clean = _NOISE.sub("", _shortened(text)).strip()
    problems: list[ValidationError] = []
    values = [value for version in _unescaped_versions(clean) for value in _strict(version)]
    found = _find_last_fitting(values, schema, problems)
    if found is None and not cut:
        repaired = (value for span in _spans(clean) for value in _repaired(span))
        found = _find_last_fitting(list(repaired), schema, problems)
    return found if found is not None else _failure(clean, problems, cut=cut)


def _shortened(text: str) -> str:
    if len(text) <= _LONGEST:
        return text
    return text[: _LONGEST // 2] + "\n" + text[-_LONGEST // 2 :]


def _unescaped_versions(text: str) -> Iterator[str]:
    yield text
    if "&quot;" in text or "&#34;" in text:
        yield html.unescape(text)


def _strict(text: str) -> Iterator[Json]:
    """Every top-level JSON object or array in ``text``; raw newlines in strings are allowed."""
    decoder, position = json.JSONDecoder(strict=False), 0
    for _ in range(_MOST_STARTS):
        start = re.compile(r"[{\[]").search(text, position)
        if start is None:
            return
        try:
            value, position = decoder.raw_decode(text, start.start())
        except (ValueError, RecursionError):
            position = start.end()
        else:
            yield value


def _spans(text: str) -> Iterator[str]:
    """The parts of ``text`` that are worth repairing."""
    for version in _unescaped_versions(text):
        yield from (fence for fence in _FENCE.findall(version) if "{" in fence)
        start = version.find("{")
        if start >= 0:
            yield version[start : version.rfind("}") + 1]
            yield version[start:]


def _repaired(span: str) -> Iterator[Json]:
    import json_repair

    span = span.strip().removesuffix("```").rstrip()[:_LONGEST_REPAIR]
    if not span or _is_unfinished(span):
        return
    try:
        yield json_repair.loads(span, skip_json_loads=True)
    except Exception:  # it parses garbage; after any error there is no object
        return


def _is_unfinished(span: str) -> bool:
    """Whether the text stops inside a value, so that its end is missing."""
    if span.endswith(("}", "]")):
        return False
    whole_string = span.endswith('"') and len(re.findall(r'(?<!\\)"', span)) % 2 == 0
    return not whole_string and not re.search(r"\b(true|false|null|True|False|None),?\Z", span)


def _find_last_fitting(
    values: Sequence[Json], schema: type[T], problems: list[ValidationError]
) -> T | None:
    for value in reversed(values):
        for reading in _readings(value, 3):
            if not _names_a_field(reading, schema):
                continue
            try:
                return _fit(reading, schema)
            except ValidationError as error:
                problems.append(error)
            except (RecursionError, OverflowError, ValueError):  # such as a number of 5 000 digits
                continue
    return None


def _readings(value: Json, depth: int) -> Iterator[Json]:
    """The value itself, then the values wrapped in it: tool calls, lists, the schema's own name."""
    yield value
    if depth == 0:
        return
    inner: list[Json] = []
    if isinstance(value, Mapping):
        inner = [value[key] for key in _WRAPPERS if key in value]
        inner += list(value.values()) if len(value) == 1 else []
    elif isinstance(value, Sequence) and not isinstance(value, str):
        inner = list(reversed(value[-50:]))
    for item in inner:
        if isinstance(item, str) and item.lstrip().startswith("{"):
            for parsed in _strict(item):
                yield from _readings(parsed, depth - 1)
        elif isinstance(item, Mapping | list):
            yield from _readings(item, depth - 1)


def _names_a_field(value: Json, schema: type[BaseModel]) -> bool:
    """Whether the value names at least one field; defaults alone do not count as an object."""
    if issubclass(schema, RootModel):
        return True
    names = {_normalise_name(name) for name in _names(schema)}
    return isinstance(value, Mapping) and any(_normalise_name(str(key)) in names for key in value)


def _names(schema: type[BaseModel]) -> Iterator[str]:
    for name, field in schema.model_fields.items():
        yield name
        if isinstance(field.validation_alias, str):
            yield field.validation_alias


def _normalise_name(name: str) -> str:
    return re.sub(r"[\s_-]", "", name).casefold()


def _fit(value: Json, schema: type[T]) -> T:
    """Validate the value; if that fails, repair it harmlessly and validate again."""
    try:
        return schema.model_validate(value)
    except ValidationError as error:
        repaired = json.loads(json.dumps(value))
        problem = error
        for _ in range(_REPAIRS):
            changes = [
                _repair(repaired, detail["loc"], detail["type"], detail.get("ctx", {}))
                for detail in problem.errors(include_url=False)[:20]
            ]
            if not any(changes):
                break
            try:
                return schema.model_validate(repaired)
            except ValidationError as again:  # such as for a text that "…" makes too long
                problem = again
        raise error from None


def _repair(root: Json, loc: tuple[str | int, ...], kind: str, about: Details) -> bool:
    """Change the value at ``loc`` in place if a harmless reading of it exists."""
    holder: Json = root
    try:
        for step in loc[:-1]:
            holder = holder[step]  # type: ignore[index] # misfits raise, below
        if kind == "missing" and isinstance(holder, dict):
            return _rename(holder, str(loc[-1]))
        if kind == "extra_forbidden" and isinstance(holder, dict):
            return holder.pop(loc[-1], None) is not None
        old = holder[loc[-1]]  # type: ignore[index]
        fix = _BY_KIND.get(kind)
        new = fix(old, about) if fix else old
        if new is old or not isinstance(holder, dict | list):
            return False
        holder[loc[-1]] = new  # type: ignore[index]
    except (KeyError, IndexError, TypeError):
        return False  # a branch of a union has no place in the value
    return True


def _rename(holder: dict[str, Json], name: str) -> bool:
    """Accept ``Final Answer`` for ``final_answer``."""
    for key in list(holder):
        if key != name and _normalise_name(key) == _normalise_name(name):
            holder[name] = holder.pop(key)
            return True
    return False


def _text(value: Json, _: Details) -> Json:
    return str(value) if isinstance(value, int | float) and not isinstance(value, bool) else value


def _listed(value: Json, _: Details) -> Json:
    return [value] if isinstance(value, str | dict) else value


def _number(value: Json, _: Details) -> Json:
    if not isinstance(value, str):
        return value
    if value.strip().casefold() in ("", "null", "none", "n/a"):
        return None
    grouped = re.fullmatch(r"\s*[-+]?\d{1,3}(,\d{3})+(\.\d+)?\s*", value)
    return value.replace(",", "") if grouped else value


def _choice(value: Json, about: Details) -> Json:
    if not isinstance(value, str):
        return value
    wanted = value.strip(" \t\n.'\"").casefold()
    same = [
        option
        for option in re.findall(r"'([^']*)'", str(about["expected"]))
        if option.casefold() == wanted
    ]
    return same[0] if len(same) == 1 else value


def _shorten_value(value: Json, about: Details) -> Json:
    """Cut a text or list at the schema's limit, as a grammar would, and mark the cut with ``…``."""
    limit = about.get("max_length")
    if not isinstance(limit, int) or not isinstance(value, str | list):
        return value
    if isinstance(value, str):
        return shorten(value, limit)
    kept = value[:limit]
    return [*kept[:-1], f"{kept[-1]} {MORE}"] if kept and isinstance(kept[-1], str) else kept


_BY_KIND: dict[str, Callable[[Json, Details], Json]] = {
    "string_type": _text,
    "list_type": _listed,
    "int_parsing": _number,
    "float_parsing": _number,
    "literal_error": _choice,
    "enum": _choice,
    "string_too_long": _shorten_value,
    "too_long": _shorten_value,
}


def _failure(text: str, problems: Sequence[ValidationError], *, cut: bool) -> StructuredFailure:
    reply = shorten(text, 1000)
    if not text:
        return StructuredFailure(kind="empty", message="The reply was empty.")
    if _LOOP.search(text[-2000:]):
        message = "The reply repeated itself without end."
        return StructuredFailure(kind="repetition", message=message, reply=reply)
    start = text.find("{")
    if cut or (start >= 0 and not problems and _is_unfinished(text[start:].rstrip("`\n "))):
        message = "The reply was cut off before its end; it must be shorter."
        return StructuredFailure(kind="cut_off", message=message, reply=reply)
    if not problems:
        message = "The reply holds no JSON object with the fields asked for."
        return StructuredFailure(kind="no_json", message=message, reply=reply)
    details = problems[0].errors(include_url=False, include_input=False)[:5]
    about = "; ".join(f"{'.'.join(map(str, d['loc'])) or 'object'}: {d['msg']}" for d in details)
    message = f"The JSON object does not fit: {shorten(about, 600)}."
    return StructuredFailure(kind="invalid", message=message, reply=reply)
