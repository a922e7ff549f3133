"""Scores and attributions, against loops written by hand with plain transformers, and captum."""

import numpy as np
import pytest
import torch
from captum.attr import IntegratedGradients
from transformers import AutoModelForMaskedLM, AutoTokenizer

import explorer
from explorer.analysis.scoring import masked_sets
from explorer.models import run as runs
from explorer.models.forward import tokenize
from explorer.models.loading import load_model
from explorer.models.specs import MINI, MODEL_KEYS

SENTENCES = [
    "The cat sat on the mat.",
    "He doesn't like souvenirs.",
    "It rained. [SEP] We stayed at home.",
    "unbelievably",
]
TEXT = "The capital of France is [MASK], a city on the river."
OFF = 0.03


@pytest.fixture
def plain(tiny_family):
    """Return a function to a model's network and tokenizer, loaded by transformers."""

    def load(key):
        path = tiny_family.path / f"mini-{key}"
        network = AutoModelForMaskedLM.from_pretrained(path, attn_implementation="eager")
        return network.eval(), AutoTokenizer.from_pretrained(path)

    return load


def encoded(tokenizer, text):
    return tokenizer(*text.split(" [SEP] "), return_tensors="pt", return_token_type_ids=True)


def inputs_for(network, encoding):
    names = ("input_ids", "token_type_ids")
    takes = network.config.model_type != "distilbert"
    return {name: encoding[name] for name in names if takes or name == "input_ids"}


def log_probability(network, inputs, hidden, position, mask_id):
    ids = inputs["input_ids"].clone()
    target = int(ids[0, position])
    ids[0, list(hidden)] = mask_id
    with torch.no_grad():
        logits = network(**{**inputs, "input_ids": ids}).logits[0, position].double()
    return float(logits.log_softmax(-1)[target])


@pytest.mark.long
@pytest.mark.parametrize("key", MODEL_KEYS)
def test_a_score_is_that_of_a_loop_over_single_masks(plain, key):
    network, tokenizer = plain(key)
    for sentence in SENTENCES:
        score = explorer.score(sentence).models[key]
        encoding = encoded(tokenizer, sentence)
        inputs, mask = inputs_for(network, encoding), tokenizer.mask_token_id
        special = tokenizer.get_special_tokens_mask(
            encoding["input_ids"][0].tolist(), already_has_special_tokens=True
        )
        positions = [i for i, is_added in enumerate(special) if not is_added]
        assert score.positions == tuple(positions)
        by_hand = [log_probability(network, inputs, {i}, i, mask) for i in positions]
        np.testing.assert_allclose(score.alone, by_hand, rtol=1e-4, atol=1e-5)
        assert score.pll == pytest.approx(sum(by_hand), rel=1e-4)


@pytest.mark.long
@pytest.mark.parametrize("key", MODEL_KEYS)
def test_within_a_word_of_the_tokenizer_the_later_pieces_are_masked_too(plain, key):
    """This is the algorithm of minicons, whose words are the tokenizer's ``word_ids``."""
    network, tokenizer = plain(key)
    for sentence in (*SENTENCES, "The cat's well-known mat."):
        score = explorer.score(sentence).models[key]
        encoding = encoded(tokenizer, sentence)
        inputs, mask = inputs_for(network, encoding), tokenizer.mask_token_id
        words = [*zip(encoding.sequence_ids(), encoding.word_ids(), strict=True)]
        by_hand = [
            log_probability(
                network,
                inputs,
                {j for j in score.positions if j >= i and words[j] == words[i]},
                i,
                mask,
            )
            for i in score.positions
        ]
        np.testing.assert_allclose(score.within_word, by_hand, rtol=1e-4, atol=1e-5)
    assert score.pll_word_l2r != pytest.approx(score.pll)


def test_both_definitions_agree_on_words_of_one_piece(tiny_family):
    tokens = tiny_family.run("bert", "the cat").tokens
    alone, within = masked_sets(tokens)
    assert all(len(hidden) == 1 for _, hidden in alone)
    last = {word: i for i, word in enumerate(tokens.own_words)}
    for (position, hidden), (_, single) in zip(within, alone, strict=True):
        if position == last[tokens.own_words[position]]:
            assert hidden == single


@pytest.mark.parametrize(
    ("key", "text", "words"),
    [
        ("bert", "The dog's owner didn't come.", "the|dog|'|s|owner|didn|'|t|come|."),
        ("albert", "The dog's owner didn't come.", "▁the|▁dog's|▁owner|▁didn't|▁come."),
        ("distilbert", "A well-known girl sings.", "a|well|-|known|girl|sing##s|."),
        ("albert", "A well-known girl sings.", "▁a|▁well-known|▁girl|▁sings."),
        ("bert", "It sat. [SEP] It sat.", "it|sat|.|it|sat|."),
        ("albert", "It sat. [SEP] It sat.", "▁it|▁sat.|▁it|▁sat."),
    ],
)
def test_a_word_is_what_the_tokenizer_of_the_published_form_takes_for_one(key, text, words):
    tokens = tokenize(load_model(MINI[key], "cpu", "float32"), text)
    whole = {}
    for piece, word in zip(tokens.pieces, tokens.own_words, strict=True):
        whole[word] = whole.get(word, "") + piece
    assert "|".join(text for word, text in whole.items() if word >= 0) == words
    _, within = masked_sets(tokens)
    assert all(
        {tokens.own_words[j] for j in hidden} == {tokens.own_words[i]} for i, hidden in within
    )


def test_the_bundled_bert_prefers_the_sentence_with_the_genitive():
    """minicons 0.3.39 with transformers 4.57.6 on the bundled weights: +6.38 nats for BERT."""
    good, bad = (
        explorer.score(text).models["bert"].pll_word_l2r
        for text in ("The girl's mother sings.", "The girl mother sings.")
    )
    assert good - bad == pytest.approx(6.38, abs=0.005)


def test_a_score_does_not_depend_on_the_batch(tiny_family, monkeypatch):
    from explorer.library import predictions

    whole = explorer.score(SENTENCES[0])
    monkeypatch.setattr(predictions, "batches", lambda rows: runs.batches(rows, 1))
    single = explorer.score(SENTENCES[0])
    for key, score in whole.models.items():
        np.testing.assert_allclose(score.alone, single.models[key].alone, rtol=1e-5)


@pytest.mark.long
def test_no_batch_holds_more_than_its_share_of_tokens(tiny_family, monkeypatch):
    from explorer.models import read_at

    sizes, original = [], read_at.masked_targets

    def seen(loaded, rows, targets):
        sizes.append(sum(len(row.ids) for row in rows))
        return original(loaded, rows, targets)

    seen.__module__, seen.__qualname__ = original.__module__, original.__qualname__
    monkeypatch.setattr(read_at, "masked_targets", seen)
    explorer.score("the cat sat on the mat " * 12)
    assert max(sizes) <= runs.BATCH_TOKENS
    assert len(sizes) > len(MODEL_KEYS)


def value_of(network, inputs, position, target):
    """Return ln P(target) at a position as a function of the word embeddings."""

    def value(embedded):
        others = {n: v.expand(len(embedded), -1) for n, v in inputs.items() if n != "input_ids"}
        logits = network(inputs_embeds=embedded, **others).logits[:, position]
        return logits[:, target] - logits.logsumexp(-1)

    return value


@pytest.mark.long
@pytest.mark.parametrize("key", MODEL_KEYS)
def test_gradients_are_those_of_captum(plain, key):
    network, tokenizer = plain(key)
    result = explorer.attribute(TEXT).models[key]
    text = TEXT.replace("[MASK]", tokenizer.mask_token)
    encoding = tokenizer(
        text, return_tensors="pt", return_token_type_ids=True, return_offsets_mapping=True
    )
    inputs, mask = inputs_for(network, encoding), tokenizer.mask_token_id
    ids = inputs["input_ids"]
    position = int((ids[0] == mask).nonzero()[0, 0])
    target = tokenizer.convert_tokens_to_ids(result.target)
    special = tokenizer.get_special_tokens_mask(ids[0].tolist(), already_has_special_tokens=True)
    masked = torch.where(torch.tensor([special], dtype=torch.bool), ids, mask)
    embed, value = network.get_input_embeddings(), value_of(network, inputs, position, target)
    attributions = IntegratedGradients(value).attribute(
        embed(ids).detach(), embed(masked).detach(), n_steps=400, internal_batch_size=40
    )
    per_token = attributions.sum(-1)[0].detach().numpy()
    assert result.integrated_gradients.sum() == pytest.approx(per_token.sum(), abs=OFF)
    assert result.completeness_error < 2 * OFF
    words = iter_words(encoding["offset_mapping"][0].tolist(), special, text)
    by_word = np.zeros(len(result.words))
    for word, amount in zip(words, per_token, strict=True):
        if word >= 0:
            by_word[word] += amount
    np.testing.assert_allclose(result.integrated_gradients, by_word, atol=OFF)


def iter_words(spans, special, text):
    """Return for each token the index of its word: runs of letters, the mask, or single signs."""
    import re

    found = list(re.finditer(r"\[MASK\]|\w+|[^\w\s]", text))
    for (start, end), is_added in zip(spans, special, strict=True):
        while start < end and text[start] == " ":
            start += 1
        inside = [i for i, word in enumerate(found) if word.start() <= start < word.end()]
        yield -1 if is_added or not inside else inside[0]


@pytest.mark.parametrize("key", MODEL_KEYS)
def test_leave_one_out_is_that_of_a_loop_over_masked_words(plain, tiny_family, key):
    network, tokenizer = plain(key)
    result = explorer.attribute(TEXT).models[key]
    tokens = tiny_family.run(key, TEXT).tokens
    encoding = encoded(tokenizer, TEXT.replace("[MASK]", tokenizer.mask_token))
    inputs, position = inputs_for(network, encoding), tokens.mask_positions[0]
    target = tokenizer.convert_tokens_to_ids(result.target)

    def at_mask(ids):
        with torch.no_grad():
            logits = network(**{**inputs, "input_ids": ids}).logits[0, position].double()
        return float(logits.log_softmax(-1)[target])

    whole = at_mask(inputs["input_ids"])
    assert result.log_probability == pytest.approx(whole, abs=1e-4)
    for word, decrease in enumerate(result.leave_one_out):
        ids = inputs["input_ids"].clone()
        for place, of in enumerate(tokens.word_index):
            if of == word:
                ids[0, place] = tokenizer.mask_token_id
        assert decrease == pytest.approx(whole - at_mask(ids), abs=1e-4), result.words[word]
    assert result.leave_one_out[result.at] == 0
    assert result.integrated_gradients[result.at] == 0


def test_a_named_target_is_the_one_that_is_attributed(tiny_family):
    result = explorer.attribute("The [MASK] sat. [SEP] A [MASK] ran.", target="cat", mask=1)
    for key, attribution in result.models.items():
        run = tiny_family.run(key, "The [MASK] sat. [SEP] A [MASK] ran.")
        logits = run.mask_logits[1].astype(np.float64)
        target = run.vocabulary.index(attribution.target)
        expected = logits[target] - np.logaddexp.reduce(logits)
        assert attribution.log_probability == pytest.approx(expected, abs=1e-4)


@pytest.mark.parametrize(
    ("ask", "sentence"),
    [
        (lambda: explorer.score("a [MASK]"), "scored with all of its words"),
        (lambda: explorer.score(" "), "There is no text yet"),
        (lambda: explorer.attribute("no mask"), "The text has no [MASK]"),
        (
            lambda: explorer.attribute("a [MASK]", mask=1),
            "The text has one [MASK]; its number is 0.",
        ),
        (lambda: explorer.attribute("a [MASK]", target="two words"), "is not one piece"),
    ],
)
def test_what_cannot_be_answered_is_refused(tiny_family, ask, sentence):
    with pytest.raises(explorer.Refusal) as refused:
        ask()
    assert sentence in str(refused.value)


def test_the_endpoints_take_texts_of_sixty_four_words(tiny_family):
    from tests.endpoints import ablate, attribute, score

    masked = "word " * 64 + "[MASK]"
    for endpoint, text in ((score, "word " * 65), (attribute, masked), (ablate, masked)):
        with pytest.raises(explorer.Refusal, match="The text has 65 words"):
            endpoint(text)
    assert ablate(masked, heads={"bert": [[0, 0]]})["models"], "some heads take one pass"


def test_bars_of_a_word_that_is_repeated_stand_apart(tiny_family):
    (trace, *_) = explorer.attribute("the cat and the [MASK]").figure().data
    assert len(set(trace.x)) == len(trace.x) == 5


def test_the_text_of_contexts_is_the_one_that_was_run(tiny_family):
    found = explorer.contexts("The [he|she] is [mask].").to_dict()
    assert found["text"] == explorer.predict("The [he|she] is [mask].").to_dict()["text"]
