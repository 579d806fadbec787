"""Groups of commands that are imported when they are called: to import all of them takes seconds.

What the list of a group says of a command is read from the source.
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
"""Holds the folders that are imported as ``planweave.<folder>``."""


class Home(NamedTuple):
    """Where a command is: in a module, or as its ``app``, a group; beside it maybe ``EXAMPLES``."""

    module: str
    name: str = ""  # by whose docstring it is listed; else the class decorated by `register`
    make: Callable[[], Callable[..., None]] | None = None  # makes it, where it is no function
    panel: str | None = None  # heading in the list

    @property
    def summary(self) -> str:
        """The first paragraph of its docstring."""
        text = next((ast.get_docstring(one) for one in self._tree() if self._is(one)), None)
        return (text or "").partition("\n\n")[0]

    def _tree(self) -> list[Any]:
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
        """The command or group, imported, with its examples below its help."""
        module: Any = None if self.make else import_module(self.module)
        if hasattr(module, "app"):
            command: Any = get_group(module.app)
        else:
            alone = typer.Typer(add_completion=False)
            alone.command()(self.make() if self.make else getattr(module, self.name))
            command = get_command(alone)
        _unwrap(command)
        if examples := getattr(module, "EXAMPLES", ""):
            command.epilog = f"Examples:\n\n{examples}"
        return command


def _unwrap(command: Any) -> None:
    """Join the lines of each paragraph of its help, and of its subcommands': rich wraps them."""
    paragraphs = (command.help or "").split("\n\n")
    command.help = "\n\n".join(" ".join(one.split()) for one in paragraphs)
    for sub in getattr(command, "commands", {}).values():
        _unwrap(sub)


def lazy(callback: Callable[..., None], homes: Mapping[str, Home], **options: Any) -> typer.Typer:
    """A group whose commands are imported when they are called; ``callback`` has its help."""

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
            elif args[0] not in homes:  # the nearest of these are proposed
                self.commands = {name: self.get_command(ctx, name) for name in homes}
            return super().resolve_command(ctx, args)

        def invoke(self, ctx: Any) -> Any:
            try:
                return super().invoke(ctx)
            except KeyboardInterrupt:  # of a command that has no more to say of it
                typer.echo("\nInterrupted.", err=True)
                raise typer.Exit(130) from None

    app = typer.Typer(cls=Lazy, no_args_is_help=True, **options)
    app.callback()(callback)
    return app
