"""The options of the commands on a study, said once: which study, where, and how it is carried out."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Sequence
from dataclasses import dataclass, fields, replace
from functools import wraps
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, get_type_hints

import typer

from weatherglass.errors import CorpusError

if TYPE_CHECKING:
    from weatherglass.parallel import Backend
    from weatherglass.reliability.study_file import Study

StudyFile = Annotated[
    Path | None, typer.Argument(metavar="[STUDY.toml]", help="See 'reliability init'.", show_default=False)
]
Folder = Annotated[Path, typer.Option("-o", "--output", metavar="DIR", help="Where everything is kept.")]
Corpora = Annotated[
    list[str] | None,
    typer.Option("--corpus", metavar="[NAME=]PATH", help="A corpus without a study file; repeat."),
]
CorporaFolder = Annotated[
    Path | None,
    typer.Option(
        "--corpora",
        metavar="DIR",
        help="Where the study file's corpora lie, if not beside it.",
        show_default=False,
    ),
]
Embeddings = Annotated[
    str | None,
    typer.Option(metavar="'GLOB'", help="Embeddings from elsewhere, one file per seed: 'folder/*.txt'."),
]
Pairs = Annotated[
    list[str] | None,
    typer.Option("--pairs", metavar="NAME|FILE", help="Base pairs, two words a line; repeat."),
]
Targets = Annotated[
    list[str] | None, typer.Option("--targets", metavar="NAME|FILE", help="Target words, one a line; repeat.")
]
Seeds = Annotated[int | None, typer.Option(help="How many seeds, from 1.", min=1)]
Jobs = Annotated[int, typer.Option(help="Embeddings that are trained side by side.", min=1)]
Scheduler = Annotated[
    str | None,
    typer.Option(
        help="A Dask cluster instead: tcp://HOST:PORT or a scheduler file; its workers must see -o and the corpora.",
        metavar="ADDRESS",
        show_default=False,
    ),
]
Quiet = Annotated[bool, typer.Option("--quiet", "-q", help="No progress, no tables.")]

Senses = Annotated[
    Path | None,
    typer.Option(metavar="FILE", help="Word, tab, number of senses; instead of WordNet.", show_default=False),
]
Parts = Annotated[
    Path | None,
    typer.Option(
        "--pos",
        metavar="FILE",
        help="Word, tab, part of speech; instead of Brill's lexicon.",
        show_default=False,
    ),
]

FOLDER = Path("weatherglass-study")


@dataclass(frozen=True)
class Options:
    """What a command on a study was given; the order is that of the help."""

    study: StudyFile = None
    folder: Folder = FOLDER
    corpus: Corpora = None
    corpora: CorporaFolder = None
    embeddings: Embeddings = None
    pairs: Pairs = None
    targets: Targets = None
    seeds: Seeds = None
    jobs: Jobs = 1
    scheduler: Scheduler = None
    senses: Senses = None
    parts: Parts = None
    quiet: Quiet = False

    def backend(self) -> Backend:
        """Who does the work."""
        from weatherglass.parallel import backend

        return backend(self.jobs, self.scheduler)

    def chosen_study(self) -> Study:
        """The study of the file, or one made of the options; options win."""
        from weatherglass.reliability.corpus.corpus import CorpusSettings
        from weatherglass.reliability.study_file import Study, read_study
        from weatherglass.reliability.training.imported import UNNAMED
        from weatherglass.reliability.training.train import default_settings

        if self.study is None and not self.corpus and not self.embeddings:
            raise CorpusError(
                "name a study file, a --corpus or --embeddings; 'weatherglass reliability init' writes a file"
            )
        if self.corpora is not None and self.study is None:
            raise CorpusError("--corpora goes with a study file; without one, name each --corpus by its path")
        study = Study("study") if self.study is None else read_study(self.study, self.corpora)
        if self.corpus:
            corpora = named_corpora(self.corpus)
            study = replace(study, corpora={name: (path, CorpusSettings()) for name, path in corpora.items()})
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


def study_command(*without: str) -> Callable[[Callable[[Options], None]], Callable[..., None]]:
    """Give a function of `Options` the signature that typer reads: all options but those named."""
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
        def called_by_typer(**given: Any) -> None:
            require_tables()
            command(Options(**given))

        called_by_typer.__signature__ = inspect.Signature(parameters)  # type: ignore[attr-defined]
        return called_by_typer

    return with_signature


def require_tables() -> None:
    """Stop before hours of training if what makes its tables is not installed.

    Raises:
        MissingExtraError: naming the command that installs it.
    """
    from weatherglass.encoders.kinds import require

    require("weatherglass reliability", ("polars",), "reliability")


def named_corpora(given: Sequence[str]) -> dict[str, Path]:
    """Name -> path of each [NAME=]PATH; without a name it is that of the file.

    Raises:
        CorpusError: if two corpora would have one name.
    """
    corpora: dict[str, Path] = {}
    for text in given:
        name, equals, source = text.partition("=")
        path = Path(source if equals else text)
        chosen = name if name and equals else path.name.split(".")[0]
        if chosen in corpora:
            raise CorpusError(
                f"two corpora are called '{chosen}': {corpora[chosen]} and {path}; name them: --corpus NAME=PATH"
            )
        corpora[chosen] = path
    return corpora
