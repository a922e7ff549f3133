"""Checkpoints in the forms that people have: each is read as its publishers mean it, or refused."""

import dataclasses
import itertools
import json
import re
import shutil
import unicodedata

import pytest
import torch
from safetensors.torch import load_file, save_file
from tokenizers import Tokenizer
from transformers import (
    AlbertConfig,
    AlbertForMaskedLM,
    AutoTokenizer,
    BertConfig,
    BertForMaskedLM,
    BertForSequenceClassification,
    DistilBertConfig,
    RobertaConfig,
)

from explorer.analysis.parameters.count import parameter_counts
from explorer.models.choice import fields, own
from explorer.models.choice.family import OWN
from explorer.models.choice.reading import read_tokenizer
from explorer.models.choice.refused import NotAModel
from explorer.models.choice.sentencepieces import sentencepiece_tokenizer
from explorer.models.forward import run_model, tokenize
from explorer.models.loading import given_model, load_model
from explorer.models.specs import KINDS, MORE_KINDS
from tests.tiny_models import LETTERS, WORDS, make_bert, save

CONFIGS = {
    "bert": BertConfig,
    "distilbert": DistilBertConfig,
    "albert": AlbertConfig,
    "roberta": RobertaConfig,
}
TEXT = "the cat sat on the [MASK]"


@pytest.fixture(autouse=True)
def as_before(tiny_family, own_models):
    """Restore the choice of models after each test."""


@pytest.fixture(scope="module")
def saved(tmp_path_factory):
    path = tmp_path_factory.mktemp("forms") / "My-BERT"
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(1)
        network, tokenizer = make_bert(2, 4, 32, 0.5)
        torch.nn.init.normal_(network.cls.predictions.bias)
    save(network, tokenizer, path)
    return path


@pytest.fixture
def copied(saved, tmp_path):
    """Copy of a BERT of two layers that a test may change."""
    return shutil.copytree(saved, tmp_path / "My-BERT")


def add(folder, key="bert"):
    own.add_models([f"{key}={folder}"])
    return next(reversed(OWN.values()))


def edit(folder, file="config.json", /, **changes):
    path = folder / file
    values = json.loads(path.read_text()) if path.exists() else {}
    values |= changes
    path.write_text(json.dumps({n: v for n, v in values.items() if v is not ...}))


def rewritten(folder, change):
    path = folder / "model.safetensors"
    save_file(change(load_file(path)), path, {"format": "pt"})


def logits_of(spec):
    loaded = load_model(spec, "cpu", "float32")
    return run_model(loaded, tokenize(loaded, TEXT)).mask_logits


def plain_logits(network, folder):
    inputs = AutoTokenizer.from_pretrained(folder)(TEXT, return_tensors="pt")
    at = inputs["input_ids"][0].tolist().index(4)
    with torch.no_grad():
        return network.eval()(**inputs).logits[0, at].numpy()


@pytest.mark.parametrize("key", CONFIGS)
def test_the_table_has_every_field_that_transformers_knows(key):
    config = CONFIGS[key]()
    table = fields.fields_of((KINDS | MORE_KINDS)[key])
    known = {*config.to_dict(), *(field.name for field in dataclasses.fields(config))}
    assert known - set(table) == set()
    implemented = {name for name, use in table.items() if use == fields.IMPLEMENTED}
    assert implemented <= known


def test_a_field_that_nobody_knows_is_named_in_a_note(copied):
    edit(copied, window_of_attention=64)
    assert add(copied).notes == (
        "Its config.json has window_of_attention, which no network here computes with.",
    )


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("add_cross_attention", True),
        ("is_encoder_decoder", True),
        ("pruned_heads", {"0": [1]}),
        ("quantization_config", {"bits": 8}),
        ("per_layer_config", [{}]),
    ],
)
def test_what_is_not_implemented_is_refused_by_name(copied, name, value):
    edit(copied, **{name: value})
    with pytest.raises(NotAModel, match=f"as {name}; only"):
        add(copied)


def test_what_a_config_says_of_outputs_does_not_change_ours(saved, copied):
    edit(copied, return_dict=False, output_attentions=True, torchscript=True, dtype="float16")
    network = BertForMaskedLM.from_pretrained(saved)
    assert abs(logits_of(add(copied)) - plain_logits(network, saved)).max() < 1e-5


def test_a_config_without_a_type_has_that_of_its_column(saved, copied):
    edit(copied, model_type=..., architectures=...)
    network = BertForMaskedLM.from_pretrained(saved)
    assert abs(logits_of(add(copied)) - plain_logits(network, saved)).max() < 1e-5


@pytest.mark.parametrize("prefix", ["module.", "_orig_mod.", "model.", "module._orig_mod."])
def test_the_prefix_of_a_wrapped_network_is_removed(saved, copied, prefix):
    rewritten(copied, lambda tensors: {f"{prefix}{n}": t for n, t in tensors.items()})
    spec = add(copied)
    assert load_model(spec, "cpu", "float32").missing == ()
    network = BertForMaskedLM.from_pretrained(saved)
    assert abs(logits_of(spec) - plain_logits(network, saved)).max() < 1e-5


def untie(folder):
    """Make an output layer of its own with one bias, as transformers 4 saves it."""
    edit(folder, tie_word_embeddings=False)

    def change(tensors):
        words = tensors["bert.embeddings.word_embeddings.weight"]
        return tensors | {"cls.predictions.decoder.weight": words.flip(1).contiguous()}

    rewritten(folder, change)


def test_the_one_bias_of_an_untied_output_layer_is_applied(copied):
    untie(copied)
    network = BertForMaskedLM.from_pretrained(copied)
    assert not network.cls.predictions.decoder.bias.any(), "transformers reads it now"
    network.cls.predictions.decoder.bias.data = network.cls.predictions.bias.data
    assert abs(logits_of(add(copied)) - plain_logits(network, copied)).max() < 1e-5


def test_an_object_with_such_a_bias_says_so(copied):
    untie(copied)
    network = BertForMaskedLM.from_pretrained(copied)
    (note,) = given_model("bert", network).spec.notes
    assert "bias cls.predictions.decoder.bias is zero and cls.predictions.bias is not" in note


def test_of_two_output_biases_the_applied_one_is_named(copied):
    rewritten(
        copied,
        lambda tensors: (
            tensors | {"cls.predictions.decoder.bias": tensors["cls.predictions.bias"] + 1}
        ),
    )
    spec = add(copied)
    assert "cls.predictions.decoder.bias is applied" in spec.notes[0]
    bias = load_model(spec, "cpu", "float32").network.cls.predictions.decoder.bias
    assert torch.equal(bias, load_file(copied / "model.safetensors")["cls.predictions.bias"] + 1)


def test_an_object_with_a_number_that_is_none_is_refused(saved):
    network = BertForMaskedLM.from_pretrained(saved)
    network.bert.encoder.layer[1].output.dense.weight.data[0, 0] = float("nan")
    with pytest.raises(NotAModel, match=r"NaN in bert\.encoder\.layer\.1\.output\.dense\.weight"):
        given_model("bert", network)


def only_words(folder, pieces):
    for path in folder.glob("*token*"):
        path.unlink()
    (folder / "vocab.txt").write_text("\n".join(pieces) + "\n", "utf-8")
    edit(folder, vocab_size=len(pieces))


def reading(folder, pieces, **settings):
    only_words(folder, pieces)
    if settings:
        edit(folder, "tokenizer_config.json", **settings)
    return read_tokenizer(folder, len(pieces), "mine")


SPECIAL = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]", "[unused0]"]


def test_a_cased_vocabulary_without_a_statement_keeps_its_case(copied):
    read = reading(copied, [*SPECIAL, *LETTERS, "Paris", "The", "paris"])
    assert read.tokenizer.tokenize("The Paris") == ["The", "Paris"]
    assert not read.lower_case
    assert "2 of the 35 pieces of its vocabulary have capitals" in read.notes[1]
    assert "python -m explorer convert mine TARGET" in read.notes[0]


def test_accents_of_a_lower_case_vocabulary_are_kept_where_it_has_them(copied):
    read = reading(copied, [*SPECIAL, *LETTERS, "für", "schön", "über"])
    assert read.tokenizer.tokenize("Für schön") == ["für", "schön"]
    assert read.lower_case


def test_a_lower_case_vocabulary_is_read_as_ever(copied):
    read = reading(copied, [*SPECIAL, *LETTERS[1:], *WORDS])
    assert (read.tokenizer.tokenize("The Cat"), read.notes) == (["the", "cat"], ())


def test_a_stated_case_is_kept_and_its_cost_named(copied):
    read = reading(copied, [*SPECIAL, *LETTERS, "Paris", "paris"], do_lower_case=True)
    assert read.tokenizer.tokenize("Paris") == ["paris"]
    assert read.notes == (
        "Its tokenizer lower-cases a text or removes its accents, so that 1 of the 34 pieces of "
        "its vocabulary cannot occur.",
    )


def test_a_byte_order_mark_is_no_part_of_the_first_piece(copied):
    pieces = [*SPECIAL, *LETTERS]
    only_words(copied, pieces)
    (copied / "vocab.txt").write_text("\n".join(pieces), "utf-8-sig")
    assert read_tokenizer(copied, len(pieces), "mine").tokenizer.pad_token_id == 0


def test_a_tokenizer_that_lacks_pieces_of_its_file_is_refused_with_the_counts(copied):
    pieces = [*SPECIAL, *LETTERS]
    only_words(copied, pieces)
    tokenizer = AutoTokenizer.from_pretrained(copied)
    with pytest.raises(NotAModel, match="has 32 pieces, its vocabulary file 33, its network 40"):
        own_check(tokenizer, pieces)


def own_check(tokenizer, pieces):
    from explorer.models.choice.reading import check_tokenizer

    more = {piece: place for place, piece in enumerate([*pieces, "another"])}
    check_tokenizer(tokenizer, 40, "mine", more)


@pytest.mark.parametrize("name", ["model", "checkpoint-500", "best_model"])
def test_a_folder_whose_name_says_nothing_is_called_after_its_parent(saved, tmp_path, name):
    folder = shutil.copytree(saved, tmp_path / "german-bert" / name)
    assert add(folder).name == "german-bert"


@pytest.mark.parametrize("problem", ["multi_label_classification", "regression"])
def test_labels_of_another_problem_are_no_sentiment(copied, problem):
    network = BertForSequenceClassification.from_pretrained(
        copied, id2label={0: "negative", 1: "positive"}, problem_type=problem
    )
    network.save_pretrained(copied)
    assert add(copied).tuned_for == ""


def test_heads_that_a_file_lacks_are_not_counted(saved, copied, tmp_path):
    network = BertForMaskedLM.from_pretrained(saved)
    network.save_pretrained(copied)
    counts = parameter_counts(add(copied))
    assert counts.head_total == sum(p.numel() for p in network.cls.parameters()) - 96 * 32
    folder = shutil.copytree(saved, tmp_path / "encoder")
    network.bert.save_pretrained(folder)
    assert parameter_counts(add(folder)).head_total == 0


def test_an_albert_without_a_sentence_head_is_counted_without_it(tmp_path):
    from tests.tiny_models import make_albert

    network, tokenizer = make_albert(2, 4, 48, 16)
    save(network, tokenizer, tmp_path / "an-albert")
    masked = AlbertForMaskedLM.from_pretrained(tmp_path / "an-albert")
    masked.save_pretrained(tmp_path / "an-albert")
    counts = parameter_counts(add(tmp_path / "an-albert", "albert"))
    stored = {id(p) for p in masked.albert.parameters()}
    assert counts.head_total == sum(p.numel() for p in masked.parameters() if id(p) not in stored)


SENTENCES = [
    f"{who} {did} {what}."
    for who, did, what in itertools.product(
        ("the old cat", "a small dog", "our new teacher", "that quiet child"),
        ("found", "carried", "wanted", "painted"),
        ("a well-known song", "the red ball of 2010, ", "an old book (again)", "a half-open door"),
    )
]
STRINGS = (
    "a half-open door",
    "The well-known child (again).",
    'our “new” "teacher" -- of 2010, and 1,000, too',
    "Zürich, naïve—café… 3.5%",
    "don’t wait: a\u00adb, a\u200bb",
    "a.b-c(d)e",
)


def as_pre_trained(processor, text):
    """Return the pieces of Google's code for ALBERT: sentencepiece, and commas after digits cut."""
    text = " ".join(text.split()).replace("``", '"').replace("''", '"')
    text = unicodedata.normalize("NFKD", text)
    text = "".join(c for c in text if not unicodedata.combining(c)).lower()
    pieces = []
    for piece in processor.encode(text, out_type=str):
        if len(piece) > 1 and piece[-1] == "," and piece[-2].isdigit():
            inner = processor.encode(piece[:-1].replace("▁", ""), out_type=str)
            if not piece.startswith("▁"):
                inner = [inner[0].removeprefix("▁"), *inner[1:]]
            pieces += [*filter(None, inner), ","]
        else:
            pieces.append(piece)
    return pieces


@pytest.fixture(scope="module")
def spiece(tmp_path_factory):
    sentencepiece = pytest.importorskip("sentencepiece")
    folder = tmp_path_factory.mktemp("spiece")
    sentencepiece.SentencePieceTrainer.train(
        sentence_iterator=iter(SENTENCES),
        model_prefix=str(folder / "spiece"),
        vocab_size=60,
        hard_vocab_limit=False,
        pad_id=0,
        unk_id=1,
        bos_id=-1,
        eos_id=-1,
        control_symbols=["[CLS]", "[SEP]", "[MASK]"],
        user_defined_symbols=["(", ")", '"', "-", "."],
        minloglevel=2,
    )
    return folder / "spiece.model"


def test_a_spiece_model_is_read_as_in_pre_training(spiece):
    from sentencepiece import SentencePieceProcessor

    processor = SentencePieceProcessor(model_file=str(spiece))
    tokenizer = sentencepiece_tokenizer(spiece, {})
    for text in (*SENTENCES, *STRINGS):
        assert tokenizer.tokenize(text) == as_pre_trained(processor, text), text
    ids = tokenizer("a half-open [MASK]").input_ids
    assert (ids[0], ids[-1], tokenizer.mask_token_id in ids) == (2, 3, True)


def test_a_cut_off_spiece_model_is_refused(spiece, tmp_path):
    (tmp_path / "spiece.model").write_bytes(spiece.read_bytes()[:-1000])
    with pytest.raises(NotAModel, match=r"no spiece\.model that can be read"):
        read_tokenizer(tmp_path, 60, "mine")


@pytest.fixture
def padded(copied):
    """Folder of a BERT whose network has 32 rows more than its vocabulary has pieces."""
    words, bias = "bert.embeddings.word_embeddings.weight", "cls.predictions.bias"

    def change(tensors):
        pad = torch.nn.functional.pad
        more = {
            words: pad(tensors[words], (0, 0, 0, 32)),
            bias: pad(tensors[bias], (0, 32), value=9),
        }
        return tensors | more

    rewritten(copied, change)
    edit(copied, vocab_size=128)
    return copied


def test_ids_without_a_word_are_in_no_list_and_their_probability_is_said(padded):
    import explorer
    from explorer.library.strings import reading_notes

    result = explorer.predict(TEXT, explorer.load({"bert": padded}), 50).models["bert"]
    network = BertForMaskedLM.from_pretrained(padded)
    plain = torch.tensor(plain_logits(network, padded)).double().softmax(-1)
    assert plain.argmax() >= 96, "an id without a word is the likeliest"
    assert result.ids.max() < 96
    wanted = plain[:96].sort(descending=True, stable=True)
    assert result.ids[0].tolist() == wanted.indices[:50].tolist()
    assert result.probabilities[0] == pytest.approx(wanted.values[:50].numpy(), abs=1e-6)
    assert result.remaining[0] == pytest.approx(1 - wanted.values[:50].sum().item(), abs=1e-6)
    spec = add(padded)
    loaded = load_model(spec, "cpu", "float32")
    (said,) = reading_notes([run_model(loaded, tokenize(loaded, TEXT))])
    mass = float(re.search(r"gives ([\d.]+) of its probability at the \[MASK\]", said)[1])
    assert mass == pytest.approx(plain[96:].sum().item(), abs=5e-4)


def test_rows_without_a_piece_are_counted(padded):
    assert add(padded).notes == (
        "Its network has 128 rows of words and its vocabulary 96 pieces. Lists of words leave out "
        "the 32 rows without a piece.",
    )


def test_files_that_plain_transformers_reads_otherwise_are_named(copied):
    edit(copied, model_type=...)
    rewritten(copied, lambda tensors: {f"module.{n}": t for n, t in tensors.items()})
    first, second = add(copied).notes
    assert first.startswith("transformers reads its config.json without a model_type otherwise")
    assert second.startswith("transformers reads its model.safetensors otherwise")
    assert f"python -m explorer convert {copied} TARGET" in second


def test_untied_words_with_a_bias_of_their_own_are_read_as_transformers_reads_them(copied):
    edit(copied, tie_word_embeddings=False)
    decoder = "cls.predictions.decoder."

    def untied(tensors):
        words = tensors["bert.embeddings.word_embeddings.weight"].clone()
        bias = tensors["cls.predictions.bias"].clone()
        return tensors | {f"{decoder}weight": words, f"{decoder}bias": bias}

    rewritten(copied, untied)
    assert not any("model.safetensors otherwise" in note for note in add(copied).notes)
    rewritten(copied, lambda tensors: {n: t for n, t in tensors.items() if n != f"{decoder}bias"})
    assert any("model.safetensors otherwise" in note for note in add(copied).notes)


def rewritten_json(folder, **changes):
    edit(folder, "tokenizer.json", **changes)
    return read_tokenizer(folder, 96, "mine")


REBUILT = "transformers reads its tokenizer.json otherwise"
CASED = {
    "type": "BertNormalizer",
    "clean_text": True,
    "handle_chinese_chars": True,
    "strip_accents": False,
    "lowercase": False,
}
BY_LETTERS = {
    "type": "Split",
    "pattern": {"Regex": "[a-z]"},
    "behavior": "Isolated",
    "invert": False,
}


@pytest.mark.parametrize(
    "changes",
    [
        {"normalizer": CASED},
        {"pre_tokenizer": {"type": "WhitespaceSplit"}},
        {"normalizer": None, "pre_tokenizer": BY_LETTERS},
        {"post_processor": None},
    ],
)
def test_a_tokenizer_json_is_read_as_it_is(copied, changes):
    edit(copied, "tokenizer_config.json", do_lower_case=..., tokenizer_class="BertTokenizer")
    read = rewritten_json(copied, **changes)
    file = Tokenizer.from_file(str(copied / "tokenizer.json"))
    for text in ("The cat, on [MASK]-mats", "CC(=O)O>>[MASK]"):
        assert read.tokenizer(text).input_ids == file.encode(text).ids
    plain = AutoTokenizer.from_pretrained(copied)("The cat, on").input_ids
    assert plain != file.encode("The cat, on").ids, "transformers reads it now"
    assert any(note.startswith(REBUILT) for note in read.notes)
    is_bare = "Its tokenizer puts no [CLS] and no [SEP]" in read.notes[-1]
    assert is_bare == ("post_processor" in changes)


def test_a_token_of_the_settings_that_the_file_lacks_is_none(copied):
    """As a special token it would have an id without a row in the network."""
    edit(copied, "tokenizer_config.json", tokenizer_class="BertTokenizer", bos_token="<s>")
    read = rewritten_json(copied, pre_tokenizer={"type": "WhitespaceSplit"})
    assert (len(read.tokenizer), read.tokenizer.bos_token) == (96, None)
    file = Tokenizer.from_file(str(copied / "tokenizer.json"))
    assert read.tokenizer("a <s> b").input_ids == file.encode("a <s> b").ids


def test_of_two_stated_cases_that_of_the_settings_counts(copied):
    edit(copied, "tokenizer_config.json", do_lower_case=True, tokenizer_class="BertTokenizer")
    read = rewritten_json(copied, normalizer={**CASED, "strip_accents": None})
    assert read.lower_case
    assert read.notes == (
        "Its tokenizer.json and its tokenizer_config.json differ in their case: by the second, "
        "which counts, a text is lower-cased.",
    )


def test_a_special_token_that_the_vocabulary_lacks_is_refused(copied):
    only_words(copied, ["[PAD]", "[UNK]", "[CLS]", "[SEP]", *LETTERS])
    with pytest.raises(NotAModel, match=r"a vocabulary file without \[MASK\]"):
        read_tokenizer(copied, 96, "mine")


def test_added_tokens_beside_a_vocabulary_are_read(copied):
    pieces = [*SPECIAL, *LETTERS, "Paris"]
    only_words(copied, pieces)
    edit(copied, "added_tokens.json", frobnicate=len(pieces))
    read = read_tokenizer(copied, len(pieces) + 1, "mine")
    assert read.tokenizer.tokenize("Paris frobnicate") == ["Paris", "frobnicate"]
    assert read.tokenizer.convert_tokens_to_ids("frobnicate") == len(pieces)


def test_blank_lines_at_the_end_of_a_vocabulary_are_no_pieces(copied):
    pieces = [*SPECIAL, *LETTERS]
    only_words(copied, [*pieces, "", ""])
    assert len(read_tokenizer(copied, len(pieces), "mine").tokenizer) == len(pieces)


POINTER = "version https://git-lfs.github.com/spec/v1\noid sha256:1\nsize 1\n"
PAGE = "<!DOCTYPE html>\n<html></html>\n"


@pytest.mark.parametrize("file", ["tokenizer.json", "vocab.txt", "spiece.model"])
@pytest.mark.parametrize(
    ("content", "said"),
    [(POINTER, "a pointer file of Git LFS"), (PAGE, "a page of a web server"), ("", "an empty")],
)
def test_what_stands_in_place_of_a_vocabulary_is_named(copied, file, content, said):
    only_words(copied, SPECIAL)
    (copied / "vocab.txt").unlink()
    (copied / file).write_text(content)
    with pytest.raises(NotAModel, match=f"has, as its {file}, {said}"):
        read_tokenizer(copied, 96, "mine")


def test_a_cut_off_tokenizer_json_and_another_encoding_are_named(copied):
    whole = (copied / "tokenizer.json").read_text()
    (copied / "tokenizer.json").write_text(whole[:500])
    with pytest.raises(NotAModel, match=r"has no tokenizer\.json that can be read"):
        read_tokenizer(copied, 96, "mine")
    only_words(copied, SPECIAL)
    (copied / "vocab.txt").write_bytes("\n".join([*SPECIAL, "é"]).encode("latin-1"))
    with pytest.raises(NotAModel, match=r"has a vocab\.txt that is not in UTF-8"):
        read_tokenizer(copied, 96, "mine")


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({"model_type": "albert"}, "takes 'bert': give it as albert=PATH"),
        ({"model_type": "electra"}, "'electra'; the known types are bert"),
        ({"hidden_act": "gelu_of_mine"}, "gelu_of_mine as hidden_act, which is no activation"),
    ],
)
def test_the_refusal_of_a_config_says_what_would_do(copied, changes, said):
    edit(copied, **changes)
    with pytest.raises(NotAModel, match=said) as refused:
        add(copied)
    assert refused.value.__notes__


def test_a_byte_order_mark_in_a_config_is_named(copied):
    path = copied / "config.json"
    path.write_text(path.read_text(), "utf-8-sig")
    with pytest.raises(NotAModel, match=r"a byte-order mark at the start of its config\.json"):
        add(copied)


def test_the_weights_of_another_network_are_named(copied):
    rewritten(copied, lambda t: {n.replace("bert.", "electra."): w for n, w in t.items()})
    rewritten(copied, lambda t: {n: w for n, w in t.items() if n.startswith("electra")})
    with pytest.raises(NotAModel, match=r"of another network: electra\.embeddings") as refused:
        add(copied)
    assert "take the config of the weights" in refused.value.__notes__[0]


def test_what_is_no_folder_is_named(copied, tmp_path):
    archive = tmp_path / "bert.zip"
    archive.write_bytes(b"PK")
    for path, said in (
        (copied / "model.safetensors", "is a file: give the folder"),
        (archive, "is an archive: unpack it"),
        ("https://huggingface.co/an/owner-bert/tree/main", "here an/owner-bert"),
    ):
        with pytest.raises(NotAModel, match=said):
            add(path)


def test_an_export_one_folder_down_is_named(copied):
    (copied / "model.safetensors").unlink()
    (copied / "onnx").mkdir()
    (copied / "onnx" / "model.onnx").write_bytes(b"1")
    with pytest.raises(NotAModel, match=r"holds an ONNX graph, onnx/model\.onnx"):
        add(copied)


def test_a_cache_of_the_hub_is_read_and_called_after_its_repository(saved, tmp_path):
    cache = tmp_path / "models--owner--my-bert"
    folder = shutil.copytree(saved, cache / "snapshots" / ("a" * 40))
    assert add(folder).name == "my-bert"
    with pytest.raises(NotAModel, match=f"the folder snapshots/{'a' * 40} in it has one"):
        add(cache)
