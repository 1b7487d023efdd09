"""Files that change under us: the numbers stay, or the file is named; nothing of the user's is touched."""

from __future__ import annotations

import json
import shutil
import warnings
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from click.testing import CliRunner
from tests.hostile import rot as folders
from tests.hostile.rot import rot

import weatherglass as wg
from weatherglass.audit.multiverse_p import read_multiverse_p
from weatherglass.catalogue import load_tests
from weatherglass.cli import app
from weatherglass.errors import CorpusError, DamageWarning, OutputError, VectorFileError
from weatherglass.reliability.study import trained_groups
from weatherglass.reliability.tables import read_tables, read_word
from weatherglass.reliability.training.embedding import load_embedding
from weatherglass.vectors import read_every_word

CHEAP = (
    "run: read",
    "run: again",
    "cache of encodings",
    "cache of hashes",
    "multiverse: read",
    "mitigation: read",
    "study: read",
    "study: again",
)


@pytest.mark.large
@pytest.mark.parametrize(
    ("changes", "names"), [(25, CHEAP), pytest.param(2000, (), marks=pytest.mark.large)], ids=["some", "all"]
)
def test_a_changed_byte_changes_no_number_and_gives_no_traceback(
    tmp_path: Path, changes: int, names: tuple[str, ...]
) -> None:
    counts = rot(tmp_path, changes, seed=26, names=names)
    assert sum(one.tried for one in counts.values()) >= changes
    assert [example for one in counts.values() for example in one.examples] == []
    assert all(one.different == one.tracebacks == 0 for one in counts.values())
    assert all(one.same + one.refused == one.tried for one in counts.values())
    # It does change something: reading is refused, and what can be computed again is.
    assert all(counts[name].refused for name in ("run: read", "multiverse: read", "study: read"))
    assert counts["run: again"].refused == counts["cache of encodings"].refused == 0


def test_a_changed_digit_of_a_journal_is_never_the_result(tmp_path: Path) -> None:
    """d, p, a score, a count, the alternative, the test's name: each edited as one would in an editor."""
    folder = tmp_path / "run"
    folder.mkdir()
    before = folders._run(folder)
    journal = folder / "journal.jsonl"
    whole = journal.read_bytes()
    edits = [
        *((b'"value":', digit) for digit in (b"0", b"9", b"-")),
        *((b'"p_value":', digit) for digit in (b"0", b"1", b"9")),
        *(
            (name, b"7")
            for name in (b'"test_statistic":', b'"p_low":', b'"units_x":', b'"ddof":', b'"key":"')
        ),
        *((name, b"w") for name in (b'"test":"', b'"metric":"', b'"alternative":"', b'{"sha256":"')),
    ]
    for name, digit in edits:
        place = whole.index(name) + len(name)
        edited = whole[:place] + digit + whole[place + 1 :]
        if edited == whole:
            continue
        journal.write_bytes(edited)
        with pytest.raises(OutputError, match=r"journal\.jsonl .*\b1 of 6 results\b.*\b1 damaged\b"):
            folders._read_run(folder)
        assert folders._run(folder) == before, name
        assert (
            journal.with_name("journal.jsonl.damaged")
            .read_bytes()
            .endswith(edited[: edited.index(b"\n") + 1])
        )
        assert sorted(journal.read_bytes().splitlines()) != sorted(edited.splitlines())


@pytest.mark.parametrize("command", ["report", "verdict", "explain", "compare"])
def test_a_command_that_only_reads_refuses_a_damaged_run_and_says_what_repairs_it(
    tmp_path: Path, command: str
) -> None:
    folder = tmp_path / "run"
    folder.mkdir()
    folders._run(folder)
    more = {"explain": ["weat7"], "compare": [str(folder)], "report": ["-o", str(tmp_path / "page.html")]}
    arguments = [command, str(folder), *more.get(command, [])]
    for file in ("journal.jsonl", "run.json"):
        whole = (folder / file).read_bytes()
        (folder / file).write_bytes(whole.replace(b"cosine/mean", b"cosine/meam", 1))
        done = CliRunner().invoke(app, arguments)
        assert isinstance(done.exception, OutputError), done.output
        assert file in str(done.exception)
        assert "same command" in str(done.exception)
        assert not (folder / f"{file}.damaged").exists()  # reading touches nothing
        (folder / file).write_bytes(whole)


def test_an_edited_multiverse_is_refused(tmp_path: Path) -> None:
    folder = tmp_path / "many"
    folder.mkdir()
    folders._multiverse(folder)
    record = folder / "multiverse.json"
    p = json.loads(record.read_bytes())["topics"][0]["multiverse_p"]
    record.write_bytes(record.read_bytes().replace(f'"multiverse_p": {p}'.encode(), b'"multiverse_p": 0.001'))
    with pytest.raises(OutputError, match=r"multiverse\.json: damaged\b.*\bagain\b"):
        read_multiverse_p(record, ["cosine/mean"])


@pytest.fixture(scope="module")
def finished(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of a study of a tiny corpus, with the study's file and text beside it."""
    folder = tmp_path_factory.mktemp("finished") / "study"
    folder.mkdir()
    folders._make_study(folder)
    return folder


@pytest.fixture
def study(finished: Path, tmp_path: Path) -> Path:
    """A copy of it."""
    return Path(shutil.copytree(finished.parent, tmp_path / "own")) / "study"


def spoil(path: Path, place: int = -1) -> bytes:
    content = bytearray(path.read_bytes())
    content[place] ^= 1
    path.write_bytes(content)
    return bytes(content)


@pytest.mark.parametrize(
    ("pattern", "place", "said"),
    [
        ("embeddings/*sgns*seed001.safetensors", -1, "trained"),
        ("embeddings/*glove*seed002.safetensors", 200, "trained"),
        ("scores/*sgns-seed001*.dbwa-*.npy", 200, "computed"),
        ("scores/*sgns-seed002*.ripa-v*.npy", -1, "computed"),
        ("scores/*sgns*.words.json", 5, "written"),
        ("corpora/*/tokens.i32", 40, "encoded"),
        ("corpora/*/offsets.i64", 40, "encoded"),
        ("corpora/*/vocabulary.tsv", 1, "encoded"),
        ("corpora/*/corpus.json", 20, "encoded"),
        ("corpora/*/SHA256SUMS", 20, "encoded"),
        ("features/*sgns*.parquet", 50, "computed"),
    ],
)
def test_what_is_damaged_in_a_study_is_named_set_aside_and_made_again(
    study: Path, pattern: str, place: int, said: str
) -> None:
    before = folders._study_again(study)
    source = (study.parent / "text.txt").read_bytes()
    (path,) = study.glob(pattern)  # one file, so that no order of hashes chooses it
    spoilt = spoil(path, place)
    with pytest.warns(DamageWarning, match=said) as warnings:
        assert folders._study_again(study) == before
    (warning,) = (one for one in warnings if one.category is DamageWarning)
    assert str(path.relative_to(study)).split("/")[1] in str(warning.message)
    aside = path.parent if path.parts[-3] == "corpora" else path
    assert (
        aside.with_name(f"{aside.name}.damaged") / (path.name if aside != path else "")
    ).read_bytes() == spoilt
    assert (study.parent / "text.txt").read_bytes() == source


def test_damaged_counts_of_cooccurrence_are_counted_again(study: Path) -> None:
    before = folders._study_again(study)
    for path in (study / "embeddings").glob("*glove*seed002*"):
        path.unlink()
    (values,) = study.glob("corpora/*/cooccurrence-*/values.f64")
    spoil(values, 6)
    with pytest.warns(DamageWarning, match=r"cooccurrence-\d+: damaged .*counted"):
        assert folders._study_again(study) == before


def test_a_damaged_embedding_is_refused_where_nothing_is_trained(study: Path) -> None:
    (path,) = (study / "embeddings").glob("*sgns*seed001.safetensors")
    spoil(path)
    readers: list[Callable[[], object]] = [
        lambda: load_embedding(path),
        lambda: read_every_word(path),
        lambda: trained_groups(folders._study(study), study),
        lambda: wg.run(f"vectors:{path}", load_tests(["weat6"])),
    ]
    for read in readers:
        with pytest.raises(
            VectorFileError, match=rf"{path.name}: damaged .*weatherglass reliability run"
        ) as said:
            read()
        assert "\n" not in str(said.value)
    assert path.is_file()


def test_a_damaged_table_is_refused_with_the_command_that_writes_it_anew(study: Path) -> None:
    spoil(study / "tables" / "words.parquet", 300)
    for read in (lambda: read_tables(study / "tables"), lambda: read_word(study / "tables", "he")):
        with pytest.raises(
            CorpusError, match=r"words\.parquet: damaged\b.*weatherglass reliability assess STUDY"
        ):
            read()


def test_a_file_of_the_users_among_the_tables_is_passed_over(study: Path) -> None:
    before = read_tables(study / "tables")
    assert {"words", "features", "regression"} <= before.keys()
    (study / "tables" / "mine.parquet").write_bytes((study / "tables" / "words.parquet").read_bytes())
    assert read_tables(study / "tables").keys() == before.keys()


def test_a_copy_of_imported_vectors_is_imported_again_and_the_file_itself_is_never_touched(
    study: Path, tmp_path: Path
) -> None:
    from weatherglass.reliability.training.embedding import import_embeddings

    (tmp_path / "stored").mkdir()
    text = folders._vectors(tmp_path / "user.txt", ["he", "she", "tree", "house"])
    stored = import_embeddings("mine/any", str(text), tmp_path / "stored").paths[0]
    whole = stored.read_bytes()
    spoil(stored)
    with pytest.warns(DamageWarning, match=r"\.damaged\b.*imported"):
        import_embeddings("mine/any", str(text), tmp_path / "stored")
    assert stored.read_bytes() == whole
    # An embedding of another study is the user's file here: it is refused, and stays as it is.
    (theirs,) = (study / "embeddings").glob("*sgns*seed001.safetensors")
    spoilt = spoil(theirs)
    with pytest.raises(VectorFileError, match=f"{theirs.name}: damaged"):
        import_embeddings("mine/any", str(theirs), tmp_path / "stored")
    assert theirs.read_bytes() == spoilt


def test_a_study_without_checksums_is_made_again_to_the_same_bytes(study: Path) -> None:
    from safetensors import safe_open
    from safetensors.numpy import save_file

    stored = sorted((study / "embeddings").glob("*.safetensors"))
    before = [path.read_bytes() for path in stored]
    for path in stored:
        with safe_open(path, framework="numpy") as file:
            tensors = {name: file.get_tensor(name) for name in ("counts", "vectors")}
            metadata = {name: value for name, value in file.metadata().items() if name != "sha256"}
        save_file(tensors, path, metadata=metadata)
    for path in (study / "scores").glob("*.npy"):
        np.save(path, np.load(path))
    with pytest.raises(VectorFileError, match=r"-seed001\.safetensors: damaged .*\btrain\b"):
        trained_groups(folders._study(study), study)
    for path in study.rglob("SHA256SUMS"):
        path.unlink()
    with pytest.raises(CorpusError, match=r"damaged .*reliability assess"):
        read_tables(study / "tables")
    with pytest.warns(DamageWarning, match=r"\.safetensors\b.*\b\d+\b.*damaged .*trained"):
        folders._study_again(study)
    assert [path.read_bytes() for path in stored] == before


def test_a_cache_of_an_earlier_version_is_set_aside_with_one_line(tmp_path: Path) -> None:
    import sqlite3

    before = folders._encoded(tmp_path)
    with sqlite3.connect(tmp_path / "encodings.sqlite") as connection:
        connection.execute("PRAGMA user_version = 2")
    connection.close()
    with pytest.warns(DamageWarning, match=r"^[^\n]*\bversion 2\b[^\n]*\b3\b[^\n]*\.old\b[^\n]*$") as said:
        assert folders._encoded(tmp_path) == before
    assert len(said) == 1
    assert (tmp_path / "encodings.sqlite.old").is_file()
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert folders._encoded(tmp_path) == before
