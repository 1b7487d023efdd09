"""Run a transformers model: load it, and compute hidden states and log-probabilities of batches of texts.

torch is imported at first use.
"""

from __future__ import annotations

import contextlib
import pickle
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any, cast

import numpy as np
from numpy.typing import NDArray

from weatherglass.arrays import AnyMatrix, Integers, Vector
from weatherglass.encoders.model_files import (
    TOKENIZER,
    ModelFiles,
    first_line,
    limited_by_files,
    prove_tokenizer,
)
from weatherglass.encoders.pooling import Layers, States
from weatherglass.encoders.prefix_tree import PrefixTree, prefix_trees
from weatherglass.encoders.tokens import Pieces
from weatherglass.errors import EncoderError, UnsafeFileError, WeatherglassError
from weatherglass.storage.reading import errors_in_one_line, exists, is_failure

DEVICES = ("auto", "cpu", "cuda")
DTYPES = ("float32", "float16", "bfloat16", "float64")

TOKENS_PER_BATCH = {"cpu": 512, "cuda": 16384}
"""The number of tokens in a batch. On a CPU, larger batches do not fit into the cache (MiniLM: 5.8 times the speed of
single texts at 512 tokens, 4.6 times at 2048); a GPU needs larger batches.
"""

STATES_PER_BATCH = 2**18
"""The number of hidden-state values in a batch (tokens × dimensions) that fit into the processor's cache."""

LOGITS_PER_BATCH = 2**26
"""The maximum number of logits (tokens per batch × vocabulary size): 256 MB in float32."""

LOGITS_IN_CACHE = 2**19
"""The number of logits that are normalised at once, 2 MB in float32."""

TOKENS_PER_TREE = {"cpu": 256, "cuda": 2048}
"""The number of tokens in a tree. Each of them is compared with all others, so that larger trees are slower."""

ROUNDING = 1024
"""The largest difference between logits of the same text by rounding, in units of the last digit of the largest."""

HEADS = {"masked": "AutoModelForMaskedLM", "causal": "AutoModelForCausalLM"}
"""The transformers class that loads each kind of language model with its head, for log-probabilities."""

ARCHITECTURES = {
    "masked": ("ForMaskedLM", "BertForPreTraining"),
    "causal": ("ForCausalLM", "GPT2LMHeadModel", "OpenAIGPTLMHeadModel"),
}
"""Suffixes of the names of architectures whose weights include a head, by kind."""


def head_of(architectures: object) -> str | None:
    """Return the kind of language model from `architectures` in a configuration; None if the model has no head."""
    names = [str(name) for name in architectures] if isinstance(architectures, list) else []
    return next((kind for kind, ends in ARCHITECTURES.items() if any(n.endswith(ends) for n in names)), None)


@contextlib.contextmanager
def loading(name: str, files: ModelFiles) -> Iterator[None]:
    """Report any exception while the model `name` is loaded in one line, and refuse code that comes with the model."""
    try:
        yield
    except WeatherglassError:
        raise
    except pickle.UnpicklingError as error:
        raise UnsafeFileError(
            f"'{name}': its weights file contains code or objects other than tensors, so it was not loaded "
            f"({first_line(error)}); get the model as safetensors"
        ) from None
    except BaseException as error:  # three libraries raise many types of errors for a damaged file
        if not is_failure(error):
            raise
        if "trust_remote_code" in str(error):
            code = ", ".join(files.own_code()) or "named in its configuration"
            raise UnsafeFileError(
                f"'{name}' comes with its own code ({code}), which is not run; if you trust it, add"
                " trust_remote_code=yes"
            ) from None
        if "ignore_mismatched_sizes" in str(error):  # it refers to a report that is not shown
            raise EncoderError(
                f"'{name}': its weights do not have the shapes in config.json; get both again"
            ) from None
        raise EncoderError(f"'{name}' cannot be loaded: {first_line(error)}") from None


def encoding(name: str) -> contextlib.AbstractContextManager[None]:
    """Report any exception while texts are encoded in one line; some wrong options cause errors only at this point."""
    remedy = "get all its files again"
    return errors_in_one_line(f"'{name}'", "the model cannot encode", remedy, EncoderError)


@contextlib.contextmanager
def quiet() -> Iterator[None]:
    """Hide the progress bars and advice of transformers while a model is loaded."""
    from transformers.utils import logging

    verbosity, bars = logging.get_verbosity(), logging.is_progress_bar_enabled()
    logging.set_verbosity_error()
    logging.disable_progress_bar()
    try:
        yield
    finally:
        logging.set_verbosity(verbosity)
        if bars:
            logging.enable_progress_bar()


def _refuse_missing(name: str, report: Mapping[str, Any]) -> None:
    # A missing pooler does not matter, since it is not used.
    missing = sorted(key for key in report["missing_keys"] if "pooler" not in key)
    if missing:
        raise EncoderError(
            f"'{name}': the file of weights lacks {len(missing)} weights of the model, such as {missing[0]};"
            " its vectors would be random, so get the weights again"
        )


@contextlib.contextmanager
def no_random_weights(name: str) -> Iterator[None]:
    """Refuse transformers models with missing weights, even if another library loads them.

    transformers replaces missing weights by random numbers, and reports this only in a log or on request.

    Raises:
        EncoderError: if weights are missing; the message names the first one.
    """
    from transformers import PreTrainedModel

    inner = PreTrainedModel.__dict__["from_pretrained"]

    def from_pretrained(
        cls: type, /, *arguments: Any, output_loading_info: bool = False, **options: Any
    ) -> Any:
        model, report = inner.__func__(cls, *arguments, output_loading_info=True, **options)
        _refuse_missing(name, report)
        return (model, report) if output_loading_info else model

    PreTrainedModel.from_pretrained = classmethod(from_pretrained)
    try:
        yield
    finally:
        PreTrainedModel.from_pretrained = inner


def load_tokenizer(name: str, files: ModelFiles, trust_remote_code: bool) -> Any:
    """Load the tokenizer of a model."""
    from transformers import AutoTokenizer

    if exists(files.folder / TOKENIZER):
        prove_tokenizer(files.folder / TOKENIZER)
    with loading(name, files), quiet():
        return files.load(AutoTokenizer.from_pretrained, trust_remote_code=trust_remote_code)


def pick_device(device: str) -> str:
    """Return the device; `auto` means CUDA if it is available.

    Raises:
        EncoderError: if CUDA is requested but not available.
    """
    import torch

    if device == "auto":
        return "cuda" if torch.cuda.is_available() else "cpu"
    if device == "cuda" and not torch.cuda.is_available():
        raise EncoderError("device=cuda: torch finds no CUDA device; use device=cpu or omit device=")
    return device


@dataclass(frozen=True, slots=True)
class TorchModel:
    """A model in evaluation mode on its device."""

    inner: Any
    device: str

    @property
    def tokens_per_batch(self) -> int:
        """Return the number of tokens in a batch for the device."""
        return TOKENS_PER_BATCH["cpu" if self.device == "cpu" else "cuda"]

    @classmethod
    def load(
        cls,
        name: str,
        files: ModelFiles,
        device: str,
        dtype: str,
        trust_remote_code: bool,
        head: str | None = None,
    ) -> TorchModel:
        """Load the weights from safetensors, or else from a pickle that contains only tensors.

        With a `head`, the model also gives log-probabilities.

        Raises:
            UnsafeFileError: if the weights are a pickle that contains anything else.
            EncoderError: if the weights do not fit the model, or cannot be read.
        """
        import torch
        import transformers

        resolved = pick_device(device)
        with loading(name, files), quiet(), limited_by_files(name, files):
            model, report = files.load(
                getattr(transformers, HEADS[head] if head else "AutoModel").from_pretrained,
                trust_remote_code=trust_remote_code,
                output_loading_info=True,
                weights_only=True,
            )
        _refuse_missing(name, report)
        if getattr(model.config, "is_encoder_decoder", False):
            model = model.get_encoder()
        return cls(model.to(device=resolved, dtype=getattr(torch, dtype)).eval(), resolved)

    def hidden_states(
        self, pieces: Sequence[Pieces], padding: int, selections: Sequence[Layers]
    ) -> list[list[States]]:
        """Return the hidden states (texts × tokens × dimensions) of each selection's layers from one forward pass.

        Texts are padded on the right, so that tokens have the same positions, and therefore vectors, as in a single
        text.
        """
        states = self._forward(pieces, padding, output_hidden_states=True).hidden_states
        if states is None:
            raise EncoderError(
                "the model returns no hidden states; pass a function from texts to an array instead"
            )
        numbers = [layers.numbers(len(states)) for layers in selections]
        used = {number for some in numbers for number in some}
        arrays = {number: _as_array(states[number]) for number in used}
        return [[arrays[number] for number in some] for some in numbers]

    @property
    def logits_per_batch(self) -> int:
        """Return the number of tokens per batch for which log-probabilities fit into memory."""
        config = self.inner.config
        fit = STATES_PER_BATCH // (getattr(config, "hidden_size", None) or STATES_PER_BATCH)
        tokens = max(self.tokens_per_batch, fit)
        return max(1, min(tokens, LOGITS_PER_BATCH // (getattr(config, "vocab_size", None) or 1)))

    def log_probabilities(
        self, pieces: Sequence[Pieces], padding: int, rows: list[int], places: list[int], ids: list[int]
    ) -> Vector:
        """Return the log-probability of each of `ids` at its row and position in the batch.

        A text whose logits exceed `LOGITS_PER_BATCH` is read several times, each time for a part of its tokens.
        """
        at_once = max(1, LOGITS_PER_BATCH // (getattr(self.inner.config, "vocab_size", None) or 1))
        parts = [slice(start, start + at_once) for start in range(0, len(ids), at_once)]
        found = [
            self._predicted(
                partial(self._forward, pieces, padding),
                rows[part],
                places[part],
                np.arange(len(ids[part])),
                ids[part],
            )
            for part in parts
        ]
        return np.concatenate(found)

    def reads_trees(self) -> bool:
        """Return whether the model predicts the same from a tree of texts as from single texts.

        This is tried with two texts, since some models ignore a given mask or given positions.
        """
        import torch

        size = getattr(self.inner.config, "vocab_size", None) or 0
        if size < 16 or getattr(self.inner, "dtype", None) not in (torch.float32, torch.float64):
            return False  # less precise types hide a difference by their rounding
        first, *others = (size * number // 9 for number in range(1, 9))
        texts = [[first, *others], [first, *others[1:]]]
        (tree,) = prefix_trees(texts, 16)
        with torch.inference_mode():
            try:
                found = self._forward_tree(tree).logits[0]
                single = [self._forward([Pieces(ids, len(ids))], 0).logits[0] for ids in texts]
                near = ROUNDING * torch.finfo(found.dtype).eps
                return all(
                    bool((found[tree.paths[place]] - own).abs().max() <= near * own.abs().max())
                    for place, own in enumerate(single)
                )
            except Exception:  # a model that cannot read a tree may fail in any way
                return False

    @property
    def tokens_per_tree(self) -> int:
        """Return the number of tokens in a tree whose logits fit into memory, and that no attention window divides."""
        config = self.inner.config
        names = ("sliding_window", "attention_chunk_size")
        windows = [int(window) for name in names if (window := getattr(config, name, None))]
        most = TOKENS_PER_TREE["cpu" if self.device == "cpu" else "cuda"]
        return min([most, LOGITS_PER_BATCH // (getattr(config, "vocab_size", None) or 1), *windows])

    def log_probabilities_in_tree(self, tree: PrefixTree, after: list[int], ids: list[int]) -> Vector:
        """Return the log-probability of each of `ids` after a token of the tree."""
        places, own = np.unique(after, return_inverse=True)
        forward = partial(self._forward_tree, tree)
        return self._predicted(forward, [0] * len(places), places.tolist(), own, ids)

    def _predicted(
        self, forward: Callable[[], Any], rows: list[int], places: list[int], own: Integers, ids: list[int]
    ) -> Vector:
        """Return the log-probability of each of `ids` at the row and position with the number in `own`."""
        import torch

        with self._head_at(rows, places) as selected:
            logits = forward().logits
        if selected and logits.shape[:2] != (1, len(rows)):
            logits, selected = forward().logits, []
        count = max(1, LOGITS_IN_CACHE // logits.shape[-1])
        with torch.inference_mode():
            at_places = logits[0] if selected else logits[rows, places]
            wide = torch.promote_types(at_places.dtype, torch.float32)
            sums = [
                _log_sum(at_places[start : start + count].to(wide)) for start in range(0, len(rows), count)
            ]
            found = at_places[own, ids].double() - torch.cat(sums)[own]
            return cast(Vector, found.cpu().numpy())

    @contextlib.contextmanager
    def _head_at(self, rows: list[int], places: list[int]) -> Iterator[list[Any]]:
        """Make the head read only the states of these tokens; all others would cost a product with the vocabulary each.

        The list that is yielded is empty after a forward pass whose head is not a part that reads the last states.
        """
        selected: list[Any] = []

        def select(head: Any, states: tuple[Any, ...]) -> Any:
            if selected or not states or getattr(states[0], "ndim", 0) != 3:
                return None
            selected.append(head)
            return (states[0][rows, places][None], *states[1:])

        body = getattr(self.inner, "base_model", self.inner)
        parts = [] if body is self.inner else [part for part in self.inner.children() if part is not body]
        hooks = [part.register_forward_pre_hook(select) for part in parts]
        try:
            yield selected
        finally:
            for hook in hooks:
                hook.remove()

    def attention_received(self, pieces: Sequence[Pieces], padding: int) -> AnyMatrix:
        """Return the attention that each token receives in texts of one length, as a mean over layers, heads and
        tokens.

        Raises:
            EncoderError: if the model does not report its attention.
        """
        config = getattr(self.inner, "config", None)
        before = getattr(config, "_attn_implementation", None)
        # The faster implementations do not report their weights.
        self.inner.set_attn_implementation("eager")
        try:
            attentions = self._forward(pieces, padding, output_attentions=True).attentions
        finally:
            if before:
                self.inner.set_attn_implementation(before)
        if not attentions:
            raise EncoderError("the model does not report its attention")
        received = sum(layer.double().mean(dim=(1, 2)) for layer in attentions) / len(attentions)
        return cast(AnyMatrix, received.cpu().numpy())

    def _forward(self, pieces: Sequence[Pieces], padding: int, **options: bool) -> Any:
        """Return the output of the model for a batch."""
        width = max(1, max(len(text.ids) for text in pieces))
        inputs = {
            "input_ids": _padded([text.ids for text in pieces], width, padding),
            "attention_mask": _padded([[1] * len(text.ids) for text in pieces], width, 0),
        }
        for name in pieces[0].other_inputs:
            inputs[name] = _padded([text.other_inputs[name] for text in pieces], width, 0)
        # A text without tokens gets one, and pooling makes its row NaN.
        inputs["attention_mask"][:, 0] = 1
        return self._run(inputs, **options)

    def _forward_tree(self, tree: PrefixTree) -> Any:
        """Return the output of the model for the texts in a tree."""
        inputs = {
            "input_ids": np.array([tree.ids], dtype=np.int64),
            "attention_mask": tree.visible[None, None],
            "position_ids": np.array([tree.positions], dtype=np.int64),
        }
        return self._run(inputs, use_cache=False)

    def _run(self, inputs: Mapping[str, NDArray[Any]], **options: bool) -> Any:
        import torch

        with torch.inference_mode():
            try:
                return self.inner(
                    **{key: torch.from_numpy(value).to(self.device) for key, value in inputs.items()},
                    **options,
                    return_dict=True,
                )
            except torch.cuda.OutOfMemoryError:
                count = len(inputs["input_ids"])
                raise EncoderError(f"out of memory on the GPU; use batch_size={max(1, count // 2)}") from None
            except (RuntimeError, IndexError, TypeError, ValueError) as error:
                raise EncoderError(
                    f"the model cannot read the tokens of its tokenizer ({first_line(error)}); use files "
                    "that belong to one model"
                ) from None


def _log_sum(logits: Any) -> Any:
    """Return the logarithm of each row's sum of exponentials, with float64 for the sums only."""
    import torch

    largest = logits.amax(dim=-1, keepdim=True)
    return (logits - largest).exp_().sum(dim=-1, dtype=torch.float64).log() + largest[:, 0].double()


def _padded(rows: Sequence[Sequence[int]], width: int, padding: int) -> Integers:
    table = np.full((len(rows), width), padding, dtype=np.int64)
    for row, values in zip(table, rows, strict=True):
        row[: len(values)] = values
    return table


def _as_array(states: Any) -> States:
    # numpy has no bfloat16, and sums over tokens need more digits than float16 has.
    wide = states if states.element_size() >= 4 else states.float()
    return cast(States, wide.cpu().numpy())
