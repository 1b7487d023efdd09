"""Number of senses and most common part of speech of words, from the dictionaries that are installed."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

from weatherglass.errors import WeatherglassError
from weatherglass.languages.lexicon import pos, wordnet
from weatherglass.storage.reading import reading

MOST_DIGITS = 9
"""Of a number of senses."""


@dataclass(frozen=True, slots=True)
class Lexicon:
    """Senses and parts of speech of the given words; None if no source is installed."""

    senses: Mapping[str, int] | None
    """Number of senses; a word without any is left out."""
    parts: Mapping[str, str] | None
    """Universal tag; a word that is not listed is left out."""
    sources: tuple[str, ...] = ()
    """Where each came from, one line each."""
    missing: tuple[str, ...] = ()
    """What is missing and how to install it, one line each."""

    def knows(self, word: str) -> bool:
        """Whether `word` is in every source that there is."""
        return (self.senses is None or word in self.senses) and (self.parts is None or word in self.parts)


def find_lexicon(words: Iterable[str], senses: Path | None = None, parts: Path | None = None) -> Lexicon:
    """Senses and parts of speech of `words`, from the files given or else from what is installed.

    Args:
        words: the words to look up.
        senses: a file of two columns, word and number of senses, instead of WordNet.
        parts: a file of two columns, word and tag, instead of Brill's lexicon.

    Returns:
        The lexicon. A missing source is no error: the regression then omits that feature.

    Raises:
        WeatherglassError: if a file that was named cannot be read.
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
    folder = wordnet.find_wordnet()
    if folder is None:
        missing.append(
            f"no number of senses: WordNet is not installed (run: {wordnet.INSTALL}; or --senses FILE)"
        )
        return None
    sources.append(f"senses: WordNet in {folder}")
    index = wordnet.WordNet(folder)
    return {word: n for word in words if (n := index.senses(word))}


def _parts(
    words: set[str], path: Path | None, sources: list[str], missing: list[str]
) -> dict[str, str] | None:
    if path:
        sources.append(f"parts of speech: {path}")
        return {word: tag for word, tag in _tags(path) if word in words}
    lexicon = pos.find_pos_lexicon()
    if lexicon is None:
        missing.append(
            f"no parts of speech: Brill's lexicon is not installed (run: {pos.INSTALL}; or --pos FILE)"
        )
        return None
    sources.append("parts of speech: Brill's lexicon (Brown corpus and Penn Treebank) in textblob")
    return {word: tag for word, tag in pos.read_brill(lexicon).items() if word in words}


def _sense_counts(path: Path) -> Iterator[tuple[str, int]]:
    for line, word, value in _two_columns(path):
        if not value.isdecimal() or len(value) > MOST_DIGITS:
            raise WeatherglassError(f"{path}, line {line}: '{value}' is no number of senses")
        yield word, int(value)


def _tags(path: Path) -> Iterator[tuple[str, str]]:
    for line, word, value in _two_columns(path):
        yield word, pos.universal_tag(value, f"{path}, line {line}")


def _two_columns(path: Path) -> Iterator[tuple[int, str, str]]:
    """Line number, word and value; blank lines, comments and a heading "word…" are skipped."""
    with reading(path, WeatherglassError, "cannot be read: the file"):
        lines = path.read_text("utf-8").splitlines()
    for number, line in enumerate(lines, 1):
        if not line.strip() or line.startswith("#") or (number == 1 and line.lower().startswith("word\t")):
            continue
        fields = line.split("\t")
        if len(fields) != 2:
            raise WeatherglassError(
                f"{path}, line {number}: {len(fields)} columns; it should be a word, a tab and its value"
            )
        yield number, fields[0], fields[1].strip()
