"""A shared layer applied k times is the model whose config says k layers."""

import pytest
import torch
from transformers import AlbertConfig, AlbertForPreTraining

from explorer.analysis.depth.lens import depth_dial
from explorer.models.forward import run_model, state_logits
from explorer.models.inside.interventions import unrolled_states
from explorer.refusal import Refusal

TEXT = "the cat sat on the [MASK]."


def test_every_depth_is_a_model_built_with_that_many_layers(tiny_family):
    run, loaded = tiny_family.run("albert", TEXT), tiny_family.loaded("albert")
    states, position = unrolled_states(loaded, run.tokens, 12), run.tokens.mask_positions[0]
    assert len(states) == 13
    dial = depth_dial(run, state_logits(loaded, states[1:, position]))
    weights, usual = loaded.network.state_dict(), loaded.network.config.to_dict()
    for times in range(1, 13):
        config = AlbertConfig(**usual | {"num_hidden_layers": times})
        network = AlbertForPreTraining(config).eval()
        network.load_state_dict(weights)
        with torch.no_grad():
            logits = network(torch.tensor([run.tokens.ids])).prediction_logits[0, position]
        p = logits.double().softmax(-1).topk(5)
        assert dial.top[times - 1] == pytest.approx(p.values.numpy(), abs=1e-5)
        assert dial.top_ids[times - 1].tolist() == p.indices.tolist()
    assert dial.kl[run.spec.architecture.n_layers - 1] == 0


def test_the_network_is_as_deep_as_before(tiny_family):
    run, loaded = tiny_family.run("albert", TEXT), tiny_family.loaded("albert")
    unrolled_states(loaded, run.tokens, 9)
    again = run_model(loaded, run.tokens)
    assert again.hidden_states == pytest.approx(run.hidden_states, abs=1e-4)


def test_a_model_with_layers_of_its_own_is_refused(tiny_family):
    run = tiny_family.run("bert", TEXT)
    with pytest.raises(Refusal, match="BERT has no layer that all depths share"):
        unrolled_states(tiny_family.loaded("bert"), run.tokens, 3)
