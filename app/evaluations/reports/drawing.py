"""Drawing: axes that become SVG which fits into a page.

The SVG has no style of its own but attributes, so that a page's stylesheet can change its colours
(for dark screens) under the strictest policy; text stays text; and nothing in it depends on the
time, the machine or what else is drawn. Names that come from users never go through matplotlib,
which would take some for mathematics and look for glyphs that it does not have.
"""

from __future__ import annotations

import io
import math
import re
import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any, Literal, TypeAlias
from xml.etree import ElementTree

from matplotlib import style
from matplotlib.axes import Axes
from matplotlib.backends.backend_svg import FigureCanvasSVG
from matplotlib.figure import Figure
from matplotlib.ticker import FixedFormatter, FixedLocator, MaxNLocator, NullLocator

from app.evaluations.reports.markup import legible, shortened
from app.evaluations.reports.numerals import ends
from app.evaluations.reports.palette import LIGHT
from app.evaluations.scores import expected_score

#: Any part of a report.
Row: TypeAlias = Mapping[str, Any]

#: Text and axes; what is less important; lines to guide the eye.
INK, MUTED, GRID = LIGHT["ink"], LIGHT["muted"], LIGHT["grid"]
SERIES = tuple(color for name, color in LIGHT.items() if name.startswith("series"))
MARKERS = ("o", "s", "^", "D", "v", "P")

#: More agents than this cannot be told apart; the first ones are shown.
MOST_SERIES = len(SERIES)

#: In the units of the drawing, which are pixels if it is shown in its own size.
WIDTH = 480.0
FONT = 11.5
#: The height of a row, where there is one for each agent.
ROW = 26.0
#: How much room there is for names left of the axes, where there are any.
NAMES_LEFT = 178.0
#: How long the arrow is that says that a rating is open, in Elo.
_OPEN = 100.0
_LEGEND_ROW = 17.0

#: Matplotlib's settings are those of the whole process.
_LOCK = threading.Lock()
_SETTINGS: dict[str, Any] = {
    "axes.axisbelow": True,
    "axes.edgecolor": MUTED,
    "axes.grid": True,
    "axes.labelcolor": INK,
    "axes.labelsize": FONT,
    "axes.spines.right": False,
    "axes.spines.top": False,
    "axes.unicode_minus": True,
    "font.size": FONT,
    "grid.color": GRID,
    "grid.linewidth": 0.8,
    "lines.linewidth": 1.8,
    "svg.fonttype": "none",
    "svg.hashsalt": "kibitz",
    "text.color": INK,
    "xtick.color": MUTED,
    "xtick.labelcolor": INK,
    "xtick.labelsize": FONT - 1,
    "ytick.color": MUTED,
    "ytick.labelcolor": INK,
    "ytick.labelsize": FONT - 1,
}
_SVG = "{http://www.w3.org/2000/svg}"
_LINK = "{http://www.w3.org/1999/xlink}href"
_NUMBER = re.compile(r"-?\d+\.\d{3,}")
_NAME = "name-"


@dataclass(frozen=True, slots=True)
class Plot:
    """A drawing with what a caption says of it."""

    key: str
    title: str
    caption: str
    svg: str


class Drawing:
    """One set of axes, and the names in it. Made by `drawing`."""

    def __init__(self, key: str, height: float, legend: int, left: float) -> None:
        """`legend` is how many rows it will have, for which there is room above the axes."""
        self._key = key
        self._names: list[str] = []
        top = 10 + _LEGEND_ROW * legend
        height += top
        self._figure = Figure(figsize=(WIDTH / 72, height / 72))
        FigureCanvasSVG(self._figure)
        self._height = height
        bottom = 44.0
        self.axes: Axes = self._figure.add_axes(
            (
                left / WIDTH,
                bottom / height,
                (WIDTH - left - 14) / WIDTH,
                1 - (bottom + top) / height,
            )
        )

    def name(self, x: float, y: float, name: str, how: Row, longest: int = 44) -> None:
        """Write a name that comes from a user, with keywords of matplotlib's `text`."""
        gid = f"{_NAME}{len(self._names)}"
        self.axes.text(x, y, "m", gid=gid, clip_on=False, **how)
        self._names.append(shortened(name, longest))

    def row_name(self, row: float, name: str, color: str = INK) -> None:
        """Write a name left of the axes."""
        across = self.axes.get_yaxis_transform()
        how = {"transform": across, "ha": "right", "va": "center", "color": color}
        self.name(-10 / (WIDTH - NAMES_LEFT), row, name, how, longest=26)

    def legend(self, entries: Sequence[tuple[str, str, str]]) -> None:
        """List names with their colours and markers above the axes."""
        whole = self._figure.transFigure
        x = 24 / WIDTH
        for row, (name, color, marker) in enumerate(entries):
            y = 1 - (_LEGEND_ROW * (row + 0.5) + 4) / self._height
            self.axes.plot(
                [x], [y], marker=marker, markersize=7, color=color, transform=whole, clip_on=False
            )
            self.name(x + 12 / WIDTH, y, name, {"transform": whole, "va": "center"})

    def lying(self, row: float, rating: Row, color: str, marker: str, size: float = 7) -> None:
        """Draw a rating in a row, with an arrow to the side on which it is open."""
        self._rating(rating, lambda elo: (elo, row), "<>", (color, marker, size))

    def upright(self, x: float, rating: Row, color: str, marker: str, size: float = 7) -> None:
        """Draw a rating in a column, with an arrow to the side on which it is open."""
        self._rating(rating, lambda elo: (x, elo), "v^", (color, marker, size))

    def _rating(
        self,
        rating: Row,
        place: Callable[[float], tuple[float, float]],
        arrows: str,
        look: tuple[str, str, float],
    ) -> None:
        color, marker, size = look
        elo, bound = rating["elo"], rating["bound"]
        if bound is None:
            reach, line = [end for end in ends(rating) if end is not None], "-"
        else:
            reach, line = [elo, elo + (_OPEN if bound == "lower" else -_OPEN)], ":"
            tip = place(reach[1])
            self.axes.plot(*tip, marker=arrows[bound == "lower"], markersize=6, color=color)
        xs, ys = zip(*map(place, reach), strict=True)
        self.axes.plot(xs, ys, color=color, linestyle=line)
        self.axes.plot(*place(elo), marker=marker, markersize=size, color=color)

    def share(self, x: float, row: Row, color: str, marker: str) -> None:
        """Draw a share of points with its interval."""
        self.axes.plot([x, x], [100 * row["low"], 100 * row["high"]], color=color, linewidth=1.2)
        self.axes.plot(x, 100 * row["share"], marker=marker, markersize=6, color=color)

    def expected(
        self,
        elo: float,
        low: float,
        high: float,
        color: str,
        chance: Callable[[float, float], float] = expected_score,
    ) -> None:
        """Draw what a rating lets expect against opponents between two ratings."""
        steps = [low + (high - low) * step / 80 for step in range(81)]
        curve = [100 * chance(elo, step) for step in steps]
        self.axes.plot(steps, curve, color=color, linewidth=1.3, alpha=0.75)

    def note(self, x: float, y: float, text: str, below: bool = False) -> None:
        """Write a word of ours beside a point."""
        offset = (4, -13 if below else 4)
        how: dict[str, Any] = {"xytext": offset, "textcoords": "offset points", "color": MUTED}
        self.axes.annotate(text, (x, y), **how)

    def percent_axis(self, label: str) -> None:
        """Let the upright axis go from 0 to 100 %."""
        self.axes.set_ylim(-4, 104)
        self.axes.set_yticks((0, 25, 50, 75, 100))
        self.axes.set_ylabel(label)

    def whole_numbers(self) -> None:
        """Let the level axis count: it has no half things."""
        self.axes.xaxis.set_major_locator(MaxNLocator("auto", integer=True))

    def log_axis(self, which: Literal["x", "y"], low: float, high: float) -> None:
        """Make an axis logarithmic, with plain numbers instead of powers."""
        decades = range(math.floor(math.log10(low)), math.ceil(math.log10(high)) + 1)
        inside: list[float] = []
        for steps in ((1.0,), (1.0, 2.0, 5.0), (1.0, 1.5, 2.0, 3.0, 4.0, 5.0, 7.0)):
            ticks = (step * 10.0**decade for decade in decades for step in steps)
            inside = [tick for tick in ticks if low <= tick <= high]
            if len(inside) > 3:
                break
        self.axes.set(**{f"{which}scale": "log", f"{which}lim": (low, high)})
        axis = self.axes.xaxis if which == "x" else self.axes.yaxis
        axis.set_major_locator(FixedLocator(inside))
        axis.set_major_formatter(FixedFormatter([_plain(tick) for tick in inside]))
        axis.set_minor_locator(NullLocator())

    def names_for_rows(self, rows: int) -> None:
        """Leave the upright axis to names, from the top down."""
        self.axes.set_ylim(rows - 0.5, -0.5)
        self.axes.set_yticks([])
        self.axes.spines["left"].set_visible(False)

    def svg(self, title: str, description: str) -> str:
        """Return it as SVG with a title and a description for whoever cannot see it."""
        text = io.StringIO()
        nothing = dict.fromkeys(("Creator", "Date", "Format", "Type"))
        self._figure.savefig(text, format="svg", transparent=True, metadata=nothing)
        root = ElementTree.fromstring(text.getvalue())  # noqa: S314 - we have just written it
        self._clean(root)
        self._describe(root, title, description)
        return ElementTree.tostring(root, encoding="unicode")

    def _clean(self, root: ElementTree.Element) -> None:
        """Leave only what is drawn, with plain attributes and ids that nobody else uses."""
        for parent in list(root.iter()):
            for child in list(parent):
                if child.tag in (f"{_SVG}metadata", f"{_SVG}style"):
                    parent.remove(child)
        for element in root.iter():
            element.tag = element.tag.removeprefix(_SVG)
            if (identity := element.attrib.pop("id", "")) and element.tag == "g":
                self._fill_in(element, identity)
            elif identity:
                element.set("id", f"{self._key}-{identity}")
            if link := element.attrib.pop(_LINK, ""):
                element.set("href", f"#{self._key}-{link.removeprefix('#')}")
            if clip := element.get("clip-path"):
                element.set("clip-path", clip.replace("#", f"#{self._key}-"))
            _set_plain_style(element)
            if element.get("transform", "").startswith("rotate(-0 "):
                del element.attrib["transform"]
            for name in ("d", "x", "y", "width", "height", "transform"):
                if value := element.get(name):
                    element.set(name, _NUMBER.sub(lambda found: f"{float(found[0]):.2f}", value))
            element.tail = None
            if element.tag != "text":
                element.text = None

    def _fill_in(self, group: ElementTree.Element, identity: str) -> None:
        if not identity.startswith(_NAME):
            return
        for text in group.iter(f"{_SVG}text"):
            text.text = self._names[int(identity.removeprefix(_NAME))]

    def _describe(self, root: ElementTree.Element, title: str, description: str) -> None:
        for name in ("version", "width", "height"):
            root.attrib.pop(name, None)
        root.attrib.update(
            {
                "xmlns": "http://www.w3.org/2000/svg",
                "class": "plot",
                "width": f"{WIDTH:.0f}",
                "height": f"{self._height:.0f}",
                "role": "img",
                "aria-labelledby": f"{self._key}-title {self._key}-description",
                "font-family": "system-ui, sans-serif",
                "stroke-linejoin": "round",
            }
        )
        for place, (tag, text) in enumerate((("title", title), ("desc", description))):
            element = ElementTree.Element(tag)
            element.text = legible(text)
            element.set("id", f"{self._key}-{'title' if tag == 'title' else 'description'}")
            root.insert(place, element)


def styled(rows: Sequence[Row]) -> Iterator[tuple[Row, str, str]]:
    """Give each row a colour and a marker, as long as there are any."""
    return zip(rows, SERIES, MARKERS, strict=False)


def elo_label(report: Row) -> str:
    """Return what to write at an axis of ratings."""
    return "rating, Elo (relative)" if report["scale"] == "relative" else "rating, Elo"


@contextmanager
def drawing(key: str, height: float, legend: int = 0, left: float = 58.0) -> Iterator[Drawing]:
    """Give a drawing to draw on, of a height in its own units; only one at a time.

    `key` begins all its ids, so that several drawings can be in one page.
    """
    with _LOCK, style.context(["default", _SETTINGS]):
        yield Drawing(key, height, legend, left)


def _plain(number: float) -> str:
    """Return a number as people write it, tiny ones too."""
    return f"{number:g}" if number >= 1e-4 else f"{number:.12f}".rstrip("0")


def _set_plain_style(element: ElementTree.Element) -> None:
    """Turn the style of an element into attributes. The font is the page's."""
    for declaration in element.attrib.pop("style", "").split(";"):
        name, _, value = declaration.partition(":")
        name, value = name.strip(), value.strip()
        if name and name != "font-family":
            element.set(name, value)
