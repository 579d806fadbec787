"""Pictures, where matplotlib is installed."""

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple, TypeAlias

if TYPE_CHECKING:
    import matplotlib.figure

Figure: TypeAlias = "matplotlib.figure.Figure"
"""What is drawn on, named without importing what draws."""
Draw: TypeAlias = Callable[[Figure], None]


class Picture(NamedTuple):
    """A picture of a page: its file, what draws it, and what it shows."""

    path: Path
    draw: Draw
    caption: str


def draw_picture(path: Path, draw: Draw) -> bool:
    """Draw a picture into a file; False where matplotlib is not installed."""
    try:
        from matplotlib import figure as drawing
    except ImportError:
        return False
    figure = drawing.Figure(layout="constrained")
    draw(figure)
    figure.savefig(path, dpi=130)
    return True
