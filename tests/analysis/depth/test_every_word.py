"""A word known at a layer, against a text in which that word is masked, by plain transformers."""

import json

import pytest
import torch

from explorer.analysis.alignment import align
from explorer.inference.runs import get_runs
from explorer.library.deeper import words_of
from explorer.links.page_state import PageState
from explorer.ui.depth.tab import read_deeper

STATE = PageState(text="the photosynthesis sat on 漢 [MASK].")


@pytest.mark.parametrize("key", ["bert", "distilbert", "albert"])
def test_each_column_is_the_worst_place_of_the_words_pieces(tiny_family, key):
    runs, _ = get_runs(STATE.ask)
    alignment = align({k: run.tokens for k, run in runs.items()})
    found = words_of(runs, alignment, STATE.ask)[key].rank
    run, loaded = runs[key], tiny_family.loaded(key)
    mask, unknown = loaded.tokenizer.mask_token_id, loaded.tokenizer.unk_token_id
    for column, word in enumerate(alignment.content):
        group, ids = list(alignment.groups[key][word]), torch.tensor([run.tokens.ids])
        if unknown in ids[0, group]:
            assert not found[:, column].any()
            continue
        hidden = ids.clone()
        hidden[0, group] = mask
        with torch.no_grad():
            states = loaded.network.base_model(hidden, output_hidden_states=True).hidden_states
            for layer, state in enumerate(states):
                logits = loaded.spec.kind.head(loaded.network, state[0, group])
                own = ids[0, group]
                if own[0] == mask:
                    own = torch.tensor([int(run.mask_logits[0].argmax())])
                places = 1 + (logits > logits.gather(1, own[:, None])).sum(1)
                assert found[layer, column] == int(places.max()), (layer, word)


@pytest.mark.parametrize(
    ("text", "counted"),
    [
        ("the [MASK] sat on 漢 [MASK] mat", ("the", "sat", "on", "mat")),
        ("[MASK] [MASK] [MASK]", ()),
    ],
)
def test_only_words_of_the_text_that_all_can_read_are_counted(tiny_family, text, counted):
    """A mask's own answer is always in first place after the last layer: that is no merit."""
    found = json.loads(read_deeper({"params": {"text": text}, "want": "words"}))
    assert found["counted"] == len(counted)
    for model in found["models"]:
        loaded = tiny_family.loaded(model["key"])
        first = 0
        for word in counted:
            ids = loaded.tokenizer(text, return_tensors="pt").input_ids
            own = loaded.tokenizer(word, add_special_tokens=False)["input_ids"][-1]
            place = ids[0].tolist().index(own)
            hidden = ids.clone()
            hidden[0, place] = loaded.tokenizer.mask_token_id
            with torch.no_grad():
                out = loaded.network(hidden)
            logits = out.logits if "logits" in out else out.prediction_logits
            first += int(logits[0, place].argmax()) == own
        assert model["first"] == first, model["key"]
