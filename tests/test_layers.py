"""The layers: imports go down only, and a graph is light to import."""

import ast
import subprocess
import sys
from collections.abc import Iterator
from graphlib import CycleError, TopologicalSorter
from pathlib import Path

import pytest
from cases import cases

import planweave

ROOT = Path(__file__).parents[1]
LAYERS = {"planweave": 0, "prompts": 1, "memory": 1, "models": 2, "simulators": 2, "tools": 3}
LAYERS |= {"learning": 3, "nodes": 4, "graphs": 5, "benchmarks": 6, "apps": 7}
FOLDERS = frozenset(LAYERS) - {"planweave"}
FRONT = {"planweave", "planweave.__main__"}
"""The public interface and the program, which pass on what lies above them."""
HEAVY = {
    *("sqlalchemy", "sqlglot", "kglite", "neo4j", "pint", "scipy", "matplotlib", "faiss"),
    *("langchain_community", "langchain_openai", "xllamacpp", "onnxruntime", "tokenizers"),
    *("openai", "bm25s", "bs4", "docx", "pypdf", "jax"),
}
COMMANDS = (
    *("main", "ask", "decide", "act", "query", "docs", "runs"),
    *("serve", "mcp", "methods", "settings", "doctor", "terms"),
    *("bench", "dqa", "learn", "models", "train"),
)
"Commands whose help and completion answer at once: they load what works when they work."
GRAPHS = ("planrag", "single_rag", "agent_v3", "autogpt", "instructrag")


def _name(path: Path) -> str:
    parts = path.relative_to(ROOT).with_suffix("").parts
    names = parts[:-1] if parts[-1] == "__init__" else parts
    return ".".join(names if names[0] == "planweave" else ("planweave", *names))


def _folder(module: str) -> str:
    """Folder of a module of the house; the package's own files lie in ``planweave``."""
    second = module.split(".")[1:2]
    return second[0] if second and second[0] in LAYERS else "planweave"


MODULES = {
    _name(path): path
    for folder in LAYERS
    for path in (ROOT / folder).rglob("*.py")  # which follows no links
}


def _imports(name: str, *, at_load: bool = False) -> Iterator[str]:
    """Modules of the house that a module imports, lazily in functions too unless ``at_load``."""
    tree = ast.parse(MODULES[name].read_text(encoding="utf-8"))
    nodes = list(_run_at_load(tree)) if at_load else list(ast.walk(tree))
    for node in nodes:
        targets: list[str] = []
        if isinstance(node, ast.Import):
            targets = [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{name} imports relatively"
            targets = [f"{node.module}.{alias.name}" for alias in node.names]
        for target in targets:
            module = target if target in MODULES else target.rpartition(".")[0]
            assert module.partition(".")[0] not in FOLDERS, f"{name}: write planweave.{module}"
            passed_on = module == "planweave" and target.rpartition(".")[2] in planweave._HOMES
            assert not passed_on, f"{name}: import {target} from its own module"
            if module.partition(".")[0] == "planweave":
                yield module


def _run_at_load(node: ast.AST) -> Iterator[ast.AST]:
    """Every node but the bodies of functions and of ``if TYPE_CHECKING``."""
    for child in ast.iter_child_nodes(node):
        lazy = isinstance(child, ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda)
        typing_only = isinstance(child, ast.If) and "TYPE_CHECKING" in ast.unparse(child.test)
        if not lazy and not typing_only:
            yield child
            yield from _run_at_load(child)


@pytest.mark.parametrize("own", LAYERS)
def test_imports_go_down(own: str) -> None:
    wrong = [
        f"{name} imports {target}"
        for name in sorted({*MODULES} - FRONT)
        if _folder(name) == own
        for target in _imports(name)
        if (folder := _folder(target)) != own and LAYERS[folder] >= LAYERS[own]
    ]
    assert not wrong


def test_the_public_interface_loads_nothing_from_above() -> None:
    assert {*_imports("planweave", at_load=True)} == {"planweave.errors"}


def test_no_import_circles() -> None:
    graph = {name: {t for t in _imports(name, at_load=True) if t != name} for name in MODULES}
    try:
        order = list(TopologicalSorter(graph).static_order())
    except CycleError as error:
        pytest.fail(f"imports run in a circle: {' -> '.join(error.args[1])}")
    assert set(order) >= set(MODULES)


@cases(
    ("graphs", GRAPHS, HEAVY),
    ("apps.cli", COMMANDS, HEAVY | {"langchain_core", "langgraph", "langsmith", "numpy"}),
)
def test_what_is_light_to_import(package: str, modules: tuple[str, ...], heavy: set[str]) -> None:
    imports = ", ".join(f"planweave.{package}.{module}" for module in modules)
    code = (
        f"import sys, {imports}; "
        f"print(*sorted(set(name.partition('.')[0] for name in sys.modules) & {heavy}))"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, check=True
    )
    assert done.stdout.split() == []
