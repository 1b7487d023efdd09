"""Validation of test files: errors that name the file, line and key, and warnings."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import combinations, islice
from pathlib import Path

from weatherglass.catalogue.test import Element, ElementSet, set_roles
from weatherglass.errors import CatalogueError
from weatherglass.languages.lookalike import shown_twins, twins_among
from weatherglass.storage.documents import reading_document

SHOWN = 5


@dataclass(frozen=True, slots=True)
class Source:
    """A file and its text, so that an error can name the line."""

    path: Path
    text: str

    @classmethod
    def read(cls, path: Path) -> Source:
        """The file as text; a byte-order mark is dropped."""
        with reading_document(path, CatalogueError):
            content = path.read_bytes()
            try:
                return cls(path, content.decode("utf-8-sig"))
            except UnicodeDecodeError as error:
                line = content[: error.start].count(b"\n") + 1
                raise CatalogueError(f"{path}, line {line}: not UTF-8 text; save the file as UTF-8") from None

    def error(self, key: str, problem: str) -> CatalogueError:
        """`path, line 3: key problem`; the line is where the key first stands."""
        line = self._line_of(key)
        place = f"{self.path}, line {line}" if line else str(self.path)
        return CatalogueError(f"{place}: {key} {problem}")

    def _line_of(self, key: str) -> int | None:
        """Where a dotted key is set: the deepest part of it that the text shows, in order."""
        position, matched = 0, False
        first, *others = key.split(".")
        if array := re.fullmatch(r"(\w+)\[(\d+)\]", first):  # targets[2]: the second [[targets]] of TOML
            first = array[1]
            headers = re.finditer(rf"^\s*\[\[\s*[\"']?{first}[\"']?\s*\]\]", self.text, re.MULTILINE)
            header = next(islice(headers, int(array[2]) - 1, None), None)
            position = header.start() if header else 0
        for part in (first, *others):
            name = re.escape(part)
            # "name": in JSON; [name], [outer.name], name = or "name" = in TOML
            pattern = rf'"{name}"\s*[:=]|^\s*{name}\s*[.=]|^\s*\[{{1,2}}(?:.*\.)?"?{name}"?[\].]'
            match = re.compile(pattern, re.MULTILINE).search(self.text, position)
            if match is None:
                break
            position, matched = match.end(), True
        return self.text.count("\n", 0, position) + 1 if matched else None


def checked_texts(source: Source, key: str, value: object) -> list[str]:
    """A list of texts, each one text that can be encoded."""
    if not isinstance(value, list):
        raise source.error(key, f"should be a list of texts, but is {type_name(value)}")
    if not value:
        raise source.error(key, "is empty; a set needs at least one element")
    for number, text in enumerate(value, start=1):
        checked_text(source, key, text, part=f"(element {number}) ")
    return value


def checked_text(source: Source, key: str, value: object, part: str = "") -> str:
    """One text: a string, not blank, without half characters."""
    if not isinstance(value, str):
        raise source.error(key, f"{part}should be text, but is {type_name(value)}")
    if not value.strip():
        raise source.error(key, f"{part}is blank")
    if any("\ud800" <= character <= "\udfff" for character in value):
        raise source.error(key, f"{part}holds half of a character (a lone surrogate)")
    return value


def checked_name(source: Source, value: object) -> str:
    """A test's name: it becomes a file name and a cell of a table."""
    name = checked_text(source, "name", value)
    if any(character in "/\\" or not character.isprintable() for character in name) or name.startswith("."):
        raise source.error("name", f"{name!r} has a slash or a control character, or begins with a dot")
    return name


def type_name(value: object) -> str:
    """The type of a value, in plain words."""
    names = {
        bool: "true or false",
        int: "a number",
        float: "a number",
        list: "a list",
        dict: "a table",
        str: "text",
    }
    return "null" if value is None else names.get(type(value), type(value).__name__)


def distinct(role: str, category: str, elements: Iterable[Element]) -> tuple[ElementSet, list[str]]:
    """The set without duplicate texts (the first counts), and a warning that counts the duplicates."""
    elements = list(elements)
    first: dict[str, Element] = {}
    for element in elements:
        first.setdefault(element.text, element)
    counts = Counter(element.text for element in elements)
    repeated = [text for text, count in counts.items() if count > 1]
    left_out = len(elements) - len(first)
    warnings = []
    if left_out:
        noun = "duplicate" if left_out == 1 else "duplicates"
        warnings.append(f"set {role} ({category}): {left_out} {noun} left out ({shortened(repeated)})")
    return ElementSet(category, tuple(first.values())), warnings


def overlaps(targets: Sequence[ElementSet], attributes: Sequence[ElementSet]) -> list[str]:
    """Warnings where two target sets, or two attribute sets, share elements."""
    roles = set_roles(len(targets), len(attributes))
    labelled_targets = zip(roles[: len(targets)], targets, strict=True)
    labelled_attributes = zip(roles[len(targets) :], attributes, strict=True)
    pairs = [*combinations(labelled_targets, 2), *combinations(labelled_attributes, 2)]
    classical = (len(targets), len(attributes)) == (2, 2)
    warnings = []
    for (first, one), (second, other) in pairs:
        pair = f"{first} ({one.category}) and {second} ({other.category})"
        shared = [text for text in one.texts if text in frozenset(other.texts)]
        if len(shared) == len(one) == len(other):
            consequence = "; the effect is zero whatever the model" if classical else ""
            warnings.append(f"{pair} hold the same elements{consequence}")
        elif shared:
            noun = "element" if len(shared) == 1 else "elements"
            warnings.append(f"{pair} share {len(shared)} {noun} ({shortened(shared)})")
        across = _twins_across(one.texts, other.texts)
        if across:
            warnings.append(
                f"{pair} share texts that differ only in Unicode form, spaces or zero-width characters: "
                f"{shown_twins(across)}"
            )
    return warnings


def _twins_across(texts: Sequence[str], others: Sequence[str]) -> list[tuple[str, ...]]:
    """Groups of different texts that look the same, of which one stands on either side."""
    groups = twins_among((*texts, *others))
    return [group for group in groups if not (set(group) <= set(texts) or set(group) <= set(others))]


def shortened(texts: Sequence[str]) -> str:
    """The first texts, and how many more there are."""
    shown = ", ".join(texts[:SHOWN])
    return shown if len(texts) <= SHOWN else f"{shown} and {len(texts) - SHOWN} more"
