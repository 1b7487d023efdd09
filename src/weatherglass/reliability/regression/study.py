"""The last step of a study: compute word features, regress reliability on them, write the tables."""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Mapping, Sequence
from pathlib import Path

import polars as pl

from weatherglass.errors import WeatherglassError
from weatherglass.languages.lexicon.lexicon import Lexicon, find_lexicon
from weatherglass.progress import Progress, Silent
from weatherglass.reliability.regression.explain import Explanation, explain
from weatherglass.reliability.regression.features import word_features
from weatherglass.reliability.regression.fit import NORMAL_95
from weatherglass.reliability.regression.tables import regression_table, to_latex
from weatherglass.reliability.study import Group
from weatherglass.reliability.tables import write_tables
from weatherglass.storage.atomic import write_whole
from weatherglass.storage.checksum import damaged_files, is_listed, listed_files, remove_listed, set_aside
from weatherglass.storage.fingerprint import file_hash

FEATURES, TABLES = "features", "tables"
FEATURE_FILE = re.compile(r".+-[0-9a-f]{12}\.(tsv|parquet)")
"""The names that feature tables are cached under: corpus, algorithm and the key of embeddings and lexicon."""


def explain_study(
    groups: Sequence[Group],
    tables: Mapping[str, pl.DataFrame],
    folder: Path,
    senses: Path | None = None,
    parts: Path | None = None,
    progress: Progress | None = None,
) -> dict[str, Explanation]:
    """Explain the reliability of every word by its features, for each set of base pairs.

    Writes tables/features and tables/regression (TSV and parquet) and tables/regression-PAIRS.tex.

    Args:
        groups: the embeddings.
        tables: test_retest_words and inter_rater_words of the study.
        folder: of the study.
        senses: a file of senses instead of WordNet.
        parts: a file of parts of speech instead of Brill's lexicon.
        progress: updated after each group of embeddings and each model.

    Returns:
        Set of base pairs -> explanation; it has no parts, and a reason, if nothing can be estimated.
    """
    progress = progress or Silent()
    words = set(tables["test_retest_words"]["word"].unique().to_list())
    lexicon = find_lexicon(words, senses, parts)
    progress.stage("word features", len(groups))
    features = pl.concat(feature_tables(groups, lexicon, folder / FEATURES, progress))
    explanations = {}
    for pairs in tables["test_retest_words"]["pairs"].unique(maintain_order=True).to_list():
        try:
            explanations[pairs] = explain(
                study_scores(tables, pairs), features, lexicon.sources, lexicon.missing, progress
            )
        except WeatherglassError as error:
            explanations[pairs] = Explanation((), lexicon.sources, (*lexicon.missing, str(error)))
    regression = pl.concat(
        [regression_table(explanation, pairs) for pairs, explanation in explanations.items()]
    )
    write_tables(folder / TABLES, {"features": features, "regression": regression})
    for pairs, explanation in explanations.items():
        write_whole(folder / TABLES / f"regression-{Path(pairs).stem}.tex", to_latex(explanation))
    return explanations


def study_scores(tables: Mapping[str, pl.DataFrame], pairs: str) -> dict[str, pl.DataFrame]:
    """The scores of one set of base pairs: test–retest by rule, and inter-rater of the rules as they are."""
    variance = ((pl.col("high") - pl.col("low")) / (2 * NORMAL_95)) ** 2
    keys = [
        pl.col("corpus", "algorithm", "word"),
        pl.col("icc").alias("score"),
        variance.alias("variance"),
    ]
    test_retest = tables["test_retest_words"].filter(pl.col("pairs") == pairs)
    inter_rater = tables["inter_rater_words"].filter((pl.col("pairs") == pairs) & (pl.col("scale") == "raw"))
    return {
        "test-retest": test_retest.select("rule", *keys),
        "inter-rater": inter_rater.select(*keys),
    }


def feature_tables(
    groups: Sequence[Group], lexicon: Lexicon, folder: Path, progress: Progress
) -> list[pl.DataFrame]:
    """Return the feature table of each group, cached in `folder` or computed; remove those of other keys.

    Args:
        groups: all that the study has; a cached table of any other embeddings or lexicon is removed.
        lexicon: senses and parts of speech.
        folder: of the cached tables.
        progress: updated after each group.
    """
    tables = []
    names = []
    for group in groups:
        if group.paths:
            name = f"{group.corpus}-{group.algorithm}-{_key(group, lexicon)}"
            path = folder / f"{name}.parquet"
            if path.is_file() and is_listed(folder, path.name) and damaged_files(folder, [path.name]):
                set_aside([path], "and computed again")
            # The writer of a table without a checksum was killed before it wrote the list.
            if not path.is_file() or not is_listed(folder, path.name):
                write_tables(folder, {name: word_features(group.paths, lexicon)})
            tables.append(pl.read_parquet(path))
            names.append(name)
        progress.advance()
    stale = [
        name
        for name in listed_files(folder)
        if FEATURE_FILE.fullmatch(name) and name.rpartition(".")[0] not in names
    ]
    remove_listed(folder, stale)
    return tables


def _key(group: Group, lexicon: Lexicon) -> str:
    """Cache key: a hash of the embeddings' content and of the lexicon."""
    known = [sorted((table or {}).items()) for table in (lexicon.senses, lexicon.parts)]
    files = [file_hash(path) for path in group.paths]
    return hashlib.sha256(json.dumps([files, known]).encode()).hexdigest()[:12]
