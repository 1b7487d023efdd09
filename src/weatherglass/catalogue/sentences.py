"""Put the words of a test into sentences: read templates, and fill them with the forms of each word."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import product
from typing import Any

from weatherglass.catalogue.checks import Source, checked_text, checked_texts, type_name
from weatherglass.catalogue.published import lexicon
from weatherglass.catalogue.test import Element, ElementSet, Test, distinct, overlaps
from weatherglass.errors import CatalogueError
from weatherglass.languages import DEFAULT_LANGUAGE, LANGUAGES
from weatherglass.languages.base import (
    ANY_WORD,
    NO_WORDS,
    STATED,
    Language,
    WordForms,
    WordReading,
    base_name,
    filled,
    slot_names,
)
from weatherglass.registry import suggestion
from weatherglass.warnings import Warning

TEMPLATE_KEYS = ("text", "class", "language", "slots")


@dataclass(frozen=True, slots=True)
class Template:
    """A sentence with slots for the forms of a word."""

    text: str
    classes: tuple[str, ...] = ()
    """The classes of words that the template takes; empty if it takes all."""

    @property
    def slots(self) -> list[str]:
        """Return the slots, ignoring the capital letter at the start of a sentence."""
        return [base_name(name) for name in slot_names(self.text)]

    def takes(self, word_class: str) -> bool:
        """Return whether the template takes words of this class; "person" means "person noun"."""
        return not self.classes or any(
            each in (word_class, word_class.removesuffix(" noun")) for each in self.classes
        )


def read_templates(
    source: Source, value: object, language: str, word_slots: Iterable[str], known_classes: Sequence[str]
) -> list[Template]:
    """Read the templates of [[template]] in a language; a template with further slots yields one template per filling.

    Args:
        source: the file, for messages.
        value: the value of the key `template`.
        language: the language of the test; a template without a language fits any.
        word_slots: the slots that a word can fill.
        known_classes: the classes of words that the test can have.

    Raises:
        CatalogueError: if a template has no slot for the word, or a slot that nothing fills.
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
                f"{key}.class",
                f"'{word_class}' is not a class of words{suggestion(word_class, known_classes)}",
            )
    crossed = product(*([(name, each) for each in texts] for name, texts in fillings.items()))
    kept = {name: f"{{{name}}}" for name in names if name not in fillings}
    return [Template(filled(text, {**kept, **dict(choice)}) or text, tuple(classes)) for choice in crossed]


def _read_fillings(source: Source, key: str, value: object) -> dict[str, list[str]]:
    if not isinstance(value, dict):
        raise source.error(key, f"should be a table of slots, each with its texts, but is {type_name(value)}")
    return {name: checked_texts(source, f"{key}.{name}", texts) for name, texts in value.items()}


def in_sentences(
    test: Test, stated: WordForms, own_templates: Sequence[Template] | None = None, name: str | None = None
) -> tuple[Test, list[WordReading]]:
    """Return the test with every word in its templates, and the class and forms found for each word.

    Args:
        test: a word-level test.
        stated: the classes and forms that its file states.
        own_templates: the templates to use instead of those of the language pack.
        name: the name of the test in sentences; by default, the name of the test.

    Raises:
        CatalogueError: if no template fits a word, or the language has neither a pack nor templates.
    """
    pack = LANGUAGES.get(test.language) if test.language in LANGUAGES else None
    if pack is None and own_templates is None:
        raise CatalogueError(
            f"test '{test.name}': there is no language pack for '{test.language}' (known: "
            f"{', '.join(LANGUAGES.names())}); write your own sentence templates as [[template]] in its "
            "file"
        )
    templates = pack_templates(pack) if pack and own_templates is None else own_templates or []
    readings: dict[str, WordReading] = {}
    elements: dict[str, list[Element]] = {}
    lacking: dict[str, list[str]] = {}
    for word in dict.fromkeys(word for words in test.sets for word in words.words):
        reading = readings[word] = _read_word(word, stated, test.language, pack, own_templates is not None)
        fitting = [template.text for template in templates if template.takes(reading.word_class)]
        sentences = [(filled(template, reading.slots), template) for template in fitting]
        elements[word] = [Element(text, word, template) for text, template in sentences if text is not None]
        needed = pack.slots() if pack else {}
        for form in _missing_forms(
            reading, [template for text, template in sentences if text is None], needed
        ):
            lacking.setdefault(form, []).append(word)
        if not elements[word]:
            raise CatalogueError(_nothing_fits(test, reading, lacking, bool(fitting)))
    shared = overlaps(test.targets, test.attributes)
    warnings = [warning for warning in test.warnings if warning not in shared]
    warnings += _warnings(readings.values(), lacking)
    sets: list[ElementSet] = []
    for role, words in zip(test.roles, test.sets, strict=True):
        generated = (element for word in words.words for element in elements[word])
        element_set, repeats = distinct(role, words.category, generated)
        sets.append(element_set)
        warnings += repeats
    targets, attributes = tuple(sets[: len(test.targets)]), tuple(sets[len(test.targets) :])
    of_pack = pack if own_templates is None else None
    made = Test(
        name or test.name,
        targets=targets,
        attributes=attributes,
        context="sent",
        source=f"sentences from {test.name}; templates of {of_pack.templates_source if of_pack else 'its file'}",
        citation=of_pack.templates_citation if of_pack else test.citation,
        warnings=(*warnings, *overlaps(targets, attributes)),
        topic=test.topic,
        language=test.language,
    )
    return made, list(readings.values())


def pack_templates(pack: Language) -> list[Template]:
    """Return all templates of a language pack, each with its class."""
    return [Template(text, (each,)) for each in pack.word_classes() for text in pack.templates(each)]


def _read_word(
    word: str, stated: WordForms, language: str, pack: Language | None, own_templates: bool
) -> WordReading:
    """Find the class and forms of a word with the language pack and add the forms that only the file states; without a
    pack, use the file alone.
    """
    own = {form: words[word] for form, words in stated.forms.items() if word in words}
    if pack is not None:
        known = lexicon() if language == DEFAULT_LANGUAGE else NO_WORDS  # the catalogue's words are English
        try:
            reading = pack.read_word(word, stated, known)
        except CatalogueError:
            if not own_templates:  # the user's templates may take a word that those of the pack do not
                raise
        else:
            slots = {**own, **reading.slots}
            return WordReading(
                word, reading.word_class, reading.reason, slots, reading.shown_forms, reading.forms_known
            )
    word_class = stated.classes.get(word, ANY_WORD)
    return WordReading(word, word_class, STATED, {**own, "word": word.strip()}, ", ".join(own.values()))


def _missing_forms(reading: WordReading, templates: Iterable[str], needed: Mapping[str, str]) -> list[str]:
    """Return the forms that a word lacks, so that templates of its class skip it.

    A slot for other words of the class does not count: "ils" lacks no form because a template has a slot for "elle".
    """
    slots = (base_name(slot) for template in templates for slot in slot_names(template))
    needs = (needed.get(slot, slot) for slot in slots if slot not in reading.slots)
    empty = [need for need in needs if need]
    asked: dict[str, None] = {}
    for need in empty:
        first, _, second = need.partition(", ")
        asked[first if first in empty else second or first] = None
    return list(asked)


def _nothing_fits(test: Test, reading: WordReading, lacking: Mapping[str, list[str]], fitting: bool) -> str:
    forms = [form for form, words in lacking.items() if reading.word in words]
    if not fitting or not forms:
        return (
            f"test '{test.name}': no template takes '{reading.word}', whose class is {reading.word_class}; "
            "add a template without a class, or state the word's class under [words.classes]"
        )
    return (
        f"test '{test.name}': '{reading.word}' fits no template, since its {' and '.join(forms)} is unknown; "
        f"state it under [words.{forms[0]}]"
    )


def _warnings(readings: Iterable[WordReading], lacking: Mapping[str, Sequence[str]]) -> list[Warning]:
    """Return warnings about words whose class or forms are unknown."""
    unclassed = [
        reading.word for reading in readings if reading.word_class == ANY_WORD and reading.reason != STATED
    ]
    warnings = [Warning.of("unknown-class", words=unclassed)] if unclassed else []
    return warnings + [Warning.of("unknown-forms", form=form, words=words) for form, words in lacking.items()]
