"""Whatever is wrong with an argument of a public function, the caller sees a WeatherglassError of one line."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from scipy.sparse import csr_matrix

import weatherglass as wg
from weatherglass.errors import WeatherglassError
from weatherglass.metrics.weat.association import Association
from weatherglass.stats.permutation import Budget

WORDS = wg.load_test("weat7").texts
VECTORS = {word: np.cos(np.arange(4) * (place + 1)) for place, word in enumerate(WORDS)}
X, Y, A, B = [[1.0, 0.1], [1.0, 0.2]], [[0.1, 1.0], [0.3, 1.0]], [[1.0, 0.0]], [[0.0, 1.0]]
STUDY = 'seeds = 1\npairs = ["gender"]\n[corpora.text]\npath = "no-such-text.txt"\n'
Call = Callable[[Any, Path], object]


class Broken:
    """An object whose content cannot be read."""

    def __array__(self, *_: object, **__: object) -> Any:
        raise RuntimeError("no content")


def with_first(value: Any) -> dict[Any, Any]:
    """Vectors by word, of which the first is this."""
    return {**VECTORS, WORDS[0]: value}


def with_last(key: Any, value: Any = VECTORS[WORDS[0]]) -> dict[Any, Any]:
    """Vectors by word, and one more entry at the end."""
    return {**VECTORS, key: value}


def frame(**columns: Any) -> Any:
    import pandas

    return pandas.DataFrame(columns)


MODELS: dict[str, Any] = {
    "None": None,
    "a number": 5,
    "a float": 1.5,
    "a boolean": True,
    "bytes": b"vectors:glove.txt",
    "an empty text": "",
    "a text of blanks": "  ",
    "a NUL in a path": "a\0b.txt",
    "a path that is not there": "no/such/file.txt",
    "an empty list": [],
    "an empty tuple": (),
    "a list of None": [None],
    "a list of lists": [["wordllama"]],
    "an empty dict": {},
    "a set": {"wordllama"},
    "a generator": (name for name in ("wordllama",)),
    "an object": object(),
    "a class": dict,
    "a module": np,
    "a vector": np.ones(3),
    "a matrix": np.ones((3, 2)),
    "a sparse matrix": csr_matrix(np.eye(2)),
    "models by number": {1: "wordllama"},
    "models by None": {None: "wordllama"},
    "a model by name that is None": {"mine": None},
    "a model by an empty name": {"": VECTORS},
    "keys of bytes": {word.encode(): vector for word, vector in VECTORS.items()},
    "keys of two types": with_last(3),
    "a key that is None": with_last(None),
    "a key that is a tuple": with_last(("a", "b")),
    "a vector that is None": with_last("last", None),
    "a vector that is text": with_last("last", "text"),
    "a vector that is a number": with_last("last", 1.0),
    "a vector that is a dict": with_last("last", {"a": 1}),
    "a vector that is longer": with_last("last", [1.0] * 5),
    "a vector that is a matrix": with_last("last", np.ones((2, 2))),
    "a vector that is empty": with_last("last", []),
    "a vector of texts": with_first(["a", "b", "c", "d"]),
    "a vector of complex numbers": with_first(np.ones(4) * 1j),
    "complex numbers": {word: vector * 1j for word, vector in VECTORS.items()},
    "a vector of objects": with_first(np.array([None, {}, [], "a"], dtype=object)),
    "a vector of dates": with_first(np.array(["2020-01-01"] * 4, dtype="datetime64[D]")),
    "a vector that cannot be read": with_last("last", Broken()),
    "a vector of ragged lists": with_first([[1.0], [1.0, 2.0]]),
    "a vector with NaN": with_last("he", [np.nan] * 4),
    "a vector with infinity": with_last("he", [np.inf] * 4),
    "a vector that is a sparse row": with_last("last", csr_matrix(np.ones((1, 4)))),
    "an empty frame": frame(),
    "a frame without words": frame(a=[1.0, 2.0]),
    "a frame of complex numbers": frame(word=["a", "b"], x=[1j, 2j]),
    "a function that takes no texts": lambda: None,
    "a function that gives None": lambda _: None,
    "a function that gives a vector": lambda texts: np.ones(len(texts)),
    "a function that gives texts": lambda texts: [["a"] for _ in texts],
    "a function that gives complex numbers": lambda texts: np.ones((len(texts), 2)) * 1j,
    "a function that gives ragged lists": lambda texts: [[1.0] * (1 + n % 2) for n, _ in enumerate(texts)],
    "a function that gives a generator": lambda texts: ([1.0] for _ in texts),
    "a function that gives objects": lambda texts: [[object()] for _ in texts],
    "a function that gives too few rows": lambda texts: np.ones((len(texts) - 1, 2)),
    "a function that raises": lambda _: 1 / 0,
}
"""What is given as a model."""

TESTS: dict[str, Any] = {
    "None": None,
    "a number": 7,
    "bytes": b"weat7",
    "an empty text": "",
    "a name that is not known": "weat77",
    "a NUL": "a\0b",
    "an empty list": [],
    "a list of None": [None],
    "a list of numbers": [7],
    "a list of lists": [["weat7"]],
    "a dict": {"weat7": 1},
    "a set": {"weat7"},
    "a generator": (name for name in ("weat7",)),
    "an array": np.array(["weat6", "weat7"]),
}
"""What is given as tests."""

METRICS: dict[str, Any] = {
    "None": None,
    "a number": 5,
    "bytes": b"mac",
    "an empty text": "",
    "a name that is not known": "makk",
    "an empty list": [],
    "a list of None": [None],
    "a list of lists": [["mac"]],
    "a dict": {"mac": 1},
    "a generator": (name for name in ("mac",)),
    "an object": object(),
    "a class": int,
}
"""What is given as metrics."""

PATHS: dict[str, Any] = {
    "a number": 5,
    "bytes": b"folder",
    "a list": ["folder"],
    "a NUL": "a\0b",
    "an object": object(),
}
"""What is given as a file or folder, besides None."""

SETTINGS: dict[str, dict[str, Any]] = {
    "jobs below 1": {"jobs": 0},
    "jobs of -1": {"jobs": -1},
    "jobs of 1.5": {"jobs": 1.5},
    "jobs as text": {"jobs": "2"},
    "jobs of None": {"jobs": None},
    "jobs of True": {"jobs": True},
    "jobs as a list": {"jobs": [2]},
    "scheduler as a number": {"scheduler": 5},
    "scheduler as bytes": {"scheduler": b"tcp://localhost:1"},
    "scheduler with a NUL": {"scheduler": "a\0b"},
    "shared_dir without a scheduler": {"shared_dir": "folder"},
    "shared_dir as a number": {"shared_dir": 5, "scheduler": "dask:tcp://localhost:1"},
    "settings as text": {"settings": "two-sided"},
    "settings as a dict": {"settings": {"alpha": 0.05}},
    "settings as a class": {"settings": wg.Settings},
    "progress as a number": {"progress": 5},
    "progress as text": {"progress": "yes"},
    "command as a number": {"command": 5},
    "command of numbers": {"command": [5]},
    "measures as a number": {"measures": 5},
    "a keyword that is not known": {"test": "weat7"},
    "another keyword that is not known": {"xyzzy": 1},
}
"""Keywords of `run` alone."""

FIELDS: dict[str, dict[str, Any]] = {
    "alpha as text": {"alpha": "x"},
    "alpha of None": {"alpha": None},
    "alpha of NaN": {"alpha": float("nan")},
    "alpha as an array": {"alpha": np.array([0.01, 0.05])},
    "alpha of True": {"alpha": True},
    "alpha as a complex number": {"alpha": 0.05j},
    "precision as text": {"precision": "0.01"},
    "ddof as text": {"ddof": "1"},
    "ddof as an array": {"ddof": np.array([0, 1])},
    "ddof as a list": {"ddof": [1]},
    "seed as text": {"seed": "0"},
    "seed below 0": {"seed": -1},
    "seed of 1.5": {"seed": 1.5},
    "family of 1.5": {"family": 1.5},
    "smallest as text": {"smallest": "0.2"},
    "budget as a number": {"budget": 5},
    "significance as a number": {"significance": 5},
    "significance as a list": {"significance": ["exact"]},
    "significance as an array": {"significance": np.array(["exact", "auto"])},
    "alternative of None": {"alternative": None},
    "permute as a number": {"permute": 1},
    "correction as a list": {"correction": ["holm"]},
    "covariance as a list": {"covariance": ["glasso"]},
    "covariance of None": {"covariance": None},
    "synonyms as a number": {"synonyms": 5},
    "synonyms as a list": {"synonyms": ["a"]},
    "synonyms of numbers": {"synonyms": {"he": 5}},
    "synonyms by number": {"synonyms": {5: ["he"]}},
    "ci as a boolean": {"ci": True},
    "trust of None": {"trust": None},
    "profile as a number": {"profile": 5},
    "profile as a list": {"profile": ["wefe"]},
}
"""Fields of `Settings`."""


ARRAYS: dict[str, Any] = {
    "None": None,
    "a number": 5,
    "text": "abc",
    "bytes": b"abc",
    "an empty list": [],
    "a list": [1.0, 2.0],
    "ragged lists": [[1.0], [1.0, 2.0]],
    "texts": [["a", "b"]],
    "a dict": {"a": [1.0, 2.0]},
    "objects": [[object(), object()]],
    "a generator": (row for row in X),
    "complex numbers": [[1j, 1.0], [1.0, 1.0]],
    "a sparse vector": csr_matrix(np.ones((1, 3))),
    "three axes": np.ones((2, 2, 2)),
    "no columns": [[], []],
    "dates": np.array([["2020-01-01"]], dtype="datetime64[D]"),
    "an object that cannot be read": Broken(),
    "another width": np.ones((2, 3)),
    "NaN": [[np.nan, 1.0], [1.0, 1.0]],
}
"""What is given as a matrix."""

TARGETS: dict[str, Any] = {
    "None": None,
    "a number": 5,
    "text": "abc",
    "an empty list": [],
    "a list of None": [None],
    "numbers": [1.0],
    "a dict": {"a": X},
    "a generator": (rows for rows in [X]),
    "words without a model": [["he"]],
    "texts without a model": ["he"],
    "an empty set": [[]],
    "a set that is a dict": [{"a": [1.0, 2.0]}],
}
"""What is given as sets of vectors."""

WORD_SETS: dict[str, Any] = {
    "None": None,
    "a number": 5,
    "text": "abc",
    "a list of texts": ["she"],
    "numbers": [[1.0]],
    "None in a list": [None],
    "an unknown word": [["xyzzy"]],
    "an empty list": [],
    "an empty set": [[]],
}
"""What is given as sets of words."""

MAPPED: dict[str, Any] = {
    "None": None,
    "a number": 5,
    "an empty text": "",
    "bytes": b"he",
    "an empty list": [],
    "numbers": [1, 2],
    "None in a list": ["he", None],
    "words by number": {5: 0.5},
    "facts that are texts": {"he": "much"},
    "facts that are lists of texts": {"he": ["a"]},
    "an object": object(),
    "unknown words": ["xyzzy"],
    "a list of lists": [["he"]],
}
"""What is given as words of a map."""

ATTRIBUTES: dict[str, Any] = {
    "None": None,
    "a number": 5,
    "an unknown name": "weat77",
    "a list of words": ["he", "she"],
    "one list": (["he", "she"],),
    "three lists": (["he"], ["she"], ["it"]),
    "numbers": (1, 2),
    "lists of numbers": ([1, 2], [3, 4]),
    "texts": ("he", "she"),
    "a dict": {"A": ["he"], "B": ["she"]},
    "empty lists": ([], []),
}
"""What is given as the two attribute sets of a map."""

CHOICES: dict[str, Any] = {
    "None": None,
    "a number": 5,
    "an unknown name": ["likeness"],
    "numbers": [1],
    "a dict": {"words": 1},
    "None in a list": [None],
    "a list of lists": [["words"]],
}
"""What is given as choices of a multiverse."""

MULTIVERSE: dict[str, dict[str, Any]] = {
    "a keyword that is not known": {"likenesses": ("cosine",)},
    "alpha as text": {"alpha": "x"},
    "alpha of None": {"alpha": None},
    "seed as text": {"seed": "0"},
    "seed below 0": {"seed": -1},
    "similarities as a number": {"similarities": 5},
    "similarities of numbers": {"similarities": (5,)},
    "similarities of lists": {"similarities": (["cosine"],)},
    "no similarities": {"similarities": ()},
    "statistics as a number": {"statistics": 5},
    "statistics of None": {"statistics": (None,)},
    "covariance as a number": {"covariance": 5},
    "covariance that is not known": {"covariance": "lasso"},
    "progress as a number": {"progress": 5},
    "command as a number": {"command": 5},
    "choices under another name": {"varied": ("words",)},
}
"""Keywords of `multiverse`."""

TRANSFORMS: dict[str, Any] = {
    "None": None,
    "a number": 5,
    "an empty text": "",
    "an empty list": [],
    "None in a list": [None],
    "an unknown name": "center",
    "bytes": b"centre",
    "a list of lists": [["centre"]],
    "a dict": {"centre": 1},
}
"""What is given as transforms."""

STUDIES: dict[str, dict[str, Any]] = {
    "backend as text": {"backend": "processes"},
    "backend as a number": {"backend": 2},
    "progress as a number": {"progress": 5},
    "senses as a number": {"senses": 5},
    "parts as a list": {"parts": ["file"]},
}
"""Keywords of `study`."""

OWN = wg.test(X=["he"], Y=["she"], A=["work"], B=["home"])
NO_TESTS = {
    "a number": 7,
    "bytes": b"weat7",
    "an unknown name": "weat77",
    "several": "weat*",
    "a list": ["weat7"],
}
CALIBRATIONS: dict[str, Any] = {
    "groups: unknown": {"groups": "people"},
    "groups: None": {"groups": None},
    "doses: a number": {"doses": 1},
    "doses: texts": {"doses": ["0", "1"]},
    "doses: one": {"doses": [0.5]},
    "doses: too large": {"doses": [0, 0.5, 2]},
    "doses: not a number": {"doses": [0, 0.5, float("nan")]},
    "pairs: a number": {"pairs": 5},
    "pairs: texts": {"pairs": ["he", "she"]},
    "pairs: unknown": {"pairs": "genders"},
    "controls: text": {"controls": "weat1"},
    "controls: the same words": {"controls": [OWN]},
    "algorithms as a text": {"algorithms": "masked"},
    "algorithms: an unknown name": {"algorithms": ["mask"]},
    "seeds: 1": {"seeds": 1},
    "seeds: a text": {"seeds": "2"},
    "alpha: 2": {"alpha": 2},
    "alpha: a text": {"alpha": "0.05"},
    "jobs: 0": {"jobs": 0},
    "progress as a number": {"progress": 5},
}
"""Keywords of `calibrate`."""

SPECS: dict[str, Any] = {
    "None": None,
    "a number": 5,
    "bytes": b"wordllama",
    "a list": ["wordllama"],
    "an empty text": "",
    "vectors": VECTORS,
    "a NUL": "vectors:a\0b",
    "an unknown option": "wordllama?xyzzy=1",
}
"""What is given as a spec."""

WORD_LISTS: dict[str, Any] = {
    "None": None,
    "a number": 5,
    "an empty text": "",
    "an unknown set": "Flwers",
    "bytes": b"ab",
    "an empty list": [],
    "numbers": [1, 2],
    "None in a list": [None],
    "a list of lists": [["a"]],
    "an empty dict": {},
    "two names": {"A": ["a"], "B": ["b"]},
    "a name that is a number": {5: ["a"]},
    "words that are a number": {"A": 5},
    "a blank word": [" "],
    "an object": object(),
}
"""What is given as the words of a set."""

OWN_TESTS: dict[str, dict[str, Any]] = {
    "name as a number": {"name": 5},
    "name of None": {"name": None},
    "name with a slash": {"name": "a/b"},
    "topic as a number": {"topic": 5},
    "topic of None": {"topic": None},
    "language as a number": {"language": 5},
    "language of None": {"language": None},
    "source as a number": {"source": 5},
    "citation as a list": {"citation": ["a"]},
    "targets besides X": {"targets": [["a"]]},
    "targets as a number": {"targets": 5},
}
"""Keywords of `test`."""

SETS_OF_A_TEST: dict[str, dict[str, Any]] = {
    "targets as a number": {"targets": 5, "attributes": [["a"]]},
    "targets of None": {"targets": None, "attributes": [["a"]]},
    "attributes as a number": {"targets": [["a"]], "attributes": 5},
    "attributes of numbers": {"targets": [["a"]], "attributes": [5]},
}
"""The sets of a test with any number of them."""

OPTIONS: dict[str, dict[str, Any]] = {
    "name as a number": {"name": 5},
    "name that is empty": {"name": ""},
    "identity as a number": {"identity": 5},
    "an option that is not known": {"casing": "lower"},
    "case as a number": {"case": 5},
    "language of None": {"language": None},
}
"""Keywords of `model`."""

MEASURES: dict[str, dict[str, Any]] = {
    "similarity as a number": {"similarity": 5},
    "similarity as a list": {"similarity": ["cosine"]},
    "similarity that is not known": {"similarity": "cosinus"},
    "statistic that is not known": {"statistic": "meen"},
    "statistic of None": {"statistic": None},
}
"""Fields of `Association`."""


def study_file(folder: Path, text: str = STUDY) -> Path:
    """Write the file of a study, which is also a file where a folder is expected."""
    (folder / "study.toml").write_text(text, encoding="utf-8")
    return folder / "study.toml"


def with_frame_of_na(_: object, __: Path) -> object:
    numbers = frame(x=[None])["x"].astype("Int64")
    return wg.model(frame(word=["he"], x=numbers)).encode(["he"])


ANY_MODEL = {name: given for name, given in MODELS.items() if given is not None}
NO_PATHS = {"None": None, **PATHS}
ONE: dict[str, Any] = {"this": None}
"""For a call that is wrong in one way."""

GROUPS = {"A": WORDS[:3], "B": WORDS[3:6]}
TEXTS: dict[str, Any] = {
    "a number": 5,
    "bytes": b"war",
    "a path that is not there": "no-such-file.csv",
    "an empty text": "",
    "a NUL in a path": "a\0b.csv",
    "an empty list": [],
    "a list of None": [None],
    "a list of numbers": [1, 2],
    "an empty dict": {},
    "a dict of texts": {"topic": "text"},
    "a text twice": ["{name}", "{name}"],
    "an empty text in a list": ["{name}", ""],
    "an array": np.ones(3),
}
"""What is given as queries or passages."""
NAME_GROUPS: dict[str, Any] = {
    "None": None,
    "a number": 5,
    "an unknown name": "rase",
    "an empty text": "",
    "a NUL in a path": "a\0b.csv",
    "an empty dict": {},
    "one group": {"A": ["a", "b"]},
    "a group of one name": {"A": ["a", "b"], "B": ["c"]},
    "a name in two groups": {"A": ["a", "b"], "B": ["b", "c"]},
    "a name that is a number": {"A": [1, 2], "B": ["b", "c"]},
    "names in a text": {"A": "ab", "B": "cd"},
    "a key that is a number": {1: ["a", "b"], 2: ["c"]},
    "a group without names": {"A": {}, "B": ["b", "c"]},
    "a pronoun that is a number": {"A": {"names": ["a", "b"], "they": 5}, "B": ["b", "c"]},
}
"""What is given as groups of names."""
RANKINGS: dict[str, Any] = {
    "top: 0": {"top": 0},
    "top: a text": {"top": "many"},
    "top: None": {"top": None},
    "alpha: 2": {"alpha": 2},
    "alpha: a text": {"alpha": "0.05"},
    "smallest: 1": {"smallest": 1},
    "background: not there": {"background": "no-such-file.txt"},
    "background: a number": {"background": 5},
    "scores: with texts": {"scores": "scores.csv"},
    "jobs: 0": {"jobs": 0},
    "progress: a text": {"progress": "yes"},
    "command: a text": {"command": "weatherglass rank"},
}
"""Keywords of `rank`."""

CALLS: list[tuple[str, Call, dict[str, Any]]] = [
    ("run, models", lambda given, _: wg.run(given, "weat7"), MODELS),
    ("run, tests", lambda given, _: wg.run(VECTORS, given), TESTS),
    ("run, tests, an empty folder", lambda _, path: wg.run(VECTORS, str(path)), ONE),
    ("run, metrics", lambda given, _: wg.run(VECTORS, "weat7", given), METRICS),
    ("run, folder", lambda given, _: wg.run(VECTORS, "weat7", folder=given), PATHS),
    ("run, folder, a file", lambda _, path: wg.run(VECTORS, "weat7", folder=study_file(path)), ONE),
    ("run", lambda given, _: wg.run(VECTORS, "weat7", **given), SETTINGS | FIELDS),
    ("Settings", lambda given, _: wg.Settings(**given), FIELDS),
    ("Settings.changed", lambda given, _: wg.Settings().changed(alphas=given), ONE),
    ("Settings, budget", lambda given, _: wg.Settings(budget=Budget(seconds=given)), {"text": "1", **ONE}),
    ("model", lambda given, _: wg.model(given).encode(list(WORDS)), MODELS),
    ("model", lambda given, _: wg.model(VECTORS, **given), OPTIONS),
    ("model, an option of a function", lambda _, __: wg.model(len, case="lower"), ONE),
    ("model, a frame with NA", with_frame_of_na, ONE),
    ("associate, X", lambda given, _: wg.associate(given, Y, A, B), ARRAYS),
    ("associate, B", lambda given, _: wg.associate(X, Y, A, given), ARRAYS),
    ("associate, measure", lambda given, _: wg.associate(X, Y, A, B, given), METRICS),
    ("associate, settings", lambda given, _: wg.associate(X, Y, A, B, settings=given), {"a number": 5}),
    (
        "associate",
        lambda given, _: wg.associate(X, Y, A, B, **given),
        {**FIELDS, "unknown": {"alphas": 0.05}},
    ),
    ("measure, metric", lambda given, _: wg.measure(given, [X, Y], [A, B]), METRICS),
    ("measure, targets", lambda given, _: wg.measure("mac", given, [A, B]), TARGETS),
    ("measure, words", lambda given, _: wg.measure("mac", [["he"]], given, VECTORS), WORD_SETS),
    ("measure, model", lambda given, _: wg.measure("mac", [["he"]], [["she"]], given), ANY_MODEL),
    ("measure, two models", lambda _, __: wg.measure("mac", [["he"]], [["she"]], [VECTORS, VECTORS]), ONE),
    (
        "measure, settings",
        lambda given, _: wg.measure("mac", [X], [A, B], settings=given),
        {"text": "a"},
    ),
    ("measure, an unknown keyword", lambda _, __: wg.measure("mac", [X], [A, B], alphas=0.05), ONE),
    ("word_map, words", lambda given, _: wg.word_map(given, "weat7", VECTORS), MAPPED),
    ("word_map, attributes", lambda given, _: wg.word_map(["he"], given, VECTORS), ATTRIBUTES),
    ("word_map, model", lambda given, _: wg.word_map(["he"], "weat7", given), MODELS),
    ("word_map, model first", lambda given, _: wg.word_map(given, ["he"], "weat7"), MODELS),
    ("words, words", lambda given, _: wg.words(given, "weat7", VECTORS), MAPPED),
    (
        "word_map, correction",
        lambda given, _: wg.word_map(["he"], "weat7", VECTORS, correction=given),
        {"a number": 5, "a list": ["holm"], "None": None},
    ),
    ("intersection, test", lambda given, _: wg.intersection(given, VECTORS), NO_TESTS | {"None": None}),
    ("intersection, model", lambda given, _: wg.intersection("weat7", given), MODELS),
    (
        "intersection, progress",
        lambda given, _: wg.intersection("weat7", VECTORS, progress=given),
        {"a number": 5},
    ),
    ("word_map, progress", lambda given, _: wg.word_map(["he"], progress=given), {"a number": 5}),
    ("multiverse, models", lambda given, _: wg.multiverse(given, "weat7", ()), MODELS),
    ("multiverse, tests", lambda given, _: wg.multiverse(VECTORS, given, ()), TESTS),
    ("multiverse, choices", lambda given, _: wg.multiverse(VECTORS, "weat7", given), CHOICES),
    ("multiverse, folder", lambda given, _: wg.multiverse(VECTORS, "weat7", (), folder=given), PATHS),
    ("multiverse", lambda given, _: wg.multiverse(VECTORS, "weat7", (), **given), MULTIVERSE),
    ("rank, models", lambda given, _: wg.rank(given), MODELS),
    ("rank, queries", lambda given, _: wg.rank(VECTORS, given, ["{name}"], GROUPS), TEXTS),
    ("rank, passages", lambda given, _: wg.rank(VECTORS, ["war"], given, GROUPS), TEXTS),
    ("rank, groups", lambda given, _: wg.rank(VECTORS, ["war"], ["{name}"], given), NAME_GROUPS),
    ("rank, folder", lambda given, _: wg.rank(VECTORS, ["war"], ["{name}"], GROUPS, folder=given), PATHS),
    ("rank", lambda given, _: wg.rank(VECTORS, ["war"], ["{name}"], GROUPS, **given), RANKINGS),
    ("mitigate, model", lambda given, _: wg.mitigate(given, "centre"), MODELS),
    ("mitigate, two models", lambda _, __: wg.mitigate([VECTORS, VECTORS], "centre"), ONE),
    ("mitigate, transforms", lambda given, _: wg.mitigate(VECTORS, given), TRANSFORMS),
    ("mitigate, progress", lambda given, _: wg.mitigate(VECTORS, "centre", progress=given), {"a number": 5}),
    ("study, study", lambda given, path: wg.study(given, path), NO_PATHS),
    ("study, study, a folder", lambda _, path: wg.study(path, path / "out"), ONE),
    ("study, study, not there", lambda _, path: wg.study(path / "no.toml", path), ONE),
    (
        "study, study, a file",
        lambda text, path: wg.study(study_file(path, text), path),
        {"a": "seeds =", "b": ""},
    ),
    ("study, folder", lambda given, path: wg.study(study_file(path), given), NO_PATHS),
    ("study", lambda given, path: wg.study(study_file(path), path, **given), STUDIES),
    ("calibrate, study", lambda given, path: wg.calibrate(given, OWN, folder=path), PATHS),
    ("calibrate, test", lambda given, path: wg.calibrate(study_file(path), given, folder=path), NO_TESTS),
    (
        "calibrate, metrics",
        lambda given, path: wg.calibrate(study_file(path), OWN, (), given, folder=path),
        METRICS,
    ),
    ("calibrate, folder", lambda given, path: wg.calibrate(study_file(path), OWN, folder=given), NO_PATHS),
    (
        "calibrate",
        lambda given, path: wg.calibrate(study_file(path), OWN, **{"folder": path} | given),
        CALIBRATIONS,
    ),
    ("load_run", lambda given, _: wg.load_run(given), NO_PATHS),
    ("load_run, not there", lambda _, path: wg.load_run(path / "no run"), ONE),
    ("load_run, an empty folder", lambda _, path: wg.load_run(path), ONE),
    ("load_run, a file", lambda _, path: wg.load_run(study_file(path)), ONE),
    ("load_study", lambda given, _: wg.load_study(given), NO_PATHS),
    ("load_study, not there", lambda _, path: wg.load_study(path / "no study"), ONE),
    ("load_study, an empty folder", lambda _, path: wg.load_study(path), ONE),
    ("load_study, a file", lambda _, path: wg.load_study(study_file(path)), ONE),
    ("load_test", lambda given, _: wg.load_test(given), {**TESTS, "two": "weat[67]"}),
    ("load_test, an empty file", lambda _, path: wg.load_test(study_file(path, "")), ONE),
    ("list_tests", lambda given, _: wg.list_tests(given), NO_PATHS | {"a NUL": 0}),
    ("load_encoder", lambda given, _: wg.load_encoder(given), SPECS),
    ("test, X", lambda given, _: wg.test(given, ["a"], ["b"], ["c"]), WORD_LISTS),
    ("test", lambda given, _: wg.test(["a"], ["b"], ["c"], ["d"], **given), OWN_TESTS),
    ("test, any number of sets", lambda given, _: wg.test(**given), SETS_OF_A_TEST),
    (
        "Association.parse",
        lambda given, _: Association.parse(given),
        {"None": None, "a number": 5, "an unknown name": "cosine/meen", "an empty text": ""},
    ),
    ("Association", lambda given, _: Association(**given), MEASURES),
]
"""Function and argument, the call with something and an empty folder, what is given by name."""

CASES = {f"{what}: {name}": (call, given) for what, call, values in CALLS for name, given in values.items()}


@pytest.mark.parametrize("case", CASES)
def test_a_wrong_argument_is_an_error_of_one_line(case: str, tmp_path: Path) -> None:
    call, given = CASES[case]
    with pytest.raises(WeatherglassError) as raised:
        call(given, tmp_path)
    text = str(raised.value)
    assert text.strip(), "the line says nothing"
    assert text.isprintable()
    assert len(text) < 1200


def test_every_public_function_is_there() -> None:
    called = {what.partition(",")[0].partition(".")[0] for what, _, _ in CALLS}
    results = {"Test", "Result", "Run", "Multiverse", "Ranking", "StudyResult", "WeatherglassError"}
    assert called == {*wg.__all__, "Association"} - results
    assert len(CASES) > 80


@pytest.mark.parametrize("jobs", [1, 2, np.int64(2)])
def test_jobs_is_a_whole_number_of_at_least_one(jobs: int) -> None:
    assert wg.run(VECTORS, "weat7", jobs=jobs).results


def test_a_measure_is_a_metric() -> None:
    measure = Association("euclidean", "median")
    assert wg.associate(X, Y, A, B, measure).metric == "euclidean/median"
    assert wg.run(VECTORS, "weat7", measure).results[0].metric == "euclidean/median"
