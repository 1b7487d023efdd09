"""Offer an association test as a task of `mteb` (2.x), whose texts the model loaded by mteb encodes."""

from __future__ import annotations

from typing import Any

import numpy as np
from datasets import Dataset, DatasetDict
from mteb._create_dataloaders import create_dataloader
from mteb.abstasks.abstask import AbsTask
from mteb.abstasks.task_metadata import TaskMetadata

import weatherglass
from weatherglass.catalogue.test import Test

SCORES = ("effect_size", "p_value", "ci_low", "ci_high", "p_adjusted")
"""The numbers of a result that mteb stores."""
LANGUAGES = {"en": "eng-Latn", "de": "deu-Latn", "fr": "fra-Latn", "es": "spa-Latn"}


class WeatTask(AbsTask):  # type: ignore[misc]
    """One test as a task; the main score is the signed effect size d, for which 0 means no association and more is not
    better.
    """

    abstask_prompt = "Encode the text."
    data_loaded: bool = False
    test: Test
    settings: dict[str, Any]

    def load_data(self, *_: Any, **__: Any) -> None:
        """Load the texts of the test from the catalogue; nothing is downloaded."""
        if not self.data_loaded:
            self.dataset = {"default": DatasetDict(test=Dataset.from_dict({"text": list(self.test.texts)}))}
            self.data_loaded = True

    def _evaluate_subset(
        self, model: Any, data_split: Any, *, hf_split: str, hf_subset: str, encode_kwargs: Any, **_: Any
    ) -> dict[str, float]:
        loader = create_dataloader(
            data_split, task_metadata=self.metadata, input_column="text", **(encode_kwargs or {})
        )
        encoded = model.encode(
            loader,
            task_metadata=self.metadata,
            hf_split=hf_split,
            hf_subset=hf_subset,
            **(encode_kwargs or {}),
        )
        row = dict(zip(data_split["text"], np.asarray(encoded), strict=True))
        held = weatherglass.model(row, name="model", tokens="none", case="exact")
        run = weatherglass.run(held, self.test, **self.settings)
        if not run.results:
            raise weatherglass.WeatherglassError(run.failures[0].reason)
        result = run.results[0]
        return {name: float(value) for name in SCORES if (value := getattr(result, name)) is not None}

    def _calculate_descriptive_statistics_from_split(self, split: str, **_: Any) -> dict[str, int]:  # noqa: ARG002
        return {"num_samples": len(self.test.texts)}


def weat_task(test: str | Test = "weat6", **settings: Any) -> WeatTask:
    """Return a task for `mteb.evaluate`.

    Args:
        test: a name of the catalogue, or a test of your own.
        settings: settings of the run, such as alternative="greater".
    """
    found = test if isinstance(test, Test) else weatherglass.load_test(test)
    metadata = TaskMetadata(
        name=f"weatherglass-{found.name}",
        description=f"Association test of weatherglass: {', '.join(found.categories)}.",
        dataset={"path": "weatherglass", "revision": found.fingerprint()},
        type="STS",  # mteb has no type for bias, and a test compares similarities
        category="t2t",
        eval_splits=["test"],
        eval_langs=[LANGUAGES.get(found.language, "eng-Latn")],
        main_score="effect_size",
    )
    kind = type(
        f"Weat{found.name.title()}", (WeatTask,), {"metadata": metadata, "test": found, "settings": settings}
    )
    task: WeatTask = kind()
    return task
