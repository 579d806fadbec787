"""Models that can be chosen, and whether each is ready."""

from dataclasses import asdict, dataclass
from importlib.util import find_spec

from starlette.requests import Request
from starlette.responses import JSONResponse

from planweave.apps.studio.access import Access
from planweave.models import ModelUnavailable, process_settings
from planweave.models.weights import DEFAULT, KNOWN, Weights, find


@dataclass(frozen=True, kw_only=True)
class ModelChoice:
    """A model with its description, and why it is ``missing``; empty if it is ready."""

    name: str
    about: str
    missing: str = ""


class Models:
    """The routes; ``access`` says which models a caller may choose."""

    def __init__(self, access: Access) -> None:
        self._access = access

    def listed(self, request: Request) -> JSONResponse:
        """The models that a caller can choose; the first is the default."""
        default = self._access.service().context.model
        found = [ModelChoice(name=default, about="")] if default != "embedded" else []
        if self._access.owner(request) is None:
            found += map(
                _embedded_choice, sorted(KNOWN.values(), key=lambda one: one.name != DEFAULT)
            )
            found += _providers()
        found += [ModelChoice(name=name, about="") for name in self._access.service().models]
        known = {
            choice.name: choice for choice in reversed(found)
        }  # the first entry of a name counts
        order = dict.fromkeys(choice.name for choice in found)
        return JSONResponse({"models": [asdict(known[name]) for name in order]})


def _embedded_choice(weights: Weights) -> ModelChoice:
    size, is_default = f"{weights.size / 1e9:.1f} GB", weights.name == DEFAULT
    name = "embedded" if is_default else weights.model
    about = f"{weights.name}, in this process, {weights.memory:g} GB of memory"
    if not find_spec("xllamacpp"):
        return ModelChoice(
            name=name, about=about, missing="not installed: pip install 'planweave[embedded]'"
        )
    try:
        find(weights)
    except ModelUnavailable:
        missing = f"not fetched: planweave models pull {weights.name} ({size})"
        return ModelChoice(name=name, about=about, missing=missing)
    return ModelChoice(name=name, about=about)


def _providers() -> list[ModelChoice]:
    """Models of providers for which this process has a key."""
    has_key = process_settings().openai_api_key is not None
    return (
        [ModelChoice(name="openai:gpt-4.1-mini", about="OpenAI, with the server's key")]
        if has_key
        else []
    )
