"""Define `weatherglass multiverse`, `mitigate` and `words`, the commands beyond one run."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import click

from weatherglass.cli.command import argument, command, command_line, file_option, flag, option
from weatherglass.cli.options import (
    DIR,
    MODEL,
    MODEL_HELP,
    OUTPUT,
    TEST,
    Choice,
    alpha_option,
    comma_separated,
    contexts_options,
    folder_option,
    json_option,
    listed,
    models_argument,
    quiet_option,
    repeated_tests,
    size_option,
    where_it_runs,
)
from weatherglass.errors import WeatherglassError
from weatherglass.stats import DEFAULT_CORRECTION

CHOICES = "similarity,statistic,template,pooling,layers,contexts,length,casing,pieces,score,words,seed,list"


@command("multiverse", examples=("weatherglass multiverse vectors:glove.txt -t 'gender and career'",))
@models_argument(
    "A model, as for 'weatherglass run'. A pattern such as vectors:study/forum-sgns-*.safetensors is one model "
    "with a seed per file. By default, the embedded model is used."
)
@repeated_tests(help="Topic, name, glob, file or folder; repeat for several.", metavar="TOPIC|TEST")
@option(
    "--choices",
    type=comma_separated("multiverses.choices:CHOICES"),
    default=CHOICES,
    metavar="NAME,...",
    help=f"The choices to vary, separated by commas: {CHOICES.replace(',', ', ')}.",
    show_default="all",
)
@option(
    "--similarity",
    type=comma_separated("metrics.weat.association:SIMILARITIES"),
    default="cosine,euclidean,manhattan",
    metavar="NAME,...",
    help="Similarities to vary, separated by commas; mahalanobis and dot can be added. log-probability, alone, is for "
    "masked language models.",
)
@option(
    "--statistic",
    type=comma_separated("multiverses.choices:STATISTIC_NAMES"),
    default="mean,median,nearest,farthest",
    metavar="NAME,...",
    help="Statistics of similarities to vary, separated by commas; eq2 can be added.",
)
@contexts_options()
@alpha_option
@folder_option("weatherglass-multiverse", "Folder for results and curves.")
@flag(
    "--table",
    help="Print every word list in full. By default, if there are more than 6, each is reduced to one row.",
    group=OUTPUT,
)
@json_option
@quiet_option
@where_it_runs
def multiverse(
    models: Sequence[str],
    tests: Sequence[str],
    choices: str,
    similarity: str,
    statistic: str,
    contexts: Path | None,
    per_word: int,
    alpha: float,
    folder: Path,
    table: bool,
    as_json: bool,
    quiet: bool,
    **where: Any,
) -> None:
    """Run every combination of reasonable choices, and test whether they change the conclusion.

    The result is an exact p for the mean of d over all specifications, a maxT p for any of them, a curve, the choices
    that change d, and how often the sign flips with half of a word list. If you repeat the command, it computes only
    what is missing.
    """
    from weatherglass.api.multiverses import multiverse as run
    from weatherglass.cli.console import print_json, say, width_of
    from weatherglass.cli.progress import progress
    from weatherglass.cli.tables import show_tables
    from weatherglass.encoders import DEFAULT_MODEL

    if not quiet and not as_json:
        show_tables(tests)
    with progress(quiet or as_json, folder) as bar:
        finished = run(
            list(models) or [DEFAULT_MODEL],
            tests,
            _split(choices),
            folder=folder,
            contexts=contexts,
            per_word=per_word,
            progress=bar,
            command=command_line(),
            similarities=_split(similarity),
            statistics=_split(statistic),
            alpha=alpha,
            **where,
        )
    if as_json:
        print_json(finished.to_json())
    elif not quiet:
        from weatherglass.report.multiverse import lines_of

        say(lines_of(finished, width_of(), table))
        say([f"Page: {folder / 'index.html'}"], whole=True)
    if finished.failures:
        raise click.exceptions.Exit(3)


def _split(text: str) -> tuple[str, ...]:
    return tuple(part.strip() for part in text.split(",") if part.strip())


JUDGE = "Judgement"
"""The name of a group of options in the help."""


@command(
    "mitigate",
    examples=(
        "weatherglass mitigate vectors:glove.txt --with hard-debias -o better.txt",
        "weatherglass mitigate vectors:glove.txt --with leace --judge",
    ),
)
@argument(
    "model",
    type=MODEL,
    metavar="MODEL",
    help="The model, as for 'weatherglass run'; it may already have transforms.",
)
@option(
    "--with",
    "transforms",
    type=listed("mitigation.spelling:TRANSFORMS"),
    multiple=True,
    metavar="TRANSFORM",
    help="Transform, such as 'hard-debias?pairs=gender' or 'leace?classes=FILE'; repeat to apply several in turn.",
)
@file_option(
    "-o",
    "--output",
    help="File to write: word vectors (.safetensors, .txt, .vec, .bin), or NAME.transform, which any encoder can use "
    "as 'MODEL | saved?file=NAME.transform'.",
)
@json_option
@quiet_option
@flag("--judge", help="Judge whether the mitigation worked, and write a page.", group=JUDGE)
@option(
    "--folder",
    type=DIR,
    default="weatherglass-mitigation",
    metavar="DIR",
    help="Folder for the page and the numbers.",
    group=JUDGE,
)
@repeated_tests(
    (),
    "Test for the verdict; repeat for several. By default, tests of the topics of the word lists are used.",
    "TOPIC|TEST",
    JUDGE,
)
@option(
    "--pairs",
    default="",
    metavar="LIST",
    help="Pairs whose direction a classifier tries to recover; by default, those of the transform.",
    group=JUDGE,
)
@option(
    "--neutral",
    default="neutral",
    metavar="LIST",
    help="Words without the attribute: 'neutral', or a file with one word per line.",
    group=JUDGE,
)
@file_option(
    "--similarity",
    multiple=True,
    help="File of pairs of words or sentences (STS) with a score, separated by tabs; repeat for several. "
    "By default, the pairs that come with gensim are used.",
    group=JUDGE,
)
@file_option(
    "--analogies",
    multiple=True,
    help=(
        "File of analogies, four words per line; repeat for several. By default, the analogies of gensim "
        "are used."
    ),
    group=JUDGE,
)
@option(
    "--rank",
    metavar="NAME|FILE",
    help="Also audit rankings before and after, for these names: race, gender, race-gender, age, or a file, as for "
    "'weatherglass rank'.",
    group=JUDGE,
)
@file_option("--queries", help="Queries of this audit, as for 'weatherglass rank'.", group=JUDGE)
@file_option("--passages", help="Passages of this audit, with the slot {name}.", group=JUDGE)
@file_option(
    "--relevance",
    multiple=True,
    help="Table with the columns query, passage and relevance, on which nDCG@10 is measured before and after.",
    group=JUDGE,
)
@alpha_option
@where_it_runs
def mitigate(
    model: str,
    transforms: Sequence[str],
    output: Path | None,
    as_json: bool,
    quiet: bool,
    judge: bool,
    folder: Path,
    tests: Sequence[str],
    pairs: str,
    neutral: str,
    similarity: Sequence[Path],
    analogies: Sequence[Path],
    rank: str | None,
    queries: Path | None,
    passages: Path | None,
    relevance: Sequence[Path],
    alpha: float,
    **where: Any,
) -> None:
    """Fit transforms, write the changed vectors, and judge whether the mitigation worked.

    Transforms: hard-debias, double-hard, mean-difference, inlp, leace, sentence-debias, centre, all-but-the-top, saved.
    """
    from weatherglass.api.mitigation import mitigate as fit
    from weatherglass.cli.console import complain, print_json, say
    from weatherglass.cli.progress import progress

    if output is None and not judge:
        raise WeatherglassError("nothing to do: name a file with -o FILE, or add --judge")
    if not judge and (rank or queries or passages or relevance):
        raise WeatherglassError(
            "--rank, --queries, --passages and --relevance are part of a judgement; add --judge"
        )
    judgement = None
    with progress(quiet or as_json, folder if judge else None) as bar:
        mitigation = fit(model, transforms, progress=bar, **where)
        written = mitigation.write(output) if output is not None else None
        if judge:
            judgement = mitigation.judge(
                tests=tests,
                pairs=pairs,
                neutral=neutral,
                similarity=similarity,
                analogies=analogies,
                rank=rank,
                queries=queries,
                passages=passages,
                relevance=relevance,
                alpha=alpha,
                folder=folder,
                progress=bar,
                **where,
            )
    if as_json:
        vectors = {"written": [written.path], "vectors": written.to_json()} if written else {}
        print_json({**vectors, **({"judgement": judgement.to_json()} if judgement else {})})
        return
    if written:
        for note in written.notes:
            complain(f"note: {note}")
        what = (
            f"{written.words} words of {written.width} dimensions" if written.words else "a fitted transform"
        )
        usage = (
            f"Use this file with any model of {written.width} dimensions: MODEL | saved?file={written.path}"
        )
        say([f"{written.path}: {what}, {written.format}", *([] if written.words else [usage])], whole=True)
    if judgement:
        from weatherglass.report.mitigation import lines_of

        say([*lines_of(judgement.to_json()), f"Page and numbers: {folder}"], whole=True)


@command(
    "words",
    examples=(
        "weatherglass words -w nurse -w doctor",
        "weatherglass words vectors:glove.txt -w jobs.csv --facts share_of_women",
        "weatherglass words vectors:glove.txt -t black-women.toml --intersection",
    ),
)
@argument("model", type=MODEL, default="", metavar="[MODEL]", help=MODEL_HELP)
@option(
    "-w",
    "--words",
    "given",
    multiple=True,
    metavar="WORD|FILE",
    help="A word, a file with one word per line, or a table (.csv, .tsv, .xlsx); repeat for several. By "
    "default, the test's targets are used.",
)
@option("--column", metavar="NAME", help="Column of the words, if a table has several columns of text.")
@option("--sheet", default="", metavar="NAME", help="Sheet to read, if an Excel file has several.")
@option(
    "-t",
    "--test",
    type=TEST,
    default="weat7",
    metavar="TEST",
    help="The test whose attribute sets A and B are used.",
)
@flag(
    "--intersection",
    "of_intersection",
    help="Find the words that are nearer to an intersectional group, whose names are A of the test, than to the group "
    "of each other attribute set (IBD).",
)
@option(
    "--facts",
    metavar="COLUMN|FILE",
    help="Numbers to correlate scores with: a column of the table, such as share_of_women, or a table of "
    "words and numbers.",
)
@option(
    "--correction",
    type=Choice("stats.multiplicity:ADJUSTMENTS"),
    default=DEFAULT_CORRECTION,
    help="Correction for multiple words: holm or benjamini-hochberg.",
)
@alpha_option
@file_option("-o", "--output", help="Write the words as a table (.tsv).")
@file_option("--figure", help="Draw the words (.svg, .png or .pdf).")
@size_option
@json_option
@where_it_runs
def words(
    model: str,
    given: Sequence[str],
    column: str | None,
    sheet: str,
    test: str,
    of_intersection: bool,
    facts: str | None,
    correction: str,
    alpha: float,
    output: Path | None,
    figure: Path | None,
    size: str | None,
    as_json: bool,
    **where: Any,
) -> None:
    """Show which of two attribute sets each word leans to, and whether facts agree (WEFAT, SC-WEAT).

    Every word has an exact p.
    """
    if of_intersection:
        if given or facts or figure or correction != DEFAULT_CORRECTION:
            raise WeatherglassError(
                "--intersection takes its words from the test, so it cannot be combined with --words, --facts, "
                "--figure or --correction"
            )
        _words_of_intersection(model, test, alpha, output, as_json, where)
        return
    from weatherglass.audit.word_map import word_map
    from weatherglass.catalogue import load_test
    from weatherglass.cli.console import print_json, say, width_of
    from weatherglass.cli.progress import progress
    from weatherglass.cli.tables import asked_words, show_tables
    from weatherglass.encoders import DEFAULT_MODEL
    from weatherglass.report.word_map import save_word_map, word_lines, word_table, write_word_table

    loaded = load_test(test)
    if not as_json:
        show_tables([test])
    asked = asked_words(given, facts, column, sheet, quiet=as_json)
    asked = asked or dict.fromkeys(text for targets in loaded.targets for text in targets.texts)
    with progress(as_json) as bar:
        found = word_map(asked, loaded, model or DEFAULT_MODEL, correction=correction, progress=bar, **where)
    if output:
        write_word_table(found, output)
    if figure:
        save_word_map(found, figure, alpha, size)
    if as_json:
        print_json(found.to_json(), indent=None)
    else:
        say([*word_table(found, alpha, width_of()), *word_lines(found, alpha)])


def _words_of_intersection(
    model: str, test: str, alpha: float, output: Path | None, as_json: bool, where: dict[str, Any]
) -> None:
    """Print the words that are nearer to an intersectional group than to other groups."""
    from weatherglass.audit.intersection import intersection
    from weatherglass.cli.console import print_json, say, width_of
    from weatherglass.cli.progress import progress
    from weatherglass.cli.tables import show_tables
    from weatherglass.encoders import DEFAULT_MODEL
    from weatherglass.report.intersection import lines_of, write_table

    if not as_json:
        show_tables([test])
    with progress(as_json) as bar:
        found = intersection(test, model or DEFAULT_MODEL, progress=bar, **where)
    if output:
        write_table(found, output)
    if as_json:
        print_json(found.to_json(), indent=None)
    else:
        say(lines_of(found, alpha, width_of()))
