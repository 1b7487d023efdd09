"""The table of warnings: for each kind its sentence, its summary for several warnings, and its severity."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from weatherglass.registry import Registry
from weatherglass.warnings import OTHER, Kind, fill

Values = Mapping[str, Any]

TWINS = "words that differ only in their Unicode form, spaces or zero-width characters"


def _fragile(values: Values) -> str:
    template = values["unit"] == "template"
    dropped = '"{name}"' if not template else 'the template "{name}"'
    if values["lifting"] > 1:
        several = "{lifting} templates" if template else "{lifting} words"
        ending = f" makes p > {{alpha:g}} (without {dropped}, p = {{p:.2g}})"
        return fill(f"fragile: dropping any one of {several}{ending}", values)
    return fill(f"fragile: dropping {dropped} makes p > {{alpha:g}} (p = {{p:.2g}})", values)


def _floor(values: Values, consequence: str) -> str:
    sizes = "{x} + {y}" if values["y"] else "{x}"
    return fill(f"with {sizes} {{unit}}, p cannot be below {{floor:.2g}}, {consequence}", values)


def _too_small(values: Values) -> str:
    return _floor(values, "so this test cannot be significant at {alpha:g}")


def _cannot_survive(values: Values) -> str:
    return _floor(values, "so it cannot be significant after correction for {topics} topics at {alpha:g}")


def _unfamiliar(values: Values) -> str:
    read = (
        "splits the words of this test into {pieces:.1f} pieces on average"
        if values["split"]
        else "does not know {unknown} of the {tokens} words of this test"
    )
    return fill(f"the model {read}: it hardly speaks their language ('{{language}}')", values)


def _same_sets(values: Values) -> str:
    effect = "; the effect is 0 with any model" if values["effect_is_zero"] else ""
    return fill("{first} and {second} contain the same elements" + effect, values)


def _lexicon(values: Values) -> str:
    hint = (
        '; {other} has {known_there} of them: should language be "{other_code}"?' if values["other"] else ""
    )
    return fill("{words:word is|words are} not in the {language} lexicon ({words})" + hint, values)


def _damaged_journal(values: Values) -> str:
    start, what = ("line", "its result is") if values["count"] == 1 else ("lines", "their results are")
    return fill(
        start
        + " {lines}: damaged (the checksum or form is wrong); set aside in {aside}, and "
        + what
        + " computed again",
        values,
    )


def _variance(values: Values) -> str:
    if values["determined"]:
        return fill(
            "the features determine every {factor}, so its variance is not estimated, but taken as 0", values
        )
    return fill("the variance of {factor} is estimated as 0", values)


def _levels(values: Values) -> str:
    if values["levels"] == 1:
        return fill("{factor} has one level: it has no variance to estimate and is not in the model", values)
    return fill(
        "{factor} has {levels} levels: its variance and the interval of the intercept are rough estimates",
        values,
    )


KINDS: dict[str, Kind] = {
    # Warnings about a row: what its number does not show.
    "fragile": Kind(
        _fragile,
        {"unit": "word", "name": "management", "p": 0.14, "lifting": 13, "alpha": 0.05},
        summary="fragile: not significant without one word or template",
        detail='"{name}"',
    ),
    "pseudoreplication": Kind(
        "significant only if the sentences of a word count as independent, as published; with words as "
        "units, p > {alpha:g}",
        {"alpha": 0.05},
        summary="significant only if sentences count as independent",
    ),
    "fixed-attributes": Kind(
        "significant with the listed attribute words (p = {p:.2g}), but not when they count as a random sample of "
        "attribute words (p = {p_random:.2g})",
        {"p": 0.021, "p_random": 0.13},
        summary="significant for fixed, but not for random attribute words",
    ),
    "unreliable": Kind(
        "unreliable: other attribute words would rank the target words differently "
        "(reliability {reliability:.2g}, below {least:g})",
        {"reliability": 0.21, "least": 0.3},
        summary="unreliable: the reliability of the word scores is low",
    ),
    "skewed": Kind(
        "the effect is large and the scores are skewed: the {level:g} % interval may cover only about 90 %",
        {"level": 95},
        summary="the effect is large and the scores are skewed: the interval may cover only about 90 %",
    ),
    "spreads": Kind(
        "X and Y differ in spread, and Welch's test (p = {welch_p:.2g}) decides differently from the exact test",
        {"welch_p": 0.11},
        summary="X and Y differ in spread, and Welch's test decides differently from the exact test",
    ),
    "too-small": Kind(
        _too_small,
        {"x": 3, "y": 3, "unit": "words", "floor": 0.1, "alpha": 0.05},
        summary="too few words: the test cannot be significant",
    ),
    "cannot-survive": Kind(
        _cannot_survive,
        {"x": 4, "y": 4, "unit": "words", "floor": 0.029, "topics": 8, "alpha": 0.05},
        summary="too few words: the test cannot be significant after the correction",
    ),
    "pieces": Kind(
        "the tokenizer splits the words of Y into {y:.1f} pieces and those of X into {x:.1f} on average; with the "
        "number of pieces held fixed, the difference is not significant",
        {"x": 1.1, "y": 2.4},
        summary="X and Y are split into different numbers of pieces, which may explain the difference",
    ),
    # Warnings about a test on a model.
    "unknown-words": Kind(
        "{missing} of the {size} elements of {category} are unknown to the model",
        {"missing": 6, "size": 25, "category": "Flowers"},
        summary="more than a fifth of a set is unknown to the model",
        detail="{category}",
        about="model",
    ),
    "few-contexts": Kind(
        "{words:word has|words have} fewer than {least} contexts in the corpus: {words}",
        {"words": ["aster (2)", "hyacinth (0)"], "least": 5},
        summary="words with fewer than 5 contexts",
        detail="{words}",
        about="model",
    ),
    "lost-contexts": Kind(
        "contexts were left out because the model did not read the word in them ({words})",
        {"words": ["office: 3 of 100 contexts lost: the word was cut off"]},
        summary="contexts that the model did not read completely were left out",
        about="model",
        severity="note",
    ),
    "broken-pairs": Kind(
        "{count:pair|pairs} dropped: the model lacks one of the two words",
        {"count": 3},
        summary="pairs dropped: the model lacks one of the two words",
        about="model",
        severity="note",
    ),
    "cut-sentences": Kind(
        "{count:pair has|pairs have} a sentence longer than the model reads; only its beginning is compared",
        {"count": 2},
        summary="pairs have a sentence longer than the model reads; only its beginning is compared",
        about="model",
    ),
    "other-language": Kind(
        "the model splits sentences by the rules of '{rules}', but the test is in '{language}': add "
        "language={language} to the model, as in vectors:FILE?language={language}",
        {"rules": "en", "language": "de"},
        summary="the model splits sentences by the rules of a language that is not the test's",
        about="model",
        severity="damage",
    ),
    "unfamiliar-language": Kind(
        _unfamiliar,
        {"split": True, "pieces": 6.06, "unknown": 0, "tokens": 206, "language": "ru"},
        summary="the model hardly speaks the language of the test",
        about="model",
        severity="damage",
    ),
    "fitted-on-test": Kind(
        "{transforms} was fitted on {words:word|words} of this test ({words})",
        {"transforms": "hard-debias", "words": ["he", "she", "man", "woman", "boy", "girl"]},
        summary="a transform was fitted on words of the test",
        words="words",
        about="model",
    ),
    # Warnings about a test on any model.
    "same-sets": Kind(
        _same_sets,
        {"first": "X (Flowers)", "second": "Y (Plants)", "effect_is_zero": True},
        summary="two sets contain the same elements",
        detail="{first} and {second}",
        about="test",
        severity="damage",
    ),
    "shared-words": Kind(
        "{first} and {second} share {words:element|elements} ({words})",
        {"first": "X (Flowers)", "second": "Y (Plants)", "words": ["rose", "lily"]},
        summary="two sets share elements",
        words="words",
        about="test",
    ),
    "lookalikes": Kind(
        "{first} and {second} share " + TWINS + ": {words}",
        {"first": "X (Drinks)", "second": "Y (Places)", "words": ["'caf\\xe9' = 'cafe\\u0301'"]},
        summary="two sets share " + TWINS,
        words="words",
        about="test",
    ),
    "related-words": Kind(
        '{role} ({category}): {words} share "{shared}"; each counts as a separate word, which makes p too small if '
        "their scores are correlated",
        {"role": "B", "category": "women", "shared": "her", "words": ["her", "hers"]},
        summary="words of a set share a stem or a word, but count as independent",
        words="words",
        about="test",
        severity="note",
    ),
    "duplicates": Kind(
        "{set}: {count:duplicate|duplicates} dropped ({words})",
        {"set": "X (Flowers)", "count": 1, "words": ["rose"]},
        summary="duplicates dropped",
        words="words",
        about="test",
        severity="note",
    ),
    "table": Kind(
        "{file}: {note}",
        {"file": "jobs.csv", "note": "not UTF-8; read as Windows-1252 (Latin-1), such as 'Köchin'"},
        summary="notes on how a file was read",
        detail="{file}",
        about="test",
        severity="note",
    ),
    "mixed-script": Kind(
        "'{word}' mixes {scripts} letters: a model reads it as another word",
        {"word": "dосtor", "scripts": "Cyrillic and Latin"},
        summary="words mix letters of two scripts",
        detail="'{word}'",
        about="test",
        severity="damage",
    ),
    "other-script": Kind(
        "{words:word is|words are} not in Latin letters ({words}), but the test is in {language}",
        {"words": ["врач", "няня"], "language": "English"},
        summary="words are not in Latin letters",
        words="words",
        about="test",
    ),
    "several-scripts": Kind(
        "the words are in several scripts: {scripts}",
        {"scripts": ["Cyrillic (врач)", "Latin (peace)"]},
        summary="the words of a test are in several scripts",
        about="test",
    ),
    "not-in-lexicon": Kind(
        _lexicon,
        {
            "words": ["Arzt", "Schwester", "gesund"],
            **{"language": "English", "other": "German", "other_code": "de", "known_there": 3},
        },
        summary="words are not in the lexicon of the test's language",
        words="words",
        about="test",
    ),
    "unknown-class": Kind(
        "the class of {words:word|words} is unknown ({words}): only templates for any word contain them; "
        "state the class under [words.classes]",
        {"words": ["Hebamme"]},
        summary="the class of words is unknown: only templates for any word contain them",
        words="words",
        about="test",
    ),
    "unknown-forms": Kind(
        "the {form} of {words:word|words} is unknown ({words}): templates that need it skip them; "
        "state it under [words.{form}]",
        {"form": "plural", "words": ["Hebamme", "Amme"]},
        summary="word forms are unknown: templates that need them skip the words",
        words="words",
        about="test",
    ),
    # Warnings about a run.
    "profile": Kind(
        "profile {profile}: {caution}. The vectors are this model's own; the original procedure: {habits}",
        {
            "profile": "caliskan2017",
            "caution": "the far tail is not normal: below about 0.001, p can be wrong by orders of magnitude",
            "habits": "word vectors; a missing word is left out",
        },
        summary="numbers follow another tool's procedure, with its faults",
        detail="{profile}",
        about="run",
    ),
    "metric": Kind(
        "{metric}: {caution}",
        {
            "metric": "mac",
            "caution": "a mean cosine differs from 0 in any anisotropic model; compare models, do not read it as bias",
        },
        summary="metrics whose value or p must be read with care",
        detail="{metric}",
        about="run",
    ),
    "cut-off-file": Kind(
        "{file}, line {line} ('{word}'): the file does not end with a newline; its last number, {number}, may be "
        "cut off",
        {"file": "glove.txt", "line": 400000, "word": "sandberger", "number": "0.2"},
        summary="files of vectors do not end with a newline; the last number may be cut off",
        detail="{file}",
        about="run",
        severity="damage",
    ),
    "lookalikes-in-file": Kind(
        TWINS + " are different words here: {words}",
        {"words": ["'caf\\xe9' = 'cafe\\u0301'"]},
        summary=TWINS + " are different words here",
        words="words",
        about="run",
        severity="note",
    ),
    "damaged-journal": Kind(
        _damaged_journal,
        {"lines": [2], "count": 1, "aside": "journal.jsonl.damaged"},
        about="run",
        severity="damage",
    ),
    "old-journal": Kind(
        "{count:result is|results are} in another format; set aside in {aside}, and computed again",
        {"lines": [1, 2], "count": 2, "aside": "journal.jsonl.old"},
        about="run",
        severity="note",
    ),
    "page-not-written": Kind(
        "{page} was not written: {reason}",
        {"page": "report.html", "reason": "the template is damaged"},
        about="run",
        severity="damage",
    ),
    # Warnings about the imported embeddings of a study.
    "repeated-entries": Kind(
        "{file}: {count:entry repeats|entries repeat} a word; the first vector of a word is used",
        {"file": "2.txt", "count": 1},
        summary="entries of a file repeat a word; the first vector of a word is used",
        detail="{file}",
        about="run",
        severity="note",
    ),
    "identical-files": Kind(
        "{file} is identical to {first}: using the same seed twice makes scores look too reliable",
        {"file": "2.txt", "first": "1.txt"},
        summary="files are identical: using the same seed twice makes scores look too reliable",
        detail="{file}",
        about="run",
        severity="damage",
    ),
    "vocabularies": Kind(
        "the vocabularies differ ({least} to {most} words): only the {common} words that all {files} files contain are "
        "scored; nbm searches for neighbours among all words of a file",
        {"least": 9120, "most": 9421, "common": 9011, "files": 3},
        summary="the vocabularies of the files differ: only words that all files contain are scored",
        about="run",
    ),
    "no-counts": Kind(
        "the files have no counts: words are assumed to be ordered by frequency, and the first {frequent} words of the "
        "first file count as the frequent words",
        {"frequent": 20000},
        summary="the files have no counts: words are assumed to be ordered by frequency",
        about="run",
    ),
    "no-minimum": Kind(
        "the files have no counts: min_frequency = {minimum} is not applied",
        {"minimum": 5},
        summary="the files have no counts: min_frequency is not applied",
        about="run",
    ),
    # Warnings about the regressions of a study.
    "rows-dropped": Kind(
        "{rows} of {total} rows dropped: {reason}",
        {"rows": 120, "total": 4000, "reason": "unknown part of speech"},
        summary="rows dropped from a regression",
        about="run",
        severity="note",
    ),
    "not-installed": Kind(
        "{what}",
        {"what": "WordNet is not installed (run: apt-get install wordnet-base)"},
        about="run",
        by_text=True,
    ),
    "unknown-feature": Kind(
        "{feature} is unknown for every row, so it is not in the model",
        {"feature": "senses"},
        summary="features are unknown for every row, so they are not in the model",
        detail="{feature}",
        about="run",
    ),
    "constant-feature": Kind(
        "{feature} is the same in every row, so it is not in the model",
        {"feature": "log freq"},
        summary="features are the same in every row, so they are not in the model",
        detail="{feature}",
        about="run",
    ),
    "dependent-feature": Kind(
        "{feature} is determined by the features before it, so it is not in the model",
        {"feature": "pos:verb"},
        summary="features are determined by those before them, so they are not in the model",
        detail="{feature}",
        about="run",
    ),
    "one-row-per-word": Kind(
        "every word has one row, so there is no model with a random intercept for words", {}, about="run"
    ),
    "few-levels": Kind(
        _levels,
        {"factor": "corpus", "levels": 2},
        summary="factors have few levels: their variances are rough estimates, or none",
        detail="{factor}",
        about="run",
    ),
    "same-groups": Kind(
        "{factor} and {earlier} have the same groups of rows: the variance given for {earlier} is the sum of both",
        {"factor": "algorithm", "earlier": "corpus"},
        summary="factors have the same groups of rows: only the sum of their variances is estimated",
        detail="{factor}",
        about="run",
    ),
    "zero-variance": Kind(
        _variance,
        {"factor": "corpus", "determined": False},
        summary="variances of factors are 0",
        detail="{factor}",
        about="run",
    ),
    "not-converged": Kind(
        "the solver did not converge; the variances are rough estimates", {}, about="run", severity="damage"
    ),
    "collinear": Kind(
        "{feature} can be predicted from the other features (variance inflation factor {vif:.1f}): its estimate and "
        "its change in R² depend on what else is in the model",
        {"feature": "l2 norm", "vif": 12.3},
        summary="features can be predicted from the others: their estimates depend on what else is in the model",
        detail="{feature}",
        about="run",
    ),
    "correlated": Kind(
        "{first} and {second} are correlated (r = {r:.2f}): interpret their estimates together",
        {"first": "log freq", "second": "l2 norm", "r": 0.83},
        summary="features are correlated: interpret their estimates together",
        about="run",
    ),
    OTHER: Kind(
        "{text}", {"text": "the service was asked twice"}, section=False, by_text=True, severity="note"
    ),
}
"""Kinds by name, which is also the anchor of the section in docs/warnings.md."""

UNKNOWN = Kind("", {}, section=False, by_text=True)
"""The kind of a warning from a package that is not installed."""

WARNINGS = Registry[Kind]("warning", KINDS, "weatherglass.warnings")
"""Built-in kinds, and those of other packages."""
