"""Answer the panels below the boxes: ranks of a text under other names, and the same words under other choices."""

from __future__ import annotations

import base64
import binascii
import tempfile
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

from weatherglass.audit.results import plain_value
from weatherglass.catalogue.test import Test
from weatherglass.errors import WeatherglassError
from weatherglass.explore.engine import Engine, Explored
from weatherglass.explore.state import WORD, State, checked_text, checked_words, start_state
from weatherglass.explore.words import StaleError
from weatherglass.multiverses.choices import Choices, ModelViews, word_lists
from weatherglass.multiverses.multiverse import Multiverse, run_multiverse
from weatherglass.parallel import backend
from weatherglass.progress import Silent
from weatherglass.ranking.ranking import RankOptions, run_ranking
from weatherglass.ranking.scores import observe_scores
from weatherglass.ranking.texts import group_names, read_materials
from weatherglass.report.ranking import headline, sentence

VARIED = ("similarity", "statistic", "template")
TEMPLATES = 2
"""Number of sentence templates in the small multiverse: 3 similarities × 4 statistics × (word + 2 templates) = 36."""
LONGEST_PASSAGE = 20_000
ENDINGS = (".toml", ".csv", ".tsv", ".txt", ".jsonl", ".json", ".xlsx")


def multiverse_of(engine: Engine, given: Mapping[str, Any]) -> dict[str, Any]:
    """Return the effect size of a state under each combination of choices, and what they say together."""
    state = replace(State.from_json(given), context=WORD)
    choices = Choices(varied=VARIED, alpha=engine.settings.alpha)
    words = state.test()
    sentences = _in_two_templates(words)

    def of_model(model: Explored) -> dict[str, Any]:
        views = ModelViews(model.label, {"": model.planned}, (), ())

        def combined(tests: list[Test]) -> Multiverse:
            return run_multiverse([views], word_lists(tests), choices, backend(1, None, None), Silent())

        try:
            found = combined([words, *sentences])
        except WeatherglassError:
            if not sentences or not model.kept.wanted():
                raise
            found = combined([words])  # a small file of vectors does not know the words of the sentences
        topic = found.topics[0]
        fields = ("d", "ci_low", "ci_high", "p", "similarity", "statistic", "template", "published")
        return {
            "specifications": [
                {name: plain_value(one.get(name)) for name in fields}
                for one in topic["specifications"]
                if one["counted"]
            ],
            "median": plain_value(topic["median_d"]),
            "p": plain_value(topic["multiverse_p"]),
            "same_sign": plain_value(topic["share_same_sign"]),
            "significant": plain_value(topic["share_significant"]),
            "shares": topic["decomposition"]["shares"],
            "sentence": topic["lists"][0]["conclusion"]["sentence"],
        }

    return _of_each(engine, given, state.models, "multiverse", of_model)


def _of_each(
    engine: Engine,
    given: Mapping[str, Any],
    places: Sequence[int],
    panel: str,
    of_model: Callable[[Explored], dict[str, Any]],
) -> dict[str, Any]:
    """Return the answer of each model, or why it has none."""
    answers = []
    for place, model in engine.asked(given, places, panel):
        try:
            answers.append({"model": place, **of_model(model)})
        except WeatherglassError as error:
            if not model.kept.wanted():
                raise StaleError("a later question has replaced this one") from None
            answers.append({"model": place, "error": model.reason(error)})
    return {"answers": answers}


def _in_two_templates(test: Test) -> list[Test]:
    """Return the test with its target words in the first templates that all of them share; none if there are none."""
    try:
        whole = test.sentences()
    except WeatherglassError:
        return []
    of_words: dict[str, list[str]] = {}
    for one in whole.targets:
        for element in one.elements:
            of_words.setdefault(element.word, []).append(element.template or "")
    first, *rest = of_words.values()
    shared = [template for template in first if all(template in others for others in rest)][:TEMPLATES]
    if not shared:
        return []
    targets = tuple(
        replace(one, elements=tuple(each for each in one.elements if each.template in shared))
        for one in whole.targets
    )
    return [replace(whole, targets=targets)]


def ranking_of(engine: Engine, given: Mapping[str, Any]) -> dict[str, Any]:
    """Return where passages rank for queries under each name of two groups, and whether the groups differ."""
    passages = [checked_text(each, "a passage", LONGEST_PASSAGE) for each in _listed(given, "passages")]
    queries = [checked_text(each, "a query", LONGEST_PASSAGE) for each in _listed(given, "queries")]
    groups = given.get("groups")
    named: Any
    if isinstance(groups, str):
        if groups not in group_names():
            raise WeatherglassError(f"there are no groups of this name; known: {', '.join(group_names())}")
        named = groups
    elif isinstance(groups, list) and len(groups) == 2 and all(isinstance(one, dict) for one in groups):
        named = {
            checked_text(one.get("name"), "the name of a group"): list(
                checked_words(one.get("words"), "a group")
            )
            for one in groups
        }
    else:
        raise WeatherglassError("groups should be two sets, each with a name and words")
    materials = read_materials(queries, passages, named)
    models = given.get("models", [0])
    if not isinstance(models, list) or not models:
        raise WeatherglassError("choose a model")

    def of_model(model: Explored) -> dict[str, Any]:
        ranker = partial(observe_scores, model.planned, materials, backend(1, None, None), Silent())
        found = run_ranking({model.label: ranker}, RankOptions(alpha=engine.settings.alpha))
        row = headline(found.overall)
        fields = ("x", "y", "win_rate", "ci_low", "ci_high", "p", "p_method", "p_pieces", "places")
        return {
            "sentence": sentence(row, found.comparisons, engine.settings.alpha),
            **{name: plain_value(getattr(row, name)) for name in fields},
            "names": [[one.group, one.name, one.mean_rank, one.pieces] for one in found.names],
            "places_of_first": found.examples[0].places,
            "contexts": row.contexts,
            "dropped": found.record.get("dropped_names", {}).get(model.label, []),
        }

    return _of_each(engine, given, models, "ranking", of_model)


def _listed(given: Mapping[str, Any], name: str) -> list[Any]:
    value = given.get(name)
    if not isinstance(value, list) or not 1 <= len(value) <= 50:
        raise WeatherglassError(f"{name} should be a list of 1 to 50 texts")
    return value


def state_of_file(given: Mapping[str, Any]) -> dict[str, Any]:
    """Return the state of a test file that the browser has read, by the readers of the command line.

    Raises:
        WeatherglassError: if the file is not a test with four word sets.
    """
    name = Path(checked_text(given.get("name"), "the name of the file")).name
    ending = Path(name).suffix.lower()
    if ending not in ENDINGS:
        raise WeatherglassError(f"a test file ends in {', '.join(ENDINGS)}")
    try:
        content = base64.b64decode(given.get("content") or "", validate=True)
    except (TypeError, ValueError, binascii.Error):
        raise WeatherglassError("the content of the file should be base64") from None
    with tempfile.TemporaryDirectory(prefix="weatherglass-") as folder:
        path = Path(folder, f"words{ending}")
        path.write_bytes(content)
        try:
            return start_state(str(path))
        except WeatherglassError as error:
            raise WeatherglassError(str(error).replace(str(path), name)) from None
