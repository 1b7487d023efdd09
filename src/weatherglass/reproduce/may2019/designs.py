"""Compare designs: given names with group terms, and the interaction of race with gender (docs/methods 12).

The paper counts how often each design is significant. A contrast compares the two effects directly: C = d with given
names − d with group terms, over shared words and attributes. The interaction tests whether the angry black woman
stereotype is more than race plus gender: (white women − black women) − (white men − black men) on its attributes. The
names of men come from Bertrand & Mullainathan (2004), and the names of women from the published test.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

import numpy as np

from weatherglass.arrays import Matrix
from weatherglass.audit.encode import Encodings, encode_texts
from weatherglass.audit.plan import PlannedModel
from weatherglass.catalogue import load_tests
from weatherglass.catalogue.test import Element, Test
from weatherglass.parallel import backend
from weatherglass.progress import Progress, progress_here
from weatherglass.stats.confounding import confounding, tokens_of
from weatherglass.stats.topic_attributes import Arm, Contrast, contrast

ABW: Final = "angry_black_woman_stereotype"
NAMES_AND_TERMS: Final = (
    ("weat3", "weat3b"),
    ("weat5", "weat5b"),
    ("weat6", "weat6b"),
    ("weat7b", "weat7"),
    ("weat8b", "weat8"),
    (ABW, f"{ABW}_b"),
)
"""Word tests with given names, and the corresponding tests with group terms; weat7 and weat8 originally have terms."""
WHITE_MEN: Final = ("Brad", "Brendan", "Geoffrey", "Greg", "Brett", "Matthew", "Neil", "Todd")
BLACK_MEN: Final = ("Darnell", "Hakim", "Jermaine", "Kareem", "Jamal", "Leroy", "Rasheed", "Tyrone")
MEN: Final = "weat4"
"""The test that contains these names."""
INTERACTION: Final = "interaction"
LEVELS: Final = ("", "sent-")


@dataclass(frozen=True, slots=True)
class DesignContrast:
    """One contrast on one model."""

    model: str
    first: str
    """The test with given names, or with women."""
    second: str
    """The test with group terms, or "men"."""
    kind: str
    """The kind of contrast: names or interaction."""
    result: Contrast | None
    """The contrast; None if the model knows too few of the words."""
    tested: bool
    """Whether p is valid, which it is not if the group terms are confounded."""


Rows = tuple[list[str], Matrix]
"""Words with one row each, which is the mean of the unit vectors of the word's texts."""


def design_contrasts(
    models: Mapping[str, str], progress: Progress | None = None
) -> tuple[list[DesignContrast], dict[str, int]]:
    """Return all contrasts of the given models, and the number of dimensions of each model's vectors."""
    wanted = [name for pair in NAMES_AND_TERMS for name in pair]
    tests = {
        test.name: test for test in load_tests([f"{level}{n}" for level in LEVELS for n in (*wanted, MEN)])
    }
    texts = list(dict.fromkeys(e.text for test in tests.values() for s in test.sets for e in s.elements))
    found: list[DesignContrast] = []
    widths: dict[str, int] = {}
    for name, spec in models.items():
        model = PlannedModel.of(f"{name}={spec}")
        shown = progress or progress_here()
        encoded = encode_texts(model.encoder, [*texts, *model.texts()], backend(1), shown)
        widths[name] = encoded.vectors.shape[1]
        found += _of_model(name, tests, encoded.transformed(model.transforms))
    return found, widths


def _of_model(model: str, tests: Mapping[str, Test], encoded: Encodings) -> list[DesignContrast]:
    found = []
    for level in LEVELS:
        for first, second in NAMES_AND_TERMS:
            arms = [
                _arm(weight, *(_rows(s.elements, encoded) for s in tests[f"{level}{name}"].sets))
                for weight, name in ((1, first), (-1, second))
            ]
            tested = not any(_is_confounded(tests[f"{level}{name}"]) for name in (first, second))
            result = contrast(arms)
            found.append(
                DesignContrast(model, f"{level}{first}", f"{level}{second}", "names", result, tested)
            )
        women, men = tests[f"{level}{ABW}"], tests[f"{level}{MEN}"]
        a, b = (_rows(s.elements, encoded) for s in women.attributes)
        white, black = (_rows(s.elements, encoded) for s in women.targets)
        white_men, black_men = (_named(men, names, encoded) for names in (WHITE_MEN, BLACK_MEN))
        arms = [_arm(1, white, black, a, b), _arm(-1, white_men, black_men, a, b)]
        result = contrast(arms, one_sd=True)
        found.append(DesignContrast(model, f"{level}{ABW}", "men", INTERACTION, result, True))
    return found


def _is_confounded(test: Test) -> bool:
    """Return whether the sets of a test are confounded by a shared token (docs/methods 10.6)."""
    units = []
    for targets in test.targets:
        by_word: dict[str, list[list[str]]] = {}
        for element in targets.elements:
            by_word.setdefault(element.word, []).append(tokens_of(element.text))
        units.append(list(by_word.values()))
    x, y = units
    return confounding(x, y) is not None


def _named(test: Test, names: tuple[str, ...], encoded: Encodings) -> Rows:
    elements = (element for targets in test.targets for element in targets.elements)
    return _rows(tuple(element for element in elements if element.word in names), encoded)


def _rows(elements: tuple[Element, ...], encoded: Encodings) -> Rows:
    """Return the words that the model knows, each with the mean of the unit vectors of its sentences."""
    by_word: dict[str, list[Matrix]] = {}
    for element in elements:
        vector = encoded.vectors[encoded.row[element.text]]
        length = float(np.linalg.norm(vector))
        if length > 0 and not np.isnan(vector).any():
            by_word.setdefault(element.word, []).append(vector / length)
    width = encoded.vectors.shape[1]
    rows = [np.mean(vectors, axis=0) for vectors in by_word.values()]
    return list(by_word), np.array(rows).reshape(-1, width)


def _arm(weight: int, x: Rows, y: Rows, a: Rows, b: Rows) -> Arm:
    """Return an arm of the contrast; the mean cosine of sentences is the dot product of their mean unit vectors."""
    targets = np.concatenate([x[1], y[1]])
    return Arm(weight, targets @ a[1].T, targets @ b[1].T, len(x[0]), [*x[0], *y[0]], a[0], b[0])
