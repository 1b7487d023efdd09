"""A study as a file: which corpora, algorithms, seeds, base pairs and target words."""

from __future__ import annotations

import dataclasses
import tomllib
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from weatherglass.errors import CorpusError, unreadable
from weatherglass.registry import one_of, suggestion
from weatherglass.reliability.corpus.corpus import CorpusSettings
from weatherglass.reliability.corpus.text import Tokeniser
from weatherglass.reliability.lists import FREQUENT
from weatherglass.reliability.scoring.scores import NEIGHBOURS
from weatherglass.reliability.training.train import ALGORITHMS, Algorithm, Settings, default_settings

TARGETS = ("occupations", "occupations_1950", "adjectives")


@dataclass(frozen=True)
class Study:
    """Corpora × algorithms × seeds × sets of base pairs."""

    name: str
    corpora: Mapping[str, tuple[Path, CorpusSettings]] = field(default_factory=dict)
    algorithms: Mapping[Algorithm, Settings] = field(default_factory=dict)
    seeds: tuple[int, ...] = tuple(range(1, 9))
    pairs: tuple[str, ...] = ("gender", "sexual_orientation")
    """Names of ours, or files."""
    targets: tuple[str, ...] = TARGETS
    """Names of ours, or files."""
    frequent: int | str = FREQUENT
    """How many of a corpus's most frequent words stand for its vocabulary, or a file of such words."""
    neighbours: int = NEIGHBOURS
    min_frequency: int = 1
    """Rarer words are no targets; they stay neighbours."""
    embeddings: Mapping[str, str] = field(default_factory=dict)
    """Brought from elsewhere: "corpus/algorithm" and a glob, one file per seed."""


def read_study(path: Path, corpora: Path | None = None) -> Study:
    """A study from a TOML file; paths in it are relative to its folder.

    Args:
        path: the file.
        corpora: the folder that the paths of corpora are relative to, if it is another.

    Raises:
        CorpusError: if the file cannot be understood; the text names the entry.
    """
    try:
        content = tomllib.loads(path.read_text(encoding="utf-8"))
    except OSError as error:
        raise CorpusError(unreadable(path, error)) from None
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise CorpusError(f"{path}: not a TOML file ({error})") from None
    known = {entry.name for entry in dataclasses.fields(Study)} | {"training"}
    _check_names(str(path), content, known)
    try:
        return _study(path, content, corpora or path.parent)
    except (TypeError, AttributeError) as error:
        raise CorpusError(f"{path}: an entry has the wrong kind of value ({error})") from None


def _study(path: Path, content: dict[str, Any], sources: Path) -> Study:
    base = path.parent
    corpora = {
        name: _corpus(path, name, entry, sources) for name, entry in content.get("corpora", {}).items()
    }
    embeddings = {
        name: str(base / pattern) if not Path(pattern).is_absolute() else pattern
        for name, pattern in content.get("embeddings", {}).items()
    }
    if not corpora and not embeddings:
        raise CorpusError(f'{path}: no corpus; add a table [corpora.NAME] with path = "…"')
    for name in [*corpora, *embeddings]:
        if ("/" in name and name not in embeddings) or name.startswith("."):
            raise CorpusError(f"{path}: '{name}' cannot be the name of a corpus; use letters and digits")
    for name in embeddings:
        if name.count("/") != 1:
            raise CorpusError(f"{path}: [embeddings] names '{name}'; it should be \"corpus/algorithm\"")
    training = content.get("training", {})
    _check_training(path, training)
    algorithms = {
        one_of("algorithm", name, ALGORITHMS): _settings(path, name, training)
        for name in _texts(path, content, "algorithms", ("sgns", "glove"))
    }
    if corpora and not algorithms:
        raise CorpusError(f"{path}: algorithms is empty; name one or more of {', '.join(ALGORITHMS)}")
    seeds = content.get("seeds", 8)
    numbers = tuple(range(1, seeds + 1)) if isinstance(seeds, int) else tuple(dict.fromkeys(seeds))
    if not numbers or not all(isinstance(seed, int) and seed >= 0 for seed in numbers):
        raise CorpusError(
            f"{path}: seeds = {seeds}; it should be how many, at least 1, or a list of whole numbers"
        )
    frequent = content.get("frequent", FREQUENT)
    return Study(
        name=content.get("name", path.stem),
        corpora=corpora,
        algorithms=algorithms,
        seeds=numbers,
        pairs=tuple(_place(base, name) for name in _texts(path, content, "pairs", Study.pairs)),
        targets=tuple(_place(base, name) for name in _texts(path, content, "targets", TARGETS)),
        frequent=_place(base, frequent)
        if isinstance(frequent, str)
        else _number(path, content, "frequent", FREQUENT),
        neighbours=_number(path, content, "neighbours", NEIGHBOURS),
        min_frequency=_number(path, content, "min_frequency", 1, least=0),
        embeddings=embeddings,
    )


def _check_names(where: str, names: Iterable[str], known: set[str]) -> None:
    for name in names:
        if name not in known:
            raise CorpusError(f"{where}: unknown entry '{name}'{suggestion(name, sorted(known))}")


def _texts(path: Path, content: dict[str, Any], name: str, default: Sequence[str]) -> Sequence[str]:
    """A list of texts; a single text is no list of its letters."""
    value = content.get(name, default)
    if not isinstance(value, list | tuple) or not all(isinstance(entry, str) for entry in value):
        raise CorpusError(f'{path}: {name} = {value!r}; it should be a list: {name} = ["…"]')
    return value


def _number(path: Path, content: dict[str, Any], name: str, default: int, least: int = 1) -> int:
    value = content.get(name, default)
    if isinstance(value, bool) or not isinstance(value, int) or value < least:
        raise CorpusError(f"{path}: {name} = {value!r}; it should be a whole number, at least {least}")
    return value


def _place(base: Path, name: str) -> str:
    """A name of ours as it is, a file relative to the study."""
    return str(base / name) if (base / name).is_file() else name


def _corpus(path: Path, name: str, entry: dict[str, Any], sources: Path) -> tuple[Path, CorpusSettings]:
    entry = dict(entry)
    if "path" not in entry:
        raise CorpusError(f"{path}: [corpora.{name}] has no path")
    source = sources / entry.pop("path")
    for_tokens = {key: entry.pop(key) for key in list(entry) if key in _names(Tokeniser)}
    known = (_names(CorpusSettings) - {"tokeniser"}) | _names(Tokeniser) | {"path"}
    _check_names(f"{path}, [corpora.{name}]", entry, known)
    return source, CorpusSettings(Tokeniser(**for_tokens), **entry)


def _check_training(path: Path, training: dict[str, Any]) -> None:
    """Whether everything in [training] is a setting of some algorithm, or the table of one."""
    tables = [name for name, value in training.items() if isinstance(value, dict)]
    settings = set().union(*(_names(type(default_settings(name))) for name in ALGORITHMS))
    for name in training:
        _check_names(f"{path}, [training]", [name], set(ALGORITHMS) if name in tables else settings)


def _settings(path: Path, name: Any, training: dict[str, Any]) -> Settings:
    """Defaults, then what [training] says for all, then what [training.NAME] says."""
    settings = default_settings(name)
    common = {key: value for key, value in training.items() if not isinstance(value, dict)}
    own = training.get(name, {})
    known = _names(type(settings))
    _check_names(f"{path}, [training.{name}]", own, known)
    chosen = {**{key: value for key, value in common.items() if key in known}, **own}
    for key, value in chosen.items():
        whole = isinstance(getattr(settings, key), int)
        if isinstance(value, bool) or not isinstance(value, int if whole else int | float) or value <= 0:
            kind = "a whole number" if whole else "a number"
            raise CorpusError(f"{path}: {key} = {value!r} of {name}; it should be {kind} above 0")
    return dataclasses.replace(settings, **chosen)


def _names(kind: type[Any]) -> set[str]:
    return {entry.name for entry in dataclasses.fields(kind)}


TEMPLATE = """# A study of reliability: weatherglass reliability run {file}

name = "{name}"
seeds = 8                       # how many, from 1; or a list: [3, 5, 8]
algorithms = ["sgns", "glove"]  # also: "cbow"
pairs = ["gender", "sexual_orientation", "affluence"]  # or files: two words a line
targets = ["occupations", "occupations_1950", "adjectives"]  # or files: one word a line
frequent = 10000                # the most frequent words of each corpus; or a file
neighbours = 100                # of nbm
min_frequency = 1               # rarer words are no targets, though they stay neighbours

[corpora.mine]
path = "{corpus}"          # .txt, .gz, .xz, .zst, JSON lines with "body", or a folder of these
min_count = 5
share = 1.0                     # of the documents, evenly spread
split = "words"                 # "whitespace" where the text is tokenised already
lowercase = true
sentences = false               # whether lines are cut into sentences
keep_urls = false

[training]                      # for all algorithms
dimensions = 300

[training.sgns]
window = 5
epochs = 5
negatives = 5
sample = 1e-3
alpha = 0.025

[training.glove]
window = 15
iterations = 15
x_max = 10.0
exponent = 0.75
eta = 0.05

# [embeddings]                  # trained elsewhere, one file per seed, in any format of word vectors
# "wiki/glove" = "vectors/*.txt"
"""
"""What `reliability init` writes."""
