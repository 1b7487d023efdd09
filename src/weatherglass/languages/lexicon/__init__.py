"""Find the number of senses and the most common part of speech of words in installed dictionaries.

Parts of speech are the 12 universal tags of Petrov et al. (2012). Du et al. count tags in the Brown corpus,
which no package registry offers. The nearest installable source is the lexicon of Brill's tagger, with the most likely
tag of each word in the Brown corpus and the Penn Treebank. It is a text file in the PyPI package textblob (MIT), which
is read without importing textblob.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path

from weatherglass.errors import WeatherglassError
from weatherglass.languages.wordnet import INSTALL as INSTALL_WORDNET
from weatherglass.languages.wordnet import WordNet, find_wordnet
from weatherglass.registry import did_you_mean
from weatherglass.storage.documents import document_text

__all__ = ["Lexicon", "find_lexicon"]

UNIVERSAL = ("adj", "adp", "adv", "conj", "det", "noun", "num", "pron", "prt", "verb", "x", ".")
"""The tags; the first is the reference level of the regression."""

INSTALL = "pip install textblob"

PENN: Mapping[str, str] = {
    **dict.fromkeys(("JJ", "JJR", "JJS"), "adj"),
    "IN": "adp",
    **dict.fromkeys(("RB", "RBR", "RBS", "WRB"), "adv"),
    "CC": "conj",
    **dict.fromkeys(("DT", "EX", "PDT", "WDT"), "det"),
    **dict.fromkeys(("NN", "NNS", "NNP", "NNPS"), "noun"),
    "CD": "num",
    **dict.fromkeys(("PRP", "PRP$", "WP", "WP$"), "pron"),
    **dict.fromkeys(("POS", "RP", "TO"), "prt"),
    **dict.fromkeys(("MD", "VB", "VBD", "VBG", "VBN", "VBP", "VBZ"), "verb"),
    **dict.fromkeys(("FW", "LS", "SYM", "UH"), "x"),
}
"""The universal tag of each Penn Treebank tag; all others are punctuation."""

UNIVERSAL_DEPENDENCIES: Mapping[str, str] = {
    "aux": "verb",
    "cconj": "conj",
    "intj": "x",
    "part": "prt",
    "propn": "noun",
    "punct": ".",
    "sconj": "adp",
    "sym": "x",
}
"""The tags of Universal Dependencies, which spaCy uses, that differ from the universal tags."""


def find_pos_lexicon() -> Path | None:
    """Return the path of Brill's lexicon in an installed textblob; None if textblob is not installed."""
    spec = find_spec("textblob")
    folders = spec.submodule_search_locations if spec else None
    candidates = (Path(folder) / "en" / "en-lexicon.txt" for folder in folders or ())
    return next((path for path in candidates if path.is_file()), None)


def read_brill(path: Path) -> dict[str, str]:
    """Return the universal tag of every word in lower case; a lower-case entry takes precedence over "May" and
    "US".
    """
    tags: dict[str, str] = {}
    capitalised: dict[str, str] = {}
    for line in path.read_text("utf-8").splitlines():
        word, _, rest = line.partition(" ")
        if not rest or line.startswith(";;;"):
            continue
        tag = PENN.get(rest.split()[0], ".")
        entries = tags if word == word.lower() else capitalised
        entries.setdefault(word.lower(), tag)
    return capitalised | tags


def universal_tag(text: str, where: str) -> str:
    """Return the universal tag for the name of a tag.

    >>> universal_tag("PROPN", "line 1")
    'noun'

    Raises:
        WeatherglassError: if the tag is unknown; the message names its place.
    """
    tag = text.lower()
    tag = UNIVERSAL_DEPENDENCIES.get(tag, tag)
    if tag not in UNIVERSAL:
        raise WeatherglassError(
            f"{where}: unknown part of speech '{text}'{did_you_mean(tag, UNIVERSAL)} "
            f"(known: {', '.join(UNIVERSAL)}, and those of Universal Dependencies)"
        )
    return tag


MOST_DIGITS = 9
"""The largest number of digits in a number of senses."""


@dataclass(frozen=True, slots=True)
class Lexicon:
    """Senses and parts of speech of words; None if no source is installed."""

    senses: Mapping[str, int] | None
    """The number of senses of each word; words without senses are left out."""
    parts: Mapping[str, str] | None
    """The universal tag of each word; unlisted words are left out."""
    sources: tuple[str, ...] = ()
    """The sources, one line each."""
    missing: tuple[str, ...] = ()
    """The missing sources and how to install them, one line each."""

    def knows(self, word: str) -> bool:
        """Return whether `word` is in every available source."""
        return (self.senses is None or word in self.senses) and (self.parts is None or word in self.parts)


def find_lexicon(words: Iterable[str], senses: Path | None = None, parts: Path | None = None) -> Lexicon:
    """Return senses and parts of speech of `words`, from the given files or from installed dictionaries.

    Args:
        words: the words to look up.
        senses: a file of two columns, word and number of senses, instead of WordNet.
        parts: a file of two columns, word and tag, instead of Brill's lexicon.

    Returns:
        The lexicon. A missing source is not an error; the regression omits its feature.

    Raises:
        WeatherglassError: if a given file cannot be read.
    """
    wanted = set(words)
    sources: list[str] = []
    missing: list[str] = []
    counts = _senses(wanted, senses, sources, missing)
    tags = _parts(wanted, parts, sources, missing)
    return Lexicon(counts, tags, tuple(sources), tuple(missing))


def _senses(
    words: set[str], path: Path | None, sources: list[str], missing: list[str]
) -> dict[str, int] | None:
    if path:
        sources.append(f"senses: {path}")
        return {word: n for word, n in _sense_counts(path) if word in words and n > 0}
    folder = find_wordnet()
    if folder is None:
        missing.append(
            f"no number of senses: WordNet is not installed (run: {INSTALL_WORDNET}; or --senses FILE)"
        )
        return None
    sources.append(f"senses: WordNet in {folder}")
    index = WordNet(folder)
    return {word: n for word in words if (n := index.senses(word))}


def _parts(
    words: set[str], path: Path | None, sources: list[str], missing: list[str]
) -> dict[str, str] | None:
    if path:
        sources.append(f"parts of speech: {path}")
        return {word: tag for word, tag in _tags(path) if word in words}
    lexicon = find_pos_lexicon()
    if lexicon is None:
        missing.append(
            f"no parts of speech: Brill's lexicon is not installed (run: {INSTALL}; or --pos FILE)"
        )
        return None
    sources.append("parts of speech: Brill's lexicon (Brown corpus and Penn Treebank) in textblob")
    return {word: tag for word, tag in read_brill(lexicon).items() if word in words}


def _sense_counts(path: Path) -> Iterator[tuple[str, int]]:
    for line, word, value in _two_columns(path):
        if not value.isdecimal() or len(value) > MOST_DIGITS:
            raise WeatherglassError(f"{path}, line {line}: '{value}' is not a number of senses")
        yield word, int(value)


def _tags(path: Path) -> Iterator[tuple[str, str]]:
    for line, word, value in _two_columns(path):
        yield word, universal_tag(value, f"{path}, line {line}")


def _two_columns(path: Path) -> Iterator[tuple[int, str, str]]:
    """Yield the line number, word and value; blank lines, comments and a heading "word…" are skipped."""
    lines = document_text(path, WeatherglassError).splitlines()
    for number, line in enumerate(lines, 1):
        if not line.strip() or line.startswith("#") or (number == 1 and line.lower().startswith("word\t")):
            continue
        fields = line.split("\t")
        if len(fields) != 2:
            raise WeatherglassError(
                f"{path}, line {number}: has {len(fields)} columns; write a word, a tab and its value"
            )
        yield number, fields[0], fields[1].strip()
