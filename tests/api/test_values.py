"""A result, a comparison and a map of words in a notebook: repr, table, frame and plot."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import matplotlib as mpl
import numpy as np
import pytest
from tests.messages import naming
from tests.models import HashedEncoder

import weatherglass as wg
from weatherglass.audit.compare import compare_models
from weatherglass.errors import EncoderError, WeatherglassError

HOSTILE = "<script>x</script>\x1b[31m$\\frac$"
WORDS = ["nurse", "engineer", "teacher", HOSTILE]
KINDS = ["result", "comparison", "words"]


@pytest.fixture(autouse=True, scope="module")
def no_window() -> Iterator[None]:
    with mpl.rc_context({"backend": "Agg"}):
        yield
        import matplotlib.pyplot as plt

        plt.close("all")


@pytest.fixture(scope="module")
def run() -> wg.Run:
    models = [HashedEncoder(name="a"), HashedEncoder(width=7, name=HOSTILE)]
    return wg.run(models, ["weat6", "weat7"])


@pytest.fixture(scope="module")
def values(run: wg.Run) -> dict[str, Any]:
    return {
        "result": run.results[-1],
        "comparison": run.compare(),
        "words": wg.words(HashedEncoder(name=HOSTILE), WORDS),
    }


@pytest.mark.parametrize("kind", KINDS)
def test_a_repr_fits_ten_lines_and_a_table_is_escaped(values: dict[str, Any], kind: str) -> None:
    shown, table = repr(values[kind]), values[kind]._repr_html_()
    assert len(shown) < 10 * 80
    assert shown.count("\n") < 10
    assert "\x1b" not in shown
    assert "<script>" not in table
    assert len(table.encode()) < 50_000
    assert values[kind].plot(size="12x9cm").figure.get_size_inches() * 2.54 == pytest.approx([12, 9])


@pytest.mark.parametrize("library", ["polars", "pandas"])
def test_frames_have_the_numbers(run: wg.Run, values: dict[str, Any], library: str) -> None:
    mapped, result = values["words"], values["result"]
    frame = mapped.to_frame(library)
    assert list(frame["word"]) == [word.word for word in mapped.words]
    assert list(frame["effect_size"]) == [word.effect_size for word in mapped.words]
    scores = result.to_frame(library)
    assert list(scores["word"]) == [one.word for one in result.scores]
    assert list(scores["score"]) == pytest.approx([one.score for one in result.scores])
    changes = values["comparison"].to_frame(library)
    effects = np.array([one.value for one in run.results])
    assert list(changes["change"]) == pytest.approx(effects[2:] - effects[:2])
    assert set(changes["model_after"]) == {HOSTILE}


def test_plots_have_a_point_per_word_and_per_effect(run: wg.Run, values: dict[str, Any]) -> None:
    result, changes = values["result"], values["comparison"]
    drawn = [x for line in result.plot().lines[1:] for x in line.get_xdata()]
    assert sorted(drawn) == pytest.approx(sorted(one.score for one in result.scores))
    points = [float(dots.get_offsets()[0, 0]) for dots in changes.plot().collections]
    assert points == pytest.approx([row.change for row in changes.differences])
    assert changes == compare_models(run)


def test_a_run_of_one_model_has_nothing_to_compare() -> None:
    with pytest.raises(WeatherglassError):
        wg.run(HashedEncoder(), "weat6").compare()


def vectors() -> dict[str, np.ndarray[Any, Any]]:
    texts = wg.load_test("weat6").texts
    return dict(zip(texts, HashedEncoder(6).encode(texts), strict=True))


@pytest.mark.parametrize("kind", ["Series", "lists", "columns", "large"])
def test_vectors_in_a_series_or_an_arrow_table(kind: str) -> None:
    import pandas as pd
    import pyarrow as pa

    table = vectors()
    words = list(table)
    columns = {f"d{n}": [float(row[n]) for row in table.values()] for n in range(6)}
    given = {
        "Series": lambda: pd.Series(table),
        "lists": lambda: pa.table({"word": words, "vector": [list(map(float, v)) for v in table.values()]}),
        "columns": lambda: pa.table({"word": words, **columns}),
        "large": lambda: pa.table({"word": pa.array(words, pa.large_string()), **columns}),
    }[kind]()
    assert wg.run(given, "weat6").results[0].value == pytest.approx(wg.run(table, "weat6").results[0].value)


def test_what_is_not_a_table_of_vectors_is_refused() -> None:
    import pandas as pd
    import pyarrow as pa

    twice = pd.Series([[1.0, 2.0], [3.0, 4.0]], index=["sun", "sun"])
    for given, named in (
        (pd.Series([1.0, 2.0], index=["sun", "rain"]), "vectors"),
        (pd.Series([], dtype=float), "empty"),
        (twice, "sun"),
        (pa.table({"vector": [[1.0, 2.0]]}), "vector"),
        (pa.table({"word": ["sun"], "when": [b"x"]}), "Arrow"),
        (pa.table({"word": ["sun", "rain"], "vector": [[1.0, 2.0], [1.0]]}), "Arrow"),
    ):
        with pytest.raises(EncoderError, match=naming(named)):
            wg.run(given, "weat6")
