"""The /attention endpoint gives transformers' own numbers and refuses what does not exist."""

import json

import pytest
import torch
from transformers import AutoModel, AutoTokenizer

from explorer.refusal import Refusal
from explorer.timing.protocol import thread_width
from tests.endpoints import attention

TEXT = "The capital of France is [MASK]."


@pytest.mark.parametrize("key", ["bert", "distilbert", "albert"])
def test_numbers_are_transformers_own(tiny_family, key):
    found = attention(TEXT, "mini", key, 2, 5)
    assert json.loads(json.dumps(found, allow_nan=False)) == found
    assert list(found) == ["model", "tokens", "layer", "head", "attention"]
    path = tiny_family.specs[key].bundled_path
    tokenizer = AutoTokenizer.from_pretrained(path)
    encoding = tokenizer(TEXT, return_tensors="pt")
    # The page's workers have one thread each; sums over two threads end 1e-6 apart.
    with torch.no_grad(), thread_width("compute"):
        network = AutoModel.from_pretrained(path, attn_implementation="eager").eval()
        expected = network(**encoding, output_attentions=True).attentions[2][0, 5]
    assert found["tokens"] == tokenizer.convert_ids_to_tokens(encoding["input_ids"][0])
    assert torch.tensor(found["attention"]) == pytest.approx(expected.numpy(), abs=1e-6)
    assert [sum(row) for row in found["attention"]] == pytest.approx([1] * len(found["tokens"]))


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (("", "mini"), "no text"),
        ((TEXT, "huge"), "no such family"),
        ((TEXT, "mini", "gpt"), "one of bert"),
        ((TEXT, "mini", "distilbert", 3, 0), "layers 0 to 2 and heads 0 to 11"),
        ((TEXT, "mini", "bert", 0, -1), "heads 0 to 11"),
        ((TEXT, "mini", "bert", 0.5, 0), "layers 0 to 5"),
        ((TEXT, "mini", "bert", True, 0), "layers 0 to 5"),
    ],
)
def test_bad_input_is_one_sentence(tiny_family, arguments, sentence):
    with pytest.raises(Refusal, match=sentence):
        attention(*arguments)
