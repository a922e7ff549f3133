"""The three models: architectures and initial weights."""

from pathlib import Path

import numpy as np
import torch
from safetensors.torch import load_file
from torch import Tensor, nn
from transformers import (
    AlbertConfig,
    AlbertForPreTraining,
    BertConfig,
    BertForPreTraining,
    DistilBertConfig,
    DistilBertForMaskedLM,
)

from training.recipe import Recipe

# On a CPU the backward pass of sdpa is five times slower than eager's.
ATTENTION = {"attn_implementation": "sdpa" if torch.cuda.is_available() else "eager"}
CLASSES = {
    "mini-bert": BertForPreTraining,
    "mini-distilbert": DistilBertForMaskedLM,
    "mini-albert": AlbertForPreTraining,
}


def new_model(name: str, recipe: Recipe) -> nn.Module:
    """Return a model of the family with random weights and no dropout."""
    if name == "mini-distilbert":
        config = DistilBertConfig(
            vocab_size=recipe.vocabulary,
            dim=recipe.width,
            n_layers=len(recipe.student_layers),
            n_heads=recipe.heads,
            hidden_dim=recipe.inner,
            max_position_embeddings=recipe.positions,
            dropout=0.0,
            attention_dropout=0.0,
            **ATTENTION,
        )
        return DistilBertForMaskedLM(config)
    shape = {
        "vocab_size": recipe.vocabulary,
        "hidden_size": recipe.width,
        "num_hidden_layers": recipe.layers,
        "num_attention_heads": recipe.heads,
        "intermediate_size": recipe.inner,
        "max_position_embeddings": recipe.positions,
        "hidden_dropout_prob": 0.0,
        "attention_probs_dropout_prob": 0.0,
        **ATTENTION,
    }
    if name == "mini-bert":
        return BertForPreTraining(BertConfig(**shape))
    albert = AlbertConfig(
        embedding_size=recipe.albert_width, hidden_act="gelu", classifier_dropout_prob=0.0, **shape
    )
    return AlbertForPreTraining(albert)


def load_model(folder: Path) -> nn.Module:
    """Return a model of the family from an exported folder, in float32.

    Raises:
        ValueError: The folder's name is not one of the three.
    """
    if folder.name not in CLASSES:
        raise ValueError(f"{folder.name} is not one of {', '.join(CLASSES)}.")
    return CLASSES[folder.name].from_pretrained(
        folder, local_files_only=True, dtype=torch.float32, **ATTENTION
    )


def warm_start_bert(
    model: BertForPreTraining, source: Path, pieces: list[str], full: list[str]
) -> None:
    """Copy the encoder of all-MiniLM-L6-v2, and its embeddings of the selected pieces."""
    weights = load_file(source / "model.safetensors")
    rows = {piece: i for i, piece in enumerate(full)}
    words = "embeddings.word_embeddings.weight"
    weights[words] = weights[words][[rows[piece] for piece in pieces]]
    names = model.bert.state_dict()
    model.bert.load_state_dict({name: weights[name].float() for name in names})


@torch.no_grad()
def start_head(model: nn.Module) -> None:
    """Initialise the MLM head's dense layer close to the identity."""
    if isinstance(model, BertForPreTraining):
        model.cls.predictions.transform.dense.weight.copy_(torch.eye(model.config.hidden_size))
    else:
        projection = model.albert.encoder.embedding_hidden_mapping_in.weight
        model.predictions.dense.weight.copy_(projection.T)


@torch.no_grad()
def start_bias(model: nn.Module, frequencies: np.ndarray) -> None:
    """Initialise the bias of the MLM head with log piece frequencies."""
    head = model.cls.predictions if isinstance(model, BertForPreTraining) else model.predictions
    head.bias.copy_(torch.as_tensor(frequencies, dtype=torch.float32))


@torch.no_grad()
def albert_from(
    teacher: BertForPreTraining,
    albert: AlbertForPreTraining,
    spellings: list[list[int]],
    layer: int,
) -> None:
    """Factorise the teacher's embeddings and copy one of its layers as the shared layer.

    The vector of a piece is the mean of the teacher's vectors of its WordPieces, as the teacher's
    first layer receives it. The truncated SVD of all of them gives the narrow embeddings and the
    projection; the position embeddings are written in the same basis.

    Args:
        teacher: Source of the embeddings and the layer.
        albert: Model that is written in place.
        spellings: For every piece of ALBERT's vocabulary, the WordPiece ids that spell it.
        layer: Index of the teacher layer that becomes the shared one.
    """
    embeddings = teacher.bert.embeddings
    words = embeddings.word_embeddings.weight
    raw = torch.stack([words[ids].mean(0) if ids else words[1] for ids in spellings])
    position = embeddings.position_embeddings.weight[:128].mean(0)
    usual = position + embeddings.token_type_embeddings.weight[0]
    seen = embeddings.LayerNorm(raw + usual)
    spread = (raw + usual).std(-1, unbiased=False).median()
    centre = seen.mean(0)
    scale = embeddings.LayerNorm.weight / spread
    places = (embeddings.position_embeddings.weight - position) * scale
    basis = shared_basis(seen - centre, places, albert.config.embedding_size)
    sides = embeddings.token_type_embeddings.weight - embeddings.token_type_embeddings.weight[0]
    target = albert.albert.embeddings
    coordinates = (seen - centre) @ basis.T
    norm = coordinates.std(-1, unbiased=False).median()
    target.word_embeddings.weight.copy_(coordinates / norm * WORD_SPREAD)
    target.position_embeddings.weight.copy_(places @ basis.T / norm * WORD_SPREAD)
    target.token_type_embeddings.weight.copy_((sides * scale) @ basis.T / norm * WORD_SPREAD)
    albert.albert.encoder.embedding_hidden_mapping_in.weight.copy_(basis.T * norm)
    albert.albert.encoder.embedding_hidden_mapping_in.bias.copy_(centre)
    _copy_layer(
        teacher.bert.encoder.layer[layer],
        albert.albert.encoder.albert_layer_groups[0].albert_layers[0],
    )


def shared_basis(words: Tensor, places: Tensor, narrow: int) -> Tensor:
    """Return orthonormal rows ``[narrow, width]``: axes of the positions, then of the words.

    Positions vary in few directions, and not in those in which words vary most: a basis of the
    words alone would lose the word order.
    """
    _, _, position_axes = torch.linalg.svd(places, full_matrices=False)
    position_axes = position_axes[: narrow // POSITION_PART]
    rest = words - words @ position_axes.T @ position_axes
    _, _, word_axes = torch.linalg.svd(rest, full_matrices=False)
    return torch.cat([position_axes, word_axes[: narrow - len(position_axes)]])


POSITION_PART = 6  # one sixth of the narrow width is reserved for the positions
WORD_SPREAD = 0.09  # standard deviation of a word vector's coordinates: moderate initial logits


def _copy_layer(source: nn.Module, target: nn.Module) -> None:
    pairs = {
        target.attention.query: source.attention.self.query,
        target.attention.key: source.attention.self.key,
        target.attention.value: source.attention.self.value,
        target.attention.dense: source.attention.output.dense,
        target.attention.LayerNorm: source.attention.output.LayerNorm,
        target.ffn: source.intermediate.dense,
        target.ffn_output: source.output.dense,
        target.full_layer_layer_norm: source.output.LayerNorm,
    }
    for new, old in pairs.items():
        new.load_state_dict(old.state_dict())


def parameters(model: nn.Module) -> dict[str, Tensor]:
    """Return every stored tensor once, tied ones under their first name."""
    return dict(model.named_parameters())
