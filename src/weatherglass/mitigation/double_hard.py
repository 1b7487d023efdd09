"""Apply double-hard debiasing (Wang et al. 2020): centre vectors, remove one principal direction, then apply hard
debiasing.

Word frequency spreads over the first principal directions and disturbs the differences of the pairs. Each candidate
direction is removed in turn, the vectors are neutralised, and the most biased words are clustered. The direction whose
removal makes the two clusters agree least with the old bias is chosen (algorithm 1 of the paper). Mean and principal
directions come from a list of frequent words, since a transform is fitted only on named words.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from weatherglass.arrays import Integers, Matrix, Vector, unit_length
from weatherglass.encoders.spec import Spec
from weatherglass.errors import EncoderError
from weatherglass.mitigation.base import Step, Steps, projection
from weatherglass.mitigation.fitting import (
    known_pairs,
    known_vectors,
    nothing_left,
    purity,
    span,
    two_clusters,
)
from weatherglass.mitigation.hard_debias import HardDebias, pair_directions
from weatherglass.mitigation.lists import NEUTRAL, NONE, Sides, content_hash, word_list

LEAST = 10
"""The smallest number of biased words per side for which clusters are meaningful."""


@dataclass(frozen=True, slots=True)
class DoubleHard:
    """A transform that applies hard debiasing after removing one principal direction of frequent words."""

    hard: HardDebias
    source: str
    words: tuple[str, ...]
    candidates: int = 20
    biased: int = 500
    """The number of words of each side that are clustered."""

    @classmethod
    def from_spec(cls, spec: Spec) -> DoubleHard:
        """Read `double-hard?pairs=LIST&equalise=LIST|none&keep=LIST|none&on=LIST&candidates=20&biased=500`."""
        options = spec.reader()
        pairs, source = options.text("pairs", "gender"), options.text("on", NEUTRAL)
        equalise, keep = options.text("equalise", NONE), options.text("keep", pairs)
        candidates, biased = options.integer("candidates", 20), options.integer("biased", 500, least=LEAST)
        options.done()
        inner = Spec("hard-debias", "", (("pairs", pairs), ("equalise", equalise), ("keep", keep)))
        return cls(HardDebias.from_spec(inner), source, word_list(source), candidates, biased)

    @property
    def name(self) -> str:
        lists = self.hard.name.partition("?")[2].rpartition("&")[0]
        return f"double-hard?{lists}&on={self.source}&candidates={self.candidates}&biased={self.biased}"

    @property
    def topics(self) -> tuple[str, ...]:
        return self.hard.topics

    @property
    def sides(self) -> Sides:
        return self.hard.sides

    def texts(self) -> tuple[str, ...]:
        return tuple(dict.fromkeys((*self.hard.texts(), *self.words)))

    def identity(self) -> str:
        return content_hash("double-hard", self.hard.identity(), self.candidates, self.biased, *self.words)

    def words_seen(self) -> frozenset[str]:
        """Return the words of the pairs; the frequent words are used only for a mean and principal directions."""
        return frozenset(self.hard.texts())

    def fit(self, vectors: Matrix) -> Steps:
        nothing_left(self.name, vectors.shape[1], 2)
        known = known_vectors(self.texts(), vectors)
        frequent = np.array([known[word] for word in self.words if word in known])
        if len(frequent) < 2 * LEAST:
            raise EncoderError(
                f"{self.name}: the model knows {len(frequent)} of the {len(self.words)} frequent words, "
                f"but {2 * LEAST} are needed"
            )
        mean = frequent.mean(axis=0)
        candidates = min(self.candidates, vectors.shape[1] - 2, len(frequent) - 1)
        axes = span(self.name, frequent - mean, candidates, f"the {len(frequent)} frequent words")
        rows, labels = self._biased_words(known)
        steps = [projection(axis[None], mean) for axis in axes]
        agreements = [self._agreement(step, rows, labels, known) for step in steps]
        chosen = int(np.argmin(agreements))
        texts = self.hard.texts()
        place = {text: row for row, text in enumerate(self.texts())}
        hard = self.hard.fit(steps[chosen](vectors[[place[text] for text in texts]], texts))
        note = (
            f"removed principal direction {chosen + 1} of {candidates}: without it, clusters agree with "
            f"the former bias of {100 * agreements[chosen]:.0f} % of {len(rows)} words"
        )
        return Steps((steps[chosen], *hard.steps), (*hard.notes, note))

    def _biased_words(self, known: Mapping[str, Vector]) -> tuple[Matrix, Integers]:
        """Return the frequent words with the largest projections on the direction of the pairs, and their sides."""
        basis = self._direction(known)
        apart = {*self.hard.texts(), *self.hard.keep}
        rows = np.array([known[word] for word in self.words if word in known and word not in apart])
        order = np.argsort(unit_length(rows) @ basis[0], kind="stable")
        count = min(self.biased, len(rows) // 2)
        return rows[np.concatenate([order[:count], order[-count:]])], np.repeat([0, 1], count)

    def _agreement(self, step: Step, rows: Matrix, labels: Integers, known: Mapping[str, Vector]) -> float:
        """Return the agreement of clusters with the labels after a step and neutralising."""
        pairs = known_pairs(self.name, self.hard.pairs, known)
        words = list(dict.fromkeys(word for pair in pairs for word in pair))
        moved = step(np.array([known[word] for word in words]), words)
        basis = self._direction(dict(zip(words, moved, strict=True)))
        left = unit_length(step(rows, ()))
        return purity(two_clusters(left - (left @ basis.T) @ basis), labels)

    def _direction(self, known: Mapping[str, Vector]) -> Matrix:
        pairs = known_pairs(self.name, self.hard.pairs, known)
        units = {word: unit_length(known[word][None])[0] for pair in pairs for word in pair}
        return pair_directions(self.name, pairs, units, 1)
