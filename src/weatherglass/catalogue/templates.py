"""Sentence templates of one's own: read from a test's TOML or a file, checked, and chosen by class and language."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import product
from typing import Any

from weatherglass.catalogue.checks import Source, checked_text, checked_texts, type_name
from weatherglass.languages.slots import base_name, filled, slot_names
from weatherglass.registry import suggestion

TEMPLATE_KEYS = ("text", "class", "language", "slots")


@dataclass(frozen=True, slots=True)
class Template:
    """A sentence with slots for the forms of a word."""

    text: str
    classes: tuple[str, ...] = ()
    """The classes of words that it takes; empty for all."""

    @property
    def slots(self) -> list[str]:
        """The slots, without the capital letter that begins a sentence."""
        return [base_name(name) for name in slot_names(self.text)]

    def takes(self, word_class: str) -> bool:
        """Whether a word of this class goes into it; "person" stands for "person noun"."""
        return not self.classes or any(
            each in (word_class, word_class.removesuffix(" noun")) for each in self.classes
        )


def read_templates(
    source: Source, value: object, language: str, word_slots: Iterable[str], known_classes: Sequence[str]
) -> list[Template]:
    """The templates of [[template]] in this language; one with further slots gives a template for each filling.

    Args:
        source: the file, for messages.
        value: what stands under `template`.
        language: of the test; a template without a language is of any.
        word_slots: the slots that a word can fill.
        known_classes: the classes of words that the test can have.

    Raises:
        CatalogueError: for a template without a slot for the word, or with one that nothing fills.
    """
    if not isinstance(value, list):
        raise source.error(
            "template", f"should be a list of templates ([[template]]), but is {type_name(value)}"
        )
    templates: list[Template] = []
    for number, entry in enumerate(value, start=1):
        key = f"template[{number}]"
        if not isinstance(entry, dict):
            raise source.error(
                key, f"should be a table with {', '.join(TEMPLATE_KEYS)}, but is {type_name(entry)}"
            )
        for name in entry:
            if name not in TEMPLATE_KEYS:
                raise source.error(
                    f"{key}.{name}", f"is not a key of a template{suggestion(name, TEMPLATE_KEYS)}"
                )
        if "text" not in entry:
            raise source.error(key, 'has no text; write for example text = "This is {word}."')
        if entry.get("language", language) == language:
            templates += _read_template(source, key, entry, set(word_slots), known_classes)
    return list(dict.fromkeys(templates))


def _read_template(
    source: Source, key: str, entry: Mapping[str, Any], word_slots: set[str], known_classes: Sequence[str]
) -> list[Template]:
    text = checked_text(source, f"{key}.text", entry["text"])
    fillings = _read_fillings(source, f"{key}.slots", entry.get("slots", {}))
    try:
        names = slot_names(text)
    except ValueError as error:
        raise source.error(f"{key}.text", f"cannot be read ({error}): '{text}'") from None
    for name in names:
        if name not in fillings and not {name, base_name(name)} & word_slots:
            raise source.error(
                f"{key}.text",
                f"has the slot {{{name}}}, which nothing fills{suggestion(name, [*sorted(word_slots), *fillings])}",
            )
    if all(name in fillings for name in names):
        raise source.error(f"{key}.text", f"has no slot for the word; write {{word}} where it goes: '{text}'")
    classes = entry.get("class", [])
    classes = (
        [classes]
        if isinstance(classes, str)
        else checked_texts(source, f"{key}.class", classes)
        if classes
        else []
    )
    for word_class in classes:
        if word_class not in known_classes and f"{word_class} noun" not in known_classes:
            raise source.error(
                f"{key}.class", f"'{word_class}' is no class of words{suggestion(word_class, known_classes)}"
            )
    crossed = product(*([(name, each) for each in texts] for name, texts in fillings.items()))
    kept = {name: f"{{{name}}}" for name in names if name not in fillings}
    return [Template(filled(text, {**kept, **dict(choice)}) or text, tuple(classes)) for choice in crossed]


def _read_fillings(source: Source, key: str, value: object) -> dict[str, list[str]]:
    if not isinstance(value, dict):
        raise source.error(key, f"should be a table of slots, each with its texts, but is {type_name(value)}")
    return {name: checked_texts(source, f"{key}.{name}", texts) for name, texts in value.items()}
