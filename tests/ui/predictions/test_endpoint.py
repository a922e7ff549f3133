"""/predict against plain transformers on the same directories: nothing of the explorer in between."""

import math
from dataclasses import replace

import pytest
import torch
from transformers import AutoModelForMaskedLM, AutoTokenizer, pipeline

from explorer.models import specs
from explorer.refusal import Refusal
from tests.endpoints import predict

BUNDLED = specs.BUNDLED
TEXTS = [
    "The capital of France is [MASK].",
    "[MASK]",
    "[MASK] [MASK]",
    "It is [MASK], AND naïve!",
    '"What do you [MASK]?" she asked.',
    "The [MASK] sat on the [MASK] and looked at the [MASK].",
    "東京は [MASK] です",
    "emoji 😀 [MASK] 🎉",
    "e = m c [MASK] 2",
    "a [MASK]b c",
    "word[MASK]",
    "[MASK]word",
    "it's [MASK]'s",
    "co-[MASK]-op",
    "  spaces   around [MASK]  ",
    "tab\t[MASK]\tend",
    "x" * 60 + " [MASK]",
    "http://example.org/[MASK]",
    "§ ¶ † [MASK] ‡",
    "Не знаю [MASK] слово",
    "<b>bold</b> [MASK] & more",
    "The sun went down. [SEP] It was [MASK] in the house.",
    "[MASK] rain [SEP] wet [MASK]",
    "Is it [MASK]? [SEP] Yes, it is.",
    "antidisestablishmentarianism [MASK]",
    "$100 is [MASK] money",
    "Long ago " + "the old king of the north and his men rode on and on " * 6 + "to the [MASK].",
]


@pytest.fixture(scope="module")
def networks():
    """The bundled directories read by somebody who knows nothing of the explorer."""
    return {
        key: (
            AutoModelForMaskedLM.from_pretrained(path, dtype=torch.float32).eval(),
            AutoTokenizer.from_pretrained(path),
        )
        for key, path in ((k, BUNDLED / spec.name) for k, spec in specs.MINI.items())
    }


def reference(network, tokenizer, text):
    encoded = tokenizer(*text.split("[SEP]"), return_tensors="pt", return_token_type_ids=True)
    if "distil" in type(network).__name__.lower():
        encoded.pop("token_type_ids")
    with torch.no_grad():
        logits = network(**encoded).logits[0]
    masks = (encoded["input_ids"][0] == tokenizer.mask_token_id).nonzero()[:, 0].tolist()
    probs = {mask: logits[mask].double().softmax(-1) for mask in masks}
    return tokenizer.convert_ids_to_tokens(encoded["input_ids"][0]), masks, probs


@pytest.mark.long
def test_it_equals_plain_transformers_on_the_bundled_weights(networks):
    for text in TEXTS:
        print(text)  # noqa: T201 - shown with a failure
        equals_plain_transformers(networks, text)


def equals_plain_transformers(networks, text):
    answer = predict(text, "mini", 50)
    assert [model["model"] for model in answer["models"]] == list(specs.MODEL_KEYS)
    for model in answer["models"]:
        # The page trims a text before it runs; the reference gets the text as it was run.
        tokens, masks, probs = reference(*networks[model["model"]], answer["text"])
        assert model["tokens"] == tokens
        assert [mask["position"] for mask in model["masks"]] == masks
        for mask in model["masks"]:
            expected = probs[mask["position"]]
            listed = [p["probability"] for p in mask["predictions"]]
            ids = [p["id"] for p in mask["predictions"]]
            assert listed == pytest.approx(expected[ids].tolist(), abs=1e-5)
            assert listed == pytest.approx(expected.topk(50).values.tolist(), abs=1e-5)
            assert mask["remaining"] == pytest.approx(1 - math.fsum(listed), abs=1e-9)


@pytest.mark.parametrize("text", [*TEXTS[:2], "Не знаю [MASK] слово", "$100 is [MASK] money"])
def test_it_equals_the_fill_mask_pipeline(networks, text):
    for model in predict(text, "mini", 5)["models"]:
        network, tokenizer = networks[model["model"]]
        filled = pipeline("fill-mask", model=network, tokenizer=tokenizer)(text, top_k=5)
        listed = model["masks"][0]["predictions"]
        assert [p["id"] for p in listed] == [f["token"] for f in filled]
        assert [p["probability"] for p in listed] == pytest.approx(
            [f["score"] for f in filled], abs=1e-5
        )


def test_a_model_that_cannot_be_had_is_named_beside_the_others(tiny_family, monkeypatch):
    spec = specs.MINI["distilbert"]
    monkeypatch.setitem(specs.MINI, "distilbert", replace(spec, name="mini-nowhere"))
    answer = predict("the [MASK] sat", "mini", 3)
    assert [model["model"] for model in answer["models"]] == ["bert", "albert"]
    (sentence,) = answer["missing"]
    assert spec.label in sentence


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (("no gap", "mini", 5), "no \\[MASK\\]"),
        (("", "mini", 5), "no text yet"),
        (("[MASK]", "huge", 5), "no such family"),
        (("[MASK]", "mini", 0), "1 to 50"),
        (("[MASK]", "mini", 51), "1 to 50"),
        (("[MASK]", "mini", 2.5), "1 to 50"),
        (("[MASK]", "mini", float("nan")), "1 to 50"),
        (("[MASK]", "mini", True), "1 to 50"),
        (("[MASK]", "mini", "<b>"), "1 to 50"),
        (("[MASK] " * 600, "mini", 5), "512 fit"),
    ],
)
def test_bad_input_is_refused_in_one_sentence(tiny_family, arguments, sentence):
    with pytest.raises(Refusal, match=sentence):
        predict(*arguments)
