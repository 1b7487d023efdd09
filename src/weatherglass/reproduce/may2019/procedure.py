"""May et al. (2019), "On Measuring Social Biases in Sentence Encoders": their procedure on the given models.

All 46 tests, p from 99 999 random partitions and one more, Holm–Bonferroni over the 644 tests of the paper (46 tests
× 14 variants of the models), alpha 0.01; then Table 4 beside our numbers, and the paper's two checks of coherence.
"""

from __future__ import annotations

import tomllib
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from pathlib import Path
from typing import Final

from weatherglass.api.audits import run
from weatherglass.encoders import Spec, resolve_spec
from weatherglass.encoders.presets import FAMILIES
from weatherglass.progress import Progress
from weatherglass.registry import one_of
from weatherglass.reproduce.models import specs_by_name
from weatherglass.runs.results import Result, Run
from weatherglass.storage.atomic import write_whole
from weatherglass.storage.spreadsheet import tsv_line

FAMILY: Final = 644
ALPHA: Final = 0.01

MODELS: Final = {
    "cbow": "vectors:glove.840B.300d.txt",
    "infersent": "infersent:infersent.allnli.pickle?glove=glove.840B.300d.txt",
    "gensen": "gensen:FOLDER?glove=glove.840B.300d.txt",
    "use": "use:FOLDER",
    "elmo": "elmo:FOLDER",
    "gpt": "gpt",
    "bert": "bert-large-cased",
}
"""The seven columns of Table 4, and the spec of each with the weights that the paper used."""

RELEASED: Final[Mapping[tuple[str, str], Mapping[str, str]]] = {
    ("elmo", "elmo"): {"tokens": "characters"},
    ("bert", "hf"): dict(FAMILIES["sent-bias"].spec.options),
}
"""By model and kind of spec: what the released code did in place of what the paper says (docs/methods 6)."""

PAIRS: Final = (("weat7", "weat8"), ("sent-weat7", "sent-weat8"))
"""Math and science against arts: the same stereotype by other words, so the verdicts should agree."""

RISING: Final = (("weat3", "weat4", "weat5"), ("sent-weat3", "sent-weat4", "sent-weat5"))
"""The same names or fewer of them, against the same or other attributes: evidence should weaken, so p should rise."""


@dataclass(frozen=True, slots=True)
class Published:
    """What the paper prints."""

    effect_sizes: Mapping[tuple[str, str], tuple[float, str]]
    """By test and model: d and its mark."""
    p_values: Mapping[tuple[str, str], float]
    tests: tuple[str, ...]
    """The rows of Table 4, in its order."""


@cache
def published() -> Published:
    """Table 4 and the p-values of the text."""
    text = files(__package__).joinpath("published.toml").read_text(encoding="utf-8")
    data = tomllib.loads(text)
    return Published(
        {
            (test, model): (float(cell.rstrip("*")), "*" * cell.count("*"))
            for test, row in data["effect_sizes"].items()
            for model, cell in row.items()
        },
        {(test, model): float(p) for test, row in data["p_values"].items() for model, p in row.items()},
        tuple(data["effect_sizes"]),
    )


@dataclass(frozen=True, slots=True)
class Comparison:
    """One cell of Table 4, theirs and ours."""

    model: str
    test: str
    published: float
    published_mark: str
    ours: Result | None
    """None where the test could not be run."""
    released: Result | None
    """Ours with the settings of the released code, where those differ and the model is given."""

    @property
    def difference(self) -> float | None:
        """Ours less theirs."""
        return None if self.ours is None else self.ours.effect_size - self.published


@dataclass(frozen=True, slots=True)
class Coherence:
    """Tests whose p-values should stand in a certain relation, for one model."""

    model: str
    expected: str
    """The relation in words."""
    tests: tuple[str, ...]
    p_values: tuple[float | None, ...]
    published: tuple[float | None, ...]
    holds: bool | None
    """None where a test could not be run."""


@dataclass(frozen=True, slots=True)
class Reproduction:
    """The run, and what it says of the paper."""

    run: Run
    released: Run | None
    comparisons: list[Comparison]
    coherence: list[Coherence]
    not_given: list[str]
    """The paper's models for which no spec is given."""
    results: Results
    """The run's results by test and model's name."""


def parse_models(entries: Iterable[str]) -> dict[str, str]:
    """`cbow=vectors:glove.txt` and so on, as specs by name.

    Raises:
        UnknownNameError: for a name that is none of the seven.
        WeatherglassError: for an entry without a spec, or a name twice.
    """
    specs = specs_by_name(entries, f"cbow={MODELS['cbow']}")
    for name in specs:
        one_of("model of May et al.", name, list(MODELS))
    return specs


def reproduce(
    models: Mapping[str, str],
    *,
    folder: Path | None = None,
    seed: int = 0,
    jobs: int = 1,
    progress: Progress | None = None,
    command: Sequence[str] | None = None,
) -> Reproduction:
    """Run the paper's procedure on the given models.

    Args:
        models: spec by name, the names being those of Table 4; may be empty.
        folder: where the run is stored, with table4.tsv beside it and the released code's settings in a folder below.
        seed: of the random partitions.
        jobs: processes to use.
        progress: receives the progress of the work.
        command: the command line, for the records of its runs.
    """
    specs = {name: str(resolve_spec(spec)) for name, spec in models.items()}
    main = _run(list(specs.values()), folder, seed, jobs, progress, command)
    released_specs = {name: spec for name in specs if (spec := released_spec(name, specs[name]))}
    released = None
    if released_specs:
        released_folder = folder / "released-code" if folder else None
        released = _run(list(released_specs.values()), released_folder, seed, jobs, progress, command)
    ours, theirs = by_model(main, specs), by_model(released, released_specs)
    reproduction = Reproduction(
        main,
        released,
        compare(specs, ours, theirs),
        [check for name in specs for check in check_coherence(name, ours)],
        [name for name in MODELS if name not in specs],
        ours,
    )
    if folder is not None:
        folder.mkdir(parents=True, exist_ok=True)
        write_whole(folder / "table4.tsv", table_4(reproduction.comparisons))
    return reproduction


def _run(
    specs: list[str],
    folder: Path | None,
    seed: int,
    jobs: int,
    progress: Progress | None,
    command: Sequence[str] | None,
) -> Run:
    if not specs:
        return Run([], [], {})
    return run(
        specs,
        significance="sampled",
        alternative="greater",
        permute="elements",
        alpha=ALPHA,
        correction="holm",
        family=FAMILY,
        seed=seed,
        jobs=jobs,
        folder=folder,
        progress=progress,
        command=command,
    )


def released_spec(name: str, spec: str) -> str | None:
    """The spec with the settings of the released code; None where they do not differ from the paper's."""
    parsed = resolve_spec(spec)
    changed = RELEASED.get((name, parsed.kind))
    if changed is None:
        return None
    options = {**dict(parsed.options), **changed}
    return str(Spec(parsed.kind, parsed.target, tuple(options.items())))


Results = Mapping[tuple[str, str], Result]
"""Results by test and model's name."""


def by_model(finished: Run | None, specs: Mapping[str, str]) -> Results:
    """The results of a run under the names of Table 4."""
    results = finished.results if finished else []
    return {
        (result.test, name): result
        for name, spec in specs.items()
        for result in results
        if result.model == spec
    }


def compare(models: Iterable[str], ours: Results, released: Results) -> list[Comparison]:
    """Every cell of Table 4 for these models."""
    table = published()
    return [
        Comparison(
            model,
            test,
            *table.effect_sizes[test, model],
            ours.get((test, model)),
            released.get((test, model)),
        )
        for model in models
        for test in table.tests
    ]


def check_coherence(model: str, ours: Results) -> list[Coherence]:
    """The paper's two checks, for words and for sentences."""

    def check(tests: Sequence[str], expected: str) -> Coherence:
        results = [ours.get((test, model)) for test in tests]
        p = [None if result is None else result.p_value for result in results]
        known = [value for value in p if value is not None]
        holds = None
        if len(known) == len(tests):
            agree = len({value <= ALPHA for value in known}) == 1
            holds = agree if expected == "same verdict" else known == sorted(known)
        printed = tuple(published().p_values.get((test, model)) for test in tests)
        return Coherence(model, expected, tuple(tests), tuple(p), printed, holds)

    return [
        *(check(tests, "same verdict") for tests in PAIRS),
        *(check(tests, "p rises") for tests in RISING),
    ]


def table_4(comparisons: Iterable[Comparison]) -> str:
    """Table 4 with our numbers beside it, one line per cell."""
    lines = [
        "test\tmodel\tpublished\tpublished_significance\teffect_size\tsignificance\tdifference\tp_value\t"
        "released_code_effect_size\treleased_code_significance\n"
    ]
    for cell in comparisons:
        ours, released = cell.ours, cell.released
        own = (
            ["", "", "", ""]
            if ours is None
            else [
                repr(ours.effect_size),
                ours.significance,
                repr(cell.difference),
                repr(ours.p_value),
            ]
        )
        other = ["", ""] if released is None else [repr(released.effect_size), released.significance]
        lines.append(
            tsv_line([cell.test, cell.model, repr(cell.published), cell.published_mark, *own, *other])
        )
    return "".join(lines)
