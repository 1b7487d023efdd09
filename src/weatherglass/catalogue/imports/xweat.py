"""XWEAT's translations (Lauscher & Glavaš 2019): a CSV file of English words, each with one or two forms."""

from __future__ import annotations

import csv
import re

from weatherglass.catalogue.checks import Source
from weatherglass.catalogue.imports.draft import Draft, DraftSet
from weatherglass.catalogue.published import published_test
from weatherglass.errors import CatalogueError

FILE_NAME = re.compile(r"vocab_en_([a-z]{2,3})\.csv")
TESTS = tuple(f"weat{number}" for number in range(1, 11))


def xweat_language(source: Source) -> str:
    """The language that the file's name states; empty if it is not named as XWEAT names its files."""
    match = FILE_NAME.fullmatch(source.path.name)
    return match[1] if match else ""


def xweat_drafts(source: Source, language: str) -> list[Draft]:
    """weat1 to weat10 in the language of the file: the words of the catalogue, translated.

    A word with two forms (masculine, feminine) gives both, one after the other. Names are kept, as XWEAT does, and so
    are other words without a translation, which are listed.
    """
    forms = _translations(source)
    drafts = []
    for name in TESTS:
        test = published_test(name)
        missing: list[str] = []
        sets = []
        for element_set in test.sets:
            words: list[str] = []
            for word in element_set.words:
                found = forms.get(word) or forms.get(word.lower()) or ()
                missing += [] if found or word[0].isupper() else [word]
                words += found or [word]
            sets.append(DraftSet(element_set.category, tuple(words)))
        listed = ", ".join(dict.fromkeys(missing))
        notes = (f"without a translation in the file, so kept in English: {listed}",) if missing else ()
        drafts.append(
            Draft(
                f"{language}-{name}",
                tuple(sets[:2]),
                tuple(sets[2:]),
                language,
                test.topic,
                "XWEAT",
                "lauscher2019",
                notes,
            )
        )
    return drafts


def _translations(source: Source) -> dict[str, tuple[str, ...]]:
    """English word -> its forms; rows without a word and rows of names say nothing, as in XWEAT's own reader."""
    forms: dict[str, tuple[str, ...]] = {}
    lines: dict[str, int] = {}
    reader = csv.reader(source.text.splitlines(), strict=True)
    try:
        for row in reader:
            cells = [cell.strip() for cell in row]
            if not cells or not cells[0] or cells[0][0].isupper():
                continue
            english = cells[0].replace("blue-bell", "bluebell")
            if len(cells) < 2 or not cells[1]:
                raise CatalogueError(
                    f"{source.path}, line {reader.line_num}: '{cells[0]}' has no translation; "
                    "a line is the English word, its translation and, if any, the feminine form"
                )
            # the Russian file has corrections in the third and fourth column
            used = cells[2:4] if len(cells) > 3 and cells[3] else cells[1:3]
            found = tuple(dict.fromkeys(form for form in used if form))
            if forms.setdefault(english, found) != found:
                raise CatalogueError(
                    f"{source.path}, line {reader.line_num}: '{cells[0]}' is translated otherwise in line "
                    f"{lines[english]}"
                )
            lines.setdefault(english, reader.line_num)
    except csv.Error as error:
        raise CatalogueError(f"{source.path}, line {reader.line_num}: malformed CSV ({error})") from None
    if not any(word in forms for word in ("love", "peace", "he", "she", "math")):
        raise CatalogueError(
            f"{source.path}, line 1: no translations of WEAT's words; XWEAT's files have a line for each English word"
        )
    return forms
