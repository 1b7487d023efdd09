"""Time log-probabilities of a masked language model against the loop of the published code: one masked token at a time.

The model has 2 layers of 128 dimensions and random weights. The published code (Nangia et al. 2020) runs the model once
per masked token; short sentences are as long as those of CrowS-Pairs, long ones five to ten times as long.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
from benchmarks._rows import Options, Row, cpu_by_turns

import weatherglass as wg

LENGTHS = {"short": (8, 21, 60), "long": (80, 121, 5)}
"""The fewest and the most words of a sentence (excluded), and the number of sentences."""
CLOSE = 1e-5


def rows(options: Options) -> Iterator[Row]:
    """Yield a row for each size of the vocabulary and length of sentences."""
    for vocabulary in (4_000, 30_000):
        model, tokenizer = tiny_bert(vocabulary)
        for name in LENGTHS:
            yield compared(model, tokenizer, name, options.quick)


def compared(model: Any, tokenizer: Any, name: str, quick: bool) -> Row:
    """Return the CPU time of weatherglass and of the loop for the same sentences."""
    fewest, most, count = LENGTHS[name]
    rng = np.random.default_rng(0)
    sizes = rng.integers(fewest, most, 8 if quick else count)
    words = len(tokenizer) - len(tokenizer.all_special_ids)
    texts = [" ".join(f"w{n}" for n in rng.integers(0, words, size)) for size in sizes]
    held = wg.model((model, tokenizer))
    found: dict[str, list[Any]] = {}

    def ours() -> None:
        found["ours"] = list(held.observe(texts, "log-probabilities").values)

    def loop() -> None:
        found["loop"] = [one_at_a_time(model, tokenizer, text) for text in texts]

    spent = cpu_by_turns({"ours": ours, "loop": loop}, 1 if quick else 3)
    pairs = zip(found["ours"], found["loop"], strict=True)
    difference = max(float(np.abs(one - other).max()) for one, other in pairs)
    what = f"masked tokens, {name} sentences, vocabulary of {len(tokenizer):_}, against the loop"
    return Row(
        what.replace("_", " "),
        spent["ours"],
        "one token at a time",
        spent["loop"],
        equal=difference < CLOSE,
        note=f"{sizes.sum()} tokens",
    )


def one_at_a_time(model: Any, tokenizer: Any, text: str) -> Any:
    """Return the log-probability of each token, from a pass of the model for each."""
    import torch

    ids = tokenizer(text, return_tensors="pt")["input_ids"]
    found = []
    with torch.no_grad():
        for place in range(1, ids.shape[1] - 1):
            masked = ids.clone()
            masked[0, place] = tokenizer.mask_token_id
            found.append(float(model(masked).logits[0, place].log_softmax(-1)[ids[0, place]]))
    return np.array(found)


def tiny_bert(vocabulary: int) -> tuple[Any, Any]:
    """Return a BERT of random weights and a tokenizer whose pieces are words."""
    import torch
    from tokenizers import Tokenizer, models, pre_tokenizers, processors
    from transformers import BertConfig, BertForMaskedLM, PreTrainedTokenizerFast

    special = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]"]
    words = {word: n for n, word in enumerate([*special, *(f"w{n}" for n in range(vocabulary - 5))])}
    inner = Tokenizer(models.WordLevel(words, unk_token="[UNK]"))
    inner.pre_tokenizer = pre_tokenizers.WhitespaceSplit()
    inner.post_processor = processors.TemplateProcessing(
        single="[CLS] $A [SEP]", special_tokens=[("[CLS]", 2), ("[SEP]", 3)]
    )
    names = ("pad_token", "unk_token", "cls_token", "sep_token", "mask_token")
    tokenizer = PreTrainedTokenizerFast(tokenizer_object=inner, **dict(zip(names, special, strict=True)))
    torch.manual_seed(0)
    config = BertConfig(
        vocab_size=vocabulary,
        hidden_size=128,
        num_hidden_layers=2,
        num_attention_heads=2,
        intermediate_size=512,
    )
    return BertForMaskedLM(config).eval(), tokenizer
