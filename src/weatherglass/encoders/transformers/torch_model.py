"""A transformers model in memory: hidden states of batches. torch is imported at the first use."""

from __future__ import annotations

import contextlib
import pickle
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, cast

import numpy as np

from weatherglass.encoders.layers import Layers
from weatherglass.encoders.pooling import States
from weatherglass.encoders.tokenizer_file import TOKENIZER, check_tokenizer
from weatherglass.encoders.transformers.hub import ModelFiles, first_line
from weatherglass.encoders.transformers.sizes import limited_by_files
from weatherglass.encoders.transformers.tokens import Pieces
from weatherglass.errors import EncoderError, UnsafeFileError, WeatherglassError
from weatherglass.storage.reading import exists, is_failure, one_line

DEVICES = ("auto", "cpu", "cuda")
DTYPES = ("float32", "float16", "bfloat16", "float64")

TOKENS_PER_BATCH = {"cpu": 512, "cuda": 16384}
"""Tokens in a batch. On a processor more of them no longer fit in its cache (MiniLM: 5.8 times the speed of one by
one at 512, 4.6 times at 2048); a GPU wants more work at a time."""


@contextlib.contextmanager
def one_line_errors(name: str, files: ModelFiles) -> Iterator[None]:
    """Whatever loading raises, as one line about the model called `name`; code of its own is refused by its name."""
    try:
        yield
    except WeatherglassError:
        raise
    except pickle.UnpicklingError as error:
        raise UnsafeFileError(
            f"'{name}': its weights would run code or hold more than tensors, so they were not loaded"
            f" ({first_line(error)}); get the model as safetensors"
        ) from None
    except BaseException as error:  # three libraries raise many types of errors for a bad file
        if not is_failure(error):
            raise
        if "trust_remote_code" in str(error):
            code = ", ".join(files.own_code()) or "named in its configuration"
            raise UnsafeFileError(
                f"'{name}' comes with its own code ({code}), which is not run; if you trust it, add"
                " trust_remote_code=yes"
            ) from None
        if "ignore_mismatched_sizes" in str(error):  # which points to a report that is not shown
            raise EncoderError(
                f"'{name}': its weights have other shapes than config.json asks for; get both again"
            ) from None
        raise EncoderError(f"'{name}' cannot be loaded: {first_line(error)}") from None


def encoding(name: str) -> contextlib.AbstractContextManager[None]:
    """Whatever a model that could be loaded raises for a text, as one line; a wrong option may show only then."""
    remedy = "do its files belong together? get them again"
    return one_line(f"'{name}'", "the model cannot encode", remedy, EncoderError)


@contextlib.contextmanager
def quiet() -> Iterator[None]:
    """No progress bars or advice from transformers while a model loads."""
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
    # A missing pooler does not matter, since nothing here is read from it.
    missing = sorted(key for key in report["missing_keys"] if "pooler" not in key)
    if missing:
        raise EncoderError(
            f"'{name}': the file of weights lacks {len(missing)} of the model's, such as {missing[0]};"
            " its vectors would be random"
        )


@contextlib.contextmanager
def no_random_weights(name: str) -> Iterator[None]:
    """Within, a transformers model that a library loads has all its weights from files.

    transformers fills in random numbers for those that are missing, and says so in a log or to whoever asks; a library
    between it and us does not ask.

    Raises:
        EncoderError: naming the first that is missing.
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
    """The model's own tokenizer."""
    from transformers import AutoTokenizer

    if exists(files.folder / TOKENIZER):
        check_tokenizer(files.folder / TOKENIZER)
    with one_line_errors(name, files), quiet():
        return files.load(AutoTokenizer.from_pretrained, trust_remote_code=trust_remote_code)


def pick_device(device: str) -> str:
    """`auto` is CUDA where there is one.

    Raises:
        EncoderError: if CUDA is asked for and there is none.
    """
    import torch

    if device == "auto":
        return "cuda" if torch.cuda.is_available() else "cpu"
    if device == "cuda" and not torch.cuda.is_available():
        raise EncoderError("device=cuda: torch finds no CUDA device here; use device=cpu or leave it out")
    return device


@dataclass(frozen=True, slots=True)
class TorchModel:
    """The weights, in evaluation mode, on their device."""

    inner: Any
    device: str

    @property
    def tokens_per_batch(self) -> int:
        """The size of a batch that suits the device."""
        return TOKENS_PER_BATCH["cpu" if self.device == "cpu" else "cuda"]

    @classmethod
    def load(
        cls, name: str, files: ModelFiles, device: str, dtype: str, trust_remote_code: bool
    ) -> TorchModel:
        """Load the weights: safetensors where there are any, else a pickle of tensors and nothing but tensors.

        Raises:
            UnsafeFileError: if the weights are a pickle that holds anything else.
            EncoderError: if they do not fit the model, or cannot be read.
        """
        import torch
        from transformers import AutoModel

        resolved = pick_device(device)
        with one_line_errors(name, files), quiet(), limited_by_files(name, files):
            model, report = files.load(
                AutoModel.from_pretrained,
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
        """For every selection its layers' hidden states, all of one forward pass: arrays (texts, tokens, dimensions).

        Texts are padded on the right, whatever the tokenizer's default: under the mask the real tokens then keep the
        positions, and so the vectors, that they have alone.
        """
        import torch

        width = max(1, max(len(text.ids) for text in pieces))
        inputs = {
            "input_ids": _padded([text.ids for text in pieces], width, padding),
            "attention_mask": _padded([[1] * len(text.ids) for text in pieces], width, 0),
        }
        for name in pieces[0].other_inputs:
            inputs[name] = _padded([text.other_inputs[name] for text in pieces], width, 0)
        # A text without tokens is given one to look at; pooling makes its row NaN.
        inputs["attention_mask"][:, 0] = 1
        with torch.inference_mode():
            try:
                output = self.inner(
                    **{key: torch.from_numpy(value).to(self.device) for key, value in inputs.items()},
                    output_hidden_states=True,
                    return_dict=True,
                )
            except torch.cuda.OutOfMemoryError:
                raise EncoderError(
                    f"out of memory on the GPU; use batch_size={max(1, len(pieces) // 2)}"
                ) from None
            except (RuntimeError, IndexError, TypeError, ValueError) as error:
                raise EncoderError(
                    f"the model cannot read what its tokenizer makes ({first_line(error)}); do the two belong together?"
                ) from None
            states = output.hidden_states
            if states is None:
                raise EncoderError("the model gives no hidden states; give a function texts → array instead")
            numbers = [layers.numbers(len(states)) for layers in selections]
            used = {number for some in numbers for number in some}
            arrays = {number: _as_array(states[number]) for number in used}
            return [[arrays[number] for number in some] for some in numbers]


def _padded(rows: Sequence[Sequence[int]], width: int, padding: int) -> np.ndarray[Any, np.dtype[np.int64]]:
    table = np.full((len(rows), width), padding, dtype=np.int64)
    for row, values in zip(table, rows, strict=True):
        row[: len(values)] = values
    return table


def _as_array(states: Any) -> States:
    # numpy has no bfloat16, and sums over tokens want more digits than float16 has.
    wide = states if states.element_size() >= 4 else states.float()
    return cast(States, wide.cpu().numpy())
