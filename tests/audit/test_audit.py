"""A run from plan to record, with small encoders."""

from __future__ import annotations

import csv
import errno
import json
import os
import re
import signal
import subprocess
import sys
import time
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from random import Random

import numpy as np
import pytest
from click.testing import CliRunner
from tests.messages import mentions, naming
from tests.models import HashedEncoder
from tests.published import NEWS_EFFECT_SIZES

import weatherglass as wg
from weatherglass.audit.evaluate import associate
from weatherglass.audit.folder import RunFolder
from weatherglass.audit.results import COLUMNS, cell
from weatherglass.audit.run import Run
from weatherglass.catalogue import load_test
from weatherglass.catalogue import test as test_as_data
from weatherglass.cli import app
from weatherglass.encoders.base import Coverage
from weatherglass.errors import OutputError, UnknownNameError, WeatherglassError
from weatherglass.stats.permutation import Budget
from weatherglass.warnings import kind_of

PUBLISHED_COLUMNS = [
    "model",
    "options",
    "test",
    "p_value",
    "effect_size",
    "num_targ1",
    "num_targ2",
    "num_attr1",
    "num_attr2",
]


def read_table(folder: Path) -> list[dict[str, str]]:
    with (folder / "results.tsv").open(newline="", encoding="utf-8") as file:
        return list(csv.DictReader(file, delimiter="\t"))


def numbers(run: Run) -> list[tuple[str, float, float, float | None]]:
    return [(r.test, r.effect_size, r.p_value, r.p_adjusted) for r in run.results]


def test_results_come_in_the_order_of_the_plan() -> None:
    models = [HashedEncoder(name="one"), HashedEncoder(width=30, name="two")]
    run = wg.run(models, tests=["weat7", "weat6"], metrics=["cosine/mean", "euclidean/max"])
    assert [(r.model, r.test, r.metric) for r in run.results] == [
        (model, test, measure)
        for model in ("one", "two")
        for test in ("weat7", "weat6")
        for measure in ("cosine/mean", "euclidean/max")
    ]


def test_a_run_gives_what_the_arrays_give() -> None:
    encoder = HashedEncoder()
    (result,) = wg.run(encoder, tests="weat8").results
    test = load_test("weat8")
    X, Y, A, B = (encoder.encode(element_set.texts) for element_set in test.sets)
    expected = associate(X, Y, A, B)
    assert (result.effect_size, result.p_value) == (expected.effect_size, expected.p_value)
    assert [score.text for score in result.scores] == [*test.sets[0].texts, *test.sets[1].texts]


def test_each_distinct_text_is_encoded_once() -> None:
    encoder = HashedEncoder()
    wg.run(encoder, tests=["weat1", "weat2", "weat3"])
    assert len(encoder.encoded) == len(set(encoder.encoded))


def test_sentence_tests_also_carry_the_published_p_of_single_sentences() -> None:
    word_test, sentence_test = wg.run(HashedEncoder(), tests=["weat6", "sent-weat6"]).results
    assert word_test.p_elements is None
    assert word_test.effect_size_elements is None
    (published,) = wg.run(HashedEncoder(), tests="sent-weat6", permute="elements").results
    assert published.p_elements is None
    assert sentence_test.p_elements == published.p_value != sentence_test.p_value
    assert sentence_test.effect_size_elements == published.effect_size != sentence_test.effect_size
    assert sentence_test.units() == (8, 8)
    assert published.units() == published.target_sizes == sentence_test.target_sizes


def test_the_table_begins_with_the_published_columns(tmp_path: Path) -> None:
    run = wg.run(HashedEncoder(), tests="weat*", folder=tmp_path)
    rows = read_table(tmp_path)
    assert list(rows[0])[:9] == PUBLISHED_COLUMNS
    assert list(rows[0]) == list(COLUMNS)
    assert [float(row["effect_size"]) for row in rows] == [r.effect_size for r in run.results]
    assert [float(row["p_adjusted"]) for row in rows] == [r.p_adjusted for r in run.results]


def test_the_record_says_how_the_numbers_came_about(tmp_path: Path) -> None:
    wg.run(HashedEncoder(unknown=["math"]), tests=["weat7", "weat6"], seed=5, folder=tmp_path)
    record = json.loads((tmp_path / "run.json").read_text())
    assert record["status"] == "complete"
    assert record["settings"]["seed"] == 5
    assert record["correction"]["sizes"] == {"cosine/mean, by words": 2}
    assert record["tests"]["weat7"] == load_test("weat7").fingerprint()
    assert record["missing_words"]["hashed"]["weat7"]["dropped"] == {"X": ["math"]}
    assert "weat6" not in record["missing_words"]["hashed"]
    assert record["packages"]["numpy"] == np.__version__


def test_the_record_of_a_call_from_python_states_its_arguments(tmp_path: Path) -> None:
    """Not sys.argv, which is that of pytest here, or of a notebook's kernel."""
    run = wg.run(
        [HashedEncoder()],
        [load_test("weat7"), "weat6"],
        trust="none",
        alpha=0.05,
        seed=5,
        budget=Budget(1.0, 10**6),
        synonyms={"impermanent": ("brief",)},
        folder=tmp_path,
    )
    record = json.loads((tmp_path / "run.json").read_text())
    assert record["called"] == run.record["called"] == "python"
    assert record["function"] == "weatherglass.run"
    assert record["arguments"] == {  # alpha has its default value
        "models": ["<HashedEncoder hashed>"],
        "tests": ["<Test weat7>", "weat6"],
        "trust": "none",
        "seed": 5,
        "budget": {"seconds": 1.0, "bytes": 10**6},
        "synonyms": {"impermanent": ["brief"]},
        "folder": str(tmp_path),
    }
    assert "command" not in record
    page = (tmp_path / "report.html").read_text()
    shown = re.search(r'<code id="command-0">(.*?)</code>', page)
    assert shown is not None
    assert shown[1].startswith("weatherglass.run(models=[&#39;&lt;HashedEncoder hashed&gt;&#39;], tests=")


def test_the_record_of_a_command_states_the_command(tmp_path: Path) -> None:
    vectors = tmp_path / "vectors.txt"
    texts = load_test("weat7").texts
    rows = HashedEncoder(width=4).encode(texts)
    lines = [f"{text} {' '.join(map(str, row))}" for text, row in zip(texts, rows, strict=True)]
    vectors.write_text("\n".join(lines))
    command = ["run", str(vectors), "-t", "weat7", "--ci", "none", "-q", "-o", str(tmp_path / "a run")]
    done = CliRunner().invoke(app, command, catch_exceptions=False)
    assert done.exit_code == 0
    record = json.loads((tmp_path / "a run" / "run.json").read_text())
    assert record["called"] == "command line"
    assert record["command"] == ["weatherglass", *command]
    assert "arguments" not in record
    page = (tmp_path / "a run" / "report.html").read_text()
    assert f'<code id="command-0">weatherglass run {vectors} -t weat7 --ci none -q -o' in page


def test_a_run_hashes_each_test_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """Counted where the content of a test becomes bytes; with two models and two measures it has four keys."""
    hashed: list[str] = []

    class CountingJson:
        @staticmethod
        def dumps(value: list[object], **options: bool) -> str:
            hashed.append(str(value[0]))
            return json.dumps(value, **options)  # type: ignore[arg-type]

    monkeypatch.setattr(test_as_data, "json", CountingJson)
    models = [HashedEncoder(name="one"), HashedEncoder(width=30, name="two")]
    tests = [replace(load_test(name)) for name in ("weat7", "weat8")]
    finished = wg.run(models, tests, ["cosine/mean", "dot/mean"], trust="none", significance="normal")
    assert len(finished.results) == 8
    assert sorted(hashed) == ["weat7", "weat8"]


def test_an_unknown_word_is_dropped_and_listed() -> None:
    full, partial = (
        wg.run(encoder, tests="weat7").results[0]
        for encoder in (HashedEncoder(), HashedEncoder(unknown=["math"]))
    )
    assert (full.num_targ1, partial.num_targ1, partial.num_targ2) == (8, 7, 8)
    assert partial.oov == "math"
    assert "math" not in [score.word for score in partial.scores]
    assert [warning.kind for warning in partial.warnings] == ["related-words"]  # of her and hers


def test_a_fifth_of_a_set_missing_is_worth_a_warning() -> None:
    (result,) = wg.run(HashedEncoder(unknown=["math", "algebra"]), tests="weat7").results
    warning = result.warnings[0]
    assert (warning.kind, warning.values) == ("unknown-words", {"missing": 2, "size": 8, "category": "Math"})


def test_one_test_that_cannot_be_run_stops_no_other(tmp_path: Path) -> None:
    words = load_test("weat7").targets[0].texts
    encoder = HashedEncoder(unknown=words[:7], zero=["executive"])
    run = wg.run(encoder, tests=["weat6", "weat7", "weat8"], folder=tmp_path)
    assert [result.test for result in run.results] == ["weat8"]
    reasons = {failure.test: failure.reason for failure in run.failures}
    assert mentions(reasons["weat7"], 1, 8, "Math")
    assert mentions(reasons["weat6"], "executive", "set A", "zero")
    assert json.loads((tmp_path / "run.json").read_text())["status"] == "incomplete"


def test_a_second_run_computes_nothing(tmp_path: Path, vector_file: Path) -> None:
    spec = f"vectors:{vector_file}"
    first = wg.run(spec, tests="weat[67]", folder=tmp_path)
    journal = (tmp_path / "journal.jsonl").read_bytes()
    second = wg.run(spec, tests="weat[67]", folder=tmp_path)
    assert numbers(second) == numbers(first)
    assert (tmp_path / "journal.jsonl").read_bytes() == journal


@pytest.mark.parametrize(
    "change", [{"seed": 1}, {"ddof": 0}, {"alternative": "less"}, {"permute": "elements"}]
)
def test_other_settings_are_other_results(
    tmp_path: Path, vector_file: Path, change: dict[str, object]
) -> None:
    wg.run(str(vector_file), tests="weat6", folder=tmp_path)
    wg.run(str(vector_file), tests="weat6", folder=tmp_path, **change)  # type: ignore[arg-type]
    assert len((tmp_path / "journal.jsonl").read_text().splitlines()) == 2


def test_changed_vectors_are_computed_again(tmp_path: Path, vector_file: Path) -> None:
    before = wg.run(str(vector_file), tests="weat6", folder=tmp_path / "run").results[0]
    text = vector_file.read_text().splitlines()
    vector_file.write_text("\n".join([line for line in text if not line.startswith("John ")]) + "\n")
    after = wg.run(str(vector_file), tests="weat6", folder=tmp_path / "run").results[0]
    assert (before.num_targ1, after.num_targ1) == (8, 7)


@pytest.mark.parametrize("jobs", [2])
def test_several_processes_give_the_same_bits(vector_file: Path, jobs: int) -> None:
    alone = wg.run(str(vector_file), tests=["weat?", "sent-weat[67]"])
    together = wg.run(str(vector_file), tests=["weat?", "sent-weat[67]"], jobs=jobs)
    assert numbers(together) == numbers(alone)


def test_a_line_cut_short_is_computed_again(tmp_path: Path, vector_file: Path) -> None:
    first = wg.run(str(vector_file), tests="weat[678]", folder=tmp_path)
    journal = tmp_path / "journal.jsonl"
    journal.write_bytes(journal.read_bytes()[:-100])
    second = wg.run(str(vector_file), tests="weat[678]", folder=tmp_path)
    assert numbers(second) == numbers(first)
    # What is left of the line is gone: the next result does not grow onto it.
    assert len([json.loads(line)["key"] for line in journal.read_text().splitlines()]) == 3


def test_a_damaged_line_is_reported_and_computed_again(tmp_path: Path, vector_file: Path) -> None:
    first = wg.run(str(vector_file), tests="weat[678]", folder=tmp_path)
    journal = tmp_path / "journal.jsonl"
    lines = journal.read_text().splitlines()
    journal.write_text("\n".join([lines[0], "{broken", lines[2]]) + "\n")
    second = wg.run(str(vector_file), tests="weat[678]", folder=tmp_path)
    assert numbers(second) == numbers(first)
    (damage,) = (warning for warning in second.warnings if warning.kind == "damaged-journal")
    assert (damage.subject, damage.values["lines"], damage.values["count"]) == (str(journal), [2], 1)


def test_two_runs_in_one_folder_do_not_mix(tmp_path: Path) -> None:
    with (
        RunFolder(tmp_path),
        pytest.raises(OutputError, match=naming(str(tmp_path), "another process")),
    ):
        wg.run(HashedEncoder(), tests="weat6", folder=tmp_path)


@pytest.mark.large
@pytest.mark.parametrize("kills", [2, pytest.param(20, marks=pytest.mark.large)])
def test_a_run_killed_at_random_moments_goes_on_where_it_stopped(
    tmp_path: Path, vector_file: Path, kills: int
) -> None:
    folder = tmp_path / "killed"
    command = [
        sys.executable,
        "-m",
        "weatherglass",
        "run",
        str(vector_file),
        "-t",
        "*weat*",
        "-o",
        str(folder),
        "-q",
    ]
    moments = Random(kills)
    finished_before = []
    for _ in range(kills):
        process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        wait_for_table(folder, process)
        time.sleep(moments.uniform(0, 8 / kills))
        process.send_signal(signal.SIGKILL)
        process.wait()
        rows = read_table(folder)
        assert all(len(row) == len(COLUMNS) and None not in row.values() for row in rows)
        journal = folder / "journal.jsonl"
        finished_before.append(len(journal.read_text().splitlines()) if journal.exists() else 0)
    assert finished_before == sorted(finished_before)
    assert subprocess.run(command, check=False).returncode == 0
    undisturbed = wg.run(str(vector_file), tests="*weat*")
    # As text: a row that is not tested has no p, and NaN is not equal to itself.
    assert [row["p_value"] for row in read_table(folder)] == [cell(r.p_value) for r in undisturbed.results]


def wait_for_table(folder: Path, process: subprocess.Popen[bytes]) -> None:
    """Until the process has opened the folder, which is when its work begins."""
    begun = time.time()
    table = folder / "results.tsv"
    while process.poll() is None and not (table.exists() and table.stat().st_mtime > begun):
        time.sleep(0.005)


def test_a_full_disk_is_one_clear_error_and_loses_nothing(tmp_path: Path, vector_file: Path) -> None:
    wg.run(str(vector_file), tests="weat6", folder=tmp_path)
    before = (tmp_path / "journal.jsonl").read_bytes()
    script = (
        "import resource, signal, sys; signal.signal(signal.SIGXFSZ, signal.SIG_IGN);"
        f"resource.setrlimit(resource.RLIMIT_FSIZE, ({len(before) + 500}, {len(before) + 500}));"
        "from weatherglass.cli import main; sys.argv = ['weatherglass', *sys.argv[1:]]; main()"
    )
    command = [sys.executable, "-c", script, "run", str(vector_file), "-t", "weat*", "-o", str(tmp_path)]
    full = subprocess.run(command, capture_output=True, text=True, check=False)
    assert full.returncode == 1
    assert mentions(full.stderr, str(tmp_path), os.strerror(errno.EFBIG), "1 result")
    assert full.stderr.count("\n") == 1
    assert "Traceback" not in full.stderr
    again = wg.run(str(vector_file), tests="weat*", folder=tmp_path)
    assert len(again.results) == 15


@pytest.mark.parametrize(
    ("request_", "message"),
    [
        ({"tests": "weat99"}, naming("weat99", suggesting="weat9")),
        ({"metrics": "cosin/mean"}, naming("cosin/mean", suggesting="cosine/mean")),
        ({"significance": "exakt"}, naming("significance", "exakt", suggesting="exact")),
        ({"alternative": "bigger"}, naming("alternative", "bigger")),
        ({"correction": "bonferoni"}, naming("correction", "bonferoni")),
        ({"alpha": 0.0}, naming("alpha", 0.0)),
        ({"family": 1, "tests": "weat[67]"}, naming("family", 1, 2)),
        ({"models": "wordlama"}, naming("wordlama", suggesting="wordllama")),
        ({"models": "no/such/file.txt"}, naming("no/such/file.txt")),
    ],
)
def test_a_mistake_in_the_request_is_found_before_work_starts(
    request_: dict[str, object], message: str, tmp_path: Path
) -> None:
    arguments: dict[str, object] = {"models": HashedEncoder(), "folder": tmp_path / "run"} | request_
    with pytest.raises(WeatherglassError, match=message):
        wg.run(**arguments)  # type: ignore[arg-type]
    assert not (tmp_path / "run").exists()


def test_a_model_spelt_in_two_ways_is_run_and_corrected_for_once() -> None:
    once = wg.run("wordllama", tests="weat7", trust="none")
    assert numbers(wg.run(["wordllama", "wordllama:"], tests="weat7", trust="none")) == numbers(once)


def test_models_that_results_could_not_tell_apart_are_refused() -> None:
    with pytest.raises(WeatherglassError, match=naming("two", "models", "hashed", "NAME=SPEC")):
        wg.run([HashedEncoder(), HashedEncoder()], tests="weat7")


def test_one_name_for_two_models_is_refused() -> None:
    """With other options the rows would differ, but no table or page shows options."""
    with pytest.raises(WeatherglassError, match=naming("two", "models", "twice")):
        wg.run(["twice=wordllama", "twice=wordllama?dim=64"], tests="weat7")


def test_a_run_without_a_metric_is_refused() -> None:
    with pytest.raises(WeatherglassError, match=naming("metric", "-m")):
        wg.run(HashedEncoder(), tests="weat7", metrics=[])


def test_warnings_name_the_metric_where_there_are_several() -> None:
    run = wg.run(HashedEncoder(), tests="weat7", metrics=["cosine/mean", "dot/mean"])
    of_rows = {warning.subject for warning in run.warnings if kind_of(warning.kind).about == "row"}
    assert of_rows
    assert of_rows <= {"weat7 (cosine/mean)", "weat7 (dot/mean)"}
    assert {warning.subject for warning in run.warnings} - of_rows == {"weat7"}  # its words belong together


def test_an_unknown_name_is_its_own_kind_of_error() -> None:
    with pytest.raises(UnknownNameError):
        wg.load_test("weet1")


def test_the_effect_sizes_of_word2vec_match_caliskan_2017(news_vectors: Path) -> None:
    run = wg.run(str(news_vectors), tests=list(NEWS_EFFECT_SIZES))
    assert {r.test: r.effect_size for r in run.results} == pytest.approx(NEWS_EFFECT_SIZES, abs=0.005)
    assert {r.test: r.oov for r in run.results if r.oov}.get("weat2") == "axe"


@pytest.fixture
def vector_file(tmp_path: Path) -> Path:
    """Word vectors for the words of the published tests, in GloVe's form."""
    tests = [wg.load_test(name) for name in wg.list_tests("weat*")]
    words = dict.fromkeys(word for test in tests for text in test.texts for word in text.split())
    common = ["this", "that", "there", "here", "is", "are", "a", "an", "the", "it", "they", "'s", "."]
    rng = np.random.default_rng(11)
    path = tmp_path / "vectors.txt"
    rows = rng.normal(size=(len(words) + len(common), 12))
    lines = (
        f"{word} {' '.join(f'{x:.5f}' for x in row)}"
        for word, row in zip([*words, *common], rows, strict=True)
    )
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")
    os.utime(path, (1, 1))
    return path


def test_what_needs_no_covariance_is_computed_where_there_is_none() -> None:
    """The graphical lasso takes up to 1 024 dimensions; cosine takes any."""
    run = wg.run(HashedEncoder(width=1100), tests="weat6", metrics=["cosine/mean", "mahalanobis/mean"])
    assert [result.metric for result in run.results] == ["cosine/mean"]
    assert mentions(run.failures[0].reason, "mahalanobis", "graphical lasso", 1024, 1100)


def test_sentences_that_are_split_by_the_rules_of_another_language_are_a_warning(tmp_path: Path) -> None:
    vectors = tmp_path / "fr.txt"
    lines = ("l'", "homme", "femme", "roi", "reine", "joie", "haine", "est", "ici", "la")
    vectors.write_text(
        "".join(f"{word} {n % 3} {n % 4} 1\n" for n, word in enumerate(lines)), encoding="utf-8"
    )
    test = tmp_path / "own.toml"
    test.write_text(
        'language = "fr"\nX = {category = "M", words = ["homme", "roi"]}\n'
        'Y = {category = "F", words = ["femme", "reine"]}\n'
        'A = {category = "G", words = ["joie"]}\nB = {category = "S", words = ["haine"]}\n'
        '[[template]]\ntext = "{Le word} est ici."\n',
        encoding="utf-8",
    )
    in_english, in_french = (
        wg.run(f"vectors:{vectors}{language}", str(test)).results[0] for language in ("", "?language=fr")
    )
    (warning,) = (each for each in in_english.warnings if each.kind == "other-language")
    assert warning.values == {"rules": "en", "language": "fr"}
    assert mentions(warning.text, "language=fr")
    assert "other-language" not in [each.kind for each in in_french.warnings]
    assert in_english.effect_size != in_french.effect_size


@pytest.mark.parametrize(
    ("language", "words", "warned"),
    [
        (
            "ja",
            "数学 物理 化学 詩 芸術 舞踏 男 彼 女 彼女",
            True,
        ),  # Llama's tokenizer reads most of them as bytes
        ("en", "mathematics physics chemistry poetry art dance man he woman she", False),
        ("de", "Mathematik Physik Chemie Gedicht Kunst Tanz Mann er Frau sie", False),
    ],
)
def test_a_model_that_splits_words_into_many_pieces_hardly_speaks_their_language(
    language: str, words: str, warned: bool
) -> None:
    given = words.split()
    test = wg.test(given[:3], given[3:6], given[6:8], given[8:], language=language)
    (result,) = wg.run("wordllama", test).results
    found = [each.values for each in result.warnings if each.kind == "unfamiliar-language"]
    assert [values["language"] for values in found] == [language] * warned
    if warned:
        pieces = [len(one.tokens) for one in wg.load_encoder("wordllama").observe(given, "vectors").coverage]
        assert found[0]["pieces"] == pytest.approx(2 * sum(pieces) / len("".join(given)))


@pytest.mark.parametrize(("of_each", "unknown"), [(3, [20]), (4, [])])
def test_word_vectors_without_most_words_hardly_speak_the_language(of_each: int, unknown: list[int]) -> None:
    test = wg.load_test("weat6")
    known = [word for one in test.sets for word in one.words[:of_each]]
    (result,) = wg.run({word: [len(word), place, 1.0] for place, word in enumerate(known)}, test).results
    found = [each.values for each in result.warnings if each.kind == "unfamiliar-language"]
    assert [(values["unknown"], values["tokens"]) for values in found] == [(count, 32) for count in unknown]


def test_a_model_of_single_letters_speaks_every_language() -> None:
    class Letters(HashedEncoder):
        def coverage(self, texts: Sequence[str]) -> list[Coverage]:
            return [Coverage(tuple(text)) for text in texts]

    (result,) = wg.run(Letters(), "weat6").results
    assert result.pieces
    assert "unfamiliar-language" not in [each.kind for each in result.warnings]


@pytest.mark.parametrize(("pieces", "warned"), [(2, False), (4, True)])
def test_tokens_that_a_model_adds_to_every_text_are_no_pieces(pieces: int, warned: bool) -> None:
    class Bert(HashedEncoder):
        def coverage(self, texts: Sequence[str]) -> list[Coverage]:
            return [Coverage(("[CLS]", *(f"{text}{n}" for n in range(pieces)), "[SEP]")) for text in texts]

    (result,) = wg.run(Bert(), "weat6").results
    found = [each.values["pieces"] for each in result.warnings if each.kind == "unfamiliar-language"]
    assert found == [pieces] * warned
