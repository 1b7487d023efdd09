"""Build the tests of the catalogue: the 46 published tests, and published lists in other fields and languages."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cache, partial
from importlib.resources import files
from typing import Any, cast

from weatherglass.catalogue.test import Context, Element, ElementSet, Test, overlaps
from weatherglass.languages.base import WordForms, capitalised
from weatherglass.languages.en import Forms, regular_article, regular_plural, sentences
from weatherglass.storage.documents import shipped_toml

table = partial(shipped_toml, "weatherglass.catalogue")
"""A function that returns the content of a TOML file of the catalogue, by its name without the suffix."""

SENTENCE_PREFIX = "sent-"


@cache
def published_names() -> tuple[str, ...]:
    """Return the names of all 46 tests; each word-level test is followed by its sentence-level version."""
    names: list[str] = []
    for name, entry in table("tests").items():
        names.append(name)
        if "vignette" not in entry:
            names.append(SENTENCE_PREFIX + name)
    return tuple(names)


def catalogue_names() -> tuple[str, ...]:
    """Return the names of the 46 published tests, which are the default, and of the tests in other fields and
    languages.
    """
    return (*published_names(), *table("fields"))


@cache
def catalogue_test(name: str) -> Test:
    """Return the test of that name, which must be one of `catalogue_names`, or a test of pairs."""
    from weatherglass.catalogue.pairs import pair_names, shipped_pair_test

    if name in pair_names():
        return shipped_pair_test(name)
    if name in table("fields"):
        return _field_test(name)
    base = name.removeprefix(SENTENCE_PREFIX)
    entry = table("tests")[base]
    sets: Iterable[ElementSet]
    context: Context = entry.get("context", "word")
    source, citation = entry["source"], entry["cite"]
    if "vignette" in entry:
        sets = _vignette_sets(entry)
    elif name == base:
        sets = [word_set(entry[role]) for role in "XYAB"]
    else:
        sets, context = [_sentence_set(entry, role) for role in "XYAB"], "sent"
        source, citation = f"May et al. 2019: {base} in sentences", "may2019"
    x, y, a, b = sets
    return Test(name, (x, y), (a, b), context, source, citation, topic=entry["topic"])


@dataclass(frozen=True, slots=True)
class SetEntry:
    """The name, category, size and source of a word set in the catalogue."""

    name: str
    category: str
    size: int
    source: str


def list_sets() -> list[SetEntry]:
    """Return the word sets of the catalogue, which a user's test can name."""
    return [
        SetEntry(name, entry["category"], len(entry["words"]), entry["source"])
        for name, entry in table("sets").items()
    ]


def word_set(named: str | Mapping[str, str]) -> ElementSet:
    """Return a word set of the catalogue by name, or by a table with `set` and a `category` that replaces its own."""
    name = named if isinstance(named, str) else named["set"]
    entry = table("sets")[name]
    category = entry["category"] if isinstance(named, str) else named["category"]
    return ElementSet(category, tuple(Element(word, word) for word in entry["words"]))


@cache
def lexicon() -> WordForms:
    """Return every word of the catalogue with its class, and the irregular word forms."""
    words = shipped_toml("weatherglass.languages.en", "words")
    classes = {word: entry["class"] for entry in table("sets").values() for word in entry["words"]}
    classes |= {word: word_class for word_class, members in words["classes"].items() for word in members}
    return WordForms(classes, {form: words[form] for form in ("singular", "plural", "article")})


def reference(key: str) -> str:
    """Return the reference for a test's `citation`; empty for an empty or unknown key."""
    return cast(str, table("references").get(key, ""))


@cache
def bibtex_entries() -> Mapping[str, str]:
    """Return the BibTeX entry of each paper by its key, as in a test's `citation`."""
    text = files("weatherglass.catalogue").joinpath("references.bib").read_text(encoding="utf-8")
    found = re.findall(r"^(@\w+\{(\w+),\n.*?^\})$", text, re.MULTILINE | re.DOTALL)
    return {key: entry for entry, key in found}


def published_forms(word: str) -> Forms:
    """Return the singular, the plural and the article of a catalogue word, as in the published sentences."""
    known = lexicon()
    singular = known.form("singular", word) or word
    plurals = {
        **known.forms["plural"],
        **shipped_toml("weatherglass.languages.en", "words")["published_plural"],
    }
    return Forms(
        word=word,
        singular=singular,
        plural=plurals.get(singular) or regular_plural(singular),
        article=known.form("article", singular) or regular_article(singular),
    )


def _sentence_set(entry: Mapping[str, Any], role: str) -> ElementSet:
    words = word_set(entry[role])
    generated = [element for word in words.words for element in _sentence_elements(word)]
    left_out = frozenset(entry.get("left_out", {}).get(role, ()))
    elements = (element for position, element in enumerate(generated, start=1) if position not in left_out)
    return ElementSet(words.category, tuple(elements))


@cache
def _sentence_elements(word: str) -> tuple[Element, ...]:
    """Return a word in every template of its class; the result is cached, since most words occur in several tests."""
    made = sentences(published_forms(word), lexicon().classes[word])
    return tuple(Element(text, word, template) for text, template in made)


def _vignette_sets(entry: Mapping[str, Any]) -> Iterable[ElementSet]:
    vignettes = table("vignettes")
    vignette = vignettes[entry["vignette"]]
    # two blanks between sentences, as in the published texts
    story = "  ".join(_selected(vignette["sentences"], entry["sentences"]))
    for role in "XY":
        name = entry[role] if isinstance(entry[role], str) else entry[role]["set"]
        pronouns = vignettes["pronouns"][name]
        initial = {capitalised(form): capitalised(pronoun) for form, pronoun in pronouns.items()}
        yield _filled(word_set(entry[role]), story, "name", {**pronouns, **initial})
    for role in "AB":
        yield _filled(word_set(entry[role]), vignette["attribute"], "word", {})


def _filled(words: ElementSet, template: str, field: str, fields: Mapping[str, str]) -> ElementSet:
    elements = (Element(template.format_map({**fields, field: word}), word, template) for word in words.words)
    return ElementSet(words.category, tuple(elements))


def _selected(all_sentences: list[str], selection: str) -> list[str]:
    """Return the sentences that a selection such as "1+3-" names; numbers start at 1, and "3-" means the third
    onward.
    """
    selected: list[str] = []
    for part in selection.split("+"):
        start = int(part.removesuffix("-")) - 1
        selected += all_sentences[start:] if part.endswith("-") else all_sentences[start : start + 1]
    return selected


FIELDS = "fields"
"""The name of all tests in other fields and languages, as in -t fields."""


@cache
def field_names() -> tuple[str, ...]:
    """Return the names of the tests in other fields and languages, in the order of fields.toml."""
    return tuple(table("fields"))


def _field_test(name: str) -> Test:
    entry = table("fields")[name]
    targets, attributes = (
        tuple(
            ElementSet(each["category"], tuple(Element(word, word) for word in each["words"]))
            for each in entry[kind]
        )
        for kind in ("targets", "attributes")
    )
    return Test(
        name,
        targets=targets,
        attributes=attributes,
        source=entry["source"],
        citation=entry["cite"],
        warnings=tuple(overlaps(targets, attributes)),
        language=entry["language"],
        topic=entry["topic"],
    )


def licence(name: str) -> str:
    """Return the licence of a test's words; empty unless it is in `field_names`."""
    return str(table("fields").get(name, {}).get("licence", ""))
