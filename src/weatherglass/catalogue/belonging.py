"""Warnings about words that do not belong to a test's language: unknown to its word list, or in another script."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence

from weatherglass.catalogue.checks import shortened
from weatherglass.catalogue.published import lexicon
from weatherglass.catalogue.test import ElementSet
from weatherglass.languages import DEFAULT_LANGUAGE, LANGUAGES
from weatherglass.languages.inflected import InflectedLanguage
from weatherglass.languages.known import LISTED, is_listed, scripts


def belonging(language: str, sets: Sequence[ElementSet], names: Collection[str] = ()) -> list[str]:
    """One warning each for words of mixed script, of another script, and of another language.

    Args:
        language: the code that the test states, or English.
        sets: of the test; only words are looked at, not sentences that stand for themselves.
        names: words that the file calls given names; any language may have them.
    """
    elements = (element for element_set in sets for element in element_set.elements)
    words = dict.fromkeys(element.word.strip() for element in elements if not _is_sentence(element.word))
    found = {word: scripts(word) for word in words}
    script_of = {word: next(iter(each)) for word, each in found.items() if len(each) == 1}
    warnings = [
        f"'{word}' mixes {' and '.join(sorted(each))} letters; to a model it is another word"
        for word, each in found.items()
        if len(each) > 1
    ]
    if language not in LISTED:
        return warnings + _several_scripts(script_of)
    foreign = [word for word, script in script_of.items() if script != "Latin"]
    if foreign:
        subject = "1 word is" if len(foreign) == 1 else f"{len(foreign)} words are"
        warnings.append(
            f"{subject} not in Latin letters ({shortened(foreign)}), but the test is in {_name(language)}"
        )
    return warnings + _unlisted(language, [w for w, script in script_of.items() if script == "Latin"], names)


def _is_sentence(text: str) -> bool:
    return text.rstrip().endswith((".", "!", "?"))


def _several_scripts(script_of: Mapping[str, str]) -> list[str]:
    used = set(script_of.values())
    if "Japanese" in used:
        used.discard("Chinese")  # a Japanese word may be written in Chinese characters alone
    if len(used) < 2:
        return []
    examples = {
        script: next(word for word in script_of if script_of[word] == script) for script in sorted(used)
    }
    listed = ", ".join(f"{script} ({word})" for script, word in examples.items())
    return [f"the words are in several scripts: {listed}"]


def _unlisted(language: str, words: Sequence[str], names: Collection[str]) -> list[str]:
    others = [code for code in LISTED if code != language]
    unknown = [word for word in words if word not in names and not _is_known(word, language)]
    homes = {word: [code for code in others if _is_known(word, code)] for word in unknown}
    if language != "de":  # a capital letter tells a name; in German, any noun
        unknown = [word for word in unknown if homes[word] or not word[:1].isupper()]
    if not unknown:
        return []
    noun = "1 word is" if len(unknown) == 1 else f"{len(unknown)} words are"
    nearest = max(others, key=lambda code: sum(code in homes[word] for word in unknown))
    known_there = sum(nearest in homes[word] for word in unknown)
    hint = (
        f'; {_name(nearest)} has {known_there} of them: should language be "{nearest}"?'
        if 2 * known_there >= len(unknown)
        else ""
    )
    return [f"{noun} unknown to the {_name(language)} lexicon ({shortened(unknown)}){hint}"]


def _is_known(word: str, language: str) -> bool:
    if is_listed(word, language):
        return True
    if language == DEFAULT_LANGUAGE:
        return word in lexicon().classes
    pack = LANGUAGES.get(language)
    return isinstance(pack, InflectedLanguage) and (
        word in pack.lexicon.classes or pack.lexicon.form("singular", word) is not None
    )


def _name(language: str) -> str:
    return LANGUAGES.get(language).name
