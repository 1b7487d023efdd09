"""Every command: `--json` prints one JSON document and nothing else."""

from __future__ import annotations

import errno
import json
import os
from pathlib import Path

import pytest
from click.testing import CliRunner
from tests.cli.commands import LEAVES
from tests.cli.schema import problems
from tests.messages import naming
from tests.models import HashedEncoder
from tests.reproduce import stereoset

import weatherglass
from weatherglass.cli import app
from weatherglass.cli.errors import EXIT_CODES
from weatherglass.cli.manual import output_schema
from weatherglass.errors import OutputError, UnknownNameError

COMMANDS: dict[str, tuple[str, ...]] = {
    "run": ("-t", "weat6", "-o", "new"),
    "report": ("RUN",),
    "explain": ("RUN", "weat6"),
    "compare": ("RUN", "RUN"),
    "multiverse": ("-t", "weat6", "--choices", "similarity", "-o", "multiverse"),
    "rank": ("--groups", "gender", "-o", "ranking"),
    "verdict": ("RUN",),
    "mitigate": ("vectors:VECTORS", "--with", "centre", "-o", "centred.txt"),
    "docs": ("warnings",),
    "words": ("wordllama", "-t", "weat6"),
    "metrics": (),
    "models": (),
    "try": ("wordllama", "flower", "insect"),
    "encode": ("wordllama", "-t", "weat6", "-o", "e.npz"),
    "tests import": ("FILE",),
    "tests list": (),
    "tests sets": (),
    "tests show": ("weat6",),
    "tests check": ("weat6",),
    "tests export": ("exported", "-t", "weat6"),
    "tests texts": ("-t", "weat6"),
    "tests sentences": ("weat6",),
    "tests init": ("mine.toml",),
    "reproduce may2019": (),
    "reproduce azarpanah2021": ("--no-sensitivity", "--model", "glove=vectors:VECTORS"),
    "reproduce nadeem2021": ("STORED", "--sentences", "SENTENCES"),
    "reproduce kurita2019": ("WORDS",),
    "reproduce guo2021": (),
    "cache info": (),
    "cache clear": (),
    "reliability init": ("study.toml",),
}
"""What each command is called with; words in capitals are made by the test."""
MINUTES = ("reproduce may2019", "reproduce azarpanah2021")
"""Commands that take long; with --json they are run by make test-all."""
OF_STUDIES = {
    *("reproduce du2021", "reliability run", "reliability assess", "reliability train"),
    *("reliability score", "reliability explain", "reliability word", "reliability audit"),
    "calibrate",
}
"""Called in tests/reliability/test_json.py and tests/calibration/test_calibrate.py, where there is a study."""
SERVES = {"explore"}
"""Serves a page until Ctrl-C; called in tests/explore/test_server.py."""


ALL = [" ".join(words) for words in LEAVES]


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    folder = tmp_path_factory.mktemp("made")
    weatherglass.run(HashedEncoder(), ["weat6", "weat7"]).save(folder / "run")
    test = weatherglass.load_test("weat6")
    weatherglass.catalogue.write_test(test, folder / "test.jsonl")
    texts = list(
        dict.fromkeys(
            text for name in weatherglass.list_tests() for text in weatherglass.load_test(name).texts
        )
    )
    words = [text for text in texts if " " not in text]
    rows = zip(words, HashedEncoder().encode(words).tolist(), strict=True)
    (folder / "v.txt").write_text("".join(f"{word} {' '.join(map(str, row))}\n" for word, row in rows))
    (folder / "words.tsv").write_text("set\tscore\nx\t1\nx\t2\ny\t0\ny\t1\n")
    sentences, scores = stereoset.written(folder, stereotype=3.0, anti=2.0, unrelated=1.0)
    stored = {"STORED": str(scores), "SENTENCES": str(sentences), "WORDS": str(folder / "words.tsv")}
    return stored | {
        "RUN": str(folder / "run"),
        "FILE": str(folder / "test.jsonl"),
        "VECTORS": str(folder / "v.txt"),
    }


def test_every_command_is_called_here_or_with_a_study() -> None:
    assert set(COMMANDS) | OF_STUDIES | SERVES == set(ALL)


@pytest.mark.parametrize(
    "name",
    [pytest.param(name, marks=pytest.mark.large) if name in MINUTES else name for name in COMMANDS],
)
def test_json_is_all_that_is_printed(
    name: str, made: dict[str, str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("WEATHERGLASS_CACHE", str(tmp_path / "cache"))
    arguments = [*name.split(), *COMMANDS[name], "--json"]
    for placeholder, path in made.items():
        arguments = [argument.replace(placeholder, path) for argument in arguments]
    done = CliRunner().invoke(app, arguments, catch_exceptions=False)
    assert done.exit_code == 0, done.stderr
    content = json.loads(done.stdout, parse_constant=lambda constant: pytest.fail(f"{constant} is no JSON"))
    assert content or name == "cache info"
    if name not in MINUTES:
        defs = output_schema()["$defs"]
        assert list(problems(content, defs[name], defs)) == []
    for path in content.get("written", []) if isinstance(content, dict) else []:
        assert Path(path).exists()


def test_the_schema_has_every_command_that_is_called_here() -> None:
    shared = {"warning", "test", "topic-verdict"}
    assert set(output_schema()["$defs"]) == {*COMMANDS, *shared} - set(MINUTES)
    printed = CliRunner().invoke(app, ["docs", "run", "--schema"], catch_exceptions=False)
    assert json.loads(printed.output)["$ref"] == "#/$defs/run"
    with pytest.raises(UnknownNameError, match=naming("'rum'", suggesting="run")):
        CliRunner().invoke(app, ["docs", "rum", "--schema"], catch_exceptions=False)


def test_the_schema_finds_what_differs() -> None:
    result = {"p_value": 0.5, "test": "weat6"}
    schema = {
        "type": "object",
        "properties": {"p_value": {"type": ["number", "null"]}, "test": {"type": "string"}},
        "required": ["p_value", "test"],
    }
    assert not list(problems(result, schema, {}))
    for changed in (
        {"p_value": 0.5},
        {**result, "new": 1},
        {**result, "test": None},
        {**result, "p_value": True},
    ):
        assert len(list(problems(changed, schema, {}))) == 1


def test_the_page_of_the_command_line_states_the_same_codes() -> None:
    page = (Path(__file__).parents[2] / "docs" / "cli.md").read_text(encoding="utf-8")
    for code, meaning in EXIT_CODES.items():
        assert f"| {code} | {meaning} |" in page


@pytest.mark.parametrize(
    "name", [name for name in ALL if " " not in name and name not in ("models", "metrics")]
)
def test_a_wrong_option_ends_with_2(name: str) -> None:
    assert CliRunner().invoke(app, [name, "--no-such-option"]).exit_code == 2


def test_a_new_test_file_works_as_it_is(tmp_path: Path) -> None:
    file = tmp_path / "mine.toml"
    assert CliRunner().invoke(app, ["tests", "init", str(file)]).exit_code == 0
    test = weatherglass.load_test(file)
    assert (test.name, test.topic, test.shape, test.warnings) == ("mine", "weather and mood", (2, 2), ())
    assert weatherglass.run("wordllama", test).results[0].effect_size > 0
    text = file.read_text(encoding="utf-8")
    file.write_text(
        text.replace("# [[template]]", "[[template]]").replace("# text =", "text ="), encoding="utf-8"
    )
    assert "This is about sun." in weatherglass.load_test(file).texts
    mine = file.read_bytes()
    with pytest.raises(OutputError, match=naming(str(file), "already")):
        CliRunner().invoke(app, ["tests", "init", str(file)], catch_exceptions=False)
    assert file.read_bytes() == mine
    missing = str(tmp_path / "no" / "x.toml")
    with pytest.raises(OutputError, match=naming(missing, os.strerror(errno.ENOENT))):
        CliRunner().invoke(app, ["tests", "init", missing], catch_exceptions=False)


@pytest.mark.parametrize(("form", "expected"), [("methods", "Holm"), ("bibtex", "@software{weatherglass")])
def test_text_for_a_paper_is_printed(form: str, expected: str, made: dict[str, str]) -> None:
    assert expected in CliRunner().invoke(app, ["report", made["RUN"], "-f", form]).stdout


def test_a_model_card_gets_its_block_and_later_the_new_one(made: dict[str, str], tmp_path: Path) -> None:
    card = tmp_path / "README.md"
    card.write_text("# A model\n", encoding="utf-8")
    for _ in range(2):
        command = ["report", made["RUN"], "-f", "model-card", "-o", str(card)]
        assert CliRunner().invoke(app, command, catch_exceptions=False).exit_code == 0
    text = card.read_text(encoding="utf-8")
    assert text.startswith("# A model\n")
    assert text.count("```json weatherglass") == 1
