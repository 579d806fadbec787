"""Pictures, if matplotlib is installed."""

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple, TypeAlias

if TYPE_CHECKING:
    import matplotlib.figure

Figure: TypeAlias = "matplotlib.figure.Figure"
"""The figure to draw on, named without an import of matplotlib."""
Draw: TypeAlias = Callable[[Figure], None]


class Picture(NamedTuple):
    """A picture of a page: its file, the function that draws it, and its caption."""

    path: Path
    draw: Draw
    caption: str


def draw_picture(path: Path, draw: Draw) -> bool:
    """Draw a picture into a file; return False if matplotlib is not installed."""
    try:
        from matplotlib import figure as drawing
    except ImportError:
        return False
    figure = drawing.Figure(layout="constrained")
    draw(figure)
    figure.savefig(path, dpi=130)
    return True
