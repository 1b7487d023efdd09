"""`wg.mitigate` and `weatherglass mitigate`: files, kills, specs with bars, the judgement and its page."""

from __future__ import annotations

import json
import os
import re
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from tests import engines
from tests.messages import naming
from tests.models import HashedEncoder

import weatherglass as wg
from weatherglass.mitigation.lists import neutral_words, pair_list
from weatherglass.report.mitigation import lines_of, page
from weatherglass.vectors import read_every_word

WIDTH = 20


def command(*arguments: str | Path) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "weatherglass", "mitigate", *map(str, arguments)],
        capture_output=True,
        text=True,
    )


@pytest.fixture(scope="module")
def model(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Word vectors with a gender axis: neutral words lean on it, and on a second axis that goes with it."""
    rng = np.random.default_rng(8)
    gender = pair_list("gender")
    pairs = (*gender.pairs, *gender.equalise, *gender.held_out)
    sides = {word: sign for pair in pairs for word, sign in zip(pair, (1.0, -1.0), strict=True)}
    tests = [
        "career",
        "corporation",
        "salary",
        "office",
        "home",
        "parents",
        "children",
        "family",
        "math",
        "algebra",
    ]
    tests += [
        "geometry",
        "calculus",
        "equations",
        "computation",
        "numbers",
        "addition",
        "poetry",
        "art",
        "dance",
    ]
    tests += ["literature", "novel", "symphony", "drama", "sculpture"]
    words = list(dict.fromkeys([*sides, *neutral_words()[:600], *tests]))
    rows = rng.standard_normal((len(words), WIDTH))
    arts = {"poetry", "art", "dance", "literature", "novel", "symphony", "drama", "sculpture"}
    for row, word in zip(rows, words, strict=True):
        lean = sides.get(word, -1.5 if word in arts else 1.5 if word in tests else rng.standard_normal())
        row[0] = 3 * lean
        row[1] = 0 if word in sides else 3 * lean
    path = tmp_path_factory.mktemp("model") / "model.txt"
    lines = [
        f"{word} {' '.join(f'{x:.6f}' for x in row)}" for word, row in zip(words, rows.tolist(), strict=True)
    ]
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")
    return path


@pytest.mark.parametrize("ending", ["safetensors", "txt", "bin"])
def test_the_written_vectors_give_the_run_that_the_spec_gives(
    model: Path, tmp_path: Path, ending: str
) -> None:
    output = tmp_path / f"out.{ending}"
    # Not with equalised pairs: then every score of weat7 is 0 up to rounding, and d is that of the rounding.
    done = command(model, "--with", "hard-debias?equalise=none", "-o", output, "-q")
    assert done.returncode == 0, done.stderr
    spelt = f"vectors:{model} | hard-debias?equalise=none"
    first, second = wg.run([spelt, f"vectors:{output}"], tests="weat7", trust="none").results
    assert second.effect_size == pytest.approx(first.effect_size, abs=1e-5)
    assert list(read_every_word(output).rows) == list(read_every_word(model).rows)


def test_a_transform_wraps_an_encoder_of_any_kind(tmp_path: Path) -> None:
    path = tmp_path / "g.transform"
    transform = "leace?classes=male_terms,female_terms"
    wg.mitigate("wordllama", transform).write(path)
    plain, wrapped = wg.run(
        [f"wordllama | {transform}", f"wordllama | saved?file={path}"], tests="weat7", trust="none"
    ).results
    assert wrapped.effect_size == plain.effect_size
    assert plain.fitted_words == wrapped.fitted_words
    assert "male" in plain.fitted_words.split(", ")
    (seen,) = {warning.values["transforms"] for warning in plain.warnings if warning.kind == "fitted-on-test"}
    assert seen == "leace"
    own = wg.mitigate(HashedEncoder(), transform)
    assert own.encode(["word"]).shape == (1, own.width)


@pytest.mark.large
def test_a_kill_at_any_moment_leaves_nothing_or_the_whole_file(model: Path, tmp_path: Path) -> None:
    large = tmp_path / "large.bin"
    named = read_every_word(model)
    with large.open("wb") as file:
        file.write(f"60000 {WIDTH}\n".encode())
        rows = np.random.default_rng(0).standard_normal((60000, WIDTH)).astype(np.float32)
        words = [*list(named.rows)[:200], *(f"w{n}" for n in range(59800))]
        for word, row in zip(words, rows, strict=True):
            file.write(word.encode() + b" " + row.tobytes() + b"\n")
    output = tmp_path / "out.txt"
    arguments = [sys.executable, "-m", "weatherglass", "mitigate", str(large), "--with", "hard-debias"]
    arguments += ["-o", str(output), "-q"]
    started = time.perf_counter()
    subprocess.run(arguments, check=True, capture_output=True)
    whole, took = output.read_bytes(), time.perf_counter() - started
    output.unlink()
    while_writing = 0
    for share in (0.3, 0.6, 0.75, 0.9):
        process = subprocess.Popen(arguments, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        time.sleep(share * took)
        os.kill(process.pid, signal.SIGKILL)
        process.wait()
        unfinished = list(tmp_path.glob(".weatherglass-*"))
        while_writing += bool(unfinished)
        assert not output.exists() or output.read_bytes() == whole
        for path in unfinished:
            path.unlink()
        output.unlink(missing_ok=True)
    subprocess.run(arguments, check=True, capture_output=True)
    assert output.read_bytes() == whole


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("--with", "hard-debias"), naming("-o", "--judge")),
        (("-o", "x.txt"), naming("--with")),
        (
            ("--with", "hard-debia", "-o", "x.txt"),
            naming("transform", "hard-debia", suggesting="hard-debias"),
        ),
        (("--with", "centre", "--judge"), naming("--pairs")),
        (("--with", "centre", "--judge", "--pairs", "gender"), naming("topic", "-t")),
    ],
)
def test_a_mistake_is_one_line_and_exit_code_2(
    arguments: tuple[str, ...], message: str, tmp_path: Path
) -> None:
    folder = ("--folder", str(tmp_path / "judged")) if "--judge" in arguments else ()
    done = command("wordllama", *arguments, *folder, "-q")
    assert done.returncode == 2
    assert re.search(message, done.stderr)
    assert len(done.stderr.strip().splitlines()) == 1
    assert not (tmp_path / "judged").exists()


@pytest.fixture(scope="module")
def judged(model: Path, tmp_path_factory: pytest.TempPathFactory) -> tuple[dict[str, Any], Path]:
    folder = tmp_path_factory.mktemp("judged")
    done = command(
        model, "--with", "hard-debias?equalise=none", "--judge", "--folder", folder, "-t", "weat7", "--json"
    )
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)["judgement"], folder


def test_a_direction_whose_shadow_stays_is_hidden(judged: tuple[dict[str, Any], Path]) -> None:
    """The made-up words keep their lean on the second axis, which the pairs know nothing of."""
    found, folder = judged
    assert found["verdict"] == "hidden", found["reasons"]
    written = json.loads((folder / "judgement.json").read_text(encoding="utf-8"))
    assert len(written.pop("sha256")) == 64
    assert found == written
    by_name = {row["name"]: row for row in found["recovered"]}
    assert by_name["linear classifier"]["after"]["low"] > 0.8
    assert by_name["clustering purity"]["random"]["value"] > 0.8
    held = next(row for row in found["held_out"] if row["poolable"])
    assert held["before"] > 1
    assert held["low"] <= held["after"] - held["before"] <= held["high"]
    words = found["held_out_words"]["weat7 held-out"]
    assert "he" in words["left_out"]
    assert "husband" in words["added"]
    assert {"cosine/mean", "rnd", "ripa", "mac", "same"} <= {row["metric"] for row in found["tests"]}


def test_removing_the_shadow_too_is_better(
    model: Path, judged: tuple[dict[str, Any], Path], tmp_path: Path
) -> None:
    """A list of neutral words by their lean, half of them, teaches LEACE the second axis; the others are judged."""
    vectors = read_every_word(model)
    lines = [
        f"{word}\t{'a' if vectors[word][0] > 0 else 'b'}"
        for word in list(neutral_words()[:600])
        if word in vectors
    ]
    path = tmp_path / "classes.txt"
    path.write_text("\n".join(lines), encoding="utf-8")
    found = wg.mitigate(f"vectors:{model}", f"inlp?classes={path}&iterations=5").judge(
        tests=["weat7"], metrics=["cosine/mean"], pairs="gender"
    )
    after = {one.name: one.after.value for one in found.recovered}
    before = {row["name"]: row["after"]["value"] for row in judged[0]["recovered"]}
    assert after["linear classifier"] < before["linear classifier"] - 0.2


def test_the_page_is_whole_escaped_and_says_what_a_turned_sign_is(
    judged: tuple[dict[str, Any], Path],
) -> None:
    found, folder = judged
    html = (folder / "index.html").read_text(encoding="utf-8")
    assert html.rstrip().endswith("</html>")
    assert found["rule"] in html
    assert "<svg" in html
    assert "http" not in html.replace("http-equiv", "").replace(
        "http://www.w3.org/2000/svg", ""
    )  # a name, not fetched
    odd = {**found, "model": "<script>x</script>", "reasons": ["d turned; no cure"]}
    shown = page(odd)
    assert "<script>x" not in shown
    assert "no cure" in shown


def test_the_terminal_gets_80_columns(judged: tuple[dict[str, Any], Path]) -> None:
    lines = list(lines_of(judged[0]))
    assert max(map(len, lines)) <= 80
    assert lines[0].lower().startswith(judged[0]["verdict"])


def test_a_test_of_which_only_rounding_is_left_is_not_called_turned(model: Path) -> None:
    """All words of weat7 that the model knows are equalised or neutralised: each s(w, A, B) is 0 but for rounding."""
    found = wg.mitigate(f"vectors:{model}", "hard-debias").judge(tests=["weat7"], metrics=["cosine/mean"])
    (row,) = (row for row in found.rows if row.poolable)
    assert (row.after, row.p_after) == (0.0, 1.0)
    assert not row.flipped(found.alpha)


class Steps:
    """Remembers how far each stage came."""

    def __init__(self) -> None:
        self.stages: list[tuple[str, int]] = []
        self.done: list[int] = []

    def stage(self, name: str, total: int) -> None:
        self.stages.append((name, total))
        self.done.append(0)

    def advance(self, steps: int = 1) -> None:
        self.done[-1] += steps


@pytest.mark.large
def test_several_processes_give_the_same_judgement(model: Path) -> None:
    mitigation, shown = wg.mitigate(f"vectors:{model}", "hard-debias?equalise=none"), Steps()

    def judged(**options: Any) -> dict[str, Any]:
        found = mitigation.judge(tests=["weat7"], metrics=["cosine/mean"], **options).to_json()
        return {name: value for name, value in found.items() if name != "finished"}

    assert judged(jobs=2, progress=shown) == judged()
    assert {"testing before", "testing after"} < dict(shown.stages).keys()
    assert [total for _, total in shown.stages] == shown.done


@pytest.mark.large
def test_the_judgement_of_a_folder_goes_on_after_an_interrupt(
    model: Path, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """Only what the journal of the run lacks is computed, also with another number of processes."""
    mitigation = wg.mitigate(f"vectors:{model}", "hard-debias?equalise=none")
    options: dict[str, Any] = {"tests": ["weat7"], "metrics": ["cosine/mean"], "folder": tmp_path}
    engine = engines.register(monkeypatch)

    def interrupt(unit: object) -> bool:
        if type(unit).__name__ == "RecoveryJob":
            raise KeyboardInterrupt
        return False

    engine.dies_with = interrupt
    with pytest.raises(KeyboardInterrupt):
        mitigation.judge(**options, scheduler=engines.NAME)
    journal = (tmp_path / "run" / "journal.jsonl").read_bytes()
    assert journal.count(b"\n") == 4  # weat7 and its held-out words, before and after
    assert not (tmp_path / "judgement.json").exists()
    assert [type(unit).__name__ for unit in engine.seen] == ["Job"] * 4 + ["CostJob"] * 4 + ["RecoveryJob"]
    mitigation.judge(**options)
    assert (tmp_path / "run" / "journal.jsonl").read_bytes() == journal
    assert (tmp_path / "judgement.json").exists()


def test_the_baselines_can_be_judged_on_named_tests(model: Path) -> None:
    found = wg.mitigate(f"vectors:{model}", "centre?on=neutral").judge(
        tests=["weat7"], metrics=["cosine/mean"], pairs="gender"
    )
    assert found.rank == 0
    assert found.verdict.word == "not removed"


def test_hard_debiasing_turns_weat7_on_word2vec(news_vectors: Path) -> None:
    """The numbers are those of WEFE 1.0.1's HardDebias on its own vectors with our lists, d computed in numpy."""
    spec = f"vectors:{news_vectors}"
    specs = [spec, f"{spec} | hard-debias", f"{spec} | hard-debias?equalise=none"]
    effects = [result.effect_size for result in wg.run(specs, tests="weat7", trust="none").results]
    assert effects == pytest.approx([0.96641, -1.13539, -1.01304], abs=1e-4)
