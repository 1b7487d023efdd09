"""The tests of a topic as word lists: which target words they share, in which contexts, with which attribute lists.

Specifications can be tested together only where they exchange the same words, so every list of target words has a
curve and a joint p of its own. A sentence test joins the list of its word test; another attribute list joins, too.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

from weatherglass.catalogue import load_tests
from weatherglass.catalogue.published import SENTENCE_PREFIX, published_names, published_test
from weatherglass.catalogue.select import checked_pattern
from weatherglass.catalogue.test import Element, Test
from weatherglass.errors import WeatherglassError

WORD = "word"
SENTENCES = "sentences"
LEAST_TEMPLATES = 2
"""Fewer templates that all target words share are no choice: each word's own sentences are averaged."""


@dataclass(frozen=True, slots=True)
class Setting:
    """Which elements of a test stand for its target words: the bare words, one template, or all sentences."""

    name: str
    test: Test
    template: str | None = None
    """Only the sentences of this template; None for all elements."""

    def has(self, element: Element) -> bool:
        """Whether the element is one of them."""
        return self.template is None or element.template == self.template


@dataclass(slots=True)
class WordList:
    """One list of target words with all that is measured on it."""

    topic: str
    name: str
    """The first test that has it."""
    tests: list[Test] = field(default_factory=list)

    @property
    def targets(self) -> str:
        """The categories of X and Y."""
        return " and ".join(self.tests[0].categories[:2])

    @property
    def words(self) -> tuple[tuple[str, ...], tuple[str, ...]]:
        """The words of X and of Y that every test has."""
        x, y = (
            tuple(
                word
                for word in dict.fromkeys(self.tests[0].targets[side].words)
                if all(word in test.targets[side].words for test in self.tests)
            )
            for side in (0, 1)
        )
        return x, y

    def attribute_lists(self) -> dict[str, list[Test]]:
        """The tests by the words of their attributes; the name is that of the first such test."""
        lists: dict[tuple[frozenset[str], ...], list[Test]] = {}
        for test in self.tests:
            key = tuple(frozenset(attributes.words) for attributes in test.attributes)
            place = next((known for known in lists if _same_attributes(lists[known][0], test)), key)
            lists.setdefault(place, []).append(test)
        return {tests[0].name.removeprefix(SENTENCE_PREFIX): tests for tests in lists.values()}

    def settings(self) -> dict[str, dict[str, Setting]]:
        """By attribute list: its settings by name; only those that every attribute list has, so that all cross."""
        everywhere = {
            name: {setting.name: setting for test in tests for setting in self._settings_of(test)}
            for name, tests in self.attribute_lists().items()
        }
        common = [
            level
            for level in next(iter(everywhere.values()))
            if all(level in others for others in everywhere.values())
        ]
        if not common:  # such as words with one attribute list, and sentences with another
            first = next(iter(everywhere))
            return {first: everywhere[first]}
        return {name: {level: found[level] for level in common} for name, found in everywhere.items()}

    def published_sentences(self) -> dict[str, Setting]:
        """By attribute list: all sentences of a word averaged, as papers do; where single templates are settings."""
        found = {}
        for name, tests in self.attribute_lists().items():
            for test in tests:
                if test.context == "sent" and len(self._shared_templates(test)) >= LEAST_TEMPLATES:
                    found[name] = Setting(SENTENCES, test)
        return found

    def _settings_of(self, test: Test) -> Iterator[Setting]:
        if test.context == "word":
            yield Setting(WORD, test)
        elif test.context == "sent":
            templates = self._shared_templates(test)
            if len(templates) < LEAST_TEMPLATES:
                yield Setting(SENTENCES, test)
            yield from (
                Setting(template, test, template)
                for template in templates
                if len(templates) >= LEAST_TEMPLATES
            )
        else:
            yield Setting(test.name, test)

    def _shared_templates(self, test: Test) -> list[str]:
        """The templates in which every target word stands."""
        x, y = self.words
        by_word: dict[str, set[str]] = {word: set() for word in (*x, *y)}
        order: dict[str, None] = {}
        for element in (*test.targets[0].elements, *test.targets[1].elements):
            if element.template is not None and element.word in by_word:
                by_word[element.word].add(element.template)
                order[element.template] = None
        return [template for template in order if all(template in some for some in by_word.values())]


def _same_attributes(one: Test, other: Test) -> bool:
    """Whether two tests have the same attribute words; a sentence test may have lost some of its word test's."""
    if _base(one) == _base(other):
        return True
    return all(set(a.words) == set(b.words) for a, b in zip(one.attributes, other.attributes, strict=True))


def _base(test: Test) -> str:
    return test.name.removeprefix(SENTENCE_PREFIX)


def select_tests(selected: Sequence[str]) -> list[Test]:
    """Tests by topic, name, glob or path; a topic stands for all its published tests."""
    published = [published_test(name) for name in published_names()]
    tests: dict[str, Test] = {}
    for given in map(checked_pattern, selected):
        found = [test for test in published if test.topic == given] or load_tests([given])
        tests |= {test.name: test for test in found}
    return list(tests.values())


def word_lists(tests: Sequence[Test]) -> list[WordList]:
    """The tests grouped by topic and target words, in their order; one without a topic is its own.

    Raises:
        WeatherglassError: for a test whose shape is not that of WEAT.
    """
    lists: list[WordList] = []
    for test in tests:
        if test.shape != (2, 2):
            raise WeatherglassError(
                f"'{test.name}' has {test.shape[0]} target and {test.shape[1]} attribute sets; "
                "a multiverse takes 2 and 2"
            )
        topic = test.topic or _base(test)
        home = next((known for known in lists if known.topic == topic and _same_targets(known, test)), None)
        if home is None:
            home = WordList(topic, _base(test))
            lists.append(home)
        home.tests.append(test)
    return lists


def _same_targets(known: WordList, test: Test) -> bool:
    if any(_base(member) == _base(test) for member in known.tests):
        return True
    return any(
        all(set(a.words) == set(b.words) for a, b in zip(member.targets, test.targets, strict=True))
        for member in known.tests
    )
