import math
import random
from dataclasses import replace

import numpy as np
import pytest
import torch
from tokenizers import Tokenizer
from transformers import BertForPreTraining

from explorer.refusal import Refusal
from training.family import new_model
from training.recipe import TINY, Place
from training.report import evaluate, heldout
from training.report.card import schedule_line
from training.report.cloze_eval import Reading
from training.report.evaluate import answer_rank, retention
from training.report.perplexity import pseudo_perplexity, shared_passages
from training.report.sentiment import Sentiment, read_examples, sst2_accuracy
from training.steps import objectives
from training.steps.ablation import VARIANTS, ablate
from training.steps.export import Export, forget_stale, halve, write_model, write_tokenizer
from training.steps.loop import TrainingBudget, half_precision
from training.steps.prepare import Source, prepare
from training.steps.pretrain import Setting
from training.text.batch import MASK
from training.text.batches import Sampler
from training.text.corpus import Shard
from training.text.pieces import Pieces
from training.text.vocabulary import load_pieces


@pytest.fixture(scope="module")
def setting(toy_corpus, tmp_path_factory):
    place = Place(tmp_path_factory.mktemp("evaluate"))
    prepare(place, TINY, Source(str(toy_corpus)))
    return Setting(place, TINY, TrainingBudget(tokens=1500), "random")


@pytest.fixture(scope="module")
def shard():
    rng = np.random.default_rng(1)
    ids = rng.integers(5, TINY.vocabulary, size=400).astype(np.uint16)
    sentences = np.arange(0, 401, 8)
    return Shard(ids, sentences, np.arange(0, 51, 5), np.full(50, 6, dtype=np.uint16))


@pytest.fixture
def model():
    torch.manual_seed(4)
    return new_model("mini-bert", TINY).eval()


@pytest.mark.parametrize("onward", [False, True])
def test_pseudo_perplexity_is_that_of_plain_transformers(model, shard, onward):
    """Pieces 5 to 99 go on with a word, the others begin one; none is a sign."""
    passages = [(0, 2), (5, 8)]
    names = [f"##{i}" if i < 100 else str(i) for i in range(TINY.vocabulary)]
    total, words = 0.0, 0
    for low, high in passages:
        text = [2, *shard.ids[shard.sentences[low] : shard.sentences[high]].tolist(), 3]
        words += 6 * (high - low)
        for place in range(1, len(text) - 1):
            end = place + 1
            while onward and end < len(text) - 1 and 5 <= text[end] < 100:
                end += 1
            ids = torch.tensor([text])
            ids[0, place:end] = 4
            with torch.no_grad():
                scores = model(input_ids=ids).prediction_logits[0, place]
            total += scores.log_softmax(-1)[text[place]].item()
    reading = Reading(shard, Pieces.of(names, np.zeros(len(names))), names)
    found = pseudo_perplexity(model, reading, passages)
    assert found.words == words
    expected = math.exp(-total / words)
    assert (found.onward if onward else found.alone) == pytest.approx(expected, rel=1e-4)


def test_masked_accuracy_counts_what_plain_transformers_guesses(model, shard, monkeypatch):
    monkeypatch.setattr(heldout, "half_precision", lambda device: torch.inference_mode())
    recipe = replace(TINY, single_share=1.0)
    batch = Sampler(shard, recipe, "nsp", heldout.HELDOUT_SEED).batch(0, TINY.positions)
    with torch.no_grad():
        scores = model(
            input_ids=batch.ids, attention_mask=batch.mask, token_type_ids=batch.types
        ).prediction_logits.reshape(-1, TINY.vocabulary)[batch.masked_positions]
    order = scores.argsort(-1, descending=True)
    found = heldout.masked_accuracy(model, shard, TINY, 1)
    assert found.count == len(batch.labels)
    assert found.top1 == pytest.approx((order[:, 0] == batch.labels).float().mean().item())
    among = (order[:, :5] == batch.labels[:, None]).any(-1).float().mean().item()
    assert found.top5 == pytest.approx(among)
    expected = torch.nn.functional.cross_entropy(scores, batch.labels).item()
    assert found.loss == pytest.approx(expected, rel=1e-5)


def test_half_precision_is_only_a_context_for_the_forward_pass(model, shard):
    batch = Sampler(shard, TINY, "nsp", 1).batch(0)
    with torch.no_grad(), half_precision(torch.device("cpu")):
        rough = objectives.run_batch(model, batch).words.float()
    with torch.no_grad():
        exact = objectives.run_batch(model, batch).words
    torch.testing.assert_close(rough, exact, atol=0.05, rtol=0.05)


def test_pairs_are_judged_on_unmasked_text(model, shard, monkeypatch):
    sampler = Sampler(shard, replace(TINY, single_share=0.0), "nsp", 2)
    right = count = 0
    for step in range(3):
        batch = sampler.batch(step, 64)
        ids = batch.ids.clone().reshape(-1)
        ids[batch.masked_positions] = batch.labels
        with torch.no_grad():
            scores = model(
                input_ids=ids.reshape(batch.ids.shape),
                attention_mask=batch.mask,
                token_type_ids=batch.types,
            ).seq_relationship_logits
        known = batch.pairs != -100
        right += int((scores.argmax(-1) == batch.pairs)[known].sum())
        count += int(known.sum())
    assert heldout.pair_accuracy(model, sampler, 3) == (right / count, count)

    seen = []
    guess = heldout.run_batch
    monkeypatch.setattr(
        heldout, "run_batch", lambda made, batch: seen.append(batch) or guess(made, batch)
    )
    heldout.pair_accuracy(model, sampler, 3)
    assert len(seen) == 3
    assert all((batch.ids != MASK).all() for batch in seen)


def test_both_vocabularies_are_asked_about_the_same_texts(setting):
    bert, albert = (setting.shard(kind, "heldout") for kind in ("bert", "albert"))
    passages = shared_passages(bert, albert, 5, TINY.positions)
    pieces = [Tokenizer.from_file(str(setting.paths.vocabulary(k))) for k in ("bert", "albert")]
    assert len(passages) == 5
    for low, high in passages:
        texts = []
        for shard, tokenizer in zip((bert, albert), pieces, strict=True):
            ids = shard.ids[shard.sentences[low] : shard.sentences[high]]
            assert 0 < len(ids) <= TINY.positions - 2
            texts.append("".join(tokenizer.decode(ids.tolist()).split()))
        assert texts[0].replace("##", "") == texts[1]


def test_the_rank_of_an_answer_is_its_place_among_all_pieces(setting, model, tmp_path):
    folder = tmp_path / "mini-bert"
    write_model(model, folder)
    write_tokenizer(setting, "bert", folder)
    pieces = load_pieces(setting.paths.vocabulary("bert"))
    ids = [2, pieces.index("the"), 4, pieces.index("."), 3]
    with torch.no_grad():
        scores = halve(model)(input_ids=torch.tensor([ids])).prediction_logits[0, 2]
    order = scores.argsort(descending=True).tolist()
    for answer in ("cat", "river"):
        expected = order.index(pieces.index(answer)) + 1
        assert answer_rank(folder, "The [MASK].", answer) == expected
    assert answer_rank(folder, "The [MASK].", "catriver") is None


def test_retention_is_the_students_share_of_the_teacher():
    models = {
        "mini-bert": {"masked_top1": 0.5, "sst2": 0.8},
        "mini-distilbert": {"masked_top1": 0.4},
    }
    assert retention(models) == {"masked_top1": 0.8}


@pytest.mark.processes
def test_the_ablation_trains_five_students_equally(setting, tmp_path):
    export = Export(tmp_path, batches=2)
    torch.manual_seed(0)
    write_model(new_model("mini-bert", TINY), tmp_path / "mini-bert")
    found = ablate(setting, export)["students"]
    assert list(found) == list(VARIANTS)
    assert len({figures["steps"] for figures in found.values()}) == 1
    assert len({figures["masked_loss"] for figures in found.values()}) == len(VARIANTS)
    assert found["full triple loss"]["change"] == 0


def test_halving_is_what_a_reader_loads(model, tmp_path):
    write_model(model, tmp_path / "mini-bert")
    loaded = BertForPreTraining.from_pretrained(tmp_path / "mini-bert").state_dict()
    for name, weight in halve(model).state_dict().items():
        assert torch.equal(loaded[name], weight)


@pytest.mark.processes
def test_sentiment_is_learned_when_it_is_easy(setting, tmp_path):
    rng = random.Random(0)
    for part, rows in (("train", 900), ("dev", 120)):
        lines = ["sentence\tlabel"]
        for _ in range(rows):
            label = rng.randint(0, 1)
            lines.append(f"the {'cat' if label else 'dog'} sees the river\t{label}")
        (tmp_path / f"sst2-{part}.tsv").write_text("\n".join(lines) + "\n")
    folder = tmp_path / "mini-bert"
    torch.manual_seed(0)
    write_model(new_model("mini-bert", TINY), folder)
    write_tokenizer(setting, "bert", folder)
    sentiment = Sentiment(tmp_path, examples=900, rate=3e-3)
    assert read_examples(tmp_path, "dev")[0][1] in (0, 1)
    assert sst2_accuracy(folder, sentiment) > 0.95
    with pytest.raises(Refusal, match="no sst2-train"):
        read_examples(tmp_path / "mini-bert", "train")


def test_new_weights_forget_what_was_measured_between_the_old_ones():
    kept = {"retention": {"sst2": 1.0}, "ablation": {"students": {}}, "models": {}}
    albert, student, teacher = (dict(kept) for _ in range(3))
    forget_stale(albert, "mini-albert")
    assert albert == kept
    forget_stale(student, "mini-distilbert")
    assert set(student) == {"ablation", "models"}
    forget_stale(teacher, "mini-bert")
    assert set(teacher) == {"models"}


@pytest.mark.parametrize(
    ("rates", "sentence"),
    [([1e-4, 5e-4, 2e-4, 0.0], "One run with linear warm-up"),
     ([1e-4, 5e-4, 0.0, 3e-4, 1e-4, 0.0], "2 runs, one going on from another, each with its own"),
     ([1e-4, 5e-4, 5e-4, 0.0], "One run with linear warm-up over 3% and linear decay to 0 after a")],
)  # fmt: skip
def test_a_card_counts_the_runs_of_a_learning_curve(rates, sentence):
    line = schedule_line(rates)
    assert line.startswith(sentence)
    assert "up to 0.0005" in line


def test_a_part_that_measures_nothing_leaves_its_protocol(setting, monkeypatch, tmp_path):
    results = {"models": {}, "protocol": {"sst2": "as it was measured"}}
    for name in ("write_results", "write_card", "write_overview"):
        monkeypatch.setattr(evaluate, name, lambda *_: None)
    monkeypatch.setattr(evaluate, "read_results", lambda _: results)
    monkeypatch.setattr(evaluate, "load_model", lambda _: new_model("mini-bert", TINY))
    chosen = evaluate.Evaluation(parts=("sst2",))
    evaluate.evaluate(setting, Export(tmp_path), chosen, ["mini-bert"])
    assert results["protocol"] == {"sst2": "as it was measured"}
