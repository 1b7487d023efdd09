"""Apply hard debiasing, double-hard debiasing and SentenceDebias, which are fitted on pairs of words."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from weatherglass.arrays import Integers, Matrix, Vector, unit_length
from weatherglass.encoders.spec import Spec
from weatherglass.errors import EncoderError, SpecError
from weatherglass.mitigation.base import Step, Steps, projection
from weatherglass.mitigation.fitting import (
    known_pairs,
    known_vectors,
    nothing_left,
    partly_known,
    purity,
    span,
    two_clusters,
)
from weatherglass.mitigation.lists import (
    NEUTRAL,
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
    definition (Bolukbasi et al. 2016, section 6).

    Neutralising projects unit vectors out of B, the span of the pairs' differences. Equalising gives both words of a
    pair the same component ν outside B and opposite components within B, so that every neutral word is equally near
    to both. The new vector is ν + √(1 − ‖ν‖²)·(w_B − μ_B)/‖w_B − μ_B‖. `equalise=none` only neutralises.
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


LEAST = 10
"""The smallest number of biased words per side for which clusters are meaningful."""


@dataclass(frozen=True, slots=True)
class DoubleHard:
    """Apply hard debiasing after removing one principal direction of frequent words (Wang et al. 2020).

    Word frequency spreads over the first principal directions and disturbs the differences of the pairs. Each
    candidate direction is removed in turn, the vectors are neutralised, and the most biased words are clustered. The
    direction whose removal makes the two clusters agree least with the old bias is chosen (algorithm 1 of the paper).
    Mean and principal directions come from a list of frequent words, since a transform is fitted only on named words.
    """

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


SLOT = "{}"
PLAIN = "plain"
TEMPLATES = (
    "This is about {}.",
    "The word is {}.",
    "They were talking about {} all day.",
    "I read the word {} in the newspaper.",
    "The first thing that comes to mind is {}.",
    "Somebody wrote {} on the board.",
    "The story mentions {} twice.",
    "We heard {} on the radio this morning.",
)
"""Sentences that fit a word of any kind and say nothing about it."""


@dataclass(frozen=True, slots=True)
class SentenceDebias:
    """Remove the directions in which sentences about the two words of a pair differ (Liang et al. 2020).

    Each template is filled with each word of each pair. The first principal directions of the sentences' deviations
    from the mean of their pair are removed from every vector.
    """

    name: str
    pairs: tuple[Pair, ...]
    templates: tuple[str, ...] = TEMPLATES
    components: int = 3
    topics: tuple[str, ...] = ()

    @classmethod
    def from_spec(cls, spec: Spec) -> SentenceDebias:
        """Read `sentence-debias?pairs=gender|FILE&templates=plain|FILE&components=3`; each template has one slot {}."""
        options = spec.reader()
        pairs, source = options.text("pairs", "gender"), options.text("templates", PLAIN)
        components = options.integer("components", 3)
        options.done()
        templates = TEMPLATES if source == PLAIN else word_list(source)
        for template in templates:
            if template.count(SLOT) != 1:
                raise SpecError(f"{source}: '{template}' needs exactly one slot {SLOT} for the word")
        listed = pair_list(pairs)
        name = f"sentence-debias?pairs={pairs}&templates={source}&components={components}"
        return cls(name, listed.pairs, templates, components, listed.topics)

    @property
    def sides(self) -> Sides:
        return sides_of(self.pairs)

    def texts(self) -> tuple[str, ...]:
        words = dict.fromkeys(word for pair in self.pairs for word in pair)
        return tuple(template.replace(SLOT, word) for template in self.templates for word in words)

    def words_seen(self) -> frozenset[str]:
        return frozenset(word for pair in self.pairs for word in pair)

    def identity(self) -> str:
        return content_hash("sentence-debias", self.pairs, self.templates, self.components)

    def fit(self, vectors: Matrix) -> Steps:
        nothing_left(self.name, vectors.shape[1], self.components)
        known = known_vectors(self.texts(), vectors)
        sentences = [
            (template.replace(SLOT, first), template.replace(SLOT, second))
            for template in self.templates
            for first, second in self.pairs
        ]
        whole = [pair for pair in sentences if pair[0] in known and pair[1] in known]
        if not whole:
            raise EncoderError(
                f"{self.name}: the model cannot encode any of the {len(sentences)} pairs of sentences"
            )
        differences = np.array([known[first] - known[second] for first, second in whole])
        basis = span(self.name, differences, self.components, f"the {len(whole)} pairs of sentences")
        return Steps((projection(basis),), partly_known(len(whole), len(sentences), "pairs of sentences"))
