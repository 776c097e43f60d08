"""Markup as a browser would read it: whether it is whole, and what it would fetch."""

from __future__ import annotations

from dataclasses import dataclass, field
from html.parser import HTMLParser

#: Elements of HTML that have no end.
_VOID = frozenset(("br", "hr", "img", "input", "link", "meta"))


@dataclass
class Element:
    """One element with its attributes and the text directly in it."""

    tag: str
    attributes: dict[str, str | None]
    inside: tuple[str, ...]
    text: str = ""


@dataclass
class Page:
    """All elements of a page, in the order in which they begin."""

    elements: list[Element] = field(default_factory=list)

    def all(self, tag: str) -> list[Element]:
        return [each for each in self.elements if each.tag == tag]

    def texts(self) -> str:
        return " ".join(each.text for each in self.elements)

    def ids(self) -> list[str | None]:
        return [each.attributes["id"] for each in self.elements if "id" in each.attributes]


class _Reader(HTMLParser):
    def __init__(self) -> None:
        super().__init__(convert_charrefs=True)
        self.page = Page()
        self.open: list[Element] = []

    def handle_starttag(self, tag, attrs):
        element = Element(tag, dict(attrs), tuple(each.tag for each in self.open))
        assert len(element.attributes) == len(attrs), f"an attribute of {tag} is there twice"
        self.page.elements.append(element)
        if tag not in _VOID:
            self.open.append(element)

    def handle_startendtag(self, tag, attrs):
        self.handle_starttag(tag, attrs)
        if tag not in _VOID:
            self.open.pop()

    def handle_endtag(self, tag):
        assert self.open, f"{tag} ends and nothing is open"
        assert self.open[-1].tag == tag, f"{tag} ends where {self.open[-1].tag} is open"
        self.open.pop()

    def handle_data(self, data):
        if self.open:
            self.open[-1].text += data


def read_markup(text: str) -> Page:
    """Return the elements of HTML or SVG; fails if what begins does not end in its place."""
    reader = _Reader()
    reader.feed(text)
    reader.close()
    assert not reader.open, f"{reader.open[-1].tag} does not end"
    return reader.page


def assert_stands_alone(page: Page) -> None:
    """Fail if a page would fetch, run or send anything."""
    for element in page.elements:
        assert element.tag not in ("script", "link", "img", "iframe", "object", "base", "form")
        for name, value in element.attributes.items():
            where = f"{element.tag} {name}={value}"
            assert not name.startswith("on"), where
            assert name not in ("src", "srcset", "action", "data", "xlink:href", "style"), where
            if name == "href":
                assert value.startswith("#"), where
            if name != "xmlns":
                assert "//" not in (value or "") or element.tag == "div", where
            if value and "url(" in value:
                assert value.startswith("url(#"), where
    for style in page.all("style"):
        assert "url(" not in style.text
        assert "@import" not in style.text
