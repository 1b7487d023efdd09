"""Synonyms that enlarge attribute sets before their covariance is estimated, and that enter nothing else."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterator, Mapping
from importlib.resources import files
from pathlib import Path

from weatherglass.errors import CatalogueError, UnknownNameError, reason_of

Synonyms = Mapping[str, tuple[str, ...]]
"""Other words for a word."""

CATALOGUE = "catalogue"
WORDNET = "wordnet"
PARTS = ("noun", "verb", "adj", "adv")


def load_synonyms(source: str | Path) -> Synonyms:
    """The synonyms that a name or a path stands for.

    Args:
        source: "catalogue" for the list that comes with weatherglass (the attribute words of weat1 to weat10),
            "wordnet" for an installed WordNet, the path of a WordNet folder, or that of a TOML file with a line
            such as `joy = ["happiness", "glee"]` for each word.

    Raises:
        UnknownNameError: if WordNet is not installed or there is no such file.
        CatalogueError: if the file is malformed, naming the word.
    """
    if source == CATALOGUE:
        shipped = files("weatherglass.catalogue").joinpath("synonyms.toml")
        return _from_toml(shipped.read_text(encoding="utf-8"), "synonyms.toml")
    if source == WORDNET:
        return _installed_wordnet()
    path = Path(source)
    if path.is_dir():
        return _from_wordnet(path)
    try:
        return _from_toml(path.read_text(encoding="utf-8"), str(path))
    except OSError as error:
        raise UnknownNameError(
            f"synonyms '{source}': {reason_of(error)} (a TOML file, {CATALOGUE} or {WORDNET} is meant)"
        ) from None
    except UnicodeDecodeError:
        raise CatalogueError(f"{path}: not a text file in UTF-8") from None


def _from_toml(text: str, where: str) -> Synonyms:
    try:
        table = tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        raise CatalogueError(f"{where}: {error}") from None
    for word, others in table.items():
        if not isinstance(others, list) or not all(isinstance(other, str) and other for other in others):
            raise CatalogueError(
                f'{where}: \'{word}\' should be a list of words, such as {word} = ["…", "…"]'
            )
    return {word: tuple(dict.fromkeys(others)) for word, others in table.items()}


def _installed_wordnet() -> Synonyms:
    from weatherglass.wordnet import INSTALL, find_wordnet

    folder = find_wordnet()
    if folder is None:
        raise UnknownNameError(f"WordNet is not installed; run: {INSTALL} (or use --synonyms {CATALOGUE})")
    return _from_wordnet(folder)


def _from_wordnet(folder: Path) -> Synonyms:
    """Every single word's fellows in its synsets, over all senses and parts of speech.

    Terms of several words are left out: what a model makes of them is a phrase, not another word.
    """
    found: dict[str, dict[str, None]] = {}
    for part in PARTS:
        for words in _synsets(folder / f"data.{part}"):
            for word in words:
                others = (other for other in words if other != word)
                found.setdefault(word, {}).update(dict.fromkeys(others))
    return {word: tuple(others) for word, others in found.items() if others}


def _synsets(path: Path) -> Iterator[list[str]]:
    """The single words of each line of a data file (wndb(5)): offset, file, type, count in hex, word, id, word, …"""
    try:
        lines = path.read_text(encoding="utf-8").splitlines()
    except (OSError, UnicodeDecodeError):
        raise CatalogueError(
            f"{path}: not a data file of WordNet; its folder holds data.noun and so on"
        ) from None
    for line in lines:
        if line.startswith("  "):  # the licence
            continue
        fields = line.split(" ")
        try:
            terms = fields[4 : 4 + 2 * int(fields[3], 16) : 2]
        except (IndexError, ValueError):
            raise CatalogueError(f"{path}: not a data file of WordNet, at '{line[:40]}'") from None
        # An adjective may end in a marker of where it stands: (a), (p) or (ip).
        yield [re.sub(r"\((a|p|ip)\)$", "", term) for term in terms if "_" not in term]
