"""Write every sentence that the German, French and Spanish packs make of the words they know, to be read one by one.

`python docs/languages/write_sentences.py` writes sentences-de.txt, -fr.txt and -es.txt beside itself. The words are all
of words.toml: at least 50 a class, save for closed classes such as pronouns; and a few that no lexicon of ours has.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from weatherglass.languages import LANGUAGES
from weatherglass.languages.base import NO_WORDS, InflectedLanguage, filled

UNKNOWN = {
    "de": ["Kranich", "Zwerg", "wackelig", "wackeln"],
    "fr": ["poireau", "râteau"],
    "es": ["puerro", "rastrillo"],
}
"""Words that no lexicon of ours has: what is made of them needs no form."""


def sentences(language: str) -> Iterator[str]:
    """A line for each class, then one for each word with its sentences."""
    pack = LANGUAGES.get(language)
    assert isinstance(pack, InflectedLanguage)
    known = {*pack.lexicon.classes, *UNKNOWN[language]}
    readings = [pack.read_word(word, NO_WORDS, NO_WORDS) for word in known]
    order = {word: place for place, word in enumerate([*pack.lexicon.classes, *UNKNOWN[language]])}
    for word_class in pack.word_classes():
        members = [reading for reading in readings if reading.word_class == word_class]
        yield f"# {word_class}"
        for reading in sorted(members, key=lambda each: order[each.word]):
            made = [filled(template, reading.slots) for template in pack.templates(word_class)]
            yield f"{reading.word}: {' '.join(text for text in made if text)}"


def main() -> None:
    folder = Path(__file__).parent
    for language in UNKNOWN:
        text = "\n".join(sentences(language)) + "\n"
        (folder / f"sentences-{language}.txt").write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main()
