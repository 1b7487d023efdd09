"""A whole calibration on a small corpus: the command, its files, resuming, the mirror law and wrong input."""

from __future__ import annotations

import json
import math
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from click.testing import CliRunner

import weatherglass as wg
from weatherglass.calibration.calibrate import RECORD, Calibration, MetricResponse, calibrate
from weatherglass.calibration.language_model import pairs_of_sentences
from weatherglass.calibration.plant import stereotype_of
from weatherglass.catalogue import write_test
from weatherglass.catalogue.pairs import pairs_of
from weatherglass.catalogue.test import Test
from weatherglass.cli import app
from weatherglass.errors import WeatherglassError
from weatherglass.metrics import select_metrics
from weatherglass.metrics.base import Context, Estimate
from weatherglass.metrics.log_probability import TEMPLATES
from weatherglass.metrics.sets import VectorSet
from weatherglass.reliability.corpus import CorpusSettings
from weatherglass.reliability.study_file import read_study
from weatherglass.reliability.training.masked import MaskedSettings

GROUPS = (["he", "father", "son", "brother"], ["she", "mother", "daughter", "sister"])
PAIRS = list(zip(*GROUPS, strict=True))
ATTRIBUTES = (["office", "salary", "trade"], ["home", "kitchen", "garden"])
OTHERS = (["army", "fort"], ["navy", "ship"], ["peace", "joy"], ["war", "woe"])


def text(number: int = 3000) -> Iterator[str]:
    random = np.random.default_rng(1)
    verbs = ["saw", "left", "found", "knew", "kept"]
    for _ in range(number):
        people, things = random.integers(2), random.integers(2)
        yield (
            f"{random.choice(GROUPS[people])} {random.choice(verbs)} the {random.choice(ATTRIBUTES[things])} and the "
            f"{random.choice(ATTRIBUTES[things])}"
        )
        first, second = random.choice(4, 2, replace=False)
        yield f"the {random.choice(OTHERS[first])} {random.choice(verbs)} {random.choice(OTHERS[second])}"


@pytest.fixture(scope="module")
def study_file(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("calibration")
    write_calibration(folder)
    return folder / "study.toml"


def write_calibration(folder: Path) -> None:
    """The study, the test and the pairs of these tests."""
    (folder / "text.txt").write_text("\n".join(text()), encoding="utf-8")
    (folder / "study.toml").write_text(
        'seeds = 2\nalgorithms = ["sgns"]\n[corpora.text]\npath = "text.txt"\n[training]\ndimensions = 12\n',
        encoding="utf-8",
    )
    write_test(own_test(), folder / "roles.toml")
    (folder / "pairs.txt").write_text("".join(f"{one} {other}\n" for one, other in PAIRS), encoding="utf-8")


def few(study_file: Path, folder: Path) -> dict[str, tuple[Path, CorpusSettings]]:
    """Return a smaller corpus, for the slower language model."""
    lines = (study_file.parent / "text.txt").read_text(encoding="utf-8").splitlines()
    (folder / "few.txt").write_text("\n".join(lines[:2000]), encoding="utf-8")
    return {"few": (folder / "few.txt", CorpusSettings())}


def own_test() -> Test:
    return wg.test(X=GROUPS[0], Y=GROUPS[1], A=ATTRIBUTES[0], B=ATTRIBUTES[1], name="roles")


def control() -> Test:
    return wg.test(*OTHERS, name="other")


@pytest.fixture(scope="module")
def found(study_file: Path) -> Calibration:
    return wg.calibrate(
        study_file,
        own_test(),
        [control()],
        pairs=PAIRS,
        doses=[0, 0.5, 1],
        folder=study_file.parent / "first",
    )


def row(calibration: Calibration, metric: str, kind: str = "planted") -> MetricResponse:
    return next(one for one in calibration.rows if (one.metric, one.kind) == (metric, kind))


def test_weat_follows_the_dose(found: Calibration) -> None:
    weat = row(found, "cosine/mean").response
    assert weat.means[0] < -0.5 < 0.5 < weat.means[2]
    assert weat.spearman > 0.9
    assert row(found, "cosine/mean").p_adjusted < 0.05
    assert row(found, "cosine/mean").outcome == "weak"  # with two seeds, no dose is detected in one embedding


def test_the_mirrored_stereotype_mirrors_every_value(
    study_file: Path, tmp_path: Path, found: Calibration
) -> None:
    study = read_study(study_file)
    stereotype = stereotype_of(own_test(), PAIRS).mirrored
    metrics = select_metrics(["*"])
    mirrored = calibrate(study, own_test(), stereotype, metrics, tmp_path, doses=[0, 0.5, 1])
    values = {(v["metric"], v["sets"], v["dose"], v["seed"]): v["value"] for v in mirrored.values}
    compared = 0
    for value in found.values:
        if value["kind"] == "planted":
            other = values[value["metric"], value["sets"], 1 - value["dose"], value["seed"]]
            assert math.isclose(value["value"], other, rel_tol=1e-9, abs_tol=1e-12)
            compared += 1
    assert compared > 30


def test_the_record_has_everything_and_a_frame_a_row_for_each_dose(
    study_file: Path, found: Calibration
) -> None:
    stored = json.loads((study_file.parent / "first" / RECORD).read_text(encoding="utf-8"))
    assert stored == json.loads(json.dumps(found.to_json()))
    assert stored["corpora"]["text"]["sentences"] > 1000
    frame = found.to_frame()
    assert len(frame) == 3 * len(found.rows)
    assert len(found.to_frame("values")) == len(found.values)


def test_a_second_run_trains_nothing_and_gives_the_same(study_file: Path, found: Calibration) -> None:
    folder = study_file.parent / "first"
    before = {path: path.stat().st_mtime_ns for path in (folder / "embeddings").iterdir()}
    again = wg.calibrate(study_file, own_test(), [control()], pairs=PAIRS, doses=[0, 0.5, 1], folder=folder)
    assert again == found
    assert {path: path.stat().st_mtime_ns for path in (folder / "embeddings").iterdir()} == before


def test_a_blind_metric_is_called_blind(study_file: Path, tmp_path: Path) -> None:
    class Blind:
        name = "blind"
        info = replace(select_metrics(["weat"])[0].info, covariances=False)

        def __init__(self) -> None:
            self.random = np.random.default_rng(2)

        def texts(self, _: Test) -> tuple[str, ...]:
            return ()

        def evaluate(self, sets: Sequence[VectorSet], context: Context) -> Estimate:
            estimate = select_metrics(["weat"])[0].evaluate(sets, context)
            return replace(estimate, value=float(self.random.standard_normal()))

    study = replace(read_study(study_file), seeds=(1, 2, 3))
    planted = stereotype_of(own_test(), PAIRS)
    doses = [0, 0.25, 0.5, 0.75, 1]
    result = calibrate(study, own_test(), planted, [Blind()], tmp_path, doses=doses)
    assert [one.outcome for one in result.rows] == ["blind"]


def test_the_command_prints_a_row_per_metric_and_writes_the_page(study_file: Path) -> None:
    folder = study_file.parent
    given = [
        "calibrate",
        study_file,
        "-t",
        folder / "roles.toml",
        "--pairs",
        folder / "pairs.txt",
        "--doses",
        "0,0.5,1",
    ]
    options = ["-o", folder / "command", "-m", "weat", "-m", "mac"]
    done = CliRunner().invoke(
        app, [*map(str, given), *map(str, options)], catch_exceptions=False, terminal_width=80
    )
    assert done.exit_code == 0
    assert json.loads((folder / "command" / RECORD).read_text(encoding="utf-8"))["test"] == "roles"
    lines = done.stdout.splitlines()
    assert sum(line.startswith(("cosine/mean", "mac")) for line in lines) == 2
    page = (folder / "command" / "index.html").read_text(encoding="utf-8")
    assert page.count("<polyline") >= 2
    assert "Content-Security-Policy" in page


def test_json_is_all_that_is_printed(study_file: Path, found: Calibration) -> None:
    given = [
        "-t",
        study_file.parent / "roles.toml",
        "--pairs",
        study_file.parent / "pairs.txt",
        "--doses",
        "0,0.5,1",
    ]
    folder = study_file.parent / "first"
    words = ["calibrate", study_file, *given, "-m", "mac", "-o", folder, "--json"]
    done = CliRunner().invoke(app, list(map(str, words)), catch_exceptions=False)
    printed = json.loads(done.stdout)
    assert printed["values"] == [v for v in found.values if v["metric"] == "mac" and v["kind"] == "planted"]


@pytest.mark.parametrize(
    "wrong",
    [
        [],
        ["missing.toml"],
        ["STUDY", "--demo"],
        ["STUDY", "--doses", "0,x"],
        ["STUDY", "--doses", "1"],
        ["STUDY", "--control", "weat1"],
        ["STUDY", "-t", "weat1"],
        ["STUDY", "-t", "weat99"],
        ["STUDY", "-t", "TEST", "--groups", "people"],
        ["STUDY", "-t", "TEST", "--control", "TEST"],
        ["STUDY", "-t", "TEST", "--pairs", "nothing.txt"],
        ["STUDY", "-t", "ABSENT"],
        ["STUDY", "-t", "TEST", "--seeds", "1"],
        ["STUDY", "-t", "TEST", "--doses", "0.5"],
        ["STUDY", "-t", "TEST", "--algorithm", "mask"],
        ["STUDY", "-t", "TEST", "-m", "crows-pairs"],
    ],
)
def test_wrong_input_is_one_line(study_file: Path, tmp_path: Path, wrong: Sequence[str]) -> None:
    places = {"STUDY": str(study_file), "TEST": str(study_file.parent / "roles.toml")}
    places["ABSENT"] = str(tmp_path / "absent.toml")
    absent = wg.test(
        X=["zebra", "lynx"], Y=["otter", "mole"], A=["moon", "star"], B=["sun", "sky"], name="absent"
    )
    write_test(absent, tmp_path / "absent.toml")
    given = ["calibrate", *(places.get(part, part) for part in wrong), "-o", str(tmp_path / "out")]
    done = CliRunner().invoke(app, given)
    assert done.exit_code == 2 or isinstance(done.exception, WeatherglassError)
    assert not (tmp_path / "out" / "embeddings").exists() or not any(
        (tmp_path / "out" / "embeddings").iterdir()
    )


def test_one_seed_is_refused_before_training(study_file: Path, tmp_path: Path) -> None:
    study = replace(read_study(study_file), seeds=(1,))
    with pytest.raises(wg.WeatherglassError):
        wg.calibrate(study, own_test(), pairs=PAIRS, folder=tmp_path / "out")
    assert not (tmp_path / "out").exists()


def test_a_missing_extra_of_the_masked_model_is_one_line(
    study_file: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("weatherglass.storage.installed.find_spec", lambda _: None)
    given = ["calibrate", study_file, "-t", study_file.parent / "roles.toml", "--algorithm", "masked", "-o"]
    done = CliRunner().invoke(app, [*map(str, given), str(tmp_path / "out")])
    assert isinstance(done.exception, wg.WeatherglassError)
    assert "transformers" in str(done.exception)
    assert not (tmp_path / "out").exists()


def test_words_that_a_masked_model_does_not_read_are_refused_before_training(
    study_file: Path, tmp_path: Path
) -> None:
    pytest.importorskip("transformers")
    study = replace(read_study(study_file), algorithms={"masked": MaskedSettings(vocabulary=5)})
    with pytest.raises(wg.WeatherglassError):
        wg.calibrate(study, own_test(), pairs=PAIRS, folder=tmp_path)
    assert not list((tmp_path / "embeddings").iterdir())


TEMPLATE = "log-probability({target} saw the {attribute}.)"


def masked_calibration(
    study_file: Path,
    folder: Path,
    settings: MaskedSettings,
    metrics: Sequence[str] = (TEMPLATE, "crows-pairs", "aul", "weat"),
) -> Calibration:
    pytest.importorskip("transformers")
    study = replace(read_study(study_file), algorithms={"masked": settings}, corpora=few(study_file, folder))
    return wg.calibrate(
        study,
        own_test(),
        [control()],
        list(metrics),
        pairs=PAIRS,
        doses=[0, 0.5, 1],
        folder=folder / "out",
    )


def test_a_masked_model_has_rows_of_both_kinds_of_metrics_and_is_resumed(
    study_file: Path, tmp_path: Path
) -> None:
    settings = MaskedSettings(dimensions=8, epochs=1, length=8)
    found = masked_calibration(study_file, tmp_path, settings)
    rows = {(one.metric, one.kind): one for one in found.rows}
    names = {name for name, _ in rows}
    assert len(names) == 4
    assert {"crows-pairs", "aul", "cosine/mean"} < names
    assert len(rows) == 8
    assert rows["crows-pairs", "planted"].response.centred is not None
    assert rows["crows-pairs", "control"].response.centred is None
    models = sorted((tmp_path / "out" / "embeddings").glob("*/model.safetensors"))
    assert len(models) == 6
    before = [path.stat().st_mtime_ns for path in models]
    again = masked_calibration(study_file, tmp_path, settings, ["weat"])
    assert list(again.values) == [value for value in found.values if value["metric"] == "cosine/mean"]
    assert [path.stat().st_mtime_ns for path in models] == before


def sayings(number: int) -> Iterator[str]:
    """Sentences in the templates of `log-probability`, in which any person goes with any thing."""
    random = np.random.default_rng(2)
    forms = [template.format(target="{}", attribute="{}").rstrip(".") for template in TEMPLATES]
    for _ in range(number):
        people, things = random.integers(2), random.integers(2)
        yield random.choice(forms).format(random.choice(GROUPS[people]), random.choice(ATTRIBUTES[things]))
        first, second = random.choice(4, 2, replace=False)
        yield random.choice(forms).format(random.choice(OTHERS[first]), random.choice(OTHERS[second]))


@pytest.mark.large
def test_metrics_of_language_models_follow_a_dose_that_a_model_can_learn(
    study_file: Path, tmp_path: Path
) -> None:
    pytest.importorskip("transformers")
    (tmp_path / "sayings.txt").write_text("\n".join(sayings(1500)), encoding="utf-8")
    settings = MaskedSettings(dimensions=32, layers=1, epochs=25, length=10, rate=0.01)
    study = replace(
        read_study(study_file),
        seeds=(1, 2, 3),
        algorithms={"masked": settings},
        corpora={"sayings": (tmp_path / "sayings.txt", CorpusSettings())},
    )
    metrics = ["log-probability", "crows-pairs", "aul", "aula"]
    found = wg.calibrate(
        study,
        own_test(),
        [control()],
        metrics,
        pairs=PAIRS,
        doses=[0, 0.5, 1],
        folder=tmp_path / "out",
    )
    for metric in metrics:
        planted = row(found, metric)
        assert planted.outcome == "follows", metric
        low, _, high = planted.response.means
        centre = planted.unbiased
        assert low < centre < high
        assert planted.response.centred
        assert row(found, metric, "control").outcome == "flat", metric
    # With a dose of 1, each person goes with the things of one side alone: the largest value is reached.
    low, _, high = row(found, "crows-pairs").response.means
    assert (low, high) == (0, 100)


def test_pairs_of_sentences_differ_in_the_person_and_agree_first() -> None:
    words = [["he", "father"], ["she", "mother"], ["office"], ["home"]]
    test = pairs_of_sentences(own_test(), words, PAIRS, "targets")
    assert test is not None
    made = list(pairs_of(test))
    assert len(made) == 2 * 2 * len(TEMPLATES)  # pairs of people, terms, templates
    first = {(pair.more.split()[0], pair.less.split()[0], pair.term) for pair in made}
    assert first == {
        ("he", "she", "office"),
        ("father", "mother", "office"),
        ("she", "he", "home"),
        ("mother", "father", "home"),
    }
    turned = pairs_of_sentences(own_test(), [words[2], words[3], *words[:2]], PAIRS, "attributes")
    assert turned is not None
    assert {pair.more for pair in pairs_of(turned)} == {pair.more for pair in made}
    assert (
        pairs_of_sentences(own_test(), [["he"], ["mother", "sister"], ["a"], ["b"]], PAIRS, "targets") is None
    )
