"""Synonyms that enlarge attribute sets before their covariance is estimated, and that enter nothing else."""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from importlib.resources import files
from pathlib import Path

from weatherglass.errors import CatalogueError, UnknownNameError, reason_of
from weatherglass.languages.lexicon import wordnet
from weatherglass.storage.reading import exists, require_regular_file, short_reason

Synonyms = Mapping[str, tuple[str, ...]]
"""Other words for a word."""

CATALOGUE = "catalogue"
WORDNET = "wordnet"


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
        shipped = files("weatherglass.languages.en").joinpath("synonyms.toml")
        return _from_toml(shipped.read_text(encoding="utf-8"), "synonyms.toml")
    if source == WORDNET:
        return _installed_wordnet()
    path = Path(source)
    if path.is_dir():
        return wordnet.read_synonyms(path)
    if exists(path):
        require_regular_file(path, CatalogueError)
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
    except (
        ValueError,
        RecursionError,
    ) as error:  # a TOMLDecodeError is a ValueError, as is a number of 5 000 digits
        raise CatalogueError(f"{where}: {short_reason(error)}") from None
    for word, synonyms in table.items():
        if not isinstance(synonyms, list) or not all(
            isinstance(synonym, str) and synonym for synonym in synonyms
        ):
            raise CatalogueError(
                f'{where}: \'{word}\' should be a list of words, such as {word} = ["…", "…"]'
            )
    return {word: tuple(dict.fromkeys(synonyms)) for word, synonyms in table.items()}


def _installed_wordnet() -> Synonyms:
    folder = wordnet.find_wordnet()
    if folder is None:
        raise UnknownNameError(
            f"WordNet is not installed; run: {wordnet.INSTALL} (or use --synonyms {CATALOGUE})"
        )
    return wordnet.read_synonyms(folder)
