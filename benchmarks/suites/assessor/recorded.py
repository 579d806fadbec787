"""Rounds of recorded runs of FuRePA: the candidate queries that a language model proposed."""

from collections.abc import Iterator, Sequence
from typing import NamedTuple

from pydantic import TypeAdapter, ValidationError

from planweave.benchmarks.core.record import Record
from planweave.benchmarks.suites.assessor.measure import Part
from planweave.benchmarks.suites.assessor.rounds import Round, offered
from planweave.benchmarks.suites.mhqa.corpus import Place, places
from planweave.benchmarks.suites.mhqa.multihop import Paragraph
from planweave.memory import Fact, Turn
from planweave.nodes.hops.reasoner import Reasoning

_TURNS = TypeAdapter(list[Turn])
_FACTS = TypeAdapter(list[Fact])


class Recorded(NamedTuple):
    """Rounds in which the model left a choice: two queries or more that were not carried out yet.

    Attributes:
        records: Of ``bench mhqa``; those of other methods are passed over.
    """

    records: Sequence[Record]

    def rounds(self, part: Part) -> Iterator[Round]:
        """The rounds on the questions of a data set."""
        asked = {one.id.replace("/", "-"): one for one in part.unseen}
        paragraphs = {place: one for one, place in places(part.questions).items()}
        for record in self.records:
            question = asked.get(record.question.partition("-")[2])
            if question and record.method.startswith("furepa"):
                for one in _choices(record, paragraphs):
                    found = part.corpus.search(one.queries)
                    ranked = dict(zip(one.queries, found, strict=True))
                    yield offered(question, one.number, one.evidence, ranked)


class _Choice(NamedTuple):
    number: int
    evidence: tuple[Paragraph, ...]
    queries: list[str]


def _choices(record: Record, paragraphs: dict[Place, Paragraph]) -> Iterator[_Choice]:
    """A turn is found again among the replies by its thought."""
    facts = {fact["number"]: fact["quote"] for fact in _FACTS.validate_python(record.facts)}
    replies = {one.reasoning.strip(): one for one in _replies(record)}
    evidence: list[Paragraph] = []
    done: list[str] = []
    for turn in _TURNS.validate_python(record.turns):
        reply = replies.get(turn["thought"])
        proposed = [query.strip() for query in reply.queries] if reply else []
        queries = [query for query in dict.fromkeys(proposed) if query and query not in done]
        if len(queries) > 1:
            yield _Choice(len(done), tuple(evidence), queries)
        done.append(turn["input"])
        quotes = [facts[number] for number in turn["facts"]]
        found = [paragraphs[quote["document"], quote["page"]] for quote in quotes if quote]
        evidence += [one for one in found if one not in evidence]


def _replies(record: Record) -> Iterator[Reasoning]:
    """What the reasoner replied, as far as it can be read."""
    for call in record.calls:
        if call.record.role == "reasoner":
            try:
                yield Reasoning.model_validate_json(call.record.reply)
            except ValidationError:
                continue
