"""Measure whether metrics respond to bias that was planted in a corpus (`weatherglass.calibrate`)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from weatherglass.audit.plan import choose_tests
from weatherglass.calibration.calibrate import DOSES, Calibration
from weatherglass.calibration.calibrate import calibrate as run_calibration
from weatherglass.calibration.plant import stereotype_of
from weatherglass.catalogue.from_words import make_test
from weatherglass.catalogue.test import Test
from weatherglass.errors import CorpusError
from weatherglass.metrics import select_metrics
from weatherglass.metrics.base import Metric
from weatherglass.parallel import backend
from weatherglass.progress import Progress, check_progress, progress_here
from weatherglass.registry import check_number, checked_path, checked_whole_number, one_of, wrong_type
from weatherglass.reliability.lists import base_pairs
from weatherglass.reliability.study_file import Study, demo_study, read_study
from weatherglass.reliability.training.train import ALGORITHMS, Algorithm, Settings, default_settings
from weatherglass.storage.documents import shipped_toml

GROUPS = ("targets", "attributes")
DEMO_DOSES = (0.0, 0.25, 0.5, 0.75, 1.0)


def calibrate(
    study: Study | str | Path | None = None,
    test: str | Path | Test | None = None,
    controls: Sequence[str | Path | Test] = (),
    metrics: Sequence[str | Metric] | str | Metric = "*",
    *,
    pairs: str | Path | Sequence[tuple[str, str]] = (),
    groups: str = "targets",
    doses: Sequence[float] | None = None,
    algorithms: Sequence[str] = (),
    seeds: int | None = None,
    alpha: float = 0.05,
    folder: str | Path = "weatherglass-calibration",
    jobs: int = 1,
    scheduler: str | None = None,
    shared_dir: str | Path | None = None,
    progress: Progress | None = None,
) -> Calibration:
    """Plant doses of a stereotype in a corpus, train embeddings on it, and fit how each metric responds.

    Args:
        study: a study, or its file: corpora, algorithms and seeds; by default, the State of the Union addresses (extra
            `demo`), skip-gram and GloVe with four seeds, which takes minutes.
        test: the test of the stereotype, of two target and two attribute sets; by default, men and women beside work
            and home, with army and navy as a control.
        controls: tests whose words the stereotype does not contain; their responses should be flat.
        metrics: spellings or globs; metrics of language models need the algorithm "masked".
        pairs: words that replace each other, such as he and she: a built-in set, a file, or pairs. Other words of the
            groups, such as names, are drawn at random.
        groups: which sets of the test are the groups of people, "targets" or "attributes".
        doses: the probabilities that a sentence agrees with the stereotype; they contain 0.5, one below and one above
            it. By default 0, 0.1, … 1.
        algorithms: algorithms to use instead of the study's; "masked" trains a tiny masked language model (extra
            `transformers`).
        seeds: the number of seeds; by default, those of the study.
        alpha: the significance level.
        folder: the folder for corpora, embeddings and results; a stopped calibration continues from there.
        jobs: the number of local processes.
        scheduler: a Dask cluster to use instead.
        shared_dir: a folder that all its machines see under the same path.
        progress: an object that receives progress updates.

    Raises:
        WeatherglassError: if an argument is wrong, words do not occur together in a corpus, or there is only one seed.
    """
    check_progress(progress)
    one_of("groups", groups, GROUPS)
    check_number("alpha", alpha, between=(0, 1))
    if doses is not None:
        if not isinstance(doses, list | tuple):
            raise wrong_type("doses", "a list of numbers", doses)
        for number, dose in enumerate(doses):
            check_number(f"doses[{number}]", dose)
    if not isinstance(controls, list | tuple):
        raise wrong_type("controls", "a list of tests", controls)
    place = checked_path("folder", folder)
    chosen_study, is_demo = _study(study)
    if seeds is not None:
        checked_whole_number("seeds", seeds, least=1)
        chosen_study = replace(chosen_study, seeds=tuple(range(1, seeds + 1)))
    if algorithms:
        chosen_study = replace(chosen_study, algorithms=_algorithms(algorithms, chosen_study))
    if test is None:
        if controls or pairs:
            raise CorpusError("controls and pairs need a test; the built-in one has its own")
        shipped = shipped_toml("weatherglass.calibration", "stereotype")
        planted, control = (_shipped_test(name, shipped[name]) for name in ("planted", "control"))
        chosen_pairs = [(first, second) for first, second in shipped["planted"]["pairs"]]
        chosen_controls = [control]
    else:
        planted = _one_test(test)
        chosen_controls = [_one_test(control) for control in controls]
        chosen_pairs = _pairs(pairs)
    stereotype = stereotype_of(planted, chosen_pairs, groups)
    planted_words = {word for words in (*stereotype.groups, *stereotype.attributes) for word in words}
    for control in chosen_controls:
        if shared := sorted(planted_words & {text.lower() for text in control.texts}):
            raise CorpusError(
                f"{control.name}: '{shared[0]}' is a word of the stereotype; a control must not contain its words"
            )
    asked: Sequence[Any] = metrics if isinstance(metrics, list | tuple) else [metrics]
    found = run_calibration(
        chosen_study,
        planted,
        stereotype,
        select_metrics(asked),
        place,
        chosen_controls,
        doses if doses is not None else DEMO_DOSES if is_demo else DOSES,
        groups,
        alpha,
        backend(jobs, scheduler, shared_dir),
        progress or progress_here(),
    )
    from weatherglass.report.calibration import write_page

    write_page(found, place)
    return found


def _study(given: Study | str | Path | None) -> tuple[Study, bool]:
    """Return the study, and whether it is the demo, whose lines are split into sentences: a dose is planted in each."""
    if given is not None:
        return given if isinstance(given, Study) else read_study(checked_path("study", given)), False
    demo = demo_study()
    corpora = {
        name: (path, replace(settings, tokeniser=replace(settings.tokeniser, sentences=True)))
        for name, (path, settings) in demo.corpora.items()
    }
    return replace(demo, corpora=corpora), True


def _algorithms(names: Any, study: Study) -> dict[Algorithm, Settings]:
    """Return the algorithms of these names, with the settings of the study if it has them."""
    if not isinstance(names, list | tuple):
        raise wrong_type("algorithms", "a list of names", names)
    chosen = [one_of("algorithm", name, ALGORITHMS) for name in names]
    return {name: study.algorithms.get(name, default_settings(name)) for name in chosen}


def _shipped_test(name: str, entry: dict[str, Any]) -> Test:
    sets = [{category: entry[role]} for role, category in zip("XYAB", entry["categories"], strict=True)]
    return make_test(*sets, name=name)


def _pairs(given: Any) -> list[tuple[str, str]]:
    """Return pairs of words from the name of a set, a file or a list."""
    if isinstance(given, str | Path):
        return list(base_pairs(str(checked_path("pairs", given))).pairs)
    if not isinstance(given, list | tuple):
        raise wrong_type("pairs", "a list of pairs of words", given)
    for number, pair in enumerate(given):
        if (
            not isinstance(pair, list | tuple)
            or len(pair) != 2
            or not all(isinstance(word, str) for word in pair)
        ):
            raise wrong_type(f"pairs[{number}]", "a pair of words", pair)
    return [(first, second) for first, second in given]


def _one_test(given: str | Path | Test) -> Test:
    found = choose_tests([given if isinstance(given, Test) else str(checked_path("test", given))])
    if len(found) != 1:
        raise CorpusError(f"'{given}' is {len(found)} tests; name one of them")
    return found[0]
