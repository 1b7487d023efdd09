"""A word-level test in sentences: every word in the templates of its class, as far as its forms are known."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from weatherglass.catalogue.checks import distinct, overlaps, shortened
from weatherglass.catalogue.published import lexicon
from weatherglass.catalogue.templates import Template
from weatherglass.catalogue.test import Element, ElementSet, Test
from weatherglass.errors import CatalogueError
from weatherglass.languages import DEFAULT_LANGUAGE, LANGUAGES
from weatherglass.languages.base import NO_WORDS, STATED, Language, Lexicon, Reading
from weatherglass.languages.inflected import ANY_WORD
from weatherglass.languages.slots import base_name, filled, slot_names


def in_sentences(
    test: Test, stated: Lexicon, own_templates: Sequence[Template] | None = None, name: str | None = None
) -> tuple[Test, list[Reading]]:
    """The test with every word in its templates, and how each word was read.

    Args:
        test: a word-level test.
        stated: what its file says about single words.
        own_templates: in place of those of the language pack.
        name: of the test in sentences; by default that of the test.

    Raises:
        CatalogueError: if no template fits a word, or the language has neither a pack nor templates.
    """
    pack = LANGUAGES.get(test.language) if test.language in LANGUAGES else None
    if pack is None and own_templates is None:
        raise CatalogueError(
            f"test '{test.name}': no language pack has '{test.language}' (known: {', '.join(LANGUAGES.names())}); "
            "write sentence templates of your own, as [[template]] in its file"
        )
    templates = pack_templates(pack) if pack and own_templates is None else own_templates or []
    readings: dict[str, Reading] = {}
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
    """All templates of a language pack, each for its class."""
    return [Template(text, (each,)) for each in pack.word_classes() for text in pack.templates(each)]


def _read_word(
    word: str, stated: Lexicon, language: str, pack: Language | None, own_templates: bool
) -> Reading:
    """As the pack reads it, with the forms that only the file has; without a pack, as the file states it."""
    own = {form: words[word] for form, words in stated.forms.items() if word in words}
    if pack is not None:
        known = (
            lexicon() if language == DEFAULT_LANGUAGE else NO_WORDS
        )  # the words of the catalogue are English
        try:
            reading = pack.read_word(word, stated, known)
        except CatalogueError:
            if not own_templates:  # templates of one's own may take a word that those of the pack do not
                raise
        else:
            slots = {**own, **reading.slots}
            return Reading(
                word, reading.word_class, reading.reason, slots, reading.shown_forms, reading.forms_known
            )
    word_class = stated.classes.get(word, ANY_WORD)
    return Reading(word, word_class, STATED, {**own, "word": word.strip()}, ", ".join(own.values()))


def _missing_forms(reading: Reading, templates: Iterable[str], needed: Mapping[str, str]) -> list[str]:
    """The forms for want of which a word does not go into templates of its class.

    A slot that needs no form is for other words of the class: "ils" has no use for "elle", and nothing is missing.
    """
    slots = (base_name(slot) for template in templates for slot in slot_names(template))
    needs = (needed.get(slot, slot) for slot in slots if slot not in reading.slots)
    empty = [need for need in needs if need]
    asked: dict[str, None] = {}
    for need in empty:
        first, _, second = need.partition(", ")
        asked[first if first in empty else second or first] = None
    return list(asked)


def _nothing_fits(test: Test, reading: Reading, lacking: Mapping[str, list[str]], fitting: bool) -> str:
    forms = [form for form, words in lacking.items() if reading.word in words]
    if not fitting or not forms:
        return (
            f"test '{test.name}': no template takes '{reading.word}', whose class is {reading.word_class}; "
            "add a template without a class, or state the word's class under [words.classes]"
        )
    return (
        f"test '{test.name}': '{reading.word}' goes into no template, since its {' and '.join(forms)} is not known; "
        f"state it under [words.{forms[0]}]"
    )


def _warnings(readings: Iterable[Reading], lacking: Mapping[str, Sequence[str]]) -> list[str]:
    """What is not known of words, and where to state it."""
    unclassed = [
        reading.word for reading in readings if reading.word_class == ANY_WORD and reading.reason != STATED
    ]
    warnings = []
    if unclassed:
        warnings.append(
            f"the class of {_count(unclassed)} is not known ({shortened(unclassed)}): only in templates for any word; "
            "state it under [words.classes]"
        )
    warnings += [
        f"the {form} of {_count(words)} is not known ({shortened(words)}): left out of the templates that need it; "
        f"state it under [words.{form}]"
        for form, words in lacking.items()
    ]
    return warnings


def _count(words: Sequence[str]) -> str:
    return "1 word" if len(words) == 1 else f"{len(words)} words"
