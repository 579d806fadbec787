"""What a Cypher query speaks of: the patterns, properties and literals in its tokens."""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import cached_property

from planweave.tools.cypher.tokens import Tokens, brackets

_BEFORE_NODE = {"MATCH", "WHERE", "AND", "OR", "XOR", "NOT", "EXISTS"}
_LABEL_MARKS = {":", "|", "&", "!"}
_LITERALS = {"TRUE", "FALSE"}


@dataclass(frozen=True)
class Element:
    """A node or relationship of a pattern: its variable, labels or types, and property map."""

    is_node: bool
    variable: str
    names: tuple[str, ...]
    properties: tuple[tuple[str, str], ...]
    """Property and the literal it must equal; the literal is empty for anything else."""
    many_hops: bool = False


@dataclass(frozen=True)
class PatternLink:
    """A relationship between two nodes; ``arrow`` is ``>``, ``<`` or empty.

    ``place`` is the number of the token ``[``, ``end`` that of its ``]``.
    """

    left: Element
    relationship: Element
    right: Element
    arrow: str
    place: int = -1
    end: int = -1

    @property
    def turned(self) -> "PatternLink":
        """The same with its nodes exchanged."""
        return replace(self, left=self.right, right=self.left)


@dataclass(frozen=True)
class PropertyAccess:
    """A property of a variable; ``literal`` is what it is compared with by ``=``, if anything.

    ``place`` is the number of the variable's token; -1 in a map projection.
    """

    variable: str
    property: str
    literal: str = ""
    place: int = -1


class Patterns:
    """Reads tokens once; scopes are not told apart, which errs on the side of letting pass."""

    def __init__(self, tokens: Tokens) -> None:
        self._tokens = tokens
        self.closing, self._around = brackets(tokens)
        self.opening = {end: start for start, end in self.closing.items()}

    @cached_property
    def elements(self) -> dict[int, Element]:
        """Every labelled, typed or mapped element by the place where it opens."""
        found = {}
        for start in self.closing:
            element = self._element(start)
            if element and (element.names or element.properties):
                found[start] = element
        return found

    @cached_property
    def links(self) -> tuple[PatternLink, ...]:
        """Every relationship in brackets, with the nodes on both sides."""
        return tuple(self._links())

    @cached_property
    def accesses(self) -> tuple[PropertyAccess, ...]:
        """Every ``variable.property`` and map projection ``variable {.property}``."""
        return tuple(self._accesses())

    @cached_property
    def denied(self) -> frozenset[int]:
        """The places of what must not be there: patterns behind ``NOT`` or ``NOT EXISTS``."""
        found: set[int] = set()
        for start, token in enumerate(self._tokens):
            place = start + 1 + (self._word(start + 1) == "EXISTS")
            while token.word == "NOT" and place in self.closing:
                end = self.closing[place]
                found.update(range(start + 1, end + 1))
                place = end + 1  # of a path the next bracket, behind the marks of its arrow
                while self._text(place) in ("-", "<", ">"):
                    place += 1
        return frozenset(found)

    @cached_property
    def rebound(self) -> frozenset[str]:
        """Variables that also stand for something else than a pattern element."""
        tokens = self._tokens
        aliases = {t.identifier for i, t in enumerate(tokens) if i and tokens[i - 1].word == "AS"}
        items = {
            t.identifier
            for i, t in enumerate(tokens)
            if self._text(i - 1) in ("[", "(", ",") and self._word(i + 1) == "IN"
        }
        return frozenset(aliases | items)

    @cached_property
    def map_keys(self) -> frozenset[str]:
        """Keys of literal maps, which may be read like properties later on."""
        inside = {start for start in self.closing if self._is_pattern_map(start)}
        return frozenset(
            token.identifier
            for i, token in enumerate(self._tokens)
            if token.identifier
            and self._text(i + 1) == ":"
            and self._text(i - 1) in ("{", ",")
            and self._around[i] not in inside
        )

    def _element(self, start: int) -> Element | None:
        """The pattern element in the brackets that open at ``start``, if it is one."""
        is_node = self._text(start) == "("
        if not is_node and not (self._text(start) == "[" and self._text(start - 1) == "-"):
            return None
        index = start + 1
        variable = self._identifier(index)
        index += bool(variable)
        names: list[str] = []
        if self._text(index) == ":":
            while self._text(index) in _LABEL_MARKS:
                index += 1
                if name := self._identifier(index):
                    names.append(name)
                    index += 1
        many_hops = not is_node and self._text(index) == "*"
        while not is_node and self._text(index) not in ("{", "]", ""):
            index += 1
        properties = self._map(index) if self._text(index) == "{" else ()
        if is_node and not self._is_node(start, bare=not variable and not names):
            return None
        return Element(is_node, variable, tuple(names), properties, many_hops)

    def _is_node(self, start: int, *, bare: bool) -> bool:
        """Whether the bracket at ``start`` may hold a node, not arguments or a map in brackets."""
        if self._identifier(start - 1):
            return self._word(start - 1) in _BEFORE_NODE
        end = self.closing.get(start, start)
        is_linked = self._text(end + 1) in ("-", "<") or self._text(start - 1) in ("-", ">")
        return is_linked or not bare

    def _map(self, start: int) -> tuple[tuple[str, str], ...]:
        end = self.closing.get(start, start)
        keys = [
            i
            for i in range(start + 1, end)
            if self._text(i + 1) == ":"
            and self._around[i] == start
            and self._text(i - 1) in ("{", ",")
        ]
        return tuple((self._identifier(i), self._literal(i + 2)) for i in keys)

    def _literal(self, index: int) -> str:
        """The literal at ``index`` if nothing but a closing mark or a word follows it."""
        sign = "-" if self._text(index) == "-" else ""
        index += bool(sign)
        if index >= len(self._tokens):
            return ""
        token = self._tokens[index]
        is_literal = token.kind in ("string", "number") or token.word in _LITERALS
        ends = self._text(index + 1) in (",", ")", "]", "}", "") or self._word(index + 1)
        return sign + token.text if is_literal and ends else ""

    def _links(self) -> Iterator[PatternLink]:
        for start, end in self.closing.items():
            if self._text(start) != "[" or self._text(start - 1) != "-":
                continue
            from_right = self._text(start - 2) == "<"
            to_right = self._text(end + 2) == ">"
            left, right = self.opening.get(start - 2 - from_right), end + 2 + to_right
            if left is None or right not in self.closing:
                continue
            nodes, relationship = [self._element(i) for i in (left, right)], self._element(start)
            if nodes[0] and nodes[1] and relationship:
                arrow = "" if from_right == to_right else ">" if to_right else "<"
                yield PatternLink(nodes[0], relationship, nodes[1], arrow, start, end)

    def _accesses(self) -> Iterator[PropertyAccess]:
        for i, token in enumerate(self._tokens):
            name = self._identifier(i + 1)
            if token.text != "." or not name or self._text(i + 2) == "(":
                continue
            is_projected = self._text(i - 1) in ("{", ",")
            if is_projected:
                opening = self._around[i]
                variable = self._identifier(opening - 1) if opening is not None else ""
            else:
                chained = self._text(i - 2) == "."
                variable = "" if chained else self._identifier(i - 1)
            if variable:
                literal = self._literal(i + 3) if self._text(i + 2) == "=" else ""
                yield PropertyAccess(variable, name, literal, -1 if is_projected else i - 1)

    def _is_pattern_map(self, start: int) -> bool:
        owner = self._around[start]
        if self._text(start) != "{" or owner is None:
            return False
        element = self._element(owner)
        return element is not None and bool(element.properties)

    def _text(self, index: int) -> str:
        return self._tokens[index].text if 0 <= index < len(self._tokens) else ""

    def _word(self, index: int) -> str:
        return self._tokens[index].word if 0 <= index < len(self._tokens) else ""

    def _identifier(self, index: int) -> str:
        return self._tokens[index].identifier if 0 <= index < len(self._tokens) else ""
