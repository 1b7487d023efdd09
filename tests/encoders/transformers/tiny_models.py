"""Tiny models of four architectures, made from their configs with a tokenizer of their own, saved as folders.

`bert-masked`, `roberta-masked` and `gpt2-causal` also have the head of a language model.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

CORPUS = [
    "This is a flower . That is an insect . Here are roses and spiders , there is the wasp .",
    "The engineer is here and the nurse was there ; people like science and art .",
    "Unbelievable wonderful horrible terrible pleasant agony freedom health love peace abuse crash filth .",
]

FAMILIES = ("bert", "roberta", "gpt2", "openai-gpt")

SIZE = 16
LAYERS = 3
POSITIONS = 40


def build(family: str, folder: Path) -> Path:
    """Save a random model of `family` (3 layers, 16 dimensions, at most 40 positions) under `folder`."""
    import torch
    from transformers import AutoModel, AutoModelForCausalLM, AutoModelForMaskedLM

    heads = {"": AutoModel, "masked": AutoModelForMaskedLM, "causal": AutoModelForCausalLM}
    name, _, head = (family, "", "") if family in FAMILIES else family.partition("-")
    torch.manual_seed(0)
    tokenizer = _tokenizer(name)
    config = _config(name, tokenizer)
    heads[head].from_config(config).save_pretrained(folder)
    tokenizer.save_pretrained(folder)
    return folder


def _config(family: str, tokenizer: Any) -> Any:
    from transformers import BertConfig, GPT2Config, OpenAIGPTConfig, RobertaConfig

    if family in ("bert", "roberta"):
        kind = BertConfig if family == "bert" else RobertaConfig
        return kind(
            vocab_size=len(tokenizer),
            hidden_size=SIZE,
            num_hidden_layers=LAYERS,
            num_attention_heads=2,
            intermediate_size=24,
            max_position_embeddings=POSITIONS + (2 if family == "roberta" else 0),
            pad_token_id=tokenizer.pad_token_id,
            # Larger weights than usual, so that tokens differ by far more than rounding.
            initializer_range=0.5,
        )
    kind = GPT2Config if family == "gpt2" else OpenAIGPTConfig
    return kind(
        vocab_size=len(tokenizer),
        n_positions=POSITIONS,
        n_embd=SIZE,
        n_layer=LAYERS,
        n_head=2,
        initializer_range=0.5,
        bos_token_id=None,
        eos_token_id=None,
    )


def _tokenizer(family: str) -> Any:
    from tokenizers import Tokenizer, decoders, models, normalizers, pre_tokenizers, processors, trainers
    from transformers import PreTrainedTokenizerFast

    if family == "bert":
        special = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]"]
        inner = Tokenizer(models.WordPiece(unk_token="[UNK]"))
        inner.pre_tokenizer = pre_tokenizers.BertPreTokenizer()
        inner.train_from_iterator(CORPUS, trainers.WordPieceTrainer(vocab_size=120, special_tokens=special))
        inner.post_processor = processors.TemplateProcessing(
            single="[CLS] $A [SEP]", special_tokens=[("[CLS]", 2), ("[SEP]", 3)]
        )
        names = dict(
            zip(("pad_token", "unk_token", "cls_token", "sep_token", "mask_token"), special, strict=True)
        )
    elif family == "roberta":
        special = ["<s>", "<pad>", "</s>", "<unk>", "<mask>"]
        inner = _byte_level(special)
        inner.post_processor = processors.RobertaProcessing(("</s>", 2), ("<s>", 0))
        names = dict(
            zip(("cls_token", "pad_token", "sep_token", "unk_token", "mask_token"), special, strict=True)
        )
    elif family == "gpt2":
        inner = _byte_level(["<|endoftext|>"])
        names = {"eos_token": "<|endoftext|>"}
    else:
        inner = Tokenizer(models.BPE(unk_token="<unk>", end_of_word_suffix="</w>"))
        inner.normalizer = normalizers.Lowercase()
        inner.pre_tokenizer = pre_tokenizers.BertPreTokenizer()
        inner.decoder = decoders.BPEDecoder(suffix="</w>")
        trainer = trainers.BpeTrainer(vocab_size=120, special_tokens=["<unk>"], end_of_word_suffix="</w>")
        inner.train_from_iterator(CORPUS, trainer)
        names = {"unk_token": "<unk>"}
    return PreTrainedTokenizerFast(tokenizer_object=inner, **names)


def _byte_level(special: list[str]) -> Any:
    from tokenizers import Tokenizer, models, pre_tokenizers, trainers

    inner = Tokenizer(models.BPE())
    inner.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    alphabet = pre_tokenizers.ByteLevel.alphabet()
    trainer = trainers.BpeTrainer(vocab_size=300, special_tokens=special, initial_alphabet=alphabet)
    inner.train_from_iterator(CORPUS, trainer)
    return inner
