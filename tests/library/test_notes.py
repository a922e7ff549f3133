"""``result.notes`` says what a model cannot tell of a text, and how a user's files are read."""

import pytest
from transformers import AutoModelForPreTraining

import explorer
from explorer.analysis.digits import percent
from explorer.library.command import main
from tests.tiny_models import make_albert, make_bert, save


@pytest.fixture
def own(tiny_family, own_models, tmp_path):
    save(*make_bert(2, 4, 32), tmp_path / "a-bert")
    return tmp_path / "a-bert"


UNKNOWN = "the cat 漢 sat on the “[MASK]"


def test_every_result_names_the_characters_that_a_model_does_not_know(tiny_family):
    tokens = tiny_family.run("bert", UNKNOWN).tokens
    n, pieces = tokens.pieces.count("[UNK]"), len(tokens) - 2
    said = f"mini-BERT reads {n} of {pieces} pieces as [UNK]: it does not know 漢 and “."
    for function in (explorer.predict, explorer.attention, explorer.contexts, explorer.depth):
        assert said in function(UNKNOWN).notes, function
    assert explorer.predict("the cat sat on the [MASK]").notes == ()


def test_a_sign_that_the_vocabulary_has_is_offered(tiny_family):
    notes = explorer.predict("it’s [MASK]").notes
    assert any("’ (type ')" in note for note in notes)


def test_an_invisible_character_is_named_by_its_number(tiny_family):
    notes = explorer.predict("a so\u00adft [MASK]").notes
    assert any("U+00AD (invisible: leave it out)" in note for note in notes if "ALBERT" in note)


def test_notes_are_of_the_call_that_made_the_result(tiny_family):
    first = explorer.predict(UNKNOWN)
    assert explorer.predict("the cat sat on the [MASK]").notes == ()
    assert first.notes


def test_a_shell_prints_the_notes_above_the_table(tiny_family, capsys):
    assert main(["predict", UNKNOWN]) == 0
    assert "it does not know 漢" in capsys.readouterr().out.partition("┏")[0]


def test_words_that_share_a_token_are_named(tiny_family, own_models, tmp_path):
    from tokenizers import Tokenizer

    network, tokenizer = make_albert(2, 4, 48, 16)
    save(network, tokenizer, tmp_path / "an-albert")
    path = tmp_path / "an-albert" / "tokenizer.json"
    path.write_text(path.read_text("utf-8").replace('"▁cat"', '"▁cat,"'), "utf-8")
    assert Tokenizer.from_file(str(path)).token_to_id("▁cat,") is not None
    family = explorer.load({"albert": tmp_path / "an-albert"})
    (note,) = explorer.predict("the cat, [MASK]", family).notes
    assert note == (
        "an-albert reads “cat” and “,” as one token: what is computed for it counts for “cat” only."
    )


def test_several_words_that_share_tokens_are_named_in_one_sentence():
    from explorer.library.strings import _joined_note

    (note,) = _joined_note("x", [("cat", ","), ("C", "C")])
    assert note == (
        "x reads “cat”+“,” and “C”+“C” as one token each: what is computed for it counts for the "
        "first word only."
    )
    (note,) = _joined_note("x", [(str(n), ",") for n in range(9)])
    assert "and 3 more as one token each" in note


def test_how_a_user_s_files_are_read_is_in_the_notes(own):
    import json

    values = json.loads((own / "config.json").read_text()) | {"window": 3}
    (own / "config.json").write_text(json.dumps(values))
    result = explorer.predict("the [MASK]", explorer.load({"bert": own}))
    assert result.notes == (
        "a-bert: Its config.json has window, which no network here computes with.",
    )


def test_layers_are_compared_over_texts_of_one_s_own_and_unknown_pieces_are_said(tiny_family):
    texts = ["the cat sat on the mat", "a dog 漢 in london", "the capital of france is paris"]
    result = explorer.similarity(texts=texts)
    runs = [tiny_family.run("bert", text).tokens for text in texts]
    n = sum(len(tokens) - 2 for tokens in runs)
    assert result.unknown["bert"] == pytest.approx(
        sum(tokens.pieces.count("[UNK]") for tokens in runs) / n
    )
    assert result.layers.n_words == sum(len(tokens.words) for tokens in runs)
    assert any(said.startswith("bert reads ") for said in result.sentences())
    assert result.layers.n_words != explorer.similarity(texts=texts[:2]).layers.n_words


def test_an_answer_that_would_merge_with_its_neighbour_has_the_rank_of_its_piece(tiny_family):
    """In place of the mask it would be part of *paris*, which is one piece."""
    text = "the p[MASK]ris sat"
    frame = explorer.texts([{"text": text, "answer": "a"}] * 2, kind="masked").to_frame()
    run = tiny_family.run("bert", text)
    logits = run.mask_logits[0]
    wanted = 1 + int((logits > logits[run.vocabulary.index("a")]).sum())
    found = frame[frame["model"] == "bert"]
    assert found["answer_rank"].tolist() == [wanted, wanted]
    assert found["answer_pieces"].tolist() == [1, 1]


def test_parameters_take_a_family(tiny_family):
    by_names = explorer.parameters(["mini-bert", "mini-distilbert", "mini-albert"])
    assert explorer.parameters(explorer.load("mini")).rows() == by_names.rows()


def test_parameters_take_a_family_of_ones_own(own):
    family = explorer.load({"before": own, "after": "mini-albert"})
    counts = {row.name: row.total for row in explorer.parameters(family).models}
    network = AutoModelForPreTraining.from_pretrained(own)
    kept = {p.data_ptr(): p.numel() for p in network.bert.parameters()}
    assert counts[family.specs["before"].name] == sum(kept.values())
    assert list(counts) == [spec.name for spec in family.specs.values()]


@pytest.mark.parametrize(
    "labels",
    [("LABEL_0", "LABEL_1"), ("POSITIVE", "NEGATIVE"), tuple(f"class {i}" for i in range(50))],
)
def test_a_classifier_of_other_labels_is_told_how_to_name_them(own, labels):
    from transformers import BertForSequenceClassification

    network = BertForSequenceClassification.from_pretrained(
        own, id2label=dict(enumerate(labels)), num_labels=len(labels)
    )
    network.save_pretrained(own)
    family = explorer.load({"bert": own})
    with pytest.raises(explorer.Refusal) as refused:
        explorer.sentiment("a good cat", family)
    named = ", ".join(labels[:5]) + " and 45 more" * (len(labels) > 5)
    said = f"brings a classifier with the labels {named}. A sentiment head has two"
    assert said in str(refused.value)


def save_formulas(folder):
    """Save a BERT whose tokenizer makes a token of each atom, and passes over all else."""
    from tokenizers import Regex, Tokenizer, models, pre_tokenizers, processors
    from transformers import BertConfig, BertForMaskedLM, PreTrainedTokenizerFast

    pieces = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]", *"CNOS()="]
    core = Tokenizer(models.WordLevel({p: i for i, p in enumerate(pieces)}, "[UNK]"))
    atoms = Regex(r"\[MASK\]|[CNOSP()=]")
    core.pre_tokenizer = pre_tokenizers.Split(atoms, "removed", invert=True)
    ends = [(end, pieces.index(end)) for end in ("[CLS]", "[SEP]")]
    core.post_processor = processors.TemplateProcessing(
        single="[CLS] $A [SEP]", pair="[CLS] $A [SEP] $B [SEP]", special_tokens=ends
    )
    named = {f"{name.lower()}_token": f"[{name}]" for name in ("PAD", "UNK", "CLS", "SEP", "MASK")}
    tokenizer = PreTrainedTokenizerFast(tokenizer_object=core, **named)
    shape = {"hidden_size": 32, "num_hidden_layers": 2, "num_attention_heads": 4}
    save(BertForMaskedLM(BertConfig(vocab_size=len(pieces), **shape)), tokenizer, folder)


def test_characters_that_a_tokenizer_passes_over_are_counted(own_models, tmp_path):
    save_formulas(tmp_path / "formulas")
    family = explorer.load({"x": tmp_path / "formulas", "y": tmp_path / "formulas"})
    skips = "x skips 4 of 6 characters, for which its tokenizer has no token: e, a and t."
    assert skips in explorer.predict("CO eat a [MASK]", family).notes
    assert explorer.predict("CC(=O)[MASK]", family).notes == ()
    # A sentence pair's own mark is no character of its sentences.
    assert explorer.predict("CC(=O)[MASK] [SEP] CO", family).notes == ()
    texts = ["CC(=O)OCC eat", "CO and CCO, CP"]
    words = "eat", "and,"
    share = sum(map(len, words)) / sum(len(text.replace(" ", "")) for text in texts)
    alike = explorer.similarity(family, texts)
    assert alike.skipped == {"x": pytest.approx(share), "y": pytest.approx(share)}
    assert alike.unknown["x"] == pytest.approx(1 / 16), "the P"
    assert f"x skips {percent(share)} of the characters" in " ".join(alike.sentences())
    moved = explorer.changed(family, rows=texts)
    assert (moved.skipped, moved.unknown) == pytest.approx((share, 1 / 16))
    assert moved.to_dict()["skipped"] == moved.skipped
    assert any("x and y" in said and "skip" in said for said in moved.sentences())
    assert dict(explorer.similarity("mini", ["The cat sat.", "It was."]).skipped)["bert"] == 0
