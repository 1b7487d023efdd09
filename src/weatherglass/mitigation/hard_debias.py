"""Apply hard debiasing (Bolukbasi et al. 2016, section 6): neutralise most words, equalise some pairs.

Neutralising projects unit vectors out of B, the span of the pairs' differences. Equalising gives both words of a pair
the same component ν outside B and opposite components within B, so that every neutral word is equally near to both.
The new vector is ν + √(1 − ‖ν‖²)·(w_B − μ_B)/‖w_B − μ_B‖. `equalise=none` only neutralises.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from weatherglass.arrays import Matrix, Vector, unit_length
from weatherglass.encoders.spec import Spec
from weatherglass.mitigation.base import Steps, projection
from weatherglass.mitigation.fitting import known_pairs, known_vectors, nothing_left, partly_known, span
from weatherglass.mitigation.lists import (
    NONE,
    Pair,
    Sides,
    content_hash,
    pair_list,
    sides_of,
    spellings,
    word_list,
)


@dataclass(frozen=True, slots=True)
class HardDebias:
    """A transform that removes the direction of the pairs from all words except those that have the attribute by
    definition.
    """

    name: str
    pairs: tuple[Pair, ...]
    equalise: tuple[Pair, ...] = ()
    keep: tuple[str, ...] = ()
    components: int = 1
    topics: tuple[str, ...] = ()

    @classmethod
    def from_spec(cls, spec: Spec) -> HardDebias:
        """Read `hard-debias?pairs=gender|FILE&equalise=LIST|none&keep=LIST|none&components=1`."""
        options = spec.reader()
        source = options.text("pairs", "gender")
        equalise, keep = options.text("equalise", source), options.text("keep", source)
        components = options.integer("components", 1)
        options.done()
        listed = pair_list(source)
        name = f"hard-debias?pairs={source}&equalise={equalise}&keep={keep}&components={components}"
        return cls(
            name,
            listed.pairs,
            () if equalise == NONE else pair_list(equalise).equalise,
            listed.keep if keep == source else () if keep == NONE else word_list(keep),
            components,
            listed.topics,
        )

    @property
    def sides(self) -> Sides:
        return sides_of(self.pairs)

    def texts(self) -> tuple[str, ...]:
        """Return the words of the pairs, and those of the pairs to equalise in lower, title and upper case."""
        pairs = (*self.pairs, *_in_every_case(self.equalise))
        return tuple(dict.fromkeys(word for pair in pairs for word in pair))

    def identity(self) -> str:
        return content_hash("hard-debias", self.pairs, self.equalise, self.keep, self.components)

    def fit(self, vectors: Matrix) -> Steps:
        nothing_left(self.name, vectors.shape[1], self.components)
        known = known_vectors(self.texts(), unit_length(vectors))
        whole = known_pairs(self.name, self.pairs, known)
        basis = pair_directions(self.name, whole, known, self.components)
        step = replace(
            projection(basis),
            unit=True,
            keep=frozenset(form for word in self.keep for form in spellings(word)),
            placed=dict(equalised(_in_every_case(self.equalise), known, basis)),
        )
        return Steps((step,), partly_known(len(whole), len(self.pairs), "pairs"))


def pair_directions(name: str, pairs: Sequence[Pair], known: Mapping[str, Vector], components: int) -> Matrix:
    """Return the first principal directions of the words' deviations from the mean of their pair."""
    differences = np.array([known[first] - known[second] for first, second in pairs])
    return span(name, differences, components, f"the differences of the {len(pairs)} known pairs")


def equalised(pairs: Sequence[Pair], known: Mapping[str, Vector], basis: Matrix) -> Mapping[str, Vector]:
    """Return new vectors for each known pair; a pair that does not differ in B is left out."""
    placed: dict[str, Vector] = {}
    for first, second in pairs:
        if first not in known or second not in known:
            continue
        middle = (known[first] + known[second]) / 2
        outside = middle - (middle @ basis.T) @ basis
        across = ((known[first] - known[second]) @ basis.T) @ basis
        length = float(np.linalg.norm(across))
        if length == 0:
            continue
        part = np.sqrt(max(0.0, 1 - float(outside @ outside))) * across / length
        for word, vector in ((first, outside + part), (second, outside - part)):
            placed[word] = vector / np.linalg.norm(vector)
    return placed


def _in_every_case(pairs: Sequence[Pair]) -> tuple[Pair, ...]:
    """Return each pair in three cases, as debiaswe does: (he, she), (He, She) and (HE, SHE)."""
    cased = (
        (case(first), case(second)) for first, second in pairs for case in (str.lower, str.title, str.upper)
    )
    return tuple(dict.fromkeys(cased))
