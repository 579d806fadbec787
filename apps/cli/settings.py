"""``planweave settings``: list the settings of a run, their defaults, and who may set them."""

import json
from collections.abc import Iterator
from typing import Annotated, Any, NamedTuple

import typer
from rich.console import Console
from rich.table import Table

from planweave.apps import completion
from planweave.apps.options import AsJson
from planweave.graphs import METHODS

EXAMPLES = """\
planweave settings --method rat

planweave ask --setting retrievals=3 --setting citation_check=model "…"
"""

_WHO_MAY_SET = {
    "free": "caller",
    "lower": "caller, up to the operator's",
    "named": "caller, by the operator's names",
    "never": "operator",
}


class Row(NamedTuple):
    """A setting in the table."""

    group: str
    name: str
    values: str
    default: str
    who: str
    description: str


def settings(
    *,
    method: Annotated[
        str,
        typer.Option(
            help="Only list settings that this method reads.", autocompletion=completion.methods
        ),
    ] = "",
    as_json: AsJson = False,
    markdown: Annotated[
        bool, typer.Option("--markdown", help="Print the documentation page.")
    ] = False,
) -> None:
    """List the settings of a run, which --setting NAME=VALUE sets."""
    rows = [*rows_of(method)]
    if as_json:
        typer.echo(json.dumps([row._asdict() for row in rows], indent=2, ensure_ascii=False))
    elif markdown:
        typer.echo(page(), nl=False)
    else:
        table = Table("setting", "values", "default", "what it does", box=None)
        for row in rows:
            table.add_row(row.name, row.values, row.default, row.description)
        Console(highlight=False).print(table, markup=False)


def rows_of(method: str = "") -> Iterator[Row]:
    """The settings that a method reads, by group; all settings without a method."""
    from planweave.memory import Context
    from planweave.memory import settings as described

    family = METHODS.get(method).family if method else ""
    properties = Context.model_json_schema()["properties"]
    groups = dict.fromkeys(one.group for one in described().values())
    for group in groups:
        for name, one in described().items():
            if one.group == group and (not family or not one.families or family in one.families):
                schema = properties[name]
                yield Row(
                    group=group,
                    name=name,
                    values=_values(schema),
                    default=json.dumps(schema["default"]) if "default" in schema else "{}",
                    who=_WHO_MAY_SET[one.caller],
                    description=" ".join(schema["description"].split()),
                )


def page() -> str:
    """The page ``docs/settings.md``."""
    lines = [
        "# Settings of a run",
        "",
        "Made by `planweave settings --markdown`. Give one with `--setting NAME=VALUE`, in the "
        "form of the studio, or in the context of a graph. The last column says who may set it "
        "on a server: the operator, who writes the service file, or whoever calls.",
    ]
    group = ""
    for row in rows_of():
        if row.group != group:
            group = row.group
            head = "| setting | values | default | what it does | who |"
            lines += ["", f"## {group}", "", head, "|---|---|---|---|---|"]
        cells = (f"`{row.name}`", row.values, f"`{row.default}`", row.description, row.who)
        lines.append("| " + " | ".join(cell.replace("|", "\\|") for cell in cells) + " |")
    return "\n".join([*lines, ""])


def _values(schema: dict[str, Any]) -> str:
    """Describe the values of a setting by its JSON schema."""
    if "anyOf" in schema:
        parts = [_values(part) for part in schema["anyOf"]]
        return ", or ".join("none" if part == "null" else part for part in parts)
    if "enum" in schema:
        return ", ".join(map(str, schema["enum"]))
    low, high = (
        next((schema[key] for key in keys if key in schema), None)
        for keys in (("minimum", "exclusiveMinimum"), ("maximum", "exclusiveMaximum"))
    )
    kind = {"string": "text", "array": "list", "object": "names and values"}.get(
        schema.get("type", ""), schema.get("type", "text")
    )
    if low is None:
        return str(kind)
    if "exclusiveMinimum" in schema:
        return f"{kind} above {low:,}" + (f", at most {high:,}" if high is not None else "")
    return f"{kind} from {low:,} to {high:,}" if high is not None else f"{kind} of {low:,} or more"
