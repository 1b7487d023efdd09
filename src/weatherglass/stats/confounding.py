"""Find tests whose sets are confounded with a token or template (docs/methods 10.6)."""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Collection, Sequence
from dataclasses import dataclass

import numpy as np

from weatherglass.stats.interval import two_sided_p, upper_point

LARGEST_LEVEL = 0.10
"""The largest acceptable probability of p ≤ 0.05 by chance; above it, a test is measured but not tested."""
NOMINAL = 0.05
LEAST_SHARED = 0.5
"""The smallest share of templates, relative to the larger number, that X and Y must have in common."""
NO_NOISE = 1e-12
MOST_NAMED = 4
"""The maximum number of tokens in a message."""

TOKEN = re.compile(r"\w+(?:['’]\w+)*")

Text = Sequence[str]
"""The tokens of a text in lower case, which are the encoder's pieces if they are known."""
Unit = Sequence[Text]
"""The texts of one word."""


@dataclass(frozen=True, slots=True)
class TokenContrast:
    """A token and the share of the texts of X and of Y that contain it."""

    token: str
    share_x: float
    share_y: float
    piece: bool = False
    """Whether the token is part of a longer word in some text, instead of always a whole word."""


@dataclass(frozen=True, slots=True)
class Confounding:
    """The reasons why a test is measured but not tested."""

    level: float
    """The probability of p ≤ 0.05 if tokens were independent noise."""
    tokens: tuple[TokenContrast, ...]
    """The tokens with the largest difference in shares; empty if only templates differ."""
    templates: tuple[int, int, int] | None
    """The number of templates of X, of Y, and in common, if too few are in common."""


def confounding(
    x: Sequence[Unit],
    y: Sequence[Unit],
    x_templates: Collection[str] = (),
    y_templates: Collection[str] = (),
) -> Confounding | None:
    """Return why a permutation test by words would be invalid, or None if it is valid.

    Args:
        x: the units of X.
        y: the units of Y.
        x_templates: the sentence templates of X; empty for single words.
        y_templates: the sentence templates of Y.
    """
    level = expected_level(x, y)
    in_x, in_y = set(x_templates), set(y_templates)
    numbers = len(in_x), len(in_y), len(in_x & in_y)
    apart = max(numbers[:2]) > 0 and numbers[2] < LEAST_SHARED * max(numbers[:2])
    if level <= LARGEST_LEVEL and not apart:
        return None
    tokens = largest_contrasts(x, y) if level > LARGEST_LEVEL else ()
    return Confounding(level, tokens, numbers if apart else None)


def described(found: Confounding, n_x: int, n_y: int) -> str:
    """Return one line that explains why a test is measured but not tested.

    >>> he = TokenContrast("he", 1.0, 0.0), TokenContrast("his", 1.0, 0.0)
    >>> described(Confounding(0.7, he, None), 8, 8)
    "every X text contains the words 'he', 'his', but no Y text does: one contrast, not 8 + 8 independent words"
    """
    parts = []
    for of_x in (True, False):
        own = [token for token in found.tokens if (token.share_x > token.share_y) is of_x]
        if own:
            parts.append(_shares(own, of_x))
    if found.templates is not None:
        in_x, in_y, common = found.templates
        parts.append(f"X has {in_x} sentence templates and Y {in_y}, {common or 'none'} in common")
    return f"{'; '.join(parts)}: one contrast, not {n_x} + {n_y} independent words"


def _shares(tokens: Sequence[TokenContrast], of_x: bool) -> str:
    listed = " and ".join(filter(None, (_listed(tokens, "word", False), _listed(tokens, "piece", True))))
    shares = tokens[0].share_x, tokens[0].share_y
    (share, rest), (one, other) = (shares, "XY") if of_x else (shares[::-1], "YX")
    if share == 1 and rest == 0:
        return f"every {one} text contains {listed}, but no {other} text does"
    return (
        f"{100 * share:.0f} % of {one} texts contain {listed}, but only {100 * rest:.0f} % of {other} texts"
    )


def _listed(tokens: Sequence[TokenContrast], noun: str, piece: bool) -> str:
    """Return a phrase that lists the words or pieces among the tokens."""
    names = [f"'{_shown(token.token)}'" for token in tokens if token.piece is piece]
    more = f" and {len(names) - MOST_NAMED} more" if len(names) > MOST_NAMED else ""
    return f"the {noun}{'s' if len(names) > 1 else ''} {', '.join(names[:MOST_NAMED])}{more}" if names else ""


def _shown(piece: str) -> str:
    """Return a piece without the marks that tokenizers add for the beginning or the inside of a word."""
    return piece.lstrip("▁Ġ").removeprefix("##") or piece


def is_whole_word(piece: str, text: str) -> bool:
    """Return whether a model's piece is a whole word of the text.

    >>> is_whole_word("▁a", "This is a name."), is_whole_word("a", "Lakisha")
    (True, False)
    """
    return _shown(piece).lower() in tokens_of(text)


def tokens_of(text: str) -> list[str]:
    """Return the words of a text in lower case, for encoders whose pieces are unknown."""
    return TOKEN.findall(text.lower())


def expected_level(x: Sequence[Unit], y: Sequence[Unit]) -> float:
    """Return the probability of p ≤ 0.05 in a t-test of X and Y if every token were an independent random vector."""
    n_x, n_y = len(x), len(y)
    df = n_x + n_y - 2
    if df < 1:
        return 1.0
    # K contains the inner products of units; a unit is the mean of its texts, and a text is its unit vector of counts.
    units = [*x, *y]
    place: dict[str, int] = {}
    for unit in units:
        for text in unit:
            for token in text:
                place.setdefault(token, len(place))
    rows = np.zeros((len(units), max(len(place), 1)))
    for row, unit in zip(rows, units, strict=True):
        for text in unit:
            counts = Counter(text)
            length = math.sqrt(sum(count * count for count in counts.values()))
            for token, count in counts.items():
                row[place[token]] += count / (length * len(unit))
    products = rows @ rows.T
    contrast = np.repeat([1 / n_x, -1 / n_y], [n_x, n_y])
    within = 0.0
    for part in (products[:n_x, :n_x], products[n_x:, n_x:]):
        within += float(np.trace(part) - part.sum() / len(part))
    within /= df
    if within <= NO_NOISE:
        return 1.0
    ratio = float(contrast @ products @ contrast) / ((1 / n_x + 1 / n_y) * within)
    if ratio <= 0:
        return 0.0
    return float(two_sided_p(upper_point(NOMINAL / 2, df) / math.sqrt(ratio), df))


def largest_contrasts(x: Sequence[Unit], y: Sequence[Unit]) -> tuple[TokenContrast, ...]:
    """Return the tokens whose shares of texts differ most, including ties, in sorted order."""
    shares = []
    for units in (x, y):
        texts = [set(text) for unit in units for text in unit]
        counts = Counter(token for text in texts for token in text)
        shares.append({token: count / len(texts) for token, count in counts.items()})
    of_x, of_y = shares
    found = [TokenContrast(t, of_x.get(t, 0.0), of_y.get(t, 0.0)) for t in sorted({*of_x, *of_y})]
    largest = max((abs(token.share_x - token.share_y) for token in found), default=0.0)
    return tuple(t for t in found if abs(t.share_x - t.share_y) == largest and largest > 0)
