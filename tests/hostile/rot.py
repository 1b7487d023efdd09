"""Bit rot: bytes of finished folders are changed, and the folders used again.

What comes of it is the same numbers, or a refusal that names the file: never another number, never a traceback.
`rot(folder, changes)` counts that for every kind of folder that weatherglass leaves behind and reads again.
"""

from __future__ import annotations

import hashlib
import json
import os
import random
import shutil
import traceback
import warnings
from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, ClassVar
from unittest import mock

from tests.models import HashedEncoder

import weatherglass as wg
from weatherglass.api.mitigation import Mitigation
from weatherglass.api.studies import run_study
from weatherglass.arrays import AnyMatrix
from weatherglass.audit.multiverse_p import read_multiverse_p
from weatherglass.audit.stored import read_whole_run
from weatherglass.catalogue import load_tests
from weatherglass.encoders.base import Encoder
from weatherglass.encoders.cache import CachedEncoder, EncodingCache
from weatherglass.errors import WeatherglassError
from weatherglass.languages.lexicon import Lexicon
from weatherglass.mitigation.lists import neutral_words, pair_list
from weatherglass.mitigation.saved import read_transform
from weatherglass.progress import Silent
from weatherglass.ranking.ranking import load_ranking
from weatherglass.reliability.lists import base_pairs, queries
from weatherglass.reliability.regression.explain import feature_tables
from weatherglass.reliability.study import score_study, study_folder, train_study
from weatherglass.reliability.study_file import Study, read_study
from weatherglass.reliability.tables import read_tables, read_word
from weatherglass.storage import checksum
from weatherglass.vectors import read_every_word

WAYS = ("bit", "bit", "byte", "zeros", "cut")
"""How content changes; a single bit is the most frequent."""
MOST_EXAMPLES = 5


@dataclass
class Counts:
    """What came of the changes in one kind of folder."""

    tried: int = 0
    same: int = 0
    refused: int = 0
    different: int = 0
    """Another number, without an error: there may be none."""
    tracebacks: int = 0
    """Any error that is not a line for the user: there may be none."""
    examples: list[str] = field(default_factory=list)
    """The first changes that came out wrong: file, way, place, and what happened."""


@dataclass(frozen=True)
class Specimen:
    """A folder that something of weatherglass left behind, and a use of it."""

    name: str
    make: Callable[[Path], object]
    """Writes it into an empty folder."""
    use: Callable[[Path], object]
    """What a later command computes from it or reads in it, as plain values that can be compared."""
    weight: int
    """Its part of all changes, in times of others': more where a use is cheap."""
    suffixes: tuple[str, ...] = ()
    """The files that are changed; all by default."""


def rot(folder: Path, changes: int, seed: int = 0, names: Collection[str] = ()) -> dict[str, Counts]:
    """Change bytes of every kind of folder, `changes` times in all, and count what comes of it.

    Args:
        folder: an empty one to work in.
        changes: spread over the kinds by their weights.
        seed: of the places.
        names: kinds to try; all of `SPECIMENS` by default.

    Returns:
        Counts by kind; `different` and `tracebacks` should be 0 in all.
    """
    chosen = [one for one in SPECIMENS if not names or one.name in names]
    weights = sum(one.weight for one in chosen)
    counts = {}
    cache = {"WEATHERGLASS_CACHE": str(folder / "cache")}
    with mock.patch.dict(os.environ, cache), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for specimen in chosen:
            place = folder / specimen.make.__name__
            if not place.exists():
                (place / "copy").mkdir(parents=True)
                specimen.make(place / "copy")
                (place / "copy").rename(place / "pristine")
            rng = random.Random(f"{seed} {specimen.name}")
            counts[specimen.name] = _rotten(specimen, place, -(-changes * specimen.weight // weights), rng)
    return counts


def _rotten(specimen: Specimen, place: Path, changes: int, rng: random.Random) -> Counts:
    copy, pristine = place / "copy", place / "pristine"
    shutil.copytree(pristine, copy)
    expected = specimen.use(copy)
    files = [
        path.relative_to(pristine)
        for path in sorted(pristine.rglob("*"))
        if path.is_file() and path.stat().st_size and path.name.endswith(specimen.suffixes or "")
    ]
    counts = Counts()
    for _ in range(changes):
        shutil.rmtree(copy)
        shutil.copytree(pristine, copy)
        file, way = rng.choice(files), rng.choice(WAYS)
        content = (pristine / file).read_bytes()
        byte = rng.randrange(len(content))
        change(copy / file, content, way, byte, rng)
        _count(counts, specimen, copy, expected, f"{file}, {way} at {byte} of {len(content)}")
    shutil.rmtree(copy)
    return counts


def change(path: Path, content: bytes, way: str, place: int, rng: random.Random) -> None:
    """Write content that is changed at a place: a bit, a byte, a stretch of zeros, or nothing from there on."""
    changed = bytearray(content)
    if way == "bit":
        changed[place] ^= 1 << rng.randrange(8)
    elif way == "byte":
        changed[place] ^= rng.randrange(1, 256)
    elif way == "zeros":
        end = min(len(content), place + 64)
        changed[place:end] = bytes(end - place)
    else:
        del changed[place:]
    path.write_bytes(changed)


def _count(counts: Counts, specimen: Specimen, folder: Path, expected: object, what: str) -> None:
    counts.tried += 1
    try:
        same = specimen.use(folder) == expected
    except WeatherglassError as error:
        named = str(folder) in str(error) and "\n" not in str(error)
        counts.refused += named
        counts.tracebacks += not named
        wrong = "" if named else f"refused without a name: {error}"
    except Exception:
        counts.tracebacks += 1
        wrong = traceback.format_exc(limit=-3)
    else:
        counts.same += same
        counts.different += not same
        wrong = "" if same else "another number"
    if wrong and len(counts.examples) < MOST_EXAMPLES:
        counts.examples.append(f"{what}: {wrong}")


# A run.


def _vectors(path: Path, words: Sequence[str], width: int = 8) -> Path:
    """A user's file of word vectors."""
    encoder = HashedEncoder(width)
    rows = encoder.encode(words).tolist()
    lines = [f"{word} {' '.join(f'{x:.6f}' for x in row)}" for word, row in zip(words, rows, strict=True)]
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")
    return path


TESTS = ["weat6", "weat7", "weat8"]


def _model(folder: Path) -> str:
    """Beside the folder that rots: a file of the user's stays as it is."""
    path = folder.parent / "model.txt"
    if not path.exists():
        _vectors(path, list(dict.fromkeys(text for test in load_tests(TESTS) for text in test.texts)))
    return f"m=vectors:{path}"


def _run(folder: Path) -> object:
    finished = wg.run(_model(folder), TESTS, ["cosine/mean", "mac"], folder=folder)
    return [_numbers(finished.results), [verdict.to_json() for verdict in finished.verdicts()]]


def _numbers(results: Sequence[Any]) -> list[Any]:
    """All of each result but the time that it took."""
    return [json.dumps({**one.to_json(), "seconds": None}) for one in results]


def _read_run(folder: Path) -> object:
    run = read_whole_run(folder)
    return [_numbers(run.results), [verdict.to_json() for verdict in run.verdicts()], dict(run.record)]


def _run_again(folder: Path) -> object:
    """The same command, and what is read of it afterwards."""
    again = _run(folder)
    read = read_whole_run(folder)
    return [again, _numbers(read.results), [verdict.to_json() for verdict in read.verdicts()]]


# The caches.


class _Known(HashedEncoder, Encoder):
    costly: ClassVar[bool] = False

    @classmethod
    def from_spec(cls, spec: object) -> _Known:
        raise NotImplementedError

    def identity(self) -> str:
        return self.name

    def notes(self) -> list[str]:
        return []


CACHED_TEXTS = [f"a text, the {number}th" for number in range(40)]


def _encoded(folder: Path) -> object:
    """Texts by two encoders, through the cache in the folder."""
    cache = EncodingCache(folder / "encodings.sqlite")
    encoders = [_Known(4, unknown=CACHED_TEXTS[:3], name=name) for name in ("one", "other")]
    return [_encoded_by(CachedEncoder(encoder, cache)) for encoder in encoders]


def _encoded_by(encoder: CachedEncoder) -> object:
    vectors: AnyMatrix = encoder.encode(CACHED_TEXTS)
    return [vectors.tobytes(), str(vectors.dtype), vectors.shape, repr(encoder.coverage(CACHED_TEXTS))]


def _hash(folder: Path) -> object:
    """The hash of a large file, which is kept in the cache folder."""
    file = folder.parent / "large.txt"
    if not file.exists():
        file.write_text("large")
        os.utime(file, (1, 1))
    with (
        mock.patch.dict(os.environ, {"WEATHERGLASS_CACHE": str(folder)}),
        mock.patch.object(checksum, "CACHED_FROM", 0),
    ):
        return checksum.file_hash(file)


# A multiverse.


def _multiverse(folder: Path) -> object:
    found = wg.multiverse(
        _model(folder),
        ["weat7", "weat8"],
        ("similarity", "statistic"),
        similarities=("cosine", "dot"),
        folder=folder,
    )
    return [repr(found.topics), repr(found.agreement)]


def _multiverse_again(folder: Path) -> object:
    return [_multiverse(folder), _read_multiverse(folder)]


def _read_multiverse(folder: Path) -> object:
    return read_multiverse_p(folder / "multiverse.json", ["cosine/mean"])


# A ranking audit.


def _ranking(folder: Path) -> object:
    groups = {"X": ["Ann", "Eve", "Amy"], "Y": ["Ben", "Tom", "Max"]}
    passages = ["{name} here", "there {name}"]
    found = wg.rank(queries=["first", "second"], passages=passages, groups=groups, folder=folder)
    return [repr(found.comparisons), repr(found.names)]


def _read_ranking(folder: Path) -> object:
    found = load_ranking(folder)
    return [repr(found.comparisons), repr(found.names)]


def _ranking_again(folder: Path) -> object:
    return [_ranking(folder), _read_ranking(folder)]


# A mitigation.


def _mitigation(folder: Path) -> Mitigation:
    path = folder.parent / "words.txt"
    if not path.exists():
        gender = pair_list("gender")
        pairs = (*gender.pairs, *gender.equalise, *gender.held_out)
        tested = [text for test in load_tests(["weat7"]) for text in test.texts]
        words = [*(word for pair in pairs for word in pair), *tested, *neutral_words()[:150]]
        _vectors(path, list(dict.fromkeys(words)))
    return wg.mitigate(f"vectors:{path}", "hard-debias?equalise=none")


def _make_mitigation(folder: Path) -> None:
    fitted = _mitigation(folder)
    fitted.write(folder / "gender.transform")
    fitted.write(folder / "changed.safetensors")
    _judge(folder)


def _judge(folder: Path) -> object:
    judged = _mitigation(folder).judge(tests=["weat7"], metrics=("mac",), folder=folder / "judged")
    return {name: value for name, value in judged.to_json().items() if name != "finished"}


def _read_mitigation(folder: Path) -> object:
    saved = read_transform(folder / "gender.transform")
    words = read_every_word(folder / "changed.safetensors")
    return [repr(saved), list(words.rows), words.matrix.tobytes(), _read_run(folder / "judged" / "run")]


# A study.

STUDY = """
seeds = 2
pairs = ["gender"]
targets = ["occupations"]
frequent = 40
neighbours = 5

[corpora.text]
path = "text.txt"

[training]
dimensions = 5

[training.sgns]
epochs = 1

[training.glove]
iterations = 2
"""


def _study(folder: Path) -> Study:
    file = folder.parent / "study.toml"
    if not file.exists():
        file.write_text(STUDY, encoding="utf-8")
        rng = random.Random(1)
        words = [word for pair in base_pairs("gender").pairs[:6] for word in pair]
        words += [word for query in queries() for word in query.words][:30]
        lines = [" ".join(rng.choice(words) for _ in range(10)) for _ in range(120)]
        (folder.parent / "text.txt").write_text("\n".join(lines) + "\n", encoding="utf-8")
    return read_study(file)


def _study_again(folder: Path) -> object:
    """Corpus, embeddings, scores and word features, as a study computes or finds them."""
    study = _study(folder)
    with study_folder(folder):
        groups, failures = train_study(study, folder)
        scored = score_study(study, groups, folder)
        features = list(feature_tables(groups, Lexicon(None, None, (), ()), folder / "features", Silent()))
    found: list[object] = [failures, [table.to_dicts() for table in features]]
    for group, tensor in scored:
        assert group.encoded is not None
        found += [group.encoded.words, group.encoded.counts.tolist(), group.encoded.tokens.tobytes()]
        found += [group.encoded.offsets.tobytes(), [_digest(path) for path in group.paths]]
        found += [
            tensor.words,
            tensor.pairs,
            [tensor.block(rule, slice(None)).tobytes() for rule in tensor.rules],
        ]
    return found


def _digest(path: Path) -> str:
    return hashlib.sha256(path.read_bytes()).hexdigest()


def _make_study(folder: Path) -> None:
    run_study(_study(folder), folder)
    with study_folder(folder):
        groups, _ = train_study(_study(folder), folder)
        list(feature_tables(groups, Lexicon(None, None, (), ()), folder / "features", Silent()))


def _read_study(folder: Path) -> object:
    """What is read without computing: its tables, a word of them, and its embeddings as vectors of a model."""
    tables = read_tables(folder / "tables")
    embeddings = [read_every_word(path) for path in sorted((folder / "embeddings").glob("*.safetensors"))]
    return [
        {name: repr(table.to_dicts()) for name, table in tables.items()},
        repr(read_word(folder / "tables", "he")),
        [[list(one.rows), one.matrix.tobytes()] for one in embeddings],
    ]


SPECIMENS = (
    Specimen("run: read", _run, _read_run, 25),
    Specimen("run: again", _run, _run_again, 15),
    Specimen("cache of encodings", _encoded, _encoded, 25),
    Specimen("cache of hashes", _hash, _hash, 5),
    Specimen("multiverse: read", _multiverse, _read_multiverse, 5, ("multiverse.json",)),
    Specimen("multiverse: again", _multiverse, _multiverse_again, 5),
    Specimen("ranking: read", _ranking, _read_ranking, 5, ("ranking.json",)),
    Specimen("ranking: again", _ranking, _ranking_again, 5),
    Specimen("mitigation: read", _make_mitigation, _read_mitigation, 10),
    Specimen("mitigation: again", _make_mitigation, _judge, 1),
    Specimen("study: read", _make_study, _read_study, 10, (".parquet", ".safetensors", "SHA256SUMS")),
    Specimen("study: again", _make_study, _study_again, 10),
)
