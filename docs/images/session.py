"""Record a command in a terminal and draw the session as an animated SVG.

    pip install pyte
    python docs/images/session.py docs/images/session.svg planweave ask --database sales.csv "…"

What is shown was printed by that run. Waits are shortened, their seconds are those of the run.
"""

import os
import pty
import re
import select
import shlex
import sys
import time
from collections.abc import Iterator
from html import escape
from itertools import groupby, takewhile
from pathlib import Path
from typing import Any, NamedTuple, TypeAlias

import pyte

COLUMNS, ROWS = 80, 48
WIDE, HIGH, MARGIN = 8.4, 19, 16
TYPING, WAIT, READ, END = 1.2, 0.7, 1.6, 6.0
"""Seconds: until the command is typed, of a frame of a wait, of a frame with news, of the last."""
FRAMES_OF_A_WAIT = 6
COLOURS = {
    "default": "#d8dee9",
    "green": "#8fce7e",
    "brown": "#e5c07b",
    "red": "#ef6b73",
    "cyan": "#6fc3d6",
    "magenta": "#c88bd8",
    "blue": "#7aa7f0",
}
SEEN = {True: "visibility:visible", False: "visibility:hidden"}
SPINNER = re.compile(r"[\u2800-\u28ff]")
"""At the beginning of what is still being written."""

Piece: TypeAlias = tuple[int, str, str, bool]
"""Column, text, colour, and whether it is bold."""
Line: TypeAlias = tuple[Piece, ...]


class Frame(NamedTuple):
    """What the terminal shows, and for how many seconds of the picture."""

    lines: tuple[Line, ...]
    seconds: float


def screens(command: list[str]) -> Iterator[tuple[Line, ...]]:
    """What a terminal shows while it carries the command out, each time that it differs."""
    child, terminal = pty.fork()
    if not child:
        os.environ |= {"COLUMNS": str(COLUMNS), "LINES": str(ROWS), "TERM": "xterm-256color"}
        os.execvp(command[0], command)  # noqa: S606 (what the user has named)
    screen = pyte.Screen(COLUMNS, ROWS)
    stream, last, at = pyte.ByteStream(screen), (), 0.0
    while True:
        readable = select.select([terminal], [], [], 0.25)[0]
        try:
            data = os.read(terminal, 65_536) if readable else b""
        except OSError:  # the command has ended
            break
        stream.feed(data)
        if time.monotonic() - at > 0.25 and (shown := lines_of(screen)) != last:
            last, at = shown, time.monotonic()
            yield shown
    os.waitpid(child, 0)
    yield lines_of(screen)


def lines_of(screen: Any) -> tuple[Line, ...]:
    """The lines of a screen, without the empty ones at its end."""
    lines = [pieces(screen.buffer[row]) for row in range(screen.lines)]
    while lines and not lines[-1]:
        lines.pop()
    return tuple(lines)


def pieces(row: Any) -> Line:
    """A line as pieces of one colour."""
    cells = [(column, row[column]) for column in range(COLUMNS)]
    found = []
    for (colour, bold), group in groupby(cells, lambda cell: (cell[1].fg, cell[1].bold)):
        run = list(group)
        text = "".join(cell.data for _, cell in run)
        left = text.lstrip()
        if left:
            found.append((run[0][0] + len(text) - len(left), left.rstrip(), colour, bold))
    return tuple(found)


def frames(command: str, shown: list[tuple[Line, ...]]) -> list[Frame]:
    """The frames of the picture: the command is typed, waits are shortened."""
    typed = [command[: len(command) * part // 4] for part in range(1, 5)]
    found = [Frame(prompt(text), TYPING / 4) for text in typed]
    head = prompt(command)
    for (is_wait, _), group in groupby(shown, settled):
        run = list(group)
        if is_wait:
            run = run[:: max(1, len(run) // FRAMES_OF_A_WAIT)]
        found += [Frame(head + lines, WAIT if is_wait else READ) for lines in run]
    return [*found[:-1], found[-1]._replace(seconds=END)]


def prompt(command: str) -> tuple[Line, ...]:
    """The line in which a command is typed, and those on which it goes on."""
    lines = [command[at : at + COLUMNS - 2] for at in range(0, len(command), COLUMNS - 2)]
    rest = [((2, line, "default", True),) for line in lines]
    return (((0, "$", "green", True), *rest[0]), *rest[1:])


def settled(lines: tuple[Line, ...]) -> tuple[bool, list[str]]:
    """Whether something is still being written, and what stands above it."""
    texts = [" ".join(piece[1] for piece in line) for line in lines]
    above = list(takewhile(lambda text: not SPINNER.match(text), texts))
    return len(above) < len(texts), above


def drawn(found: list[Frame]) -> str:
    """The picture: each line once, with the times at which it is seen."""
    total = sum(frame.seconds for frame in found)
    seen: dict[tuple[int, Line], list[bool]] = {}
    for number, frame in enumerate(found):
        for row, line in enumerate(frame.lines):
            if line:
                seen.setdefault((row, line), [False] * len(found))[number] = True
    starts = [sum(frame.seconds for frame in found[:n]) / total for n in range(len(found))]
    rules, texts, known = [], [], {}
    for (row, line), times in seen.items():
        key = tuple(times)
        if key not in known:
            known[key] = f"t{len(known)}"
            rules.append(rule(known[key], times, starts))
        texts.append(text(row, line, known[key]))
    width = COLUMNS * WIDE + 2 * MARGIN
    height = max(len(frame.lines) for frame in found) * HIGH + 2 * MARGIN
    style = (
        "text{font:14px ui-monospace,Menlo,Consolas,'DejaVu Sans Mono',monospace;white-space:pre}"
        f".b{{font-weight:700}}text{{animation:{total:.1f}s step-end infinite}}"
        "@media(prefers-reduced-motion:reduce){text{animation:none!important}}"
    )
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width:g} {height:g}" '
        f'width="{width:g}" height="{height:g}"><style>{style}{"".join(rules)}</style>'
        f'<rect width="100%" height="100%" rx="8" fill="#1d2129"/>{"".join(texts)}</svg>\n'
    )


def rule(name: str, times: list[bool], starts: list[float]) -> str:
    """When something is seen; where nothing moves, the last frame is."""
    steps, before = [], None
    for is_seen, start in zip(times, starts, strict=True):
        if is_seen != before:
            steps.append(f"{start:.2%}{{{SEEN[is_seen]}}}")
        before = is_seen
    last = f".{name}{{{SEEN[times[-1]]};animation-name:{name}}}"
    return f"@keyframes {name}{{{''.join(steps)}}}{last}"


def text(row: int, line: Line, name: str) -> str:
    """A line of the terminal."""
    spans = [
        f'<tspan x="{MARGIN + column * WIDE:g}" fill="{COLOURS.get(colour, COLOURS["default"])}"'
        f"{' class=' + chr(34) + 'b' + chr(34) if bold else ''}>{escape(words)}</tspan>"
        for column, words, colour, bold in line
    ]
    return f'<text y="{MARGIN + (row + 0.75) * HIGH:g}" class="{name}">{"".join(spans)}</text>'


def main(target: str, *command: str) -> None:
    """Record the command and write the picture."""
    shown = list(screens(list(command)))
    picture = drawn(frames(shlex.join(command).replace("'", '"'), shown))
    Path(target).write_text(picture, "utf-8")
    sys.stdout.write(f"{target}: {len(picture.encode()) / 1000:.0f} KB\n")


if __name__ == "__main__":
    main(*sys.argv[1:])
