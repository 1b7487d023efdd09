"""Find the words that are nearer to an intersectional group than to each group that it is compared with.

Guo & Caliskan (2021) call the detection of these words IBD, and EIBD if attributes of a constituent group (all women,
for example) are left out. They detect words by a threshold of d. Here each word has an exact p, and known attributes
give an AUC (docs/methods 17.1).
"""

from __future__ import annotations

import math
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np

from weatherglass.audit.encode import encode_texts
from weatherglass.audit.plan import PlannedModel
from weatherglass.audit.word_map import cosines_with_all, p_values_of
from weatherglass.catalogue import load_test
from weatherglass.catalogue.test import Test
from weatherglass.encoders import DEFAULT_MODEL
from weatherglass.encoders.in_memory import one_model_in
from weatherglass.errors import UnitError, WeatherglassError
from weatherglass.parallel import backend
from weatherglass.progress import Progress, Silent, check_progress
from weatherglass.stats.auc import Auc, auc
from weatherglass.stats.multiplicity import adjust

LEAST_NAMES = 2


@dataclass(frozen=True, slots=True)
class IntersectionalWord:
    """How much nearer a word is to the intersectional group than to each other group."""

    word: str
    effect_size: float
    """The smallest d (WEFAT) of the intersectional group against another group; NaN if a d is not defined."""
    against: str
    """The group with this d."""
    p_value: float
    """The largest one-sided p against another group, from exchanging the names of the two groups."""
    p_adjusted: float
    """p after Holm's correction over the words."""
    attribute: bool
    """Whether the word is a known attribute of the intersectional group."""
    constituent: bool
    """Whether the word is a known attribute of a constituent group."""


@dataclass(frozen=True, slots=True)
class Intersection:
    """The words of a list, from the one that is nearest to the intersectional group."""

    model: str
    group: str
    """The name of the intersectional group."""
    others: tuple[str, ...]
    """The names of the groups that it is compared with."""
    words: tuple[IntersectionalWord, ...]
    unknown: tuple[str, ...]
    """Words and names that the model does not know."""
    auc: Auc | None
    """How well d separates the group's known attributes from the other words; None if there are no others."""
    auc_emergent: Auc | None
    """The same without attributes of constituent groups; None if the test names none of them."""
    least_p: float
    """The smallest p that groups of these sizes allow."""

    def detected(self, alpha: float = 0.05) -> list[str]:
        """Return the words that are nearer to the intersectional group than to each other group (IBD)."""
        return [word.word for word in self.words if word.p_adjusted <= alpha]

    def emergent(self, alpha: float = 0.05) -> list[str]:
        """Return the detected words that are not attributes of a constituent group (EIBD)."""
        return [word.word for word in self.words if word.p_adjusted <= alpha and not word.constituent]

    def to_json(self) -> dict[str, Any]:
        """Return plain values, with NaN as None."""
        record = asdict(self)
        for word in record["words"]:
            word["effect_size"] = None if math.isnan(word["effect_size"]) else word["effect_size"]
        return record


def intersection(
    test: str | Path | Test,
    model: Any = DEFAULT_MODEL,
    *,
    jobs: int = 1,
    scheduler: str | None = None,
    shared_dir: str | Path | None = None,
    progress: Progress | None = None,
) -> Intersection:
    """Test which words are nearer to an intersectional group than to each group that it is compared with.

    Args:
        test: a test whose attribute set A has names of the intersectional group, and whose other attribute sets have
            names of the other groups. X has known attributes of the intersectional group, Y other words, and X3 and
            further sets known attributes of constituent groups; Y and X3 may be missing.
        model: a spec, or an object in memory, as `run` takes it.
        jobs: the number of local processes.
        scheduler: a Dask cluster to use instead (tcp://HOST:PORT or a scheduler file), or ENGINE:ADDRESS with an
            engine of another package.
        shared_dir: a folder that all machines of the cluster see under the same path.
        progress: an object whose methods report the progress of the work.

    Raises:
        WeatherglassError: if the test has only one attribute set, or the model knows fewer than two names of a group.
    """
    check_progress(progress)
    asked = test if isinstance(test, Test) else load_test(test)
    groups = {one.category: list(dict.fromkeys(one.texts)) for one in asked.attributes}
    if len(groups) < 2 or len(groups) < len(asked.attributes):
        raise WeatherglassError(
            f"{asked.name} has {len(groups)} attribute sets with different categories, but an intersectional group (A) "
            "is compared with at least one other group (B)"
        )
    if shared := sorted(set.intersection(*(set(names) for names in groups.values()))):
        raise WeatherglassError(
            f"{asked.name}: '{shared[0]}' is a name of every group, so no group differs in it"
        )
    attributes, *rest = (set(one.texts) for one in asked.targets)
    constituent: set[str] = set().union(*rest[1:])
    words = list(dict.fromkeys(text for one in asked.targets for text in one.texts))
    found, shown = PlannedModel.of(one_model_in(model)), progress or Silent()
    workers = backend(jobs, scheduler, shared_dir)
    texts = [*words, *(name for names in groups.values() for name in names), *found.texts()]
    encodings = encode_texts(found.encoder, texts, workers, shown)
    known = {group: [name for name in names if encodings.known(name)] for group, names in groups.items()}
    for group, names in known.items():
        if len(names) < LEAST_NAMES:
            raise UnitError(
                f"{found.name} knows {len(names)} of the {len(groups[group])} names of {group}, but {LEAST_NAMES} are "
                "needed"
            )
    vectors = encodings.transformed(found.transforms)
    readable = [word for word in words if encodings.known(word)]
    (group, names), *others = known.items()
    effects, p_values, least = [], [], []
    for _, other in others:
        table, n_group = cosines_with_all(readable, [names, other], vectors)
        effects.append(table[:, :n_group].mean(axis=1) - table[:, n_group:].mean(axis=1))
        p_values.append(p_values_of(table, n_group, found.name, workers, shown, "greater"))
        least.append(1 / math.comb(len(names) + len(other), n_group))
    nearest = np.argmin(np.stack(effects), axis=0)  # NaN counts as the smallest
    d, p = np.stack(effects).min(axis=0), np.stack(p_values).max(axis=0)
    adjusted = adjust(p, "holm")
    mapped = [
        IntersectionalWord(
            word, float(d[row]), others[int(nearest[row])][0], float(p[row]), float(adjusted[row]),
            word in attributes, word in constituent,
        )
        for row, word in enumerate(readable)
    ]  # fmt: skip
    of_all = [text for text in dict.fromkeys(texts) if not encodings.known(text)]
    return Intersection(
        found.name,
        group,
        tuple(name for name, _ in others),
        tuple(sorted(mapped, key=lambda word: (math.isnan(word.effect_size), -word.effect_size))),
        tuple(of_all),
        _auc(mapped),
        _auc([word for word in mapped if not word.constituent]) if constituent else None,
        max(least),
    )


def _auc(words: list[IntersectionalWord]) -> Auc | None:
    """Return how well d separates known attributes of the group from other words; None if one of them is missing."""
    scores = {True: [], False: []}  # type: dict[bool, list[float]]
    for word in words:
        if not math.isnan(word.effect_size):
            scores[word.attribute].append(word.effect_size)
    if not scores[True] or not scores[False]:
        return None
    return auc(np.array(scores[True]), np.array(scores[False]))
