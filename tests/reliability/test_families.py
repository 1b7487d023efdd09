"""d over the members of a family: a planted one through the command, a study's seeds, and fine-tunings of a model."""

from __future__ import annotations

import json
import re
import shutil
from pathlib import Path

import numpy as np
import polars as pl
import pytest
from click.testing import CliRunner
from tests.encoders.transformers.tiny_models import build
from tests.messages import in_order, mentions, naming

import weatherglass as wg
from weatherglass.api.studies import StudyResult
from weatherglass.audit.stored import read_record
from weatherglass.catalogue import load_test
from weatherglass.cli import app
from weatherglass.errors import CorpusError
from weatherglass.reliability.agreement.seeds import FamilyReport, family_report

SEEDS, DIMENSIONS = 8, 20
TESTS = ("weat1", "weat2", "weat3", "weat6", "weat7", "weat8")


@pytest.fixture(scope="module")
def planted(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """One embedding of the words of some tests, eight times, with normal noise of 0.3 of its spread in each."""
    folder = tmp_path_factory.mktemp("planted")
    tests = [load_test(name) for name in TESTS]
    words = sorted({text for test in tests for text in test.texts})
    rng = np.random.default_rng(22)
    vectors = rng.normal(size=(len(words), DIMENSIONS))
    for test in tests:
        for sign, sets in (
            (1, (test.targets[0], test.attributes[0])),
            (-1, (test.targets[1], test.attributes[1])),
        ):
            for element in (element for one in sets for element in one.elements):
                vectors[words.index(element.text), 0] += 0.7 * sign
    for seed in range(SEEDS):
        noisy = vectors + 0.3 * rng.normal(size=vectors.shape)
        lines = [
            f"{word} {' '.join(f'{value:.5f}' for value in row)}"
            for word, row in zip(words, noisy, strict=True)
        ]
        (folder / f"seed{seed + 1}.txt").write_text("\n".join(lines) + "\n", encoding="utf-8")
    return folder


@pytest.fixture(scope="module")
def run_of_family(planted: Path, tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, str]:
    folder = tmp_path_factory.mktemp("run")
    arguments = ["run", f"planted=vectors:{planted}/seed*.txt", *(a for t in TESTS for a in ("-t", t))]
    done = CliRunner().invoke(app, [*arguments, "-o", str(folder)])
    assert done.exit_code == 0, done.output
    return folder, done.output


@pytest.mark.large
def test_a_family_shows_d_of_every_seed_and_what_the_seed_moves(run_of_family: tuple[Path, str]) -> None:
    folder, output = run_of_family
    report = FamilyReport.from_json(read_record(folder)["families"])
    table = pl.read_csv(folder / "results.tsv", separator="\t")
    assert [effect.test for effect in report.effects] == list(TESTS)
    for effect in report.effects:
        own = table.filter(pl.col("test") == effect.test)
        assert list(effect.values) == own["effect_size"].to_list()
        assert (
            list(effect.members)
            == own["model"].to_list()
            == [f"planted[seed{n}]" for n in range(1, SEEDS + 1)]
        )
        assert effect.mean == pytest.approx(own["effect_size"].mean())
        assert effect.sd == pytest.approx(own["effect_size"].std())
        assert effect.share == pytest.approx(effect.sd**2 / (effect.sd**2 + effect.word_variance))
        assert effect.share_low < effect.share < effect.share_high
        assert effect.attribute_variance > 0
        assert f"{effect.mean:.2f}".replace("-", "−") in output
    (agreement,) = report.agreements
    assert (agreement.tests, agreement.members) == (len(TESTS), SEEDS)
    assert agreement.low < agreement.icc < agreement.high
    assert mentions(output, "test–retest", "6 tests")


def test_checkpoints_of_a_transformer_are_a_family(tmp_path: Path) -> None:
    """One tiny BERT, and the same with other noise in its weights: folders instead of files."""
    import torch
    from transformers import AutoModel

    first = build("bert", tmp_path / "checkpoint-0")
    for step in (1, 2):
        shutil.copytree(first, folder := tmp_path / f"checkpoint-{step}")
        model = AutoModel.from_pretrained(first)
        torch.manual_seed(step)
        with torch.no_grad():
            for weights in model.parameters():
                weights += 0.05 * torch.randn_like(weights)
        model.save_pretrained(folder)
    finished = wg.run(f"bert=hf:{tmp_path}/checkpoint-*", "weat7")
    (effect,) = FamilyReport.from_json(finished.record["families"]).effects
    assert effect.members == ("bert[0]", "bert[1]", "bert[2]")
    assert effect.values == tuple(result.effect_size for result in finished.results)
    assert effect.sd > 0
    assert 0 < effect.share < 1


def test_python_has_the_same_report_without_a_folder(planted: Path, run_of_family: tuple[Path, str]) -> None:
    finished = wg.run(f"planted=vectors:{planted}/seed*.txt", ["weat6", "weat7"])
    stored = read_record(run_of_family[0])["families"]
    own = [effect for effect in stored["effects"] if effect["test"] in ("weat6", "weat7")]
    assert json.loads(json.dumps(finished.record["families"]["effects"])) == own
    (agreement,) = finished.record["families"]["agreements"]
    assert re.search(in_order("not estimable", "2 tests", 5), agreement["note"])


def test_more_precision_needs_more_seeds(planted: Path) -> None:
    finished = wg.run(f"planted=vectors:{planted}/seed*.txt", ["weat6"])
    families = {"planted": [result.model for result in finished.results]}
    rough, fine = (
        family_report(finished.results, families, precision).effects[0] for precision in (0.2, 0.02)
    )
    assert rough.seeds_needed is not None
    assert fine.seeds_needed is not None
    assert rough.seeds_needed < fine.seeds_needed


@pytest.mark.large
def test_the_seeds_of_a_study_are_families(undisturbed: tuple[Path, StudyResult]) -> None:
    folder, _ = undisturbed
    arguments = [
        "reliability",
        "audit",
        str(folder),
        "-t",
        "weat7",
        "-m",
        "cosine/mean",
        "-m",
        "rnd",
        "--json",
    ]
    done = CliRunner().invoke(app, arguments)
    assert done.exit_code == 0, done.output
    report = FamilyReport.from_json(json.loads(done.stdout))
    found = {(effect.family, effect.metric, effect.sets) for effect in report.effects}
    assert {("text-sgns", "cosine/mean", "X Y A B"), ("text-glove", "cosine/mean", "X Y A B")} <= found
    assert {metric for _, metric, _ in found} == {"cosine/mean", "rnd"}
    assert {len(effect.members) for effect in report.effects} == {4}
    printed = CliRunner().invoke(app, ["reliability", "audit", str(folder), "-t", "weat7", "-q"])
    assert "text-glove   cosine/mean   4 models" in printed.output


def test_a_folder_without_embeddings_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(CorpusError, match=naming(str(tmp_path), "weatherglass reliability train")):
        CliRunner().invoke(app, ["reliability", "audit", str(tmp_path)], catch_exceptions=False)


@pytest.mark.parametrize("command", [["audit"], ["word", "nurse"]])
def test_a_study_that_is_not_there_is_named(command: list[str], tmp_path: Path) -> None:
    """It was the default folder that was named, which nobody had typed."""
    missing = tmp_path / "nope"
    name, *rest = command
    with pytest.raises(CorpusError, match=rf"^{re.escape(str(missing))}: "):
        CliRunner().invoke(app, ["reliability", name, str(missing), *rest], catch_exceptions=False)
