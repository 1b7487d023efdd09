"""A package installed beside weatherglass adds a metric, an encoder, a transform and an engine; they work anywhere."""

from __future__ import annotations

import csv
import json
import math
import os
import re
import shutil
import subprocess
import sys
import time
import tomllib
from pathlib import Path

import numpy as np
import pytest
import scipy.linalg
from scipy.spatial.distance import cdist
from tests.messages import mentions
from tests.packages.example.weatherglass_example.centre_distance import MeanDistance
from tests.packages.example.weatherglass_example.hashed import HashedEncoder

import weatherglass as wg
from weatherglass.arrays import Matrix
from weatherglass.audit.stored import read_run
from weatherglass.catalogue import load_test
from weatherglass.catalogue.test import Element
from weatherglass.encoders import Spec
from weatherglass.metrics.base import Context, Metric
from weatherglass.metrics.sets import VectorSet
from weatherglass.warnings import as_warning

EXAMPLE = Path(__file__).parent / "example"
SOURCE = str(Path(wg.__file__).parents[1])


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder in which the example is installed, as pip leaves it; written by hand, since pip may need a network."""
    folder = tmp_path_factory.mktemp("site")
    project = tomllib.loads((EXAMPLE / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    shutil.copytree(EXAMPLE / "weatherglass_example", folder / "weatherglass_example")
    information = folder / f"weatherglass_example-{project['version']}.dist-info"
    information.mkdir()
    (information / "METADATA").write_text(
        f"Metadata-Version: 2.1\nName: {project['name']}\nVersion: {project['version']}\n"
    )
    lines = []
    for group, points in project["entry-points"].items():
        lines += [f"[{group}]", *(f"{name} = {value}" for name, value in points.items()), ""]
    (information / "entry_points.txt").write_text("\n".join(lines))
    return folder


@pytest.fixture
def environment(site: Path, tmp_path: Path) -> dict[str, str]:
    """Of a user who has installed the example; with a cache of his own."""
    path = os.pathsep.join([SOURCE, str(site)])
    return {**os.environ, "PYTHONPATH": path, "WEATHERGLASS_CACHE": str(tmp_path / "cache")}


def weatherglass(environment: dict[str, str], *arguments: str) -> str:
    """What the command prints; it must succeed."""
    command = [sys.executable, "-m", "weatherglass", *arguments]
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return done.stdout


def table(folder: Path) -> list[dict[str, str]]:
    with (folder / "results.tsv").open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file, delimiter="\t"))


def mean_distance_by_scipy(test: str, width: int) -> float:
    """The mean of S(t, A) over targets and attribute sets, with scipy's cosine distance (Manzini et al. 2019)."""
    encoder = HashedEncoder.from_spec(Spec("hashed", str(width)))
    x, y, a, b = (encoder.encode(each.texts) for each in load_test(test).sets)
    targets = np.vstack([x, y])
    return float(np.mean([cdist(targets, each, "cosine").mean(axis=1) for each in (a, b)]))


@pytest.mark.parametrize(
    ("name", "value", "module"),
    [
        ("axis-gap", "make_axis_gap", "axis_gap.py"),  # a metric
        ("hashed", "HashedEncoder", "hashed.py"),  # an encoder
        ("few-dimensions", "FEW_DIMENSIONS", "hashed.py"),  # a warning, beside the encoder that gives it
    ],
)
def test_an_addition_touches_one_module_of_the_package_and_its_entry_points(
    name: str, value: str, module: str
) -> None:
    """The table in docs/packages.md: no file of weatherglass names what the package adds."""
    of_package = {
        path.name
        for path in EXAMPLE.rglob("*")
        if path.suffix in (".py", ".toml") and value in path.read_text(encoding="utf-8")
    }
    assert of_package == {"pyproject.toml", module}
    ours = [
        path for path in Path(wg.__file__).parent.rglob("*.py") if value in path.read_text(encoding="utf-8")
    ]
    assert ours == []
    page = (Path(__file__).parents[2] / "docs" / "packages.md").read_text(encoding="utf-8")
    assert f"`{module}`" in page
    assert f"`{name}`" in page


def test_its_metric_is_one_for_orthogonal_sets_and_zero_for_equal_ones() -> None:
    metric: Metric = MeanDistance()
    east, north = np.array([[2.0, 0.0]]), np.array([[0.0, 3.0]])
    word = (Element("w", "w"),)

    def value(target: Matrix, *attributes: Matrix) -> float:
        sets = [VectorSet("X", target, word), *(VectorSet("A", rows, word) for rows in attributes)]
        return metric.evaluate(sets, Context()).value

    assert value(east, north) == 1
    assert value(east, 5 * east) == 0
    assert value(east, -east) == 2
    assert value(east, north, east, -north) == pytest.approx(2 / 3)
    assert math.isnan(
        metric.evaluate([VectorSet("X", east, word), VectorSet("A", north)], Context()).effect_size
    )


def test_the_list_of_models_shows_its_kind(environment: dict[str, str]) -> None:
    kinds = {
        kind["kind"]: kind for kind in json.loads(weatherglass(environment, "models", "--json"))["kinds"]
    }
    assert kinds["hashed"] == {
        "kind": "hashed",
        "summary": (HashedEncoder.__doc__ or "").splitlines()[0],
        "example": "hashed:64",
        "missing": [],
    }
    assert "hashed:64" in weatherglass(environment, "models")
    assert "16 dimensions" in weatherglass(environment, "try", "hashed:16", "flower", "insect")


@pytest.mark.parametrize(
    "where", [("--scheduler", "threads:2"), pytest.param(("--jobs", "2"), marks=pytest.mark.large)]
)
def test_a_run_with_its_metric_and_encoder(
    environment: dict[str, str], tmp_path: Path, where: tuple[str, str]
) -> None:
    folder = tmp_path / "run"
    arguments = ("run", "hashed:64", "-m", "mean-distance", "-t", "weat6", "-o", str(folder), *where)
    printed = weatherglass(environment, *arguments, "--junit", str(tmp_path / "junit.xml"))
    assert mentions(printed, "mean-distance", "no p")
    (row,) = table(folder)
    assert float(row["value"]) == pytest.approx(mean_distance_by_scipy("weat6", 64), rel=1e-12)
    assert (row["unbiased"], row["effect_size"], row["p_value"]) == ("1.0", "", "")
    assert row["p_method"].startswith("none: ")
    assert re.search(r"\bmean-distance\b[^<]*\b1\.", (folder / "report.html").read_text(encoding="utf-8"))
    assert "unbiased: 1.0" in (tmp_path / "junit.xml").read_text(encoding="utf-8")
    (cached,) = json.loads(weatherglass(environment, "cache", "info", "--json"))["models"]
    assert (cached["name"], cached["texts"]) == ("hashed:64", len(load_test("weat6").texts))


def test_its_warning_is_shown_stored_and_counted(environment: dict[str, str], tmp_path: Path) -> None:
    arguments = ("run", "hashed:16", "-m", "mean-distance", "-t", "weat6", "-o", str(tmp_path), "--verbose")
    command = [sys.executable, "-m", "weatherglass", *arguments]
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=True)
    assert mentions(done.stderr, "hashed:16", "16 dimensions")
    (stored,) = json.loads((tmp_path / "run.json").read_text(encoding="utf-8"))["warnings"]
    assert stored == {"kind": "few-dimensions", "subject": "hashed:16", "values": {"width": 16}}
    assert "16 dimensions" in (tmp_path / "report.html").read_text(encoding="utf-8")
    # Without the package the kind has no sentence, and the values are shown.
    (warning,) = map(as_warning, read_run(tmp_path).record["warnings"])
    assert mentions(warning.text, "few-dimensions", 16)


def test_a_run_with_its_transform_is_that_of_projected_vectors(
    environment: dict[str, str], tmp_path: Path
) -> None:
    models = ("hashed:64", "flat=hashed:64 | flat?of=she,he")
    arguments = ("-m", "mean-distance", "-t", "weat6", "-o", str(tmp_path), "-q", "--jobs", "2")
    weatherglass(environment, "run", *models, *arguments)
    encoder = HashedEncoder.from_spec(Spec("hashed", "64"))
    she, he = encoder.encode(["she", "he"])
    # Projection onto the orthogonal complement, from an orthonormal basis of it.
    across = scipy.linalg.null_space((she - he)[np.newaxis])
    x, y, a, b = (encoder.encode(each.texts) @ across for each in load_test("weat6").sets)
    expected = np.mean([cdist(np.vstack([x, y]), each, "cosine").mean(axis=1) for each in (a, b)])
    plain, flat = table(tmp_path)
    assert (plain["model"], flat["model"]) == ("hashed:64", "flat")
    assert float(plain["value"]) == pytest.approx(mean_distance_by_scipy("weat6", 64), rel=1e-12)
    assert float(flat["value"]) == pytest.approx(expected, rel=1e-9)
    assert abs(expected - float(plain["value"])) > 1e-6


def test_a_metric_that_contrasts_groups_counts_in_a_judgement_of_a_mitigation(
    environment: dict[str, str], tmp_path: Path
) -> None:
    """Its MetricInfo says what its p is about; the mean distance, which has no p, is listed and does not count."""
    program = (
        "import json, weatherglass as wg; "
        "found = wg.mitigate('wordllama', 'hard-debias?equalise=none').judge("
        "tests=['weat7'], metrics=['axis-gap', 'mean-distance']); "
        "print(json.dumps({row.metric: [row.contrast, row.p_after, row.p_after_holm] for row in found.rows}))"
    )
    command = [sys.executable, "-c", program]
    done = subprocess.run(command, env=environment, cwd=tmp_path, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    rows = json.loads(done.stdout)
    contrast, p_after, holm = rows["axis-gap"]
    assert contrast
    assert p_after <= holm <= min(1.0, 2 * p_after)  # corrected for two contrasts: its own and that of d
    assert rows["mean-distance"] == [False, None, None]


@pytest.mark.large
def test_its_results_are_read_back_explained_and_compared(
    environment: dict[str, str], tmp_path: Path
) -> None:
    for width in ("32", "64"):
        arguments = (
            "run",
            f"hashed:{width}",
            "-m",
            "mean-distance",
            "-m",
            "weat",
            "-t",
            "weat6",
            "-o",
            width,
            "-q",
        )
        command = [sys.executable, "-m", "weatherglass", *arguments]
        subprocess.run(command, env=environment, cwd=tmp_path, check=True)
    folders = (str(tmp_path / "32"), str(tmp_path / "64"))
    explained = weatherglass(environment, "explain", folders[0], "weat6", "-m", "mean-distance")
    before, after = mean_distance_by_scipy("weat6", 32), mean_distance_by_scipy("weat6", 64)
    assert re.search(rf"{before:.4g}; .* 1\n", explained)  # the value, and what it is without bias
    assert mentions(explained, "no p")
    compared = weatherglass(environment, "compare", *folders)
    assert re.search(rf"{before:.4g} \w+, {after:.4g} ", compared)
    report = weatherglass(environment, "report", *folders, "-f", "md")
    assert re.search(r"^### .*\bmean-distance$", report, re.MULTILINE)
    assert re.search(r"^### .*\*d\*.*\bcosine/mean$", report, re.MULTILINE)
    again = weatherglass(
        environment, "run", "hashed:32", "-m", "mean-distance", "-m", "weat", "-t", "weat6", "-o", folders[0]
    )
    assert mentions(again, "mean-distance", "no p")  # from the journal, in which there is no NaN
    assert [row["metric"] for row in table(Path(folders[0]))] == ["mean-distance", "cosine/mean"]


@pytest.mark.large
def test_the_workers_of_a_cluster_find_it(
    environment: dict[str, str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    pytest.importorskip(
        "distributed", reason="dask is not installed; pip install 'weatherglass[distributed]'"
    )
    from tests.parallel.test_cluster import Cluster

    monkeypatch.setenv("PYTHONPATH", environment["PYTHONPATH"])
    cluster = Cluster(tmp_path, workers=1)
    try:
        deadline = time.monotonic() + 60
        while not cluster.file.exists() and time.monotonic() < deadline:
            time.sleep(0.05)
        arguments = ("-m", "mean-distance", "-t", "weat6", "-o", str(tmp_path / "run"), "-q")
        weatherglass(environment, "run", "hashed:64", *arguments, "--scheduler", str(cluster.file))
    finally:
        cluster.stop()
    (row,) = table(tmp_path / "run")
    assert float(row["value"]) == pytest.approx(mean_distance_by_scipy("weat6", 64), rel=1e-12)


@pytest.mark.large
def test_another_version_of_its_metric_is_computed_anew(
    environment: dict[str, str], site: Path, tmp_path: Path
) -> None:
    arguments = ("run", "wordllama", "-m", "mean-distance", "-t", "weat6", "-q", "-o", str(tmp_path / "run"))
    weatherglass(environment, *arguments)
    weatherglass(environment, *arguments)
    journal = tmp_path / "run" / "journal.jsonl"
    assert len(journal.read_text().splitlines()) == 1
    record = json.loads((tmp_path / "run" / "run.json").read_text(encoding="utf-8"))
    (package,) = record["metric_packages"].values()
    name, version = package.split()
    assert name == "weatherglass-example"
    (metadata,) = site.glob("*.dist-info/METADATA")
    metadata.write_text(metadata.read_text().replace(f"Version: {version}", "Version: 99"))
    try:
        weatherglass(environment, *arguments)
    finally:
        metadata.write_text(metadata.read_text().replace("Version: 99", f"Version: {version}"))
    assert len(journal.read_text().splitlines()) == 2
