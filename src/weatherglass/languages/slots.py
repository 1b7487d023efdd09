"""Sentence templates: the slots of a template, and the sentence that a word makes of it."""

from __future__ import annotations

import string
from collections.abc import Mapping


def slot_names(template: str) -> list[str]:
    """The slots of a template, in order: ["A word"] for "{A word} is here.".

    Raises:
        ValueError: if a brace is not closed, or a slot is empty or has more than a name.
    """
    names: list[str] = []
    for _, name, format_spec, conversion in string.Formatter().parse(template):
        if name is None:
            continue
        if not name.strip() or format_spec or conversion:
            raise ValueError("a slot is a name in braces, such as {word}")
        names.append(name)
    return names


def base_name(slot: str) -> str:
    """The slot that a capital letter began: "a word" for "A word"."""
    return slot[:1].lower() + slot[1:]


def filled(template: str, slots: Mapping[str, str]) -> str | None:
    """The sentence; None where the word lacks a form that a slot needs.

    A slot that begins with a capital letter begins a sentence.

    >>> filled("{Der word} ist hier.", {"der word": "die Frau"})
    'Die Frau ist hier.'
    """
    parts: list[str] = []
    for literal, name, _, _ in string.Formatter().parse(template):
        parts.append(literal)
        if name is None:
            continue
        text = slots.get(name)
        if text is None and base_name(name) in slots:
            text = capitalised(slots[base_name(name)])
        if text is None:
            return None
        parts.append(text)
    return "".join(parts)


def capitalised(text: str) -> str:
    """The first letter large, the others as they are."""
    return text[:1].upper() + text[1:]
