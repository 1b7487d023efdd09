"""Offer an association test as a metric of `evaluate`; predictions are vectors, and references are the encoded texts.

`evaluate.load` copies this file into its cache and imports it there, so it must not use relative imports.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import datasets
import evaluate

import weatherglass

DESCRIPTION = "Association test (WEAT, SEAT): effect size d, p and interval of one test of weatherglass."


class WeatMetric(evaluate.Metric):  # type: ignore[misc]
    """A metric for `evaluate`: `compute(predictions=vectors, references=load_test("weat6").texts, test="weat6")`."""

    def _info(self) -> Any:
        return evaluate.MetricInfo(
            description=DESCRIPTION,
            citation="",
            inputs_description="predictions: one vector per text; references: the texts; test: a name or a Test.",
            features=datasets.Features(
                {
                    "predictions": datasets.Sequence(datasets.Value("float64")),
                    "references": datasets.Value("string"),
                }
            ),
        )

    def _compute(
        self,
        predictions: Sequence[Sequence[float]],
        references: Sequence[str],
        test: Any = "weat6",
        metric: str = "cosine/mean",
        **settings: Any,
    ) -> dict[str, Any]:
        vectors = dict(zip(references, predictions, strict=True))
        model = weatherglass.model(vectors, name="predictions", tokens="none", case="exact")
        run = weatherglass.run(model, test, metric, **settings)
        if not run.results:
            raise weatherglass.WeatherglassError(run.failures[0].reason)
        names = ("value", "effect_size", "p_value", "ci_low", "ci_high", "oov", "direction")
        verdicts = {verdict.topic: verdict.outcome for verdict in run.verdicts()}
        return {name: getattr(run.results[0], name) for name in names} | {"verdicts": verdicts}
