"""A run in hand, as in a notebook: each of its methods, on what it holds and on what would break it."""

from __future__ import annotations

import errno
import json
import math
import os
import re
from collections.abc import Iterable, Iterator
from dataclasses import replace
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import matplotlib as mpl
import numpy as np
import pytest
from tests.messages import mentions, naming
from tests.models import HashedEncoder

import weatherglass
from weatherglass.catalogue.names import topic_name
from weatherglass.errors import MissingExtraError, OutputError, UnknownNameError, WeatherglassError
from weatherglass.metrics.ripa import RelationalInnerProduct
from weatherglass.report import statements
from weatherglass.report.writing import END, START, put_into

HOSTILE = '<script>alert("x")</script> & \\end{table} _1_ | `'


@pytest.fixture(autouse=True, scope="module")
def no_window() -> Iterator[None]:
    with mpl.rc_context({"backend": "Agg"}):
        yield
        import matplotlib.pyplot as plt

        plt.close("all")


@pytest.fixture(scope="module")
def run() -> weatherglass.Run:
    return weatherglass.run(
        [HashedEncoder(name="a"), HashedEncoder(width=7, name="b")], ["weat6", "weat7", "weat1"]
    )


@pytest.fixture(scope="module")
def hostile() -> weatherglass.Run:
    test = replace(weatherglass.load_test("weat6"), name="t <b>", topic=HOSTILE)
    return weatherglass.run(HashedEncoder(name=HOSTILE), test)


def plain(records: Iterable[Any]) -> Any:
    """As JSON has them: lists for tuples."""
    return json.loads(json.dumps(list(records)))


class Tags(HTMLParser):
    """The tags and texts of a page."""

    def __init__(self) -> None:
        super().__init__()
        self.tags: list[str] = []
        self.texts: list[str] = []

    def handle_starttag(self, tag: str, attrs: Any) -> None:  # noqa: ARG002
        self.tags.append(tag)

    def handle_data(self, data: str) -> None:
        self.texts.append(data)


def parsed(html: str) -> Tags:
    tags = Tags()
    tags.feed(html)
    return tags


def test_repr_is_short_and_says_what_it_is(run: weatherglass.Run) -> None:
    assert repr(run).startswith("<Run: ")
    assert mentions(repr(run), "6 results", "2 models", "3 tests", "1 metric", "complete")
    assert mentions(repr(run), "4 inconclusive")  # controls are not counted
    assert len(repr(weatherglass.run(HashedEncoder()))) < 300  # it was 15 219 characters


@pytest.mark.parametrize("library", ["polars", "pandas"])
def test_a_frame_has_every_result_with_its_numbers(run: weatherglass.Run, library: str) -> None:
    frame = run.to_frame(library)
    assert type(frame).__module__.startswith(library)
    assert list(frame["effect_size"]) == [result.effect_size for result in run.results]
    assert list(frame["p_value"]) == [result.p_value for result in run.results]
    assert list(frame["model"]) == ["a"] * 3 + ["b"] * 3
    assert next(iter(frame["topic"])) == "gender and career"
    assert list(frame.columns)[:5] == ["model", "options", "test", "p_value", "effect_size"]


def test_without_a_name_the_library_that_is_installed_is_used(
    run: weatherglass.Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert type(run.to_frame()).__module__.startswith("polars")
    hidden = {"polars"}
    from importlib.util import find_spec

    monkeypatch.setattr(
        "weatherglass.report.show.find_spec", lambda name: None if name in hidden else find_spec(name)
    )
    assert type(run.to_frame()).__module__.startswith("pandas")
    with pytest.raises(MissingExtraError, match="pip install polars"):
        run.to_frame("polars")
    hidden.add("pandas")
    with pytest.raises(MissingExtraError, match=naming("polars", "pandas")):
        run.to_frame()
    with pytest.raises(UnknownNameError, match=naming("panda", suggesting="pandas")):
        run.to_frame("panda")


def test_verdicts_are_a_frame_too(run: weatherglass.Run) -> None:
    frame = run.verdict_frame("polars")
    assert frame["outcome"].to_list() == [verdict.outcome for verdict in run.verdicts()]
    assert frame["effect_size"].to_list() == [verdict.effect_size for verdict in run.verdicts()]


def test_the_view_of_a_notebook_has_verdicts_and_numbers(run: weatherglass.Run) -> None:
    texts = parsed(run._repr_html_()).texts
    for verdict in run.verdicts():
        assert (statements.check_name(verdict) if verdict.check else topic_name(verdict.topic)) in texts
        assert statements.outcome_text(verdict) in texts
    for result in run.results:
        assert f"{result.effect_size:.2f}".replace("-", "−") in texts


def test_the_view_of_a_notebook_is_below_50_kb_however_large_the_run(hostile: weatherglass.Run) -> None:
    many = replace(
        hostile, results=[replace(hostile.results[0], model="&" * 500, test=f"{n}<" * 90) for n in range(900)]
    )
    html = many._repr_html_()
    assert len(html.encode()) < 50_000
    assert re.search(r"\b8\d\d more\b", html)


def test_text_of_users_is_escaped_in_a_notebook(hostile: weatherglass.Run) -> None:
    html = hostile._repr_html_()
    assert set(parsed(html).tags) <= {"div", "p", "b", "table", "tr", "th", "td", "code"}
    assert "<script" not in html
    assert "t <b>" in parsed(html).texts


def test_a_forest_has_a_panel_per_model_with_every_point(run: weatherglass.Run) -> None:
    axes = run.plot("forest")
    panels: Any = axes.figure.axes
    assert [panel.get_title() for panel in panels] == ["a", "b"]
    drawn = sorted({float(marks.get_offsets()[0][0]) for marks in panels[0].collections})
    assert drawn == pytest.approx(sorted(result.effect_size for result in run.results[:3]))


def test_a_matrix_has_a_cell_per_result(run: weatherglass.Run) -> None:
    texts = [text.get_text().split()[-1] for text in run.plot("matrix").texts]  # behind its mark
    for result in run.results:
        assert f"{result.effect_size:.2f}".replace("-", "−") in texts


def test_a_curve_is_sorted_by_d(run: weatherglass.Run) -> None:
    axes = run.plot("curve")
    marks: list[Any] = list(axes.collections)
    points = {float(x): float(y) for x, y in (one.get_offsets()[0] for one in marks)}
    assert list(points) == sorted(points)
    assert list(points.values()) == sorted(result.effect_size for result in run.results)


def test_pyplot_knows_the_figure(run: weatherglass.Run) -> None:
    import matplotlib.pyplot as plt

    axes = run.plot()
    assert plt.gcf() is axes.figure


def test_wrong_plots_are_named(run: weatherglass.Run) -> None:
    with pytest.raises(UnknownNameError, match=naming("forrest", suggesting="forest")):
        run.plot("forrest")  # type: ignore[arg-type]
    with pytest.raises(UnknownNameError, match=naming("metric", "mac", "cosine/mean")):
        run.plot(metric="mac")
    with pytest.raises(WeatherglassError, match=naming("mac", "matrix")):
        weatherglass.run(HashedEncoder(), "weat6", "mac").plot()


def test_latex_has_p_interval_and_label(run: weatherglass.Run) -> None:
    one = weatherglass.run(HashedEncoder(name="a"), ["weat6", "weat7"])
    text = one.to_latex(label="tab:mine")
    assert r"\label{tab:mine}" in text
    for result in one.results:
        assert result.ci_low is not None
        assert result.ci_high is not None
        row = next(line for line in text.splitlines() if line.strip().startswith(result.test))
        assert f"$[{result.ci_low:.2f}, {result.ci_high:.2f}]$" in row
        shown = float(re.findall(r"\$([\d.]+)(?:\$| )", row)[-1])
        assert shown == pytest.approx(result.p_value, rel=0.06)
    several = run.to_latex()
    assert r"\label{tab:weatherglass}" in several
    assert several.count(r"\shortstack") == 6


def test_report_writes_the_page(run: weatherglass.Run, tmp_path: Path) -> None:
    path = run.report(tmp_path / "page.html")
    assert "<title>" in path.read_text(encoding="utf-8")
    missing = tmp_path / "no" / "folder.html"
    with pytest.raises(OutputError, match=naming(str(missing), os.strerror(errno.ENOENT))):
        run.report(missing)


def test_a_saved_run_is_the_same_when_it_is_loaded(run: weatherglass.Run, tmp_path: Path) -> None:
    saved = run.save(tmp_path / "run")
    loaded = weatherglass.load_run(tmp_path / "run")
    assert plain(result.to_json() for result in loaded.results) == plain(
        result.to_json() for result in run.results
    )
    assert loaded.record == plain([run.record])[0]
    assert [v.to_json() for v in loaded.verdicts()] == [v.to_json() for v in run.verdicts()]
    assert repr(loaded) == repr(run)
    assert saved.folder == loaded.folder == tmp_path / "run"
    assert (tmp_path / "run" / "report.html").exists()
    with pytest.raises(OutputError, match=naming(str(tmp_path / "run"), "already")):
        run.save(tmp_path / "run")
    assert saved.save(tmp_path / "run") == saved


def test_a_run_with_a_failure_is_saved_and_loaded(tmp_path: Path) -> None:
    partly = weatherglass.run(
        HashedEncoder(unknown=weatherglass.load_test("weat7").targets[0].texts), ["weat6", "weat7"]
    )
    assert len(partly.failures) == 1
    partly.save(tmp_path / "run")
    loaded = weatherglass.load_run(tmp_path / "run")
    assert loaded.failures == partly.failures
    assert mentions(repr(loaded), "1 test", "computed")


@pytest.mark.large
@pytest.mark.parametrize(
    "again", [False, pytest.param(True, marks=pytest.mark.large)], ids=["at once", "resumed"]
)
def test_the_page_of_a_run_is_the_page_of_its_folder(again: bool, tmp_path: Path) -> None:
    # It is written from memory: with a failure, words that are unknown, a d that is not defined, every metric.
    from weatherglass.audit.stored import read_run
    from weatherglass.report.page import PAGE, write_page

    models = [
        HashedEncoder(name="a"),
        HashedEncoder(name="b", unknown=weatherglass.load_test("weat7").targets[0].texts[1:]),
        weatherglass.model(lambda texts: np.ones((len(texts), 3)), name="flat"),
    ]
    folder = tmp_path / "run"
    if again:
        weatherglass.run(models[0], ["weat6"], "*", folder=folder)
    finished = weatherglass.run(models, ["weat6", "weat7"], "*", folder=folder)
    assert finished.failures
    assert any(math.isnan(result.value) for result in finished.results)
    written = (folder / PAGE).read_bytes()
    write_page(read_run(folder))
    assert (folder / PAGE).read_bytes() == written


def test_what_is_no_run_is_not_loaded(tmp_path: Path) -> None:
    with pytest.raises(OutputError, match=naming(str(tmp_path), "run.json")):
        weatherglass.load_run(tmp_path)


def test_compare_is_what_the_command_says_of_the_folders(run: weatherglass.Run, tmp_path: Path) -> None:
    from weatherglass.audit import compare_runs

    other = weatherglass.run(
        [HashedEncoder(width=30, name="a"), HashedEncoder(width=7, name="b")], ["weat6", "weat7"]
    )
    in_memory = run.compare(other)
    run.save(tmp_path / "one")
    other.save(tmp_path / "two")
    stored = compare_runs(tmp_path / "one", tmp_path / "two")
    assert in_memory.differences == stored.differences
    assert run.compare(tmp_path / "two").differences == stored.differences
    assert [row.test for row in in_memory.incomparable] == ["weat1", "weat1"]


def test_a_model_card_has_its_numbers_for_programs(run: weatherglass.Run, hostile: weatherglass.Run) -> None:
    for each in (run, hostile):
        block = each.model_card()
        fenced = re.findall(r"```json weatherglass\n(.*?)\n```", block, re.DOTALL)
        assert len(fenced) == 1
        content = json.loads(fenced[0])
        assert [v["outcome"] for v in content["verdicts"]] == [v.outcome for v in each.verdicts()]
        assert [m["model"] for m in content["models"]] == [m["model"] for m in each.record["models"]]


def test_a_block_takes_the_place_of_the_one_before(run: weatherglass.Run) -> None:
    card = put_into("# My model\n", run.model_card())
    assert card.startswith("# My model\n\n" + START)
    again = put_into(card + "\nLicence: MIT\n", run.model_card())
    assert again.count(START) == again.count(END) == 1
    assert again.endswith("Licence: MIT\n")


def test_a_name_that_ends_the_block_makes_no_card_grow() -> None:
    run = weatherglass.run({f"a{END}b": HashedEncoder()}, "weat6")
    card = once = put_into("# My model\n", run.model_card())
    for _ in range(3):
        card = put_into(card, run.model_card())
    assert card == once
    assert (
        json.loads(re.findall(r"weatherglass\n(.*?)\n```", card, re.DOTALL)[0])["models"][0]["model"]
        == f"a{END}b"
    )


def test_text_for_papers(run: weatherglass.Run) -> None:
    assert "weat6" in run.to_markdown()
    assert "Holm" in run.methods()
    assert "@article{caliskan2017" in run.bibtex()


def test_a_multiverse_in_hand() -> None:
    found = weatherglass.multiverse(HashedEncoder(), ["weat6", "weat6b"], choices=["similarity", "statistic"])
    number = sum(len(entry["specifications"]) for entry in found.topics)
    assert repr(found).startswith("<Multiverse: ")
    assert mentions(repr(found), f"{number} specifications", len(found.topics))
    for library in ("polars", "pandas"):
        assert len(found.to_frame(library)) == number
    assert "gender and career" in parsed(found._repr_html_()).texts
    assert len(found.plot().figure.axes) == 2
    with pytest.raises(WeatherglassError, match=naming("gender and career", "hashed")):
        found.plot("weather")


class Undecided(RelationalInnerProduct):
    """A metric of another package, with a detail that is not defined."""

    @property
    def name(self) -> str:
        return "undecided"

    def details(self, targets: Any, attributes: Any) -> dict[str, Any]:  # noqa: ARG002
        return {"spread": math.nan, "both": (0.5, math.inf)}


def test_details_that_are_not_defined_are_none_in_memory_and_in_the_folder(tmp_path: Path) -> None:
    run = weatherglass.run(HashedEncoder(), "weat7", Undecided(), folder=tmp_path)
    assert not run.failures
    assert (tmp_path / "report.html").exists()
    stored = weatherglass.load_run(tmp_path)
    for result in (*run.results, *stored.results):
        assert result.notes["details"] == {"spread": None, "both": [0.5, None]}
