"""What a page says and holds, as far as tests ask: its text, links, ids, form. Whatever is not well-formed
fails here."""

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

from django.http import HttpResponse
from django.test.html import Element, RootElement, parse_html

#: What people don't read: a page's words for its scripts are data.
UNREAD = ("script", "style", "svg", "template")


@dataclass
class Page:
    """An answer of the board. `node("#id")`: the element with this id, as another Page-like part."""

    status: int
    html: str
    headers: dict[str, str]

    @property
    def lasting(self) -> str:
        """Its HTML without what no two answers share: the time of its data, the form's token."""
        html = re.sub(r'name="csrfmiddlewaretoken" value="[^"]*"', "", self.html)
        return re.sub(r"<time.*?</time>", "", html, flags=re.DOTALL)

    @property
    def goes_to(self) -> str:
        """Where it sends the browser; "" where it stays."""
        return self.headers.get("Location") or self.headers.get("HX-Redirect", "")

    @cached_property
    def root(self) -> "Node":
        return Node(_as_one(parse_html(self.html)))

    @property
    def text(self) -> str:
        return self.root.text

    @property
    def fields(self) -> dict[str, str]:
        """The fields of the form in <main>, or of the fragment, with their present values."""
        forms = [node for node in self.root.all("form") if node["class"].startswith(("sheet", "narrow"))]
        found: dict[str, str] = {}
        for node in forms[0].every() if forms else ():
            found |= _field(node)
        return found

    def node(self, css_id: str) -> "Node":
        return self.root.by_id(css_id)

    def has(self, css_id: str) -> bool:
        return any(node["id"] == css_id for node in self.root.every())


@dataclass
class Node:
    element: Element
    attributes: dict[str, str] = field(init=False)

    def __post_init__(self) -> None:
        self.attributes = {name: value or "" for name, value in self.element.attributes}

    def __getitem__(self, name: str) -> str:
        """An attribute, "" where it has none."""
        return self.attributes.get(name, "")

    def every(self) -> Iterator["Node"]:
        """This element and all below it, in the order of the document."""
        yield self
        for child in self.element.children:
            if not isinstance(child, str):
                yield from Node(child).every()

    def all(self, name: str, css_class: str = "") -> list["Node"]:
        return [
            node
            for node in self.every()
            if node.element.name == name and (not css_class or css_class in node["class"].split())
        ]

    def by_id(self, css_id: str) -> "Node":
        found = [node for node in self.every() if node["id"] == css_id]
        assert len(found) == 1, f"{len(found)} elements with the id {css_id}"
        return found[0]

    @property
    def ids(self) -> list[str]:
        return [node["id"] for node in self.every() if node["id"]]

    @property
    def links(self) -> dict[str, str]:
        """Where each link leads, by its words."""
        return {node.text: node["href"] for node in self.all("a")}

    @property
    def text(self) -> str:
        """As it is read: without tags, white space as single spaces, none before a stop."""
        return re.sub(r" ([:;,.])", r"\1", " ".join(" ".join(self._words()).split()))

    def _words(self) -> Iterator[str]:
        for child in self.element.children:
            if isinstance(child, str):
                yield child
            elif child.name not in UNREAD and "hidden" not in dict(child.attributes):
                yield from Node(child)._words()


def _field(node: Node) -> dict[str, str]:
    name, kind = node["name"], node.element.name
    if not name or kind not in ("input", "textarea", "select"):
        return {}
    if kind == "select":
        chosen = [option["value"] for option in node.all("option") if "selected" in option.attributes]
        return {name: chosen[0] if chosen else node.all("option")[0]["value"]}
    if kind == "textarea":
        return {name: node.text}
    if node["type"] == "radio":
        return {name: node["value"]} if "checked" in node.attributes else {}
    return {name: node["value"]}


def _as_one(parsed: Any) -> Element:
    if isinstance(parsed, RootElement) or not isinstance(parsed, str):
        return parsed  # type: ignore[no-any-return]
    root = RootElement()
    root.append(parsed)
    return root


def page(response: HttpResponse) -> Page:
    return Page(response.status_code, response.content.decode(), dict(response.headers))
