"""Train a tiny masked language model (a BERT of two layers) on an encoded corpus, on one thread.

The tokens of the model are the most frequent words of the corpus; other words are read as [UNK]. The folder that
`save_model` writes is an ordinary transformers model, which `hf:FOLDER` loads. torch and transformers are imported at
first use.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from weatherglass.arrays import Integers
from weatherglass.encoders.torch_model import quiet
from weatherglass.errors import CorpusError
from weatherglass.reliability.corpus import Corpus
from weatherglass.storage.atomic import whole_folder
from weatherglass.storage.checksum import damaged_files, write_sums
from weatherglass.storage.installed import require

VERSION = 1
"""The version of the training; increase it when the same seed gives another model, to train models again."""
PACKAGES, EXTRA = ("torch", "transformers"), "transformers"
FILES = ("config.json", "model.safetensors", "tokenizer.json", "tokenizer_config.json")
SPECIAL = ("[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]")
PAD, UNK, CLS, SEP, MASK = range(len(SPECIAL))
HEADS, WIDER = 2, 2
"""The number of attention heads, and how much wider the feed-forward layers are than the states."""
TOKENS = 1024
"""The number of tokens of a batch."""
WARM_UP = 0.06
"""The share of the steps in which the learning rate rises; afterwards, it falls to 0."""
SHARE, MASKED, RANDOM = 0.3, 0.8, 0.1
"""The share of words to predict, twice that of BERT, for more signal from each pass (Wettig et al. 2023).

The shares of these words that are masked and replaced by a random word are those of BERT (Devlin et al. 2019)."""
NOT_PREDICTED: Final = -1
WORDS = r"[^\W_]+(?:'[^\W_]+)*"
"""The words of the tokeniser of a corpus with split = "words"."""


@dataclass(frozen=True)
class MaskedSettings:
    """The settings of masked."""

    dimensions: int = 128
    layers: int = 2
    vocabulary: int = 5_000
    """The number of the most frequent words that are tokens."""
    length: int = 64
    """The number of tokens of a text, with [CLS] and [SEP]; longer lines are split."""
    epochs: int = 2
    rate: float = 2e-3
    """The largest learning rate."""

    def __post_init__(self) -> None:
        if self.dimensions % HEADS:
            raise CorpusError(f"dimensions = {self.dimensions} of masked: it should be even")
        if self.length < 4:
            raise CorpusError(f"length = {self.length} of masked: it should be at least 4")


def require_packages() -> None:
    """Check that torch and transformers are installed.

    Raises:
        MissingExtraError: if they are not; the message has the command that installs them.
    """
    require("masked", PACKAGES, EXTRA)


def train_masked(
    corpus: Corpus, seed: int, settings: MaskedSettings, report: Callable[[float], None] = lambda _: None
) -> Any:
    """Return a trained `BertForMaskedLM`; the same seed always gives the same weights.

    Args:
        corpus: the encoded corpus.
        seed: the seed of the weights, of the order of lines and of the masked words.
        settings: the settings.
        report: a function that is called with shares of the work, whose sum is 1.

    Raises:
        MissingExtraError: if torch or transformers is missing.
    """
    require_packages()
    import torch

    texts = _Texts(corpus, settings)
    random = np.random.default_rng(seed)
    with one_thread(), torch.random.fork_rng(devices=[]):
        torch.manual_seed(seed)
        model = _new_model(texts.size, settings).train()
        optimiser = torch.optim.AdamW(model.parameters(), lr=settings.rate, weight_decay=0.01)
        steps = settings.epochs * texts.batches
        warm_up = max(1, round(WARM_UP * steps))
        schedule = torch.optim.lr_scheduler.LambdaLR(
            optimiser,
            lambda step: min((step + 1) / warm_up, max(0.0, (steps - step) / (steps - warm_up + 1))),
        )
        for _ in range(settings.epochs):
            for ids in texts.epoch(random):
                _step(model, optimiser, *masked(ids, texts.size, random))
                schedule.step()
                report(1 / steps)
    return model.eval()


def masked(
    ids: NDArray[np.int64], size: int, random: np.random.Generator
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Return the tokens as the model reads them, and the word to predict at each, or NOT_PREDICTED.

    Args:
        ids: a batch of texts, a row each.
        size: the number of tokens of the model.
        random: the source of randomness.
    """
    chosen = (ids >= len(SPECIAL)) & (random.random(ids.shape) < SHARE)
    how = random.random(ids.shape)
    read = ids.copy()
    read[chosen & (how < MASKED)] = MASK
    replaced = chosen & (how >= MASKED) & (how < MASKED + RANDOM)
    read[replaced] = random.integers(len(SPECIAL), size, int(replaced.sum()))
    return read, np.where(chosen, ids, NOT_PREDICTED)


def _step(model: Any, optimiser: Any, read: NDArray[np.int64], expected: NDArray[np.int64]) -> None:
    """Change the weights after one batch; only the chosen words are compared with the vocabulary."""
    import torch

    chosen = torch.from_numpy(expected != NOT_PREDICTED)
    if not bool(chosen.any()):
        return
    tokens = torch.from_numpy(read)
    states = model.bert(tokens, attention_mask=(tokens != PAD).long()).last_hidden_state
    loss = torch.nn.functional.cross_entropy(model.cls(states[chosen]), torch.from_numpy(expected)[chosen])
    optimiser.zero_grad()
    loss.backward()
    optimiser.step()


def _new_model(size: int, settings: MaskedSettings) -> Any:
    from transformers import BertConfig, BertForMaskedLM

    config = BertConfig(
        vocab_size=size,
        hidden_size=settings.dimensions,
        num_hidden_layers=settings.layers,
        num_attention_heads=HEADS,
        intermediate_size=WIDER * settings.dimensions,
        max_position_embeddings=settings.length,
        hidden_dropout_prob=0.0,  # a few passes over a text do not overfit
        attention_probs_dropout_prob=0.0,
        pad_token_id=PAD,
    )
    return BertForMaskedLM(config)


@contextmanager
def one_thread() -> Iterator[None]:
    """Let torch use one thread, since the number of threads changes the rounding, and a tiny model gains nothing."""
    import torch

    before = torch.get_num_threads()
    torch.set_num_threads(1)
    try:
        yield
    finally:
        torch.set_num_threads(before)


class _Texts:
    """The lines of a corpus as texts of at most `length` tokens."""

    def __init__(self, corpus: Corpus, settings: MaskedSettings) -> None:
        words = min(settings.vocabulary, len(corpus.words))
        self.size = words + len(SPECIAL)
        """The number of tokens of the model."""
        tokens = np.asarray(corpus.tokens)
        self._ids: NDArray[np.int32] = np.where(tokens < words, tokens + len(SPECIAL), UNK).astype(np.int32)
        self._room = settings.length - 2
        self._starts, self._lengths = _parts(np.asarray(corpus.offsets, dtype=np.int64), self._room)
        if not len(self._starts):
            raise CorpusError(f"{corpus.name}: no line has two words")
        self.batches = sum(1 for _ in self._groups(np.arange(len(self._starts))))

    def epoch(self, random: np.random.Generator) -> Iterator[NDArray[np.int64]]:
        """Yield all texts once, in batches of similar length; each batch is a row of tokens per text."""
        groups = list(self._groups(np.arange(len(self._starts)), random.permutation(len(self._starts))))
        for place in random.permutation(len(groups)):
            yield self._batch(groups[place])

    def _groups(self, texts: Integers, order: Integers | None = None) -> Iterator[Integers]:
        """Yield the texts of each batch; the number of batches does not depend on the order."""
        by_length = texts[np.argsort(self._lengths, kind="stable")]
        if order is not None:  # a random order within each length
            by_length = order[np.argsort(self._lengths[order], kind="stable")]
        widths = self._lengths[by_length] + 2
        start = 0
        while start < len(by_length):
            # as many texts as fit, at the width of the last one
            rows = np.arange(1, min(TOKENS // 3, len(by_length) - start) + 1)
            fits = rows * widths[start : start + len(rows)] <= TOKENS
            end = start + max(1, int(fits.sum()))
            yield by_length[start:end]
            start = end

    def _batch(self, texts: Integers) -> NDArray[np.int64]:
        lengths = self._lengths[texts]
        batch = np.full((len(texts), int(lengths.max()) + 2), PAD, dtype=np.int64)
        batch[:, 0] = CLS
        for row, (start, length) in enumerate(zip(self._starts[texts], lengths, strict=True)):
            batch[row, 1 : length + 1] = self._ids[start : start + length]
            batch[row, length + 1] = SEP
        return batch


def _parts(offsets: Integers, room: int) -> tuple[Integers, Integers]:
    """Return the start and length of each text: a line, or a part of a long line; single words are left out."""
    lengths = np.diff(offsets)
    number = -(-lengths // room)
    line = np.repeat(np.arange(len(lengths)), number)
    part = np.arange(len(line)) - np.repeat(np.cumsum(number) - number, number)
    starts = offsets[:-1][line] + part * room
    found = np.minimum(room, offsets[1:][line] - starts)
    return starts[found > 1], found[found > 1]


def save_model(model: Any, corpus: Corpus, folder: Path) -> None:
    """Write a model and its tokenizer to a folder that `hf:FOLDER` loads.

    The tokenizer splits a text as the corpus was split: into words, or at spaces if some tokens are not words. It
    lowers the case if the corpus has no capital letters.
    """
    from transformers import PreTrainedTokenizerFast

    words = corpus.words[: model.config.vocab_size - len(SPECIAL)]
    names = dict(
        zip(("pad_token", "unk_token", "cls_token", "sep_token", "mask_token"), SPECIAL, strict=True)
    )
    tokenizer = PreTrainedTokenizerFast(
        tokenizer_object=_tokenizer(words), model_max_length=model.config.max_position_embeddings, **names
    )
    with whole_folder(folder) as unfinished, quiet():
        model.save_pretrained(unfinished)
        tokenizer.save_pretrained(unfinished)
        write_sums(unfinished, FILES)


def _tokenizer(words: list[str]) -> Any:
    from tokenizers import Regex, Tokenizer, normalizers, pre_tokenizers
    from tokenizers.models import WordLevel
    from tokenizers.processors import TemplateProcessing

    index = {token: place for place, token in enumerate((*SPECIAL, *words))}
    made = Tokenizer(WordLevel(index, unk_token=SPECIAL[UNK]))
    steps: list[Any] = [normalizers.Replace("’", "'")]
    if all(word == word.lower() for word in words):
        steps.append(normalizers.Lowercase())
    made.normalizer = normalizers.Sequence(steps)
    made.pre_tokenizer = (
        pre_tokenizers.Split(Regex(WORDS), "removed", invert=True)
        if all(re.fullmatch(WORDS, word) for word in words)
        else pre_tokenizers.WhitespaceSplit()
    )
    made.post_processor = TemplateProcessing(
        single="[CLS] $A [SEP]",
        pair="[CLS] $A [SEP] $B [SEP]",
        special_tokens=[("[CLS]", CLS), ("[SEP]", SEP)],
    )
    return made


def word_vectors(model: Any) -> NDArray[np.float32]:
    """Return the vector of each word before it is read in a context."""
    weights = model.bert.embeddings.word_embeddings.weight.detach().numpy()
    return np.asarray(weights[len(SPECIAL) :], dtype=np.float32)


def model_folder(embedding: Path) -> Path:
    """Return the folder of the model whose word vectors are in the file of an embedding."""
    return embedding.with_suffix("")


def is_whole_model(embedding: Path) -> bool:
    """Return whether the model of an embedding exists and is unchanged."""
    folder = model_folder(embedding)
    return all((folder / name).is_file() for name in FILES) and not damaged_files(folder, FILES)
