"""Finds the patterns, properties and literals in the tokens of a Cypher query."""

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise
from typing import NamedTuple

from planweave.tools.cypher.tokens import CypherToken, Tokens, find_brackets, find_clauses, token_at

_BEFORE_NODE = {"MATCH", "WHERE", "AND", "OR", "XOR", "NOT", "EXISTS"}
_LABEL_MARKS = {":", "|", "&", "!"}
_LITERALS = {"TRUE", "FALSE"}


@dataclass(frozen=True)
class Element:
    """A node or relationship of a pattern.

    Attributes:
        names: Labels or types.
        properties: Each property with the literal that it must equal; the literal is empty for
            any other value.
        many_hops: The relationship has a star: ``[:TYPE*1..3]``.
        map_start: Index of the token that opens the property map; -1 without a map.
    """

    is_node: bool
    variable: str
    names: tuple[str, ...]
    properties: tuple[tuple[str, str], ...]
    many_hops: bool = False
    map_start: int = -1


@dataclass(frozen=True)
class PatternLink:
    """A relationship between two nodes.

    Attributes:
        arrow: ``>``, ``<`` or empty.
        start: Index of the token ``[``.
        end: Index of its ``]``.
        left_end: Index of the bracket that closes the left node.
        right_start: Index of the bracket that opens the right node.
    """

    left: Element
    relationship: Element
    right: Element
    arrow: str
    start: int
    end: int
    left_end: int
    right_start: int


@dataclass(frozen=True)
class PropertyAccess:
    """A property of a variable.

    Attributes:
        literal: The literal that ``=`` compares the property with; empty without one.
        index: Index of the variable's token; -1 in a map projection.
    """

    variable: str
    property: str
    literal: str = ""
    index: int = -1


class MapEntry(NamedTuple):
    """The indices of a key of a map and of the first and last token of its value."""

    key: int
    first: int
    last: int


class Patterns:
    """The patterns of a query.

    A variable means the same everywhere in the query: scopes are not distinguished, so that some
    wrong names pass.
    """

    def __init__(self, tokens: Tokens) -> None:
        self.tokens = tokens
        self.closing, self._around = find_brackets(tokens)
        self.opening = {end: start for start, end in self.closing.items()}

    @cached_property
    def clauses(self) -> list[CypherToken]:
        """The words that begin a clause."""
        return find_clauses(self.tokens)

    @cached_property
    def elements(self) -> dict[int, Element]:
        """Every element with a label, type or map, by the index of its opening bracket."""
        found = ((start, self._read_element(start)) for start in self.closing)
        return {start: one for start, one in found if one and (one.names or one.properties)}

    @cached_property
    def links(self) -> tuple[PatternLink, ...]:
        """Every relationship in brackets, with the nodes on both sides."""
        return tuple(self._read_links())

    @cached_property
    def accesses(self) -> tuple[PropertyAccess, ...]:
        """Every ``variable.property`` and map projection ``variable {.property}``."""
        return tuple(self._read_accesses())

    @cached_property
    def denied(self) -> frozenset[int]:
        """The indices of the tokens of patterns after ``NOT`` or ``NOT EXISTS``."""
        found: set[int] = set()
        for start, token in enumerate(self.tokens):
            index = start + 1 + (self._at(start + 1).word == "EXISTS")
            while token.word == "NOT" and index in self.closing:
                end = self.closing[index]
                found.update(range(start + 1, end + 1))
                index = end + 1  # the next bracket of a path follows the marks of an arrow
                while self._at(index).text in ("-", "<", ">"):
                    index += 1
        return frozenset(found)

    @cached_property
    def rebound(self) -> frozenset[str]:
        """Variables that ``AS`` or a list comprehension binds, too."""
        return frozenset(
            token.identifier
            for i, token in enumerate(self.tokens)
            if self._at(i - 1).word == "AS"
            or (self._at(i - 1).text in ("[", "(", ",") and self._at(i + 1).word == "IN")
        )

    @cached_property
    def map_keys(self) -> frozenset[str]:
        """Keys of literal maps; a query may read them like properties."""
        in_patterns = {element.map_start for element in self.elements.values()}
        return frozenset(
            self._at(entry.key).identifier
            for start in self.closing
            if self._at(start).text == "{" and start not in in_patterns
            for entry in self.map_entries(start)
        )

    def map_entries(self, start: int) -> list[MapEntry]:
        """The entries of the map that opens at ``start``; none if no map opens there."""
        end = self.closing.get(start, start)
        commas = (i for i in range(start + 1, end) if self._at(i).text == ",")
        marks = [start, *(i for i in commas if self._around[i] == start), end]
        return [
            MapEntry(mark + 1, mark + 3, following - 1)
            for mark, following in pairwise(marks)
            if self._at(mark + 2).text == ":" and following > mark + 3
        ]

    def token_before(self, clause: CypherToken) -> CypherToken:
        """The last token before a clause."""
        return self.tokens[self.tokens.index(clause) - 1]

    def clauses_around(self, index: int) -> tuple[list[CypherToken], list[CypherToken]]:
        """The words that begin a clause before the token at ``index``, and those after it."""
        start = self.tokens[index].start
        before = [clause for clause in self.clauses if clause.start < start]
        return before, [clause for clause in self.clauses if clause.start > start]

    def _at(self, index: int) -> CypherToken:
        return token_at(self.tokens, index)

    def _read_element(self, start: int) -> Element | None:
        """The pattern element in the brackets that open at ``start``, if it is one."""
        is_node = self._at(start).text == "("
        if not is_node and not (self._at(start).text == "[" and self._at(start - 1).text == "-"):
            return None
        index = start + 1
        variable = self._at(index).identifier
        index += bool(variable)
        names: list[str] = []
        if self._at(index).text == ":":
            while self._at(index).text in _LABEL_MARKS:
                index += 1
                if name := self._at(index).identifier:
                    names.append(name)
                    index += 1
        many_hops = not is_node and self._at(index).text == "*"
        while not is_node and self._at(index).text not in ("{", "]", ""):
            index += 1
        map_start = index if self._at(index).text == "{" else -1
        properties = tuple(
            (self._at(entry.key).identifier, self._read_literal(entry.first))
            for entry in self.map_entries(map_start)
        )
        if is_node and not self._is_node(start, is_bare=not variable and not names):
            return None
        return Element(is_node, variable, tuple(names), properties, many_hops, map_start)

    def _is_node(self, start: int, *, is_bare: bool) -> bool:
        """Whether the bracket at ``start`` may contain a node, not arguments or a map."""
        if self._at(start - 1).identifier:
            return self._at(start - 1).word in _BEFORE_NODE
        after = self._at(self.closing.get(start, start) + 1).text
        return after in ("-", "<") or self._at(start - 1).text in ("-", ">") or not is_bare

    def _read_literal(self, index: int) -> str:
        """The literal at ``index`` if only a closing mark or a word follows it."""
        sign = "-" if self._at(index).text == "-" else ""
        token, after = self._at(index + bool(sign)), self._at(index + bool(sign) + 1)
        is_literal = token.kind in ("string", "number") or token.word in _LITERALS
        ends = after.text in (",", ")", "]", "}", "") or after.word
        return sign + token.text if is_literal and ends else ""

    def _read_links(self) -> Iterator[PatternLink]:
        for start, end in self.closing.items():
            if self._at(start).text != "[" or self._at(start - 1).text != "-":
                continue
            from_right = self._at(start - 2).text == "<"
            to_right = self._at(end + 2).text == ">"
            left_end, right_start = start - 2 - from_right, end + 2 + to_right
            if left_end not in self.opening or right_start not in self.closing:
                continue
            left = self._read_element(self.opening[left_end])
            relationship, right = self._read_element(start), self._read_element(right_start)
            if left and right and relationship:
                arrow = "" if from_right == to_right else ">" if to_right else "<"
                yield PatternLink(
                    left, relationship, right, arrow, start, end, left_end, right_start
                )

    def _read_accesses(self) -> Iterator[PropertyAccess]:
        for i, token in enumerate(self.tokens):
            name = self._at(i + 1).identifier
            if token.text != "." or not name or self._at(i + 2).text == "(":
                continue
            is_projected = self._at(i - 1).text in ("{", ",")
            if is_projected:
                opening = self._around[i]
                variable = "" if opening is None else self._at(opening - 1).identifier
            else:
                is_nested = self._at(i - 2).text == "."
                variable = "" if is_nested else self._at(i - 1).identifier
            if variable:
                literal = self._read_literal(i + 3) if self._at(i + 2).text == "=" else ""
                yield PropertyAccess(variable, name, literal, -1 if is_projected else i - 1)
