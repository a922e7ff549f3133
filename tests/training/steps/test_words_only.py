"""A new vocabulary is learned with the layer held."""

import torch

from explorer.training.family import new_model
from explorer.training.recipe import TINY
from explorer.training.steps.pretrain import hold_layer


def test_word_vectors_and_head_are_trained_and_nothing_else():
    torch.manual_seed(0)
    model = new_model("mini-albert", TINY)
    hold_layer(model)
    trained = {name for name, weight in model.named_parameters() if weight.requires_grad}
    assert "albert.embeddings.word_embeddings.weight" in trained
    assert trained == {"albert.embeddings.word_embeddings.weight"} | {
        name for name, _ in model.named_parameters() if name.startswith("predictions.")
    }
