"""The tables and the heat map of the needles, made from records."""

from collections.abc import Sequence
from dataclasses import replace
from itertools import zip_longest
from statistics import fmean
from typing import NamedTuple

import numpy as np
from pydantic import BaseModel

from planweave.benchmarks.core.metrics import accuracy, group_by, group_by_method, rate
from planweave.benchmarks.core.picture import Figure
from planweave.benchmarks.core.record import Record
from planweave.benchmarks.core.table import Cell, ReportTable, Rows, table_of_rows
from planweave.simulators.tables import Floats

_MOST_LABELLED = 200
"""The most cells of a heat map that shows its numbers."""


class Details(BaseModel):
    """Details of the score of a sample."""

    length: int
    found: list[bool]
    invented: list[str]
    cut: bool


class Grid(NamedTuple):
    """Recall by position (rows) and length (columns), from 0 to 1; NaN if not measured."""

    lengths: list[int]
    recall: Floats


def needle_tables(records: Sequence[Record]) -> list[ReportTable]:
    """All tables of the suite; a crashed run found no needle."""
    tables = []
    groups = group_by_method(records)
    for label, own in groups.items():
        about = f" ({label})" if len(groups) > 1 else ""
        made = (_by_length(own), _by_position(own), _cells(own))
        tables += [replace(table, title=table.title + about) for table in made]
    return tables


def _details(record: Record) -> Details:
    return Details.model_validate(record.score.details)


def _group_by_length(records: Sequence[Record]) -> dict[int, list[Record]]:
    return dict(sorted(group_by(records, lambda record: _details(record).length).items()))


@table_of_rows(
    "By length",
    "tokens | prompt | recall | all found | not in the text | cut",
    note="Tokens: of the text with its needles, estimated at four characters each. Prompt: "
    "mean tokens of the whole prompt as the model counted them. All found: runs. Not in the "
    "text: ingredients of our list that the reply named and no needle did. Cut: replies that "
    "reached the limit of tokens.",
)
def _by_length(records: Sequence[Record]) -> Rows:
    for length, own in _group_by_length(records).items():
        sizes = [call.record.input_tokens for record in own for call in record.calls]
        yield (
            length,
            round(fmean(sizes)) if sizes else None,
            accuracy(own),
            sum(record.score.value == 1 for record in own),
            sum(len(_details(record).invented) for record in own),
            sum(_details(record).cut for record in own),
        )


@table_of_rows(
    "By position",
    "needle | recall",
    note="The first is at the very beginning of the text, the last at its very end.",
)
def _by_position(records: Sequence[Record]) -> Rows:
    columns = zip_longest(*(_details(record).found for record in records))
    for position, column in enumerate(columns, 1):
        yield position, rate([there for there in column if there is not None])


def grid(records: Sequence[Record]) -> Grid:
    """The values of the heat map."""
    at = _group_by_length(records)
    needles = max(len(_details(record).found) for record in records)
    recall = np.full((needles, len(at)), np.nan)
    for column, own in enumerate(at.values()):
        shares = zip_longest(*(_details(record).found for record in own))
        for row, found in enumerate(shares):
            recall[row, column] = fmean(float(there) for there in found if there is not None)
    return Grid(list(at), recall)


def _cells(records: Sequence[Record]) -> ReportTable:
    lengths, recall = grid(records)
    return ReportTable(
        title="By position and length",
        columns=("needle", *(f"{length} tokens" for length in lengths)),
        rows=[(row, *map(_share, values)) for row, values in enumerate(recall, 1)],
        note="Share of the runs that named the needle; the numbers of the picture.",
    )


def _share(value: float) -> Cell:
    return None if np.isnan(value) else f"{value:.0%}"


def draw_heat_map(records: Sequence[Record], figure: Figure) -> None:
    """Draw recall by length and position, a panel for each model or setting; dark is high."""
    groups = group_by_method(records)
    wide = max(len(_group_by_length(own)) for own in groups.values())
    figure.set_size_inches(2.0 + len(groups) * (1.0 + 0.55 * wide), 4.6)
    axes = figure.subplots(1, len(groups), squeeze=False)[0]
    for axis, (label, own) in zip(axes, groups.items(), strict=True):
        lengths, recall = grid(own)
        image = axis.imshow(recall, vmin=0, vmax=1, cmap="Blues", aspect="auto")
        axis.set_xticks(range(len(lengths)), lengths, rotation=60, fontsize=8)
        axis.set_yticks(range(len(recall)), range(1, len(recall) + 1), fontsize=8)
        axis.set_title(own[0].model if len(groups) == 1 else label, fontsize=10)
        axis.set_xlabel("tokens of the text")
        if recall.size <= _MOST_LABELLED:
            for (row, column), value in np.ndenumerate(recall):
                colour = "white" if value > 0.6 else "black"
                axis.text(
                    column, row, f"{value:.0%}", ha="center", va="center", color=colour, fontsize=7
                )
    axes[0].set_ylabel("needle, from beginning to end")
    figure.colorbar(image, ax=axes[-1], label="recall")
