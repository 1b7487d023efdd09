"""Figures for print: they are made in every form, whatever the names hold, and survive grey print."""

from __future__ import annotations

import struct
from pathlib import Path

import pytest
from tests.report.made_up import made_up_run

from weatherglass.audit.stored import read_run
from weatherglass.catalogue import load_tests
from weatherglass.errors import WeatherglassError
from weatherglass.report.figures import FILL, forest, write_figures
from weatherglass.report.view import lay_out

STARTS = {"png": b"\x89PNG", "svg": b"<?xml", "pdf": b"%PDF"}


@pytest.mark.parametrize("kind", STARTS)
def test_both_figures_are_written_in_each_form(tmp_path: Path, kind: str) -> None:
    made_up_run(tmp_path, load_tests(["weat[1-3]"]), ["a", "b"])
    written = write_figures([read_run(tmp_path)], tmp_path, kind)
    assert [path.name for path in written] == [f"{name}.{kind}" for name in ("topics", "matrix", "forest")]
    for path in written:
        assert path.read_bytes().startswith(STARTS[kind])
        assert path.stat().st_size > 4000


def test_each_measure_has_figures_of_its_own(tmp_path: Path) -> None:
    made_up_run(tmp_path, load_tests(["weat1"]), metrics=["cosine/mean", "dot/mean"])
    names = {path.name for path in write_figures([read_run(tmp_path)], tmp_path, "svg")}
    assert names == {
        *("topics-cosine-mean.svg", "matrix-cosine-mean.svg", "forest-cosine-mean.svg"),
        *("topics-dot-mean.svg", "matrix-dot-mean.svg", "forest-dot-mean.svg", "measures.svg"),
    }


@pytest.mark.large
@pytest.mark.filterwarnings("ignore:.*missing from font.*")
def test_names_are_no_mathematics(hostile: Path, tmp_path: Path) -> None:
    written = write_figures([read_run(hostile)], tmp_path, "png")
    assert len(written) == 11  # three of each metric, and a map of each model


@pytest.mark.parametrize(
    ("size", "inches"), [("one-column", (3.35, None)), ("12cm", (12 / 2.54, None)), ("6.3x9in", (6.3, 9.0))]
)
def test_a_figure_has_the_size_that_was_chosen(
    tmp_path: Path, size: str, inches: tuple[float, float | None]
) -> None:
    made_up_run(tmp_path, load_tests(["weat[67]"]))
    for path in write_figures([read_run(tmp_path)], tmp_path, "png", size):
        width, height = struct.unpack(">II", path.read_bytes()[16:24])  # of the PNG header; 300 dots an inch
        assert width == pytest.approx(inches[0] * 300, abs=2)
        assert inches[1] is None or height == pytest.approx(inches[1] * 300, abs=2)


@pytest.mark.parametrize("size", ["wide", "12", "0cm", "1e9cm", "1.2.3cm", "3x1in", "1.2in"])
def test_a_size_that_is_none_or_leaves_no_room_is_refused(tmp_path: Path, size: str) -> None:
    made_up_run(tmp_path, load_tests(["weat*"]), ["a", "b"])
    with pytest.raises(WeatherglassError):
        write_figures([read_run(tmp_path)], tmp_path, "svg", size)


def test_a_single_test_says_in_its_own_words_what_left_and_right_mean(tmp_path: Path) -> None:
    made_up_run(tmp_path, load_tests(["weat6"]))
    layout = lay_out([read_run(tmp_path)])
    texts = " ".join(text.get_text().replace("\n", " ") for text in forest(layout, 0, "95 %").texts)
    assert all(name in texts for name in ("← men with family", "women with career", "men with career"))
    assert not any(category in texts for category in load_tests(["weat6"])[0].categories[:2])


def test_the_same_run_gives_the_same_figure(tmp_path: Path) -> None:
    made_up_run(tmp_path, load_tests(["weat1"]))
    first = [path.read_bytes() for path in write_figures([read_run(tmp_path)], tmp_path, "svg")]
    assert [path.read_bytes() for path in write_figures([read_run(tmp_path)], tmp_path, "svg")] == first


def grey(colour: str) -> float:
    """Relative luminance of a colour, as WCAG 2 defines it."""
    parts = [int(colour[place : place + 2], 16) / 255 for place in (1, 3, 5)]
    linear = [part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4 for part in parts]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]


@pytest.mark.parametrize("negative", [False, True])
def test_the_two_marks_differ_in_grey_as_strongly_as_text_must(negative: bool) -> None:
    strong, weak = grey(FILL["**", negative]), grey(FILL["*", negative])
    assert (weak + 0.05) / (strong + 0.05) > 4.5  # WCAG 2's contrast ratio
