"""The pair head on a run, against the whole pre-training network of transformers, run by itself."""

from dataclasses import replace
from itertools import pairwise

import pytest
import torch
from transformers import AutoModelForPreTraining, AutoTokenizer

from explorer import assets
from explorer.inference.runs import get_run
from explorer.links.page_state import PageState
from explorer.models.loading import load_model
from explorer.models.specs import BUNDLED, MINI
from explorer.models.task_heads.classifiers import has_pair_head, pair_logits

NAMES = {"bert": "seq_relationship_logits", "albert": "sop_logits"}


@pytest.mark.long
@pytest.mark.parametrize("key", sorted(NAMES))
def test_ten_pairs_are_scored_as_the_whole_network_scores_them(key):
    spec, path = MINI[key], BUNDLED / MINI[key].name
    tokenizer = AutoTokenizer.from_pretrained(path, local_files_only=True)
    network = AutoModelForPreTraining.from_pretrained(path, local_files_only=True).eval()
    pairs = list(pairwise(assets.plain_sentences()))[:10]
    assert len(pairs) == 10
    for first, second in pairs:
        state = PageState(text=f"{first} [SEP] {second}")
        inputs = tokenizer(first, second, return_token_type_ids=True, return_tensors="pt")
        with torch.no_grad():
            reference = network(**inputs)[NAMES[key]][0]
        own = pair_logits(load_model(spec), get_run(spec, state.ask).hidden_states[-1, 0])
        assert torch.allclose(torch.tensor(own), reference, atol=1e-5), (first, second)


def test_a_head_that_the_checkpoint_lacks_is_never_asked(tiny_family):
    assert not has_pair_head(tiny_family.loaded("distilbert"))
    run = tiny_family.run("albert", "the cat [SEP] a dog")
    loaded = tiny_family.loaded("albert")
    assert has_pair_head(loaded)
    # As the hub's albert-base-v2 is read: all there but the order head; then all but the pooler.
    for name in ("sop_classifier.classifier.weight", "albert.pooler.weight"):
        lacking = replace(loaded, missing=(name,))
        assert not has_pair_head(lacking)
        with pytest.raises(ValueError, match="no trained sentence-pair head"):
            pair_logits(lacking, run.hidden_states[-1, 0])
