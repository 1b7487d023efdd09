"""Define options that commands on studies share, and print studies."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from functools import wraps
from pathlib import Path
from typing import TYPE_CHECKING, Any

from weatherglass.cli.command import argument, file_option, flag, option, together
from weatherglass.cli.console import print_json, say, width_of
from weatherglass.cli.options import (
    AT_LEAST_1,
    DIR,
    FILE,
    OUTPUT,
    Choice,
    Completed,
    folder_option,
    jobs_option,
    json_option,
    paths,
    quiet_option,
    scheduler_option,
    starting,
    verbose_option,
)
from weatherglass.errors import CorpusError, UnitError
from weatherglass.storage.reading import exists, is_folder
from weatherglass.warnings import described

if TYPE_CHECKING:
    from weatherglass.api.studies import StudyResult
    from weatherglass.parallel import Backend
    from weatherglass.reliability.corpus import CorpusSettings
    from weatherglass.reliability.regression.explain import Explanation
    from weatherglass.reliability.study_file import Study
    from weatherglass.warnings import Warning

FOLDER = "weatherglass-study"
CORPUS, MEASURED = "Corpora without a study file", "What is measured"
"""Groups of options in the help."""


def _prepare(_: object, incomplete: str) -> list[str]:
    from weatherglass.reliability.corpus import PREPARED

    name, equals, start = incomplete.rpartition("=")
    return [f"{name}{equals}{kind}" for kind in starting(start, PREPARED)]


def _shipped(table: str) -> Completed:
    """Return the type for the name of a built-in list, or a file."""

    def complete(_: object, incomplete: str) -> list[str]:
        from weatherglass.storage.documents import shipped_toml

        return starting(incomplete, shipped_toml("weatherglass.reliability.lists", table)) + paths(incomplete)

    return Completed(complete)


def _corpus(_: object, incomplete: str) -> list[str]:
    name, equals, start = incomplete.partition("=")
    return [f"{name}{equals}{path}" for path in paths(start)] if equals else paths(incomplete)


OPTIONS: Mapping[str, Callable[[Any], Any]] = {
    "study": argument(
        "study",
        type=FILE,
        required=False,
        metavar="[STUDY.toml]",
        help="Study file; 'reliability init' writes one.",
    ),
    "folder": folder_option(FOLDER, "Folder of the study."),
    "corpus": option(
        "--corpus",
        type=Completed(_corpus),
        multiple=True,
        metavar="[NAME=]PATH",
        help="A file, a folder, or - for standard input; repeat for several.",
        group=CORPUS,
    ),
    "corpora": option(
        "--corpora",
        type=DIR,
        metavar="DIR",
        help="Folder of the corpora in the study file, if it is not the folder of the file.",
    ),
    "format": option(
        "--format",
        type=Choice("reliability.corpus.readers:READERS"),
        help="Format of the --corpus: txt, jsonl, csv, tsv, parquet, arrow or wiki. By default, it is detected.",
        group=CORPUS,
    ),
    "field": option(
        "--field",
        metavar="NAME",
        help="Field or column of the --corpus with the text; by default, body, text or content.",
        group=CORPUS,
    ),
    "prepare": option(
        "--prepare",
        type=Completed(_prepare),
        multiple=True,
        metavar="[NAME=]KIND",
        help="Prepare one corpus, or all, as in Du et al. (2021): wikitext (unchanged, with punctuation) or reddit "
        "(split into sentences).",
        group=CORPUS,
    ),
    "where": option(
        "--where",
        multiple=True,
        metavar="[NAME:]FIELD=VALUE",
        help="Read only records with this value, such as subreddit=askscience, from one corpus or from all; repeat for "
        "several.",
        group=CORPUS,
    ),
    "embeddings": option(
        "--embeddings",
        metavar="'GLOB'",
        help="Embeddings to import, one file per seed, such as 'folder/*.txt'.",
    ),
    "pairs": option(
        "--pairs",
        type=_shipped("pairs"),
        multiple=True,
        metavar="NAME|FILE",
        help="Base pairs: a built-in set, or a file with two words per line; repeat for several.",
        group=MEASURED,
    ),
    "targets": option(
        "--targets",
        type=_shipped("targets"),
        multiple=True,
        metavar="NAME|FILE",
        help="Target words: a built-in list, or a file with one word per line; repeat for several.",
        group=MEASURED,
    ),
    "frequent": option(
        "--frequent",
        metavar="FILE|NUMBER",
        help="Frequent words: a file with one word per line (the paper uses Google10K), or the number of words to take "
        "from each corpus.",
        group=MEASURED,
    ),
    "seeds": option(
        "--seeds", type=AT_LEAST_1, metavar="N", help="Number of seeds; they are 1, 2, …", group=MEASURED
    ),
    "senses": file_option(
        "--senses", help="File to use instead of WordNet: word, tab, number of senses.", group=MEASURED
    ),
    "parts": file_option(
        "--pos",
        "parts",
        help="File to use instead of Brill's lexicon: word, tab, part of speech.",
        group=MEASURED,
    ),
    "demo": flag(
        "--demo",
        help="Run a first study without your own corpus, on State of the Union addresses (extra 'demo').",
    ),
    "estimate": flag(
        "--estimate", help="Print how long the training would take on this machine, without training."
    ),
    "table": flag(
        "--table", help="Print every claim and estimate. By default, they are summarised.", group=OUTPUT
    ),
    "verbose": verbose_option,
    "quiet": quiet_option,
    "as_json": json_option,
    "jobs": jobs_option,
    "scheduler": scheduler_option,
}
"""The options by field of `Options`, in help order."""


def folder_of(study: Path, folder: Path) -> Path:
    """Return the folder of a study from its folder or its file.

    Raises:
        CorpusError: if the path is neither.
    """
    if not exists(study):
        raise CorpusError(f"{study}: no such study; name its folder, or its file and the folder with -o")
    return study if is_folder(study) else folder


@dataclass(frozen=True)
class Options:
    """The values of the options."""

    study: Path | None = None
    folder: Path = Path(FOLDER)
    corpus: Sequence[str] = ()
    corpora: Path | None = None
    format: str | None = None
    field: str | None = None
    prepare: Sequence[str] = ()
    where: Sequence[str] = ()
    embeddings: str | None = None
    pairs: Sequence[str] = ()
    targets: Sequence[str] = ()
    frequent: str | None = None
    seeds: int | None = None
    senses: Path | None = None
    parts: Path | None = None
    demo: bool = False
    estimate: bool = False
    table: bool = False
    verbose: bool = False
    quiet: bool = False
    as_json: bool = False
    jobs: int = 1
    scheduler: str | None = None

    @property
    def silent(self) -> bool:
        """Return whether progress is hidden."""
        return self.quiet or self.as_json

    def backend(self) -> Backend:
        """Return the backend that runs the work."""
        from weatherglass.parallel import backend

        return backend(self.jobs, self.scheduler)

    def chosen_study(self) -> Study:
        """Return the study of the file or of the options; options override the file."""
        from weatherglass.reliability.corpus import CorpusSettings
        from weatherglass.reliability.study_file import Study, read_study
        from weatherglass.reliability.training.embedding import UNNAMED
        from weatherglass.reliability.training.train import default_settings

        if self.demo:
            return self._demo_study()
        if self.study is None and not self.corpus and not self.embeddings:
            raise CorpusError(
                "give a study file, a --corpus, --embeddings or --demo; 'weatherglass reliability init' writes a "
                "study file"
            )
        if self.corpora is not None and self.study is None:
            raise CorpusError("--corpora needs a study file; without one, give the path of each --corpus")
        if (self.format or self.field or self.prepare or self.where) and not self.corpus:
            raise CorpusError(
                "--format, --field, --prepare and --where need a --corpus; in a study file, write them under "
                "[corpora.NAME]"
            )
        study = Study("study") if self.study is None else read_study(self.study, self.corpora)
        if self.corpus:
            settings = CorpusSettings(format=self.format or "", field=self.field or "")
            study = replace(
                study, corpora=with_settings(named_corpora(self.corpus), settings, self.prepare, self.where)
            )
            if self.study is None:
                study = replace(
                    study, algorithms={"sgns": default_settings("sgns"), "glove": default_settings("glove")}
                )
        if self.embeddings:
            study = replace(study, embeddings={**study.embeddings, UNNAMED: self.embeddings})
        if self.pairs:
            study = replace(study, pairs=tuple(self.pairs))
        if self.targets:
            study = replace(study, targets=tuple(self.targets))
        if self.frequent:
            study = replace(study, frequent=frequent_option(self.frequent))
        if self.seeds:
            study = replace(study, seeds=tuple(range(1, self.seeds + 1)))
        return study

    def _demo_study(self) -> Study:
        from weatherglass.reliability.study_file import demo_study

        given = (self.study, self.corpus, self.embeddings, self.corpora, self.format, self.field)
        if any((*given, self.prepare, self.where)):
            raise CorpusError("--demo has its own study and corpus; remove the other options")
        study = demo_study()
        return replace(
            study,
            pairs=tuple(self.pairs or study.pairs),
            targets=tuple(self.targets or study.targets),
            frequent=frequent_option(self.frequent) if self.frequent else study.frequent,
            seeds=tuple(range(1, self.seeds + 1)) if self.seeds else study.seeds,
        )


def study_command(*without: str) -> Callable[[Callable[[Options], None]], Callable[..., None]]:
    """Return a decorator for a function of `Options`, which adds all options except `without`."""

    def decorated(command: Callable[[Options], None]) -> Callable[..., None]:
        @wraps(command)
        def called(**values: Any) -> None:
            require_tables()
            command(Options(**values))

        return shared(*(name for name in OPTIONS if name not in without))(called)  # type: ignore[no-any-return]

    return decorated


def shared(*names: str) -> Callable[[Any], Any]:
    """Return a decorator that adds some of the options to a command."""
    return together(*(OPTIONS[name] for name in names))


def require_tables() -> None:
    """Check before hours of training that polars is installed.

    Raises:
        MissingExtraError: if polars is not installed; the message states the command that installs it.
    """
    from weatherglass.storage.installed import require

    require("weatherglass reliability", ("polars",), "reliability")


def named_corpora(arguments: Sequence[str]) -> dict[str, Path]:
    """Return the path of each corpus by name from [NAME=]PATH; the default name is that of the file.

    Raises:
        CorpusError: if two corpora have the same name.
    """
    from weatherglass.reliability.corpus.readers import STANDARD_INPUT

    corpora: dict[str, Path] = {}
    for given in arguments:
        name, equals, source = given.partition("=")
        path = Path(source if equals else given)
        chosen = name if name and equals else "stdin" if path == STANDARD_INPUT else path.name.split(".")[0]
        if chosen in corpora:
            raise CorpusError(
                f"two corpora are called '{chosen}': {corpora[chosen]} and {path}; name them: NAME=PATH"
            )
        corpora[chosen] = path
    return corpora


def with_settings(
    corpora: Mapping[str, Path], settings: CorpusSettings, prepare: Sequence[str], where: Sequence[str]
) -> dict[str, tuple[Path, CorpusSettings]]:
    """Return the path and settings of each corpus by name, from the values of --prepare and --where.

    Args:
        corpora: path of each corpus by name.
        settings: settings of all corpora.
        prepare: values [NAME=]KIND.
        where: values [NAME:]FIELD=VALUE; values of one field are alternatives.

    Raises:
        WeatherglassError: if a corpus or kind is unknown, or a condition has no value.
    """
    from weatherglass.registry import one_of
    from weatherglass.reliability.corpus import prepared

    kinds: dict[str, str] = {}
    conditions: dict[str, dict[str, tuple[str, ...]]] = {name: {} for name in corpora}
    for given in prepare:
        name, equals, kind = given.rpartition("=")
        chosen = [one_of("corpus", name, list(corpora))] if equals else list(corpora)
        kinds |= dict.fromkeys(chosen, kind)
    for given in where:
        condition, equals, value = given.partition("=")
        name, colon, field = condition.rpartition(":")
        if not (field and equals and value):
            raise CorpusError(f"--where {given}: it should be FIELD=VALUE or NAME:FIELD=VALUE")
        for corpus in [one_of("corpus", name, list(corpora))] if colon else corpora:
            conditions[corpus][field] = (*conditions[corpus].get(field, ()), value)
    return {
        name: (
            path,
            replace(
                settings,
                tokeniser=prepared(kinds[name]) if kinds.get(name) else settings.tokeniser,
                where=conditions[name],
            ),
        )
        for name, path in corpora.items()
    }


def frequent_option(value: str) -> int | str:
    """Return a number of words, or the path of a file of words.

    Raises:
        CorpusError: if the value is neither.
    """
    if value.isdecimal() and int(value) > 0:
        return int(value)
    if not exists(Path(value)):
        raise CorpusError(f"--frequent {value}: no such file, and not a number of words")
    return value


def print_estimate(study: Study, folder: Path, jobs: int, silent: bool, as_json: bool) -> None:
    """Print how long the training of the missing embeddings would take on this machine, by corpus and algorithm."""
    from weatherglass.cli.progress import progress
    from weatherglass.reliability.study import estimate_study, study_folder
    from weatherglass.report.study.terminal import estimate_lines

    with study_folder(folder), progress(silent, folder) as bar:
        estimate = estimate_study(study, folder, bar)
    if as_json:
        seconds = estimate.seconds(jobs)
        print_json({"seconds": seconds, "jobs": jobs, "parts": [asdict(part) for part in estimate.parts]})
    else:
        say(estimate_lines(estimate, jobs, width_of()))


def study_json(result: StudyResult) -> dict[str, Any]:
    """Return the claims and the summary of a finished study, and the path of its page."""
    tables = {name: result.tables[name].to_dicts() for name in ("claims", "summary", "pairs", "pair_sets")}
    said = {"warnings": described(result.warnings), "failures": list(result.failures)}
    return {"page": result.page, **tables, **said}


def print_warnings(
    warnings: Sequence[Warning], explanations: Mapping[str, Explanation] | None = None, verbose: bool = False
) -> None:
    """Print warnings to stderr, even with --quiet, as one line per kind or in full."""
    from weatherglass.cli.console import warn_about
    from weatherglass.report.study.terminal import explanation_warnings

    warn_about([*warnings, *explanation_warnings(explanations or {})], verbose, "with --verbose")


def report_failures(failures: Sequence[str]) -> None:
    """Raise an error if an embedding could not be trained."""
    if failures:
        from weatherglass.report.numbers import counted

        number = counted(len(failures), "embedding")
        raise UnitError(f"{number} could not be trained; the first: {failures[0]}")
