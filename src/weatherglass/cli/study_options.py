"""The options that all study commands share: which study, which folder, how to run it."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Sequence
from dataclasses import dataclass, fields, replace
from functools import wraps
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, get_type_hints

import typer

from weatherglass.cli.worker_options import Jobs, Scheduler
from weatherglass.errors import CorpusError
from weatherglass.storage.reading import exists, is_folder

if TYPE_CHECKING:
    from weatherglass.parallel import Backend
    from weatherglass.reliability.study_file import Study

StudyFile = Annotated[
    Path | None,
    typer.Argument(
        metavar="[STUDY.toml]", help="Study file; 'reliability init' writes one.", show_default=False
    ),
]
Folder = Annotated[Path, typer.Option("-o", "--output", metavar="DIR", help="Folder of the study.")]
Corpora = Annotated[
    list[str] | None,
    typer.Option(
        "--corpus",
        metavar="[NAME=]PATH",
        help="A corpus, to use without a study file: a file, a folder, or - for standard input; repeat for several.",
    ),
]
Format = Annotated[
    str | None,
    typer.Option(
        metavar="NAME",
        help="Format of the --corpus: txt, jsonl, csv, tsv, parquet, arrow, wiki; recognised if not given.",
        show_default=False,
    ),
]
Field = Annotated[
    str | None,
    typer.Option(
        metavar="NAME",
        help="Field or column of the --corpus that holds the text; else body, text or content.",
        show_default=False,
    ),
]
CorporaFolder = Annotated[
    Path | None,
    typer.Option(
        "--corpora",
        metavar="DIR",
        help="Folder of the study file's corpora, if not that of the file.",
        show_default=False,
    ),
]
Embeddings = Annotated[
    str | None,
    typer.Option(metavar="'GLOB'", help="Embeddings to import, one file per seed: 'folder/*.txt'."),
]
Pairs = Annotated[
    list[str] | None,
    typer.Option(
        "--pairs",
        metavar="NAME|FILE",
        help="Base pairs: a built-in set, or a file with two words per line; repeat for several.",
    ),
]
Targets = Annotated[
    list[str] | None,
    typer.Option(
        "--targets",
        metavar="NAME|FILE",
        help="Target words: a built-in list, or a file with one word per line; repeat for several.",
    ),
]
Seeds = Annotated[int | None, typer.Option(help="Number of seeds; they are 1, 2, …", min=1)]
Table = Annotated[
    bool, typer.Option("--table", help="Print every claim and estimate, however many; else a summary.")
]
Verbose = Annotated[bool, typer.Option("--verbose", help="Print every warning in full.")]
Demo = Annotated[
    bool,
    typer.Option(
        "--demo", help="A first study without a corpus of yours: State of the Union addresses (extra 'demo')."
    ),
]
Quiet = Annotated[bool, typer.Option("--quiet", "-q", help="No progress, no tables.")]

Senses = Annotated[
    Path | None,
    typer.Option(
        metavar="FILE",
        help="File to use instead of WordNet: word, tab, number of senses.",
        show_default=False,
    ),
]
Parts = Annotated[
    Path | None,
    typer.Option(
        "--pos",
        metavar="FILE",
        help="File to use instead of Brill's lexicon: word, tab, part of speech.",
        show_default=False,
    ),
]

AsJson = Annotated[bool, typer.Option("--json", help="Print JSON.")]

FOLDER = Path("weatherglass-study")


def folder_of(study: Path, folder: Path) -> Path:
    """The folder of a study that is told by its folder or its file.

    Raises:
        CorpusError: if it is neither.
    """
    if not exists(study):
        raise CorpusError(f"{study}: no such study; name its folder, or its file and the folder with -o")
    return study if is_folder(study) else folder


@dataclass(frozen=True)
class Options:
    """The values of the options, in the order of the help."""

    study: StudyFile = None
    folder: Folder = FOLDER
    corpus: Corpora = None
    corpora: CorporaFolder = None
    format: Format = None
    field: Field = None
    embeddings: Embeddings = None
    pairs: Pairs = None
    targets: Targets = None
    seeds: Seeds = None
    jobs: Jobs = 1
    scheduler: Scheduler = None
    senses: Senses = None
    parts: Parts = None
    table: Table = False
    verbose: Verbose = False
    demo: Demo = False
    quiet: Quiet = False
    as_json: AsJson = False

    @property
    def silent(self) -> bool:
        """Whether no bar is shown."""
        return self.quiet or self.as_json

    def backend(self) -> Backend:
        """The backend that runs the work."""
        from weatherglass.parallel import backend

        return backend(self.jobs, self.scheduler)

    def chosen_study(self) -> Study:
        """The study of the file or of the options; options override the file."""
        from weatherglass.reliability.corpus.corpus import CorpusSettings
        from weatherglass.reliability.study_file import Study, read_study
        from weatherglass.reliability.training.imported import UNNAMED
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
        if (self.format or self.field) and not self.corpus:
            raise CorpusError(
                "--format and --field need a --corpus; in a study file, write them under [corpora.NAME]"
            )
        study = Study("study") if self.study is None else read_study(self.study, self.corpora)
        if self.corpus:
            corpora = named_corpora(self.corpus)
            settings = CorpusSettings(format=self.format or "", field=self.field or "")
            study = replace(study, corpora={name: (path, settings) for name, path in corpora.items()})
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
        if self.seeds:
            study = replace(study, seeds=tuple(range(1, self.seeds + 1)))
        return study

    def _demo_study(self) -> Study:
        from weatherglass.reliability.demo import demo_study

        if self.study or self.corpus or self.embeddings or self.corpora or self.format or self.field:
            raise CorpusError("--demo brings its own study and corpus; leave out the others")
        study = demo_study()
        return replace(
            study,
            pairs=tuple(self.pairs or study.pairs),
            targets=tuple(self.targets or study.targets),
            seeds=tuple(range(1, self.seeds + 1)) if self.seeds else study.seeds,
        )


def study_command(*without: str) -> Callable[[Callable[[Options], None]], Callable[..., None]]:
    """Give a function of `Options` the signature that typer reads: all options except `without`."""
    hints = get_type_hints(Options, include_extras=True)
    parameters = [
        inspect.Parameter(
            field.name, inspect.Parameter.KEYWORD_ONLY, default=field.default, annotation=hints[field.name]
        )
        for field in fields(Options)
        if field.name not in without
    ]

    def with_signature(command: Callable[[Options], None]) -> Callable[..., None]:
        @wraps(command)
        def called_by_typer(**values: Any) -> None:
            require_tables()
            command(Options(**values))

        called_by_typer.__signature__ = inspect.Signature(parameters)  # type: ignore[attr-defined]
        return called_by_typer

    return with_signature


def require_tables() -> None:
    """Check that polars is installed, before hours of training.

    Raises:
        MissingExtraError: with the command that installs it.
    """
    from weatherglass.encoders.kinds import require

    require("weatherglass reliability", ("polars",), "reliability")


def named_corpora(arguments: Sequence[str]) -> dict[str, Path]:
    """Name -> path of each [NAME=]PATH; the default name is the file name.

    Raises:
        CorpusError: if two corpora have the same name.
    """
    from weatherglass.reliability.corpus.standard_input import STANDARD_INPUT

    corpora: dict[str, Path] = {}
    for argument in arguments:
        name, equals, source = argument.partition("=")
        path = Path(source if equals else argument)
        chosen = name if name and equals else "stdin" if path == STANDARD_INPUT else path.name.split(".")[0]
        if chosen in corpora:
            raise CorpusError(
                f"two corpora are called '{chosen}': {corpora[chosen]} and {path}; name them: --corpus NAME=PATH"
            )
        corpora[chosen] = path
    return corpora
