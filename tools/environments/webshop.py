"""WebShop as a text environment: search, click and buy in a catalogue (Yao et al. 2022).

Pages, actions and reward follow the published engine (princeton-nlp/WebShop, ``text`` mode, with
the page layout of ReAct's log). Our own BM25 replaces Lucene. The content words of a title replace
its nouns, which would need a tagger.
"""

import re
from collections.abc import Iterable, Sequence
from difflib import SequenceMatcher
from itertools import chain
from pathlib import Path
from random import Random
from typing import Annotated, NamedTuple

from pydantic import AliasChoices, BaseModel, BeforeValidator, Field

from planweave import BadInput
from planweave.records import read_object, read_records
from planweave.tools.documents.words import WordIndex
from planweave.tools.environments.base import OPEN, Environment, Observation, Task, first_action
from planweave.tools.environments.opening import environment

_VERBS = ("search", "click")
_PRICE = re.compile(r"\d+(?:\.\d+)?")
_DEEPER = "\N{SINGLE RIGHT-POINTING ANGLE QUOTATION MARK}"  # between a section and its parts
_SIMILAR = 0.85
_HITS, _PAGE = 50, 10
_TABS = ("Description", "Features")
_ASIN = 10  # letters and digits
_BACK, _NEXT, _PREVIOUS, _BUY = "Back to Search", "Next >", "< Prev", "Buy Now"
_LITTLE = "a an and at by for from in is it of on or the this to with"
_LITTLE_WORDS = frozenset(_LITTLE.split())
_OWN = ("products*.json*", "goals*.json*")
_OFFICIAL = ("items_shuffle*.json*", "items_ins_v2*.json*", "items_human_ins.json*")
_FIX = (
    "Give the folder data/ that WebShop's setup.sh fills (items_shuffle_1000.json, "
    "items_ins_v2_1000.json, items_human_ins.json), or one with products.jsonl and goals.jsonl: "
    "--data FOLDER"
)


# A product is only sure to have a number and a name.
_Text = Annotated[str, BeforeValidator(lambda value: value if isinstance(value, str) else "")]


class _Option(BaseModel):
    value: str


class Product(BaseModel):
    """One product, in the layout of WebShop's ``items_shuffle`` file.

    Attributes:
        attributes: Its properties, such as ``machine washable``; often absent, and published in a
            separate file.
        customization_options: The values of each option.
    """

    asin: str
    name: str
    pricing: _Text = ""
    query: _Text = ""
    category: _Text = ""
    product_category: _Text = ""
    full_description: _Text = ""
    small_description: Annotated[
        list[_Text], BeforeValidator(lambda value: value if isinstance(value, list) else [value])
    ] = []
    attributes: Annotated[list[str], Field(alias="Attributes")] = []
    customization_options: Annotated[
        dict[str, list[_Option] | None], BeforeValidator(lambda given: given or {})
    ] = {}

    @property
    def price(self) -> float:
        """The price in dollars, the lower end of a range; 100 if missing, as in the engine."""
        found = _PRICE.search(self.pricing.replace(",", ""))
        return float(found[0]) if found else 100.0

    @property
    def options(self) -> dict[str, list[str]]:
        """The values of each option by its name."""
        return {
            name.lower(): [o.value.strip().replace("/", " | ").lower() for o in values]
            for name, values in self.customization_options.items()
            if values
        }

    def text(self) -> str:
        """The text that a search matches."""
        values = chain.from_iterable(self.options.values())
        return " ".join([self.name, self.full_description, *self.small_description[:1], *values])


class _ProductNotes(BaseModel):
    """A product in the published ``items_ins_v2`` file."""

    attributes: list[str] = []


class Goal(BaseModel):
    """A customer's wish: a product or a similar one."""

    asin: str
    instruction: str
    attributes: list[str] = Field(
        default=[], validation_alias=AliasChoices("instruction_attributes", "attributes")
    )
    options: Annotated[
        list[str], BeforeValidator(lambda o: list(o.values()) if isinstance(o, dict) else o)
    ] = Field(default=[], validation_alias=AliasChoices("instruction_options", "goal_options"))
    price_upper: float | None = Field(
        default=None, validation_alias=AliasChoices("price_upper", "price_upper_in_log")
    )

    def question(self) -> str:
        """The instruction with its price limit."""
        if "price lower than" in self.instruction or not self.price_upper:
            return self.instruction
        return f"{self.instruction}, and price lower than {self.price_upper:.2f} dollars"


def reward(product: Product, chosen: Iterable[str], goal: Goal, wanted: Product) -> float:
    """How well a purchase fits, from 0 to 1 (Yao et al. 2022, section 3.1).

    ``type · (attributes met + options met + price met) / (attributes + options + 1)``, for a
    product with the ``chosen`` values of its options, if the goal was written for ``wanted``.
    """
    values = list(chosen)
    met = sum(_has(product, attribute) for attribute in goal.attributes)
    met += sum(any(_are_similar(value, option) for value in values) for option in goal.options)
    met += not goal.price_upper or product.price <= goal.price_upper
    return _type(product, wanted) * met / (len(goal.attributes) + len(goal.options) + 1)


def _has(product: Product, attribute: str) -> bool:
    text = " ".join([product.name, product.full_description, *product.small_description]).lower()
    return (
        any(_are_similar(own, attribute) for own in product.attributes) or attribute.lower() in text
    )


def _type(product: Product, wanted: Product) -> float:
    """The factor for a product of another type."""
    words, named = _words(wanted.name), _words(product.name)
    share = len(words & named) / len(words) if words else 0.2
    sections = [
        {part.strip() for part in p.product_category.split(_DEEPER)} for p in (product, wanted)
    ]
    same = product.query == wanted.query or len(sections[0] & sections[1]) >= 2
    if share == 0:
        return 0.0
    if share < 0.1:
        return 0.1
    return 1.0 if same or share > 0.2 else 0.5


def _words(text: str) -> set[str]:
    return set(re.findall(r"[^\W_]+", text.lower())) - _LITTLE_WORDS


def _are_similar(one: str, other: str) -> bool:
    """Whether two phrases share most words, whatever their order (a token set ratio)."""
    a, b = (set(re.findall(r"[^\W_]+", text.lower())) for text in (one, other))
    both = sorted(a & b)
    if not both:
        return SequenceMatcher(None, " ".join(sorted(a)), " ".join(sorted(b))).ratio() > _SIMILAR
    if not (a - b and b - a):
        return True
    texts = [" ".join(words) for words in (both, both + sorted(a - b), both + sorted(b - a))]
    pairs = ((0, 1), (0, 2), (1, 2))
    return max(SequenceMatcher(None, texts[i], texts[j]).ratio() for i, j in pairs) > _SIMILAR


def _find_nearest(option: str, values: Sequence[str]) -> str:
    """The value that an option asks for; if it is not there, the most similar one."""
    alike = (value for value in values if _are_similar(value, option))
    return option if option in values else next(alike, option)


class _ResultPage(NamedTuple):
    """The hits of a search, and the number of the page on display."""

    products: Sequence[Product] = ()
    page: int = 0

    @property
    def shown(self) -> Sequence[Product]:
        return self.products[self.page * _PAGE : (self.page + 1) * _PAGE]


class WebShop(Environment):
    """A shop with a search bar; buying ends the task with the reward as its score.

    ``search[words]`` lists ten products a page, ``click[…]`` follows the link in brackets: a
    product, an option, a page, ``Buy Now``.
    """

    name = "webshop"

    def __init__(self, products: Iterable[Product], goals: Iterable[Goal]) -> None:
        self._products = {product.asin.lower(): product for product in products}
        self._index = WordIndex.build([p.text() for p in self._products.values()])
        self._list = list(self._products.values())
        self._goals = {str(n): goal for n, goal in enumerate(goals)}
        if not self._goals:
            raise BadInput("There are no goals for the products of the catalogue.", fix=_FIX)
        for goal in self._goals.values():
            if goal.asin.lower() not in self._products:
                raise BadInput(
                    f"A goal names the product {goal.asin}, which the catalogue lacks.",
                    fix="Give the catalogue that the goals were written for.",
                )
        self._goal = next(iter(self._goals.values()))
        self._leave()

    def tasks(self, split: str = "") -> Sequence[Task]:
        """See :class:`Environment`; the goals have no splits."""
        if split:
            raise BadInput("WebShop's goals have no splits.", fix="Leave the split out.")
        return [self._task(own, goal) for own, goal in self._goals.items()]

    def reset(self, task: Task) -> Observation:
        """See :class:`Environment`."""
        self._goal = self._goals[task.id]
        self._leave()
        return Observation(f"WebShop\nInstruction:\n{self._goal.question()}\n[Search]")

    def step(self, action: str) -> Observation:
        """See :class:`Environment`."""
        parts = first_action(action, _VERBS)
        if parts is None:
            return Observation("Invalid action! Write search[…] or click[…].")
        verb, argument = parts
        if verb == "search":
            return self._search(argument)
        for link in self._links():
            if argument.lower() == link.lower():
                return self._click(link)
        return Observation(f"Invalid action! There is no [{argument}] here.")

    def admissible(self) -> tuple[str, ...]:
        """See :class:`Environment`; a search is possible only on a page without links."""
        return tuple(f"click[{link}]" for link in self._links()) or (f"search{OPEN}",)

    def _links(self) -> list[str]:
        """The links of the page, ways back last: small models take what they read first."""
        if self._product and self._tab:
            return [_PREVIOUS, _BACK]
        if self._product:
            values = chain.from_iterable(self._product.options.values())
            return [*values, _BUY, *_TABS, _PREVIOUS, _BACK]
        if self._shelf is None:
            return []
        more = (self._shelf.page + 1) * _PAGE < len(self._shelf.products)
        turns = [*([_NEXT] if more else []), *([_PREVIOUS] if self._shelf.page else [])]
        return [*(product.asin for product in self._shelf.shown), *turns, _BACK]

    def _task(self, own: str, goal: Goal) -> Task:
        product = self._products[goal.asin.lower()]
        values = [*chain.from_iterable(product.options.values())]
        chosen = (f"click[{_find_nearest(option.lower(), values)}]" for option in goal.options)
        gold = (f"search[{product.name}]", f"click[{product.asin}]", *chosen, f"click[{_BUY}]")
        return Task(id=own, kind=product.category, question=goal.question(), gold=gold)

    def _leave(self) -> None:
        self._shelf: _ResultPage | None = None
        self._product: Product | None = None
        self._tab = ""
        self._chosen: dict[str, str] = {}

    def _search(self, words: str) -> Observation:
        if self._shelf is not None or self._product:
            return Observation(f"Invalid action! Click [{_BACK}] before you search again.")
        self._shelf = _ResultPage([self._list[row] for row, _ in self._index.search(words, _HITS)])
        return Observation(self._results())

    def _click(self, link: str) -> Observation:
        if link == _BUY and self._product:
            wanted = self._products[self._goal.asin.lower()]
            score = reward(self._product, self._chosen.values(), self._goal, wanted)
            return Observation(f"Your score (min 0.0, max 1.0): {score:.2f}", True, score)
        if link == _BACK:
            self._leave()
            return Observation(f"WebShop\nInstruction:\n{self._goal.question()}\n[Search]")
        if self._product is None:
            return Observation(self._turn_or_open(link))
        if link == _PREVIOUS:
            return Observation(self._previous())
        if link in _TABS:
            self._tab = link
            texts = {
                "Description": [self._product.full_description],
                "Features": self._product.small_description,
            }
            text = "\n".join(texts[link]).strip() or "None"
            return Observation(f"[{_BACK}]\n[{_PREVIOUS}]\n{text}")
        name = next(n for n, values in self._product.options.items() if link in values)
        self._chosen[name] = link
        return Observation(f"You have clicked {link}.")

    def _turn_or_open(self, link: str) -> str:
        """The next or last page of results, or the page of a product."""
        shelf = self._shelf or _ResultPage()
        if link in (_NEXT, _PREVIOUS):
            self._shelf = shelf._replace(page=shelf.page + (1 if link == _NEXT else -1))
            return self._results()
        self._product, self._chosen = self._products[link.lower()], {}
        return self._item(self._product)

    def _previous(self) -> str:
        """From a tab to its product, from a product to the results."""
        if self._tab and self._product:
            self._tab = ""
            return self._item(self._product)
        self._product = None
        return self._results()

    def _results(self) -> str:
        shelf = self._shelf or _ResultPage()
        head = f"[{_BACK}]\nPage {shelf.page + 1} (Total results: {len(shelf.products)})"
        turns = [f"[{link}]" for link in self._links() if link in (_NEXT, _PREVIOUS)]
        items = [f"[{p.asin}]\n{p.name}\n${p.price:.2f}" for p in shelf.shown]
        return "\n".join([head, *turns, *items])

    def _item(self, product: Product) -> str:
        options = [
            f"{name} {''.join(f'[{value}]' for value in values)}"
            for name, values in product.options.items()
        ]
        tail = [product.name, f"Price: ${product.price:.2f}", "[Description]", "[Features]"]
        return "\n".join([f"[{_BACK}]", f"[{_PREVIOUS}]", *options, *tail, f"[{_BUY}]"])


@environment("webshop", moves=[f"click[{link}]" for link in (*_TABS, _PREVIOUS, _NEXT, _BACK)])
def connect(data: Path | None) -> WebShop:
    """Open the environment on a folder with WebShop's published files, or our own."""
    if found := _find_files(data, _OWN):
        products, goals = found
        return WebShop(
            read_records(products, Product, fix=_FIX), read_records(goals, Goal, fix=_FIX)
        )
    if found := _find_files(data, _OFFICIAL):
        return WebShop(*_join_published(*found))
    raise BadInput(
        f"WebShop needs a folder with a catalogue and goals; {data or 'none'} has not both.",
        fix=_FIX,
    )


def _find_files(data: Path | None, patterns: Sequence[str]) -> list[Path]:
    """A file for each pattern, the part of 1,000 products first; empty if a file is missing."""
    found = [max(data.glob(pattern), default=None) for pattern in patterns] if data else []
    return [path for path in found if path] if all(found) else []


def _join_published(
    products: Path, notes_file: Path, goals_file: Path
) -> tuple[list[Product], list[Goal]]:
    """Join the three published files into the catalogue and the goals, as WebShop's engine does."""
    attributes = read_object(notes_file, dict[str, _ProductNotes], fix=_FIX)
    wanted = read_object(goals_file, dict[str, list[Goal]], fix=_FIX)
    catalogue: dict[str, Product] = {}
    for product in read_records(products, Product, fix=_FIX):
        if product.asin != "nan" and len(product.asin) <= _ASIN:
            catalogue.setdefault(product.asin, product)
    for asin in attributes.keys() & catalogue.keys():
        catalogue[asin].attributes = attributes[asin].attributes
    goals = [
        goal.model_copy(
            update={
                "asin": product.asin,
                "instruction": goal.instruction.strip("."),
                "price_upper": _draw_limit(goal, product),
            }
        )
        for product in catalogue.values()
        for goal in wanted.get(product.asin, [])
        if goal.attributes
    ]
    return [*catalogue.values()], goals


def _draw_limit(goal: Goal, product: Product) -> float | None:
    """A price limit, drawn from the goal alone; the engine draws it at each start.

    It is the larger of two of the next four tens above the price, below 1,000 dollars.
    """
    tens = [ten for ten in range(10, 1000, 10) if ten > product.price][:4]
    drawn = Random(f"{goal.asin} {goal.instruction}")  # noqa: S311 (no secret)
    return float(max(drawn.sample(tens, 2))) if len(tens) > 1 else None
