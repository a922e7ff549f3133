"""Classifiers that are fine-tuned: a copy of an encoder with a new head, and LoRA on it."""

import copy
from collections.abc import Iterable, Mapping, Sequence
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import torch
from torch import Tensor, nn
from transformers import AutoModelForSequenceClassification, PreTrainedModel

from explorer.models.hub import save_tokenizer
from explorer.models.loading import LoadedModel, building
from explorer.models.specs import ONE_LABEL, ModelKind
from explorer.refusal import Refusal, Sentence

FULL, LORA = METHODS = ("full", "lora")
"""Ways to fine-tune: all weights, or LoRA (Hu et al. 2021) at queries and values and the head."""
RANK, ALPHA = 8, 16
"""Rank of LoRA, and its scale times the rank."""
DECAY = 0.01
"""Weight decay of AdamW, for all trained weights but biases and layer norms."""
NO_PEFT = Sentence(
    "no-peft", "LoRA needs the package peft: pip install 'bert-family-explorer[training]'."
)
OTHER_METHOD = Sentence("no-such-method", "The method must be one of: {known}.")
IN_USE = Sentence("folder-in-use", "{name} exists and is not empty: name a new folder.")
NOT_WRITTEN = Sentence(
    "folder-not-writable", "{name} cannot be written to: name a folder where files can be made."
)


def check_method(method: object) -> None:
    """Refuse a method that is not offered, or whose package is missing.

    Raises:
        Refusal: there is no such method, or LoRA lacks its package.
    """
    if method not in METHODS:
        raise Refusal(OTHER_METHOD.format(known=", ".join(METHODS)))
    if method == LORA and find_spec("peft") is None:
        raise Refusal(NO_PEFT)


def classifier_on(loaded: LoadedModel, labels: Sequence[str], seed: int) -> PreTrainedModel:
    """Return a copy of a loaded encoder with a new classifier, in float32 on the same device.

    The head is drawn at random by the seed, and so is a pooler that the checkpoint lacks. The
    loaded network is not changed.

    Args:
        loaded: The model whose encoder is copied.
        labels: Names of the classifier's labels, in the order of its outputs.
        seed: Seed of the random weights; torch's own random numbers go on as if none were drawn.
    """
    with loaded.lock:
        config = copy.deepcopy(loaded.network.config)
        encoder = {
            name: value.detach().to("cpu", torch.float32, copy=True)
            for name, value in loaded.network.base_model.state_dict().items()
        }
    config.id2label = dict(enumerate(labels))
    config.label2id = {label: place for place, label in enumerate(labels)}
    config.problem_type = ONE_LABEL
    config.dtype = torch.float32
    with building, torch.random.fork_rng(devices=[]):
        torch.manual_seed(seed)
        network = AutoModelForSequenceClassification.from_config(
            config, attn_implementation="eager", dtype=torch.float32
        )
    found = network.base_model.load_state_dict(encoder, strict=False)
    different = [*found.missing_keys, *found.unexpected_keys]
    if others := [name for name in different if not name.startswith("pooler")]:
        raise RuntimeError(f"the encoder of {loaded.spec.name} has other weights: {others[:3]}")
    return network.to(loaded.device)


def head_modules(network: PreTrainedModel) -> list[str]:
    """Return the modules that have new weights in a classifier: the pooler, then the head's.

    peft's ``TaskType.SEQ_CLS`` neither trains nor saves the pooler of BERT and ALBERT, so that
    an adapter on an encoder without one would answer by chance when it is loaded again.
    """
    inside = network.base_model
    head = [
        name
        for name, child in network.named_children()
        if child is not inside and next(child.parameters(), None) is not None
    ]
    return ["pooler", *head] if getattr(inside, "pooler", None) is not None else head


def with_lora(network: PreTrainedModel, kind: ModelKind, seed: int) -> nn.Module:
    """Return a classifier with LoRA at queries and values; of the rest only the head is trained.

    Args:
        network: The classifier; its modules are replaced in place.
        kind: Its architecture, which names queries and values.
        seed: Seed of the random half of LoRA.
    """
    from peft import LoraConfig, get_peft_model

    config = LoraConfig(
        r=RANK,
        lora_alpha=ALPHA,
        lora_dropout=0.0,
        target_modules=rf".*(?:{kind.query}|{kind.value})",
        modules_to_save=head_modules(network),
    )
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(seed)
        adapted: nn.Module = get_peft_model(network, config)
    return adapted


def merged(network: nn.Module) -> PreTrainedModel:
    """Return a classifier with LoRA as a plain network: W + (alpha / r) B A; others unchanged."""
    found: Any = network  # peft's own class, whose methods torch's has not
    plain: PreTrainedModel = (
        found.merge_and_unload() if hasattr(found, "merge_and_unload") else found
    )
    return plain


def trained_weights(network: nn.Module) -> dict[str, Tensor]:
    """Return the parameters that are trained, by name."""
    return {name: p for name, p in network.named_parameters() if p.requires_grad}


def decay_groups(network: nn.Module, decay: float = DECAY) -> list[dict[str, Any]]:
    """Return the trained parameters as AdamW takes them: with weight decay, and without.

    Biases and all weights of ``nn.LayerNorm`` are without, by the type of their module. The usual
    list of names (``bias``, ``LayerNorm.weight``) misses 13 of DistilBERT's 14 norms and ALBERT's
    ``full_layer_layer_norm``.
    """
    spared = {
        id(parameter)
        for module in network.modules()
        for name, parameter in module.named_parameters(recurse=False)
        if isinstance(module, nn.LayerNorm) or name == "bias"
    }
    trained = trained_weights(network).values()
    return [
        {"params": [p for p in trained if id(p) not in spared], "weight_decay": decay},
        {"params": [p for p in trained if id(p) in spared], "weight_decay": 0.0},
    ]


def weight_bytes_of(network: nn.Module) -> int:
    """Return the bytes of all parameters of a network, each counted once."""
    return sum(p.numel() * p.element_size() for p in network.parameters())


def check_places(folders: Iterable[Path]) -> None:
    """Refuse folders in which nothing can be saved: they are not empty, or cannot be made.

    Raises:
        Refusal: one of them is so.
    """
    for folder in folders:
        try:
            folder.mkdir(parents=True, exist_ok=True)
            is_empty = not any(folder.iterdir())
        except OSError as error:
            raise Refusal(NOT_WRITTEN.format(name=folder)) from error
        if not is_empty:
            raise Refusal(IN_USE.format(name=folder))


def save_classifier(folder: Path, network: PreTrainedModel, tokenizer: Any, card: str) -> None:  # noqa: ANN401
    """Write a folder that ``AutoModelForSequenceClassification.from_pretrained`` opens.

    Args:
        folder: A new folder, or an empty one.
        network: The classifier, without LoRA.
        tokenizer: Its tokenizer.
        card: Text of its README.md.

    Raises:
        Refusal: the folder is not empty, or cannot be written to.
    """
    check_places([folder])
    try:
        network.save_pretrained(folder)
        save_tokenizer(tokenizer, folder)
        (folder / "README.md").write_text(card, "utf-8")
    except OSError as error:
        raise Refusal(NOT_WRITTEN.format(name=folder)) from error


def restore(network: nn.Module, weights: Mapping[str, Tensor]) -> None:
    """Copy weights into a network's parameters of the same names."""
    parameters = dict(network.named_parameters())
    with torch.no_grad():
        for name, value in weights.items():
            parameters[name].copy_(value)
