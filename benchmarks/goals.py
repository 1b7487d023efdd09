"""List the goals: `python -m benchmarks` fails if one is missed. They are ratios to a peer if there is one."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from benchmarks._rows import Row


@dataclass(frozen=True, slots=True)
class Goal:
    """What a row must reach; the machine of the goals of CPU seconds is the one that docs/performance.md names."""

    at_least_times: float | None = None
    """The peer's cost over ours."""
    at_most: float | None = None
    """Ours: CPU seconds, an exponent or a step."""

    def missed(self, row: Row) -> bool:
        """Return whether the row was measured and falls short."""
        slow = self.at_least_times is not None and row.ratio is not None and row.ratio < self.at_least_times
        return slow or (self.at_most is not None and row.ours is not None and row.ours > self.at_most)

    def __str__(self) -> str:
        return f"≥ {self.at_least_times:g} ×" if self.at_least_times is not None else f"≤ {self.at_most:g}"


GOALS: Mapping[str, Goal] = {
    **{
        f"keystroke at {size}, {model}, 95 %, ms": Goal(at_most=most)
        for model in ("wordllama", "400000 × 300 float32")
        for size, most in (("8 + 8", 50), ("25 + 25", 250))
    },
    "memory of the server, 400000 × 300 float32, MB": Goal(at_most=480 + 200),
    "p of 25 + 25, exact": Goal(at_most=0.25),
    "p of 25 + 25, exact, against sent-bias": Goal(at_least_times=1),
    "p of 25 + 25, exact, against scipy": Goal(at_least_times=1),
    "p of 25 + 25, bounds, against sent-bias": Goal(at_least_times=10),
    "p from 16 + 16 to 34 + 34, largest step by a word": Goal(at_most=2),
    "all p of a run, against sent-bias": Goal(at_least_times=10),
    "six metrics without p, against WEFE": Goal(at_least_times=20),
    "WEAT with p, against WEFE": Goal(at_least_times=20),
    "reading all text vectors, 300 dimensions, against gensim": Goal(at_least_times=10),
    "reading all text vectors, 100 dimensions, against gensim": Goal(at_least_times=10),
    "reading 1 word in 100 of text vectors": Goal(at_least_times=20),
    "reading all binary vectors, 300 dimensions, against gensim": Goal(at_least_times=2),
    "reading all binary vectors, 100 dimensions, against gensim": Goal(at_least_times=2),
    "reading all binary vectors, 300 dimensions, against reading the bytes": Goal(at_least_times=0.33),
    "neighbours of 500 among 1000 words, 100 dimensions, against faiss": Goal(at_least_times=1),
    "neighbours of 500 among 1000 words, 300 dimensions, against faiss": Goal(at_least_times=1),
    "neighbours of 100 among 5000 words, 100 dimensions, against faiss": Goal(at_least_times=1),
    "neighbours of 100 among 5000 words, 300 dimensions, against faiss": Goal(at_least_times=1),
    "neighbours of 2000 among 5000 words, 100 dimensions, against faiss": Goal(at_least_times=1),
    "neighbours of 2000 among 5000 words, 300 dimensions, against faiss": Goal(at_least_times=1),
    "neighbours of 100 among 20000 words, 100 dimensions, against faiss": Goal(at_least_times=1),
    "neighbours of 100 among 20000 words, 300 dimensions, against faiss": Goal(at_least_times=1),
    "neighbours of 500 among 20000 words, 100 dimensions, against faiss": Goal(at_least_times=1),
    "neighbours of 500 among 20000 words, 300 dimensions, against faiss": Goal(at_least_times=1),
    "neighbours of 2000 among 20000 words, 100 dimensions, against faiss": Goal(at_least_times=1),
    "neighbours of 2000 among 20000 words, 300 dimensions, against faiss": Goal(at_least_times=1),
    "sgns-window, d 100, against gensim": Goal(at_least_times=2.5),
    "sgns-window, d 300, against gensim": Goal(at_least_times=2.5),
    "model2vec, guarded": Goal(at_least_times=0.95),
    "onnx, guarded": Goal(at_least_times=0.95),
    "masked tokens, short sentences, vocabulary of 4 000, against the loop": Goal(at_least_times=5),
    "masked tokens, short sentences, vocabulary of 30 000, against the loop": Goal(at_least_times=5),
    "masked tokens, long sentences, vocabulary of 4 000, against the loop": Goal(at_least_times=1),
    "masked tokens, long sentences, vocabulary of 30 000, against the loop": Goal(at_least_times=1),
    "run, warm": Goal(at_most=4),
    "run, empty kernel cache": Goal(at_most=8),
    "run, same folder": Goal(at_most=0.5),
    "--help": Goal(at_most=0.15),
    "--jobs 2, run of four similarities": Goal(at_least_times=0.9),
    "--jobs 2, run of four similarities, by the clock": Goal(at_least_times=1.8),
    "--jobs 2, training": Goal(at_least_times=0.95),
    "--jobs 2, training, by the clock": Goal(at_least_times=1.9),
    "growth with elements, exponent": Goal(at_most=1.6),
    "growth with vocabulary, exponent": Goal(at_most=1.1),
    "growth with seeds, exponent": Goal(at_most=1.2),
    "sentences of words, growth with tokens, exponent": Goal(at_most=1.05),
    "sentences of words, memory of the largest corpus, MB": Goal(at_most=200),
    "sentences of 500 words, one copy, against re": Goal(at_least_times=1),
    "growth with results, exponent": Goal(at_most=1.15),
    "growth of the page with results, exponent": Goal(at_most=1.1),
    "page of 5 520 results, MB": Goal(at_most=5),
    "page of 5 520 results": Goal(at_most=5),
    "page of 5 520 results, first paint, script seconds": Goal(at_most=0.2),
    "page of 5 520 results, slowest filter, script seconds": Goal(at_most=0.2),
    "page of 1 500 tests, first paint, script seconds": Goal(at_most=0.2),
    "page of 1 500 tests, slowest filter, script seconds": Goal(at_most=0.2),
}
"""Row -> goal; a row without one is for information."""
