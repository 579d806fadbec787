"""Rankings: learned queries that order the candidates of a decision, best first."""

from dataclasses import dataclass

from planweave.learning.queries.attributes import Attributes
from planweave.learning.queries.formulas import Formula
from planweave.learning.queries.slots import Place


@dataclass(frozen=True)
class LearnedRanking:
    """Orders candidates by the preferred attributes, then by the value of the formula.

    Attributes:
        formula: Over attribute names.
        preferred: Attributes that should be above 0, the most important first.
    """

    formula: Formula
    preferred: tuple[str, ...] = ()

    @property
    def size(self) -> int:
        """The size of the ranking."""
        return self.formula.size + 2 * len(self.preferred)

    @property
    def names(self) -> list[str]:
        """The attributes that it needs."""
        return sorted(self.formula.names.union(self.preferred))

    def __str__(self) -> str:
        """The ranking as people write it."""
        return "".join(f"{name} > 0, then " for name in self.preferred) + f"largest {self.formula}"

    def sql(self, attributes: Attributes) -> str:
        """The ranking as a SQL query with slots; its only row has the decision and its score."""
        columns = "".join(f", {attributes.sql(name)} AS {name}" for name in self.names)
        node, excluded = attributes.candidate, attributes.excluded
        where = f" WHERE c.{node.key} <> {Place(node.table, excluded.column)}" if excluded else ""
        rows = f"SELECT c.{node.key} AS decision{columns} FROM {node.table} c{where}"  # noqa: S608 - names of our own schema
        return (
            f"SELECT decision, {self.formula.expression()} AS score FROM ({rows}) candidate "  # noqa: S608
            f"ORDER BY {self._order()} LIMIT 1"
        )

    def cypher(self, attributes: Attributes) -> str:
        """The ranking as a Cypher query with slots."""
        node, excluded, known = attributes.candidate, attributes.excluded, ["c"]
        lines = [f"MATCH (c:{node.label})"]
        if excluded:
            key = node.property(excluded.column)
            lines.append(f"WHERE c.{key} <> {Place(node.label, key)}")
        for name in self.names:
            match, number = attributes.cypher(name)
            lines.append(f"{match} WITH {', '.join(known)}, {number} AS {name}".lstrip())
            known.append(name)
        lines.append(
            f"RETURN c.{node.property(node.key)} AS decision, {self.formula.expression()} AS score "
            f"ORDER BY {self._order()} LIMIT 1"
        )
        return " ".join(lines)

    def _order(self) -> str:
        first = [f"CASE WHEN {name} > 0 THEN 0 ELSE 1 END" for name in self.preferred]
        return ", ".join([*first, "score DESC"])
