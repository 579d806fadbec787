"""Groups of commands that are imported on their first call: importing all takes seconds.

The help of a group reads the summaries of its commands from their source.
"""

import ast
from collections.abc import Callable, Mapping
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from typing import Any, NamedTuple

import typer
from typer.core import TyperCommand, TyperGroup
from typer.main import get_command, get_group

_ROOT = Path(__file__).parents[2]
"""The parent of the folders that are imported as ``planweave.<folder>``."""


class Home(NamedTuple):
    """Place of a command: a function of a module, or the group ``app`` of a module."""

    module: str
    name: str = (
        ""  # of the function; if empty, the summary is of the class with the decorator `register`
    )
    make: Callable[[], Callable[..., None]] | None = None  # makes the function if there is none
    panel: str | None = None  # heading in the help

    @property
    def summary(self) -> str:
        """The first paragraph of its docstring."""
        text = next((ast.get_docstring(one) for one in self._read_source() if self._is(one)), None)
        return (text or "").partition("\n\n")[0]

    def _read_source(self) -> list[Any]:
        first, *others = self.module.split(".")
        stem = _ROOT.joinpath(*others)
        files = (stem.with_suffix(".py"), stem / "__init__.py") if first == "planweave" else ()
        file = next(filter(Path.exists, files), None)
        if file is None:
            spec = find_spec(self.module)
            file = Path((spec and spec.origin) or "")
        return ast.parse(file.read_text("utf-8")).body if file.is_file() else []

    def _is(self, node: Any) -> bool:
        if self.name:
            return getattr(node, "name", "") == self.name
        decorators = getattr(node, "decorator_list", ())
        return any(ast.unparse(one).startswith("register(") for one in decorators)

    def load(self) -> Any:
        """Import the command or group; its module's ``EXAMPLES`` follow its help."""
        module: Any = None if self.make else import_module(self.module)
        if hasattr(module, "app"):
            command: Any = get_group(module.app)
        else:
            alone = typer.Typer(add_completion=False)
            alone.command()(self.make() if self.make else getattr(module, self.name))
            command = get_command(alone)
        _join_lines(command)
        if examples := getattr(module, "EXAMPLES", ""):
            command.epilog = f"Examples:\n\n{examples}"
        return command


def _join_lines(command: Any) -> None:
    """Join the lines of each paragraph of the help, also of subcommands: rich wraps them."""
    paragraphs = (command.help or "").split("\n\n")
    command.help = "\n\n".join(" ".join(one.split()) for one in paragraphs)
    for sub in getattr(command, "commands", {}).values():
        _join_lines(sub)


def lazy(callback: Callable[..., None], homes: Mapping[str, Home], **options: Any) -> typer.Typer:
    """Make a group whose commands are imported on their first call; ``callback`` has its help."""

    class Lazy(TyperGroup):
        def list_commands(self, ctx: Any) -> list[str]:  # noqa: ARG002
            return [*homes]

        def get_command(self, ctx: Any, cmd_name: str) -> Any:
            if cmd_name in homes and cmd_name not in self.commands:
                home = homes[cmd_name]
                return TyperCommand(cmd_name, help=home.summary, rich_help_panel=home.panel)
            return super().get_command(ctx, cmd_name)

        def resolve_command(self, ctx: Any, args: list[str]) -> Any:
            if args[0] in homes and args[0] not in self.commands:
                self.add_command(homes[args[0]].load(), args[0])
            elif args[0] not in homes:  # for suggestions of similar names
                self.commands = {name: self.get_command(ctx, name) for name in homes}
            return super().resolve_command(ctx, args)

        def invoke(self, ctx: Any) -> Any:
            try:
                return super().invoke(ctx)
            except KeyboardInterrupt:  # of a command that does not handle it
                typer.echo("\nInterrupted.", err=True)
                raise typer.Exit(130) from None

    app = typer.Typer(cls=Lazy, no_args_is_help=True, **options)
    app.callback()(callback)
    return app
