"""What a run has used, and the limits on it."""

from pydantic import BaseModel, ConfigDict


class Usage(BaseModel):
    """Sum over calls; two usages add up with ``+``.

    ``dollars`` is the sum over the calls whose price is known; ``unpriced`` counts the others.
    """

    model_config = ConfigDict(frozen=True)

    calls: int = 0
    input_tokens: int = 0
    output_tokens: int = 0
    cached_tokens: int = 0
    seconds: float = 0.0
    dollars: float = 0.0
    unpriced: int = 0

    def __add__(self, other: "Usage") -> "Usage":
        return Usage(
            calls=self.calls + other.calls,
            input_tokens=self.input_tokens + other.input_tokens,
            output_tokens=self.output_tokens + other.output_tokens,
            cached_tokens=self.cached_tokens + other.cached_tokens,
            seconds=self.seconds + other.seconds,
            dollars=self.dollars + other.dollars,
            unpriced=self.unpriced + other.unpriced,
        )


class Budget(BaseModel):
    """Limits on a run; None is no limit."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    calls: int | None = None
    tokens: int | None = None
    seconds: float | None = None
    dollars: float | None = None

    def exhausted(self, usage: Usage) -> str | None:
        """Say which limit is reached, in a sentence; None while there is budget left.

        A budget in dollars cannot be kept with a model of unknown price, so it ends the run
        rather than letting it spend unseen.
        """
        tokens = usage.input_tokens + usage.output_tokens
        if self.calls is not None and usage.calls >= self.calls:
            return f"The budget of {self.calls} model calls is used up."
        if self.tokens is not None and tokens >= self.tokens:
            return f"The budget of {self.tokens} tokens is used up ({tokens} spent)."
        if self.seconds is not None and usage.seconds >= self.seconds:
            return f"The budget of {self.seconds:g} seconds of model time is used up."
        if self.dollars is not None and usage.dollars >= self.dollars:
            return f"The budget of {self.dollars:g} dollars is used up."
        if self.dollars is not None and usage.unpriced:
            return "The model's price is unknown, so the budget in dollars cannot be kept."
        return None
