"""Give a trained mini-albert another vocabulary: its layer stays, its word vectors are made anew.

A piece that both vocabularies have keeps its vector. A new one that is a whole word of the
teacher's takes the teacher's vector, carried over by the linear map that fits the shared words
best; any other is the mean of the old pieces that spell it.
"""

from pathlib import Path

import torch
from tokenizers import Tokenizer
from torch import Tensor, nn
from transformers import AlbertForPreTraining

from explorer.training.text.vocabulary import load_pieces

RIDGE = 1e-2  # of the mean square of the teacher's vectors


@torch.no_grad()
def respell(
    model: AlbertForPreTraining, old: Path, new: Path, words: dict[str, Tensor]
) -> list[str]:
    """Write the word vectors of the new vocabulary into `model`; the pieces that are new.

    Args:
        model: Changed in place; its biases are left to the caller.
        old: The tokenizer it was trained with.
        new: The tokenizer it gets.
        words: The teacher's vector of every word that is a single piece there.
    """
    spelling = Tokenizer.from_file(str(old))
    before = {piece: i for i, piece in enumerate(load_pieces(old))}
    after = load_pieces(new)
    vectors = model.albert.embeddings.word_embeddings.weight
    shared = [p for p in before if word_of(p) in words]
    carry = linear_map(
        torch.stack([words[word_of(p)] for p in shared]), vectors[[before[p] for p in shared]]
    )
    written = vectors.clone()
    for i, piece in enumerate(after):
        if piece in before:
            written[i] = vectors[before[piece]]
        elif word_of(piece) in words:
            written[i] = carry(words[word_of(piece)][None])[0]
        else:
            written[i] = vectors[[token.id for token in spelling.model.tokenize(piece)]].mean(0)
    vectors.copy_(written)
    return [piece for piece in after if piece not in before]


def word_of(piece: str) -> str:
    """The word that a piece is all of; empty when it goes on with another."""
    return piece.removeprefix("▁") if piece.startswith("▁") else ""


@torch.no_grad()
def linear_map(source: Tensor, target: Tensor) -> nn.Linear:
    """The ridge regression of one set of vectors on another."""
    mean, centre = source.mean(0), target.mean(0)
    rows = source - mean
    gram = rows.T @ rows + RIDGE * rows.square().sum() / rows.shape[1] * torch.eye(rows.shape[1])
    weight = torch.linalg.solve(gram, rows.T @ (target - centre)).T
    found = nn.Linear(source.shape[1], target.shape[1])
    found.weight.copy_(weight)
    found.bias.copy_(centre - weight @ mean)
    return found
