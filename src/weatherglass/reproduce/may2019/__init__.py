"""Reproduce May et al. (2019), "On Measuring Social Biases in Sentence Encoders", on the given models.

All 46 tests are run. p is computed from 99 999 random partitions and the observed one, and corrected over all rows
with the Holm–Bonferroni method at alpha 0.01. The output compares Table 4 with the results of weatherglass, and
repeats the paper's two coherence checks. The paper's table has 644 rows, which are 46 tests × 14 variants of models.
Marks are corrected over the rows of the run; a second column has the marks for a correction over all 644 rows.
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
from weatherglass.audit.results import Result
from weatherglass.audit.run import Run
from weatherglass.encoders import Spec, resolve_spec
from weatherglass.encoders.spec import FAMILIES
from weatherglass.errors import WeatherglassError
from weatherglass.mitigation import read_model
from weatherglass.progress import Progress
from weatherglass.reproduce import specs_by_name
from weatherglass.reproduce.may2019.designs import DesignContrast, design_contrasts
from weatherglass.stats.multiplicity import adjust
from weatherglass.storage.atomic import write_whole
from weatherglass.storage.printable import tsv_line

FAMILY: Final = 644
"""The number of rows in the paper's results.tsv: 46 tests × 14 variants."""
ALPHA: Final = 0.01


@dataclass(frozen=True, slots=True)
class Variant:
    """One of the 14 models of the paper."""

    spec: str
    """The spec of the model, with the weights that the paper used."""
    width: int
    """The number of dimensions of the model's vectors."""
    page: str
    """The section of docs/encoders.md, in lower case."""


GLOVE: Final = "glove=glove.840B.300d.txt"
MODELS: Final[Mapping[str, Variant]] = {
    "cbow": Variant("vectors:glove.840B.300d.txt", 300, "cbow"),
    "infersent": Variant(f"infersent:infersent.allnli.pickle?{GLOVE}", 4096, "infersent"),
    "gensen": Variant(f"gensen:FOLDER?{GLOVE}", 4096, "gensen"),
    "gensen-parsing": Variant(f"gensen:FOLDER?models=nli_large_bothskip_parse&{GLOVE}", 2048, "gensen"),
    "gensen-no-parsing": Variant(f"gensen:FOLDER?models=nli_large_bothskip&{GLOVE}", 2048, "gensen"),
    "use": Variant("use:FOLDER", 512, "use"),
    "elmo": Variant("elmo:FOLDER", 1024, "elmo"),
    "elmo-max-sum": Variant("elmo:FOLDER?pooling=max", 1024, "elmo"),
    "elmo-max-concat": Variant("elmo:FOLDER?pooling=max&layers=concat", 3072, "elmo"),
    "gpt": Variant("gpt", 768, "gpt"),
    "bert": Variant("bert-large-cased", 1024, "bert"),
    "bert-base-cased": Variant("bert-base-cased", 768, "bert"),
    "bert-large-uncased": Variant("bert-large-uncased", 1024, "bert"),
    "bert-base-uncased": Variant("bert-base-uncased", 768, "bert"),
}
"""The 14 variants by name. Seven of them are the columns of Table 4, in which bert is the large cased model."""
SAME_AS: Final = {"bert-large-cased": "bert"}
"""Other names of a variant."""

RELEASED: Final[Mapping[tuple[str, str], Mapping[str, str]]] = {
    ("elmo", "elmo"): {"tokens": "characters"},
    ("bert", "hf"): dict(FAMILIES["sent-bias"].spec.options),
}
"""Options with which the released code differs from the paper (docs/methods 6), by page and kind of spec."""

PAIRS: Final = (("weat7", "weat8"), ("sent-weat7", "sent-weat8"))
"""Tests of one stereotype (maths or science against arts) with different words, whose verdicts should agree."""

RISING: Final = (("weat3", "weat4", "weat5"), ("sent-weat3", "sent-weat4", "sent-weat5"))
"""Tests with the same or fewer names and the same or other attributes; the evidence should weaken, so p should
rise.
"""


@dataclass(frozen=True, slots=True)
class MayPublished:
    """The numbers that the paper prints."""

    effect_sizes: Mapping[tuple[str, str], tuple[float, str]]
    """d and its mark, by test and model."""
    p_values: Mapping[tuple[str, str], float]
    tests: tuple[str, ...]
    """The rows of Table 4, in its order."""
    columns: tuple[str, ...]
    """The models of Table 4, in its order."""


@cache
def published() -> MayPublished:
    """Read Table 4 and the p-values in the paper's text."""
    text = files(__package__).joinpath("published.toml").read_text(encoding="utf-8")
    data = tomllib.loads(text)
    return MayPublished(
        {
            (test, model): (float(cell.rstrip("*")), "*" * cell.count("*"))
            for test, row in data["effect_sizes"].items()
            for model, cell in row.items()
        },
        {(test, model): float(p) for test, row in data["p_values"].items() for model, p in row.items()},
        tuple(data["effect_sizes"]),
        tuple(next(iter(data["effect_sizes"].values()))),
    )


@dataclass(frozen=True, slots=True)
class CellComparison:
    """One cell of Table 4: the published result and ours."""

    model: str
    test: str
    published: float
    published_mark: str
    ours: Result | None
    """Our result; None if the test could not be run."""
    mark_of_644: str
    """Our mark after correction for all 644 rows of the paper; empty if the test could not be run."""
    released: Result | None
    """Our result with the settings of the released code, if they differ and the user gave the model."""

    @property
    def difference(self) -> float | None:
        """Return our d minus the published d."""
        return None if self.ours is None else self.ours.effect_size - self.published


@dataclass(frozen=True, slots=True)
class Coherence:
    """The p-values of tests of one model that should agree or rise."""

    model: str
    expected: str
    """The expected relation in words."""
    tests: tuple[str, ...]
    p_values: tuple[float | None, ...]
    published: tuple[float | None, ...]
    holds: bool | None
    """Whether the p-values have the expected relation; None if a test could not be run."""


@dataclass(frozen=True, slots=True)
class MayReproduction:
    """The run, and its comparison with the paper."""

    run: Run
    models: Mapping[str, str]
    """The spec of each model by name, as the user gave it."""
    released: Run | None
    comparisons: list[CellComparison]
    coherence: list[Coherence]
    not_given: list[str]
    """The variants of the paper for which the user gave no spec."""
    results: Results
    """The results of the run by test and name of the model."""
    marks_of_644: Mapping[tuple[str, str], str]
    """The marks after correction for all 644 rows of the paper, by test and name of the model."""
    designs: list[DesignContrast]
    """Contrasts between designs, which compare given names with group terms and test the interaction of race and
    gender.
    """
    widths: Mapping[str, int]
    """The number of dimensions of the vectors, by name of the model."""


def variant_of(name: str) -> str | None:
    """Return the paper's name of a model; None for models that are not in the paper."""
    known = SAME_AS.get(name, name)
    return known if known in MODELS else None


def column_of(name: str) -> str | None:
    """Return the column of Table 4 for a model; None for the seven variants without one and for models not in the
    paper.
    """
    variant = variant_of(name)
    return variant if variant in published().columns else None


def parse_models(entries: Iterable[str]) -> dict[str, str]:
    """Return specs by name from entries such as `cbow=vectors:glove.txt`.

    Names that are not in the paper are allowed; models with such a name have no published numbers.

    Raises:
        WeatherglassError: if an entry has no spec, a name is given twice, or two names mean the same variant.
    """
    specs = specs_by_name(entries, f"cbow={MODELS['cbow'].spec}")
    for name, same in SAME_AS.items():
        if name in specs and same in specs:
            raise WeatherglassError(
                f"'{name}' and '{same}' are the same model of the paper; give one of them"
            )
    return specs


def reproduce(
    models: Mapping[str, str],
    *,
    folder: Path | None = None,
    seed: int = 0,
    jobs: int = 1,
    progress: Progress | None = None,
    command: Sequence[str] | None = None,
) -> MayReproduction:
    """Run the paper's procedure on the given models.

    Args:
        models: specs by name; may be empty. The 14 variants of the paper have published numbers.
        folder: the folder for the run and table4.tsv; the run with the released settings is in a subfolder.
        seed: the seed of the random partitions.
        jobs: the number of processes.
        progress: an object that receives the progress of the work.
        command: the command line, for the records of the runs.
    """
    specs = {name: _resolved(spec) for name, spec in models.items()}
    main = _run(specs, folder, seed, jobs, progress, command)
    released_specs = {name: spec for name in specs if (spec := released_spec(name, specs[name]))}
    released = None
    if released_specs:
        released_folder = folder / "released-code" if folder else None
        released = _run(released_specs, released_folder, seed, jobs, progress, command)
    ours, theirs = by_model(main), by_model(released)
    marks = marks_of_644(ours)
    encoded = {name: spec for name, spec in specs.items() if any(model == name for _, model in ours)}
    designs, widths = design_contrasts(encoded, progress)  # of models that did not fail
    reproduction = MayReproduction(
        main,
        specs,
        released,
        compare(specs, ours, theirs, marks),
        [check for name in specs for check in check_coherence(name, ours)],
        [name for name in MODELS if name not in map(variant_of, specs)],
        ours,
        marks,
        designs,
        widths,
    )
    if folder is not None:
        folder.mkdir(parents=True, exist_ok=True)
        write_whole(folder / "table4.tsv", table_4(reproduction.comparisons))
    return reproduction


def _resolved(spec: str) -> str:
    """Return the full spec, with its transforms unchanged."""
    first, bar, steps = spec.partition(" | ")
    return f"{resolve_spec(first)}{bar}{steps}"


def _run(
    specs: Mapping[str, str],
    folder: Path | None,
    seed: int,
    jobs: int,
    progress: Progress | None,
    command: Sequence[str] | None,
) -> Run:
    if not specs:
        return Run([], [], {})
    return run(
        [f"{name}={spec}" for name, spec in specs.items()],
        significance="sampled",
        alternative="greater",
        permute="elements",
        alpha=ALPHA,
        correction="holm",
        seed=seed,
        jobs=jobs,
        folder=folder,
        progress=progress,
        command=command,
    )


def released_spec(name: str, spec: str) -> str | None:
    """Return the spec with the settings of the released code; None if they do not differ from the paper's."""
    variant = variant_of(name)
    if variant is None or read_model(spec).transforms:
        return None
    parsed = resolve_spec(spec)
    changed = RELEASED.get((MODELS[variant].page, parsed.kind))
    if changed is None:
        return None
    options = {**dict(parsed.options), **changed}
    return str(Spec(parsed.kind, parsed.target, tuple(options.items())))


Results = Mapping[tuple[str, str], Result]
"""Results by test and name of the model."""


def by_model(finished: Run | None) -> Results:
    """Return the results of a run by test and the user's name of the model."""
    return {(result.test, result.model): result for result in (finished.results if finished else [])}


def marks_of_644(ours: Results) -> dict[tuple[str, str], str]:
    """Return the mark of every row after correction for all 644 rows of the paper; missing rows are ranked last."""
    adjusted = adjust([result.p_value for result in ours.values()], "holm", max(FAMILY, len(ours)))
    return {
        key: "**" if after <= ALPHA else "*" if result.p_value <= ALPHA else ""
        for (key, result), after in zip(ours.items(), adjusted, strict=True)
    }


def compare(
    models: Iterable[str], ours: Results, released: Results, marks: Mapping[tuple[str, str], str]
) -> list[CellComparison]:
    """Return every cell of Table 4 for the given models."""
    table = published()
    return [
        CellComparison(
            model,
            test,
            *table.effect_sizes[test, column],
            ours.get((test, model)),
            marks.get((test, model), ""),
            released.get((test, model)),
        )
        for model in models
        if (column := column_of(model))
        for test in table.tests
    ]


def check_coherence(model: str, ours: Results) -> list[Coherence]:
    """Return the paper's two checks, for words and for sentences."""

    def check(tests: Sequence[str], expected: str) -> Coherence:
        results = [ours.get((test, model)) for test in tests]
        p = [None if result is None else result.p_value for result in results]
        known = [value for value in p if value is not None]
        holds = None
        if len(known) == len(tests):
            agree = len({value <= ALPHA for value in known}) == 1
            holds = agree if expected == "same verdict" else known == sorted(known)
        printed = tuple(published().p_values.get((test, column_of(model) or "")) for test in tests)
        return Coherence(model, expected, tuple(tests), tuple(p), printed, holds)

    return [
        *(check(tests, "same verdict") for tests in PAIRS),
        *(check(tests, "p rises") for tests in RISING),
    ]


def table_4(comparisons: Iterable[CellComparison]) -> str:
    """Return Table 4 and our numbers as TSV, one line per cell."""
    lines = [
        "test\tmodel\tpublished\tpublished_significance\teffect_size\tsignificance\tsignificance_of_644\t"
        "difference\tp_value\treleased_code_effect_size\treleased_code_significance\n"
    ]
    for cell in comparisons:
        ours, released = cell.ours, cell.released
        own = (
            ["", "", "", "", ""]
            if ours is None
            else [
                repr(ours.effect_size),
                ours.mark,
                cell.mark_of_644,
                repr(cell.difference),
                repr(ours.p_value),
            ]
        )
        other = ["", ""] if released is None else [repr(released.effect_size), released.mark]
        lines.append(
            tsv_line([cell.test, cell.model, repr(cell.published), cell.published_mark, *own, *other])
        )
    return "".join(lines)
