"""Warnings about words that do not belong to a test's language: unknown to its word list, or in another script."""

from __future__ import annotations

from collections.abc import Collection, Sequence

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
    words = list(
        dict.fromkeys(
            e.word.strip() for s in sets for e in s.elements if not e.word.rstrip().endswith((".", "!", "?"))
        )
    )
    by_word = {word: scripts(word) for word in words}
    warnings = [
        f"'{word}' mixes {' and '.join(sorted(found))} letters, which look alike to people only"
        for word, found in by_word.items()
        if len(found) > 1
    ]
    pure = {word: next(iter(found)) for word, found in by_word.items() if len(found) == 1}
    if language in LISTED:
        foreign = [word for word, script in pure.items() if script != "Latin"]
        if foreign:
            noun = "1 word is" if len(foreign) == 1 else f"{len(foreign)} words are"
            warnings.append(
                f"{noun} not in Latin letters ({shortened(foreign)}), but the test is in {_name(language)}"
            )
        warnings += _unlisted(language, [word for word, script in pure.items() if script == "Latin"], names)
    elif len(used := sorted(set(pure.values()))) > 1:
        examples = (f"{script} ({next(word for word in pure if pure[word] == script)})" for script in used)
        warnings.append(f"the words are in several scripts: {', '.join(examples)}")
    return warnings


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
