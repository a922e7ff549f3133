"""Vocabularies in further forms: each is read as its publishers mean it, or refused by name."""

import itertools
import json
import shutil
import sys

import pytest
import torch
from tokenizers import CharBPETokenizer
from transformers import AutoTokenizer, BertConfig, BertForMaskedLM

import explorer
from explorer.library import checkpoints
from explorer.models.choice.reading import read_tokenizer
from explorer.models.choice.refused import NotAModel
from explorer.models.choice.sentencepieces import sentencepiece_tokenizer
from explorer.models.convert.folder import words_tokenizer
from explorer.models.tokens import WORD_ENDS, spelling_of, word_id
from tests.tiny_models import LETTERS, make_bert, save, wordpieces

SPECIAL = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]"]
SENTENCES = [
    " ".join(parts)
    for parts in itertools.product(
        ("The old Cat", "A small Dog", "our new teacher", "that quiet Child"),
        ("found", "carried", "wanted", "painted"),
        (
            "a well-known song.",
            "the Red Ball of 2010, ",
            "an old Book (again).",
            "a half-open door.",
        ),
    )
]
TEXTS = (
    *SENTENCES,
    "a half-open door",
    "our “new” Teacher -- of 2010, and 1,000, too",
    "  found   again\tand again ",
    "don’t",
    "",
)


@pytest.fixture(autouse=True)
def as_before(own_models, monkeypatch):
    """Restore the choice of models after each test; six texts are enough for small networks."""
    monkeypatch.setattr(checkpoints, "TEXTS", checkpoints.TEXTS[:6])


@pytest.fixture(scope="module")
def trained(tmp_path_factory):
    """Function that returns a sentencepiece model of the sentences, written under a name."""
    sentencepiece = pytest.importorskip("sentencepiece")

    def train(name, **options):
        folder = tmp_path_factory.mktemp("pieces")
        sentencepiece.SentencePieceTrainer.train(
            sentence_iterator=iter(SENTENCES),
            model_prefix=str(folder / name.removesuffix(".model")),
            hard_vocab_limit=False,
            minloglevel=2,
            **{"vocab_size": 60, **options},
        )
        processor = sentencepiece.SentencePieceProcessor(model_file=str(folder / name))
        return folder, processor

    return train


OF_FAIRSEQ = {"unk_id": 0, "bos_id": 1, "eos_id": 2, "pad_id": -1}
OF_ALBERT = {
    "pad_id": 0,
    "unk_id": 1,
    "bos_id": -1,
    "eos_id": -1,
    "control_symbols": ["[CLS]", "[SEP]", "[MASK]"],
}


@pytest.mark.parametrize(("key", "first"), [("xlm-roberta", 1), ("camembert", 4)])
@pytest.mark.parametrize("kind", ["unigram", "bpe"])
def test_a_sentencepiece_model_of_fairseq_is_read_without_its_library(
    trained, key, first, kind, monkeypatch
):
    """The rows of an XLM-RoBERTa are sentencepiece's ids and 1, those of a CamemBERT 4 more."""
    options = OF_FAIRSEQ | {"vocab_size": 90}
    folder, processor = trained("sentencepiece.bpe.model", model_type=kind, **options)
    (folder / "config.json").write_text(json.dumps({"model_type": key}))
    monkeypatch.setitem(sys.modules, "sentencepiece", None)
    rows = processor.get_piece_size() + first + 1
    tokenizer = read_tokenizer(folder, rows, "mine").tokenizer
    cls, sep = tokenizer.cls_token_id, tokenizer.sep_token_id
    for text in TEXTS:
        wanted = [
            tokenizer.unk_token_id if i == processor.unk_id() else i + first
            for i in processor.encode(text)
        ]
        assert tokenizer(text).input_ids == [cls, *wanted, sep], text
    assert tokenizer.mask_token_id == len(tokenizer) - 1 == rows - 1
    assert tokenizer("a", "b").input_ids.count(sep) == 3


def test_pieces_of_byte_pair_encoding_are_merged_by_their_order(trained):
    folder, processor = trained("spiece.model", model_type="bpe", **OF_ALBERT | {"vocab_size": 90})
    tokenizer = sentencepiece_tokenizer(
        folder / "spiece.model", {"do_lower_case": False, "keep_accents": True}
    )
    for text in TEXTS:
        ids = tokenizer(text, add_special_tokens=False).input_ids
        assert ids == processor.encode(text), text


def test_a_cased_spiece_model_without_a_statement_keeps_its_case(trained):
    folder, processor = trained("spiece.model", **OF_ALBERT)
    read = read_tokenizer(folder, processor.get_piece_size(), "mine")
    text = "The old Cat found the Red Ball"
    assert read.tokenizer.tokenize(text) == processor.encode(text, out_type=str)
    assert not read.lower_case
    assert "so it is read as it is written, with capitals" in read.notes[1]
    (folder / "tokenizer_config.json").write_text(json.dumps({"do_lower_case": True}))
    stated = read_tokenizer(folder, processor.get_piece_size(), "mine")
    assert stated.lower_case
    assert "cannot occur" in stated.notes[1]


def vocabulary(folder, pieces=(), **settings):
    folder.mkdir(exist_ok=True)
    (folder / "vocab.txt").write_text("\n".join(pieces) + "\n", "utf-8")
    (folder / "tokenizer_config.json").write_text(json.dumps(settings))
    (folder / "config.json").write_text(json.dumps({"model_type": "bert"}))
    return folder


def test_sentencepieces_in_a_vocab_txt_are_no_wordpieces(tmp_path):
    folder = vocabulary(tmp_path / "kobert", [*SPECIAL, "▁the", "▁cat", "s", "at"])
    with pytest.raises(NotAModel, match=r"pieces of sentencepiece, such as ▁the, and no file"):
        read_tokenizer(folder, 9, "mine")


def test_byte_pair_encoding_without_its_merges_is_named(tmp_path):
    (tmp_path / "vocab.json").write_text("{}")
    with pytest.raises(NotAModel, match=r"a vocab\.json without its merges\.txt"):
        read_tokenizer(tmp_path, 9, "mine")


@pytest.mark.parametrize(
    ("settings", "said"),
    [
        ({"tokenizer_class": "PhobertTokenizer"}, "whose files only a program in Python reads"),
        ({"tokenizer_class": "BertJapaneseTokenizer"}, "which needs fugashi and does not"),
        (
            {"tokenizer_class": "BertJapaneseTokenizer", "word_tokenizer_type": "sudachi"},
            "which needs sudachipy and does not",
        ),
        (
            {"tokenizer_class": "BertJapaneseTokenizer", "word_tokenizer_type": "basic"},
            "is written in Python and does not say where its tokens are in a text: “python -m",
        ),
    ],
)
def test_a_tokenizer_in_python_is_refused_with_what_it_needs(tmp_path, settings, said):
    folder = vocabulary(tmp_path / "python", [*SPECIAL, *LETTERS], **settings)
    with pytest.raises(NotAModel, match=said) as refused:
        read_tokenizer(folder, 31, "mine")
    assert refused.value.__notes__


@pytest.mark.parametrize("kind", ["character", "wordpiece"])
def test_japanese_pieces_are_those_of_transformers(tmp_path, kind):
    """``basic`` splits at blanks, as the words of a text are separated for the written one."""
    from transformers import BertJapaneseTokenizer

    pieces = [*SPECIAL, *"東京日本語はの首都です。1ｶカ", "##京", "##本", "##語", "東京", "日本語"]
    settings = {"subword_tokenizer_type": kind, "do_lower_case": False}
    folder = vocabulary(tmp_path / "ja", dict.fromkeys(pieces), **settings)
    plain = BertJapaneseTokenizer(
        str(folder / "vocab.txt"), word_tokenizer_type="basic", subword_tokenizer_type=kind
    )
    ids = {piece: place for place, piece in enumerate(dict.fromkeys(pieces))}
    written, notes = words_tokenizer(folder, ids, "BertJapaneseTokenizer")
    for text in ("東京 は 日本 の 首都 です 。", "日本語 です", "[MASK] は 東京 の 首都", "犬 は"):
        assert written(text).input_ids == plain(text)["input_ids"], text
    assert written.tokenize("１ ｶ") == ["1", "カ"], "not in the form NFKC"
    assert ("takes the characters" in notes[0]) == (kind == "character")


@pytest.fixture(scope="module")
def saved(tmp_path_factory):
    path = tmp_path_factory.mktemp("vocabularies") / "my-bert"
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(4)
        save(*make_bert(1, 2, 16), path)
    return path


@pytest.fixture
def copied(saved, tmp_path):
    """Copy of a BERT of one layer that a test may change."""
    return shutil.copytree(saved, tmp_path / "my-bert")


def test_a_converted_japanese_bert_agrees_and_is_named_in_its_config_alone(copied, tmp_path):
    for path in copied.glob("*token*"):
        path.unlink()
    pieces = [*wordpieces()[:94], "日", "本"]
    vocabulary(copied.parent / "its", pieces, subword_tokenizer_type="character")
    for name in ("vocab.txt", "tokenizer_config.json"):
        shutil.copy(copied.parent / "its" / name, copied / name)
    config = json.loads((copied / "config.json").read_text())
    config["tokenizer_class"] = "BertJapaneseTokenizer"
    (copied / "config.json").write_text(json.dumps(config))
    assert explorer.convert(copied, tmp_path / "target").agrees
    tokenizer = AutoTokenizer.from_pretrained(tmp_path / "target")
    assert tokenizer.tokenize("日本") == ["日", "本"]


def test_a_mask_that_no_file_names_is_named_in_the_refusal(copied):
    settings = {"tokenizer_class": "PreTrainedTokenizerFast"}
    (copied / "tokenizer_config.json").write_text(json.dumps(settings))
    with pytest.raises(NotAModel, match="whose mask token no file names") as refused:
        read_tokenizer(copied, 96, "mine")
    assert '“"mask_token": "[MASK]"”' in str(refused.value)
    names = {f"{role}_token": f"[{role.upper()}]" for role in ("mask", "pad", "unk", "cls", "sep")}
    (copied / "tokenizer_config.json").write_text(json.dumps(settings | names))
    assert read_tokenizer(copied, 96, "mine").tokenizer.mask_token_id == 4


def test_the_file_that_is_named_is_taken_whatever_is_beside_it(copied, tmp_path):
    pieces = [*wordpieces()[:-1], "Paris"]
    (copied / "cased.txt").write_text("\n".join(pieces))
    options = {"tokenizer": str(copied / "cased.txt"), "cased": True}
    explorer.convert(copied, tmp_path / "target", **options)
    assert AutoTokenizer.from_pretrained(tmp_path / "target").tokenize("Paris") == ["Paris"]
    with pytest.raises(explorer.Refusal, match="give the file or the folder of a vocabulary"):
        explorer.convert(copied, tmp_path / "other", tokenizer=str(tmp_path / "nowhere.txt"))


@pytest.fixture(scope="module")
def herbert(tmp_path_factory):
    """Folder of a random BERT whose pieces say where a word ends, as HerBERT's do."""
    folder = tmp_path_factory.mktemp("herbert") / "herbert"
    names = {"cls": "<s>", "pad": "<pad>", "sep": "</s>", "unk": "<unk>", "mask": "<mask>"}
    trainer = CharBPETokenizer(bert_normalizer=False)
    trainer.train_from_iterator(SENTENCES, vocab_size=120, special_tokens=[*names.values()])
    config = BertConfig(
        vocab_size=trainer.get_vocab_size(),
        hidden_size=16,
        num_hidden_layers=1,
        num_attention_heads=2,
        intermediate_size=32,
        pad_token_id=1,
    )
    BertForMaskedLM(config).save_pretrained(folder)
    trainer.save_model(str(folder))
    settings = {f"{role}_token": name for role, name in names.items()}
    settings["tokenizer_class"] = "HerbertTokenizer"
    (folder / "tokenizer_config.json").write_text(json.dumps(settings))
    return folder


def test_pieces_that_end_a_word_are_shown_as_words(herbert):
    run = explorer.predict("The old [MASK] found", explorer.load({"mine": herbert})).models["mine"]
    pieces = tuple(AutoTokenizer.from_pretrained(herbert).convert_ids_to_tokens(range(100)))
    spelling = spelling_of(pieces)
    assert spelling is WORD_ENDS
    words = {piece: spelling.word(piece) for piece in pieces}
    assert (words["a</w>"], words["a"], words["</s>"]) == ("a", "a…", "</s>")
    assert pieces[word_id(pieces, "a", lower_case=False)] == "a</w>"
    assert run.tokens[0][0] in pieces
