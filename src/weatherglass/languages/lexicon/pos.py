"""The most common part of speech of a word, in the 12-tag universal set of Petrov et al. (2012).

Du et al. count tags in the Brown corpus, which no registry carries. The nearest installable thing is the lexicon of
Brill's tagger, the likeliest tag of each word in the Brown corpus and the Penn Treebank, a plain text file inside the
PyPI package textblob (MIT). Read here as data: textblob itself is never imported.
"""

from __future__ import annotations

from collections.abc import Mapping
from importlib.util import find_spec
from pathlib import Path

from weatherglass.errors import WeatherglassError
from weatherglass.registry import did_you_mean

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
"""Penn Treebank tags as universal ones; everything that is not named here is punctuation."""

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
"""The later tag set, which spaCy and others write, where it differs."""


def find_pos_lexicon() -> Path | None:
    """Brill's lexicon in an installed textblob."""
    spec = find_spec("textblob")
    folders = spec.submodule_search_locations if spec else None
    candidates = (Path(folder) / "en" / "en-lexicon.txt" for folder in folders or ())
    return next((path for path in candidates if path.is_file()), None)


def read_brill(path: Path) -> dict[str, str]:
    """Word and universal tag of every entry, lower-cased; the entry in lower case wins over "May" and "US"."""
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
    """`text` as one of the twelve tags.

    >>> universal_tag("PROPN", "line 1")
    'noun'

    Raises:
        WeatherglassError: saying where the unknown tag stands.
    """
    tag = text.lower()
    tag = UNIVERSAL_DEPENDENCIES.get(tag, tag)
    if tag not in UNIVERSAL:
        raise WeatherglassError(
            f"{where}: unknown part of speech '{text}'{did_you_mean(tag, UNIVERSAL)} "
            f"(known: {', '.join(UNIVERSAL)}, and those of Universal Dependencies)"
        )
    return tag
