"""A checkpoint of the reader's own: what is taken, what it is called, and what is refused."""

import json
import re
import shutil
import threading
from concurrent.futures import ThreadPoolExecutor

import pytest
import torch
from safetensors.torch import load_file, save_file
from transformers import (
    AutoModel,
    AutoTokenizer,
    BertForQuestionAnswering,
    BertForSequenceClassification,
    BertModel,
    BertTokenizer,
)

from explorer.context import configure
from explorer.inference.runs import get_runs, runs_with_mlm_head
from explorer.links.page_state import PageState
from explorer.models.choice import own
from explorer.models.choice.family import OWN, column, family_specs
from explorer.models.hub import ModelUnavailable
from explorer.models.loading import load_model, read_checkpoint
from explorer.models.specs import MODEL_KEYS
from explorer.models.task_heads import adapters
from explorer.serving.start import parse_flags
from explorer.ui.parameters import tab as parameters
from explorer.ui.shell.api import ENDPOINTS
from explorer.ui.shell.tabs import TABS, values_of
from explorer.ui.tasks import tuned
from tests.tiny_models import make_albert, save
from tests.tiny_roberta import save_roberta

TEXT = "The [MASK] sat on the mat."


@pytest.fixture
def folder(_seven_folder):
    return _seven_folder


@pytest.fixture(scope="module")
def roberta(tmp_path_factory):
    path = tmp_path_factory.mktemp("own") / "My Roberta"
    save_roberta(path)
    return path


@pytest.fixture(autouse=True)
def as_before(tiny_family, own_models):
    """Restore the choice of models after each test."""


@pytest.fixture
def copied(folder, tmp_path):
    """Copy of a BERT that a test may damage."""
    return shutil.copytree(folder / "bert-base-uncased", tmp_path / "Spoiled_BERT")


def add(folder, key="bert"):
    own.add_models([f"{key}={folder}"])
    return next(reversed(OWN.values()))


def rewritten(folder, change):
    path = folder / "model.safetensors"
    save_file(change(load_file(path)), path, {"format": "pt"})


@pytest.mark.long
def test_it_is_a_choice_of_its_column_and_open_at_the_start(folder):
    flags = parse_flags(["--model", f"bert={folder / 'bert-large-uncased'}"])
    # The published one has that name already.
    assert flags.family == "bert=own-bert-large-uncased,distilbert=mini,albert=mini"
    spec = column("bert")["own-bert-large-uncased"]
    assert (spec.label, spec.architecture.n_layers) == ("own-bert-large-uncased", 24)
    answer = ENDPOINTS["predict"](TEXT, flags.family, 5)["models"][0]
    network = AutoModel.from_pretrained(folder / "bert-large-uncased")
    assert answer["name" if "name" in answer else "model"]
    run = get_runs(PageState(text=TEXT, family=flags.family).ask)[0]["bert"]
    with torch.no_grad():
        states = network(torch.tensor([run.tokens.ids]), output_hidden_states=True).hidden_states
    assert torch.allclose(torch.cat(states), torch.tensor(run.hidden_states), atol=1e-5)


@pytest.mark.long
def test_a_known_kind_without_a_column_gets_one(roberta):
    spec = add(roberta, "roberta")
    assert spec.name == "my-roberta"
    for family in ("mini", "base"):
        assert [one.key for one in family_specs(family)] == [
            "bert",
            "distilbert",
            "albert",
            "roberta",
        ]
    models = ENDPOINTS["predict"](TEXT, "mini", 3)["models"]
    assert [model["model"] for model in models] == list(MODEL_KEYS)
    for tab in TABS:
        assert values_of(tab, PageState(text=TEXT))


def test_layer_norms_under_their_old_names_are_read(copied):
    old = {"LayerNorm.weight": "LayerNorm.gamma", "LayerNorm.bias": "LayerNorm.beta"}

    def renamed(tensors):
        for new, before in old.items():
            tensors = {name.replace(new, before): value for name, value in tensors.items()}
        return tensors

    before = load_file(copied / "model.safetensors")
    rewritten(copied, renamed)
    spec = add(copied)
    loaded = read_checkpoint(spec, copied, "cpu", "float32")
    name = "bert.encoder.layer.3.output.LayerNorm.weight"
    assert torch.equal(loaded.network.state_dict()[name], before[name])
    assert loaded.missing == ()


def test_weights_in_parts_are_read(copied):
    from transformers import AutoModelForPreTraining

    network = AutoModelForPreTraining.from_pretrained(copied)
    (copied / "model.safetensors").unlink()
    network.save_pretrained(copied, max_shard_size="40KB")
    assert len(list(copied.glob("model-*.safetensors"))) > 1
    spec = add(copied)
    family = f"bert={spec.size},distilbert=mini,albert=mini"
    assert get_runs(PageState(text=TEXT, family=family).ask)[0]["bert"].spec == spec


@pytest.mark.long
@pytest.mark.parametrize("kind", [BertModel, BertForSequenceClassification])
def test_without_a_head_it_predicts_nothing_and_shows_all_else(kind, copied):
    tokenizer = {path.name for path in copied.iterdir()}
    kind.from_pretrained(copied).save_pretrained(copied)
    assert tokenizer <= {path.name for path in copied.iterdir()}
    spec = add(copied)
    assert not spec.has_head
    state = PageState(text=TEXT, family=f"bert={spec.size},distilbert=mini,albert=mini")
    runs, _ = get_runs(state.ask)
    assert runs["bert"].attention.shape == (12, 12, *[len(runs["bert"].tokens)] * 2)
    answers, missing = runs_with_mlm_head(state.ask)
    assert list(answers) == ["distilbert", "albert"]
    assert "no masked-LM head" in str(missing["bert"])
    for tab in TABS:
        shown = "".join(map(str, values_of(tab, state)))
        assert "NaN" not in shown
        assert ("no masked-LM head" in shown) == (
            tab.ID in ("predictions", "depth", "distillation")
        )
    absent = ENDPOINTS["predict"](TEXT, state.family, 3)
    assert [m["model"] for m in absent["models"]] == ["distilbert", "albert"]


def test_a_cased_one_keeps_its_case(copied):
    vocabulary = AutoTokenizer.from_pretrained(copied).get_vocab()
    BertTokenizer(vocabulary, do_lower_case=False).save_pretrained(copied)
    assert add(copied).lower_case is False


def test_what_puts_texts_in_lower_case_without_saying_so_is_seen(copied):
    """As transformers reads a BERT that brings its words alone."""
    words = AutoTokenizer.from_pretrained(copied).get_vocab()
    for path in copied.glob("*token*"):
        path.unlink()
    (copied / "vocab.txt").write_text("\n".join(sorted(words, key=words.get)))
    spec = add(copied)
    assert AutoTokenizer.from_pretrained(copied).tokenize("The CAT") == ["the", "cat"]
    assert spec.lower_case is True


def spoil_kind(folder):
    edit(folder, model_type="gpt2")


def spoil_config(folder):
    (folder / "config.json").write_text("{")


def spoil_vocabulary(folder):
    edit(folder, vocab_size=7)


def spoil_weights(folder):
    (folder / "model.safetensors").rename(folder / "pytorch_model.bin")


def spoil_file(folder):
    (folder / "model.safetensors").write_bytes(b"no weights at all")


def spoil_tokenizer(folder):
    for path in folder.glob("*token*"):
        path.unlink()
    (folder / "vocab.txt").unlink(missing_ok=True)


def rename_weights(folder):
    (folder / "model.safetensors").rename(folder / "bert.safetensors")


def truncate(folder):
    data = (folder / "model.safetensors").read_bytes()
    (folder / "model.safetensors").write_bytes(data[:-1000])


def truncate_header(folder):
    (folder / "model.safetensors").write_bytes((folder / "model.safetensors").read_bytes()[:1000])


POINTER = "version https://git-lfs.github.com/spec/v1\noid sha256:4d7a\nsize 440449768\n"


def leave_a_pointer(folder):
    (folder / "model.safetensors").write_text(POINTER)


def save_a_page(folder):
    (folder / "model.safetensors").write_text(
        "<!DOCTYPE html>\n<html><body>Not Found</body></html>"
    )


def save_a_page_as_config(folder):
    (folder / "config.json").write_text("<!DOCTYPE html>\n<html><body>Not Found</body></html>")


def empty(folder):
    (folder / "model.safetensors").write_bytes(b"")


def leave_a_graph(folder):
    (folder / "model.safetensors").rename(folder / "model.onnx")


def leave_tensorflow(folder):
    (folder / "model.safetensors").rename(folder / "tf_model.h5")


def leave_flax(folder):
    (folder / "model.safetensors").rename(folder / "flax_model.msgpack")


def leave_an_adapter(folder):
    (folder / "model.safetensors").rename(folder / "adapter_model.safetensors")
    (folder / "config.json").unlink()
    (folder / "adapter_config.json").write_text('{"base_model_name_or_path": "me/my-bert"}')


def leave_nothing_but_words(folder):
    (folder / "model.safetensors").unlink()
    (folder / "config.json").unlink()


def pickle_without_tokenizer(folder):
    spoil_weights(folder)
    spoil_tokenizer(folder)


def name_mecab(folder):
    words = AutoTokenizer.from_pretrained(folder).get_vocab()
    (folder / "vocab.txt").write_text("\n".join(sorted(words, key=words.get)))
    (folder / "tokenizer.json").unlink()
    edit(folder, "tokenizer_config.json", tokenizer_class="BertJapaneseTokenizer")


def set_value(folder, value):
    def changed(tensors):
        tensors["bert.encoder.layer.2.output.dense.bias"][5] = value
        return tensors

    rewritten(folder, changed)


def put_nan(folder):
    set_value(folder, float("nan"))


def put_infinity(folder):
    set_value(folder, float("inf"))


def put_whole_numbers(folder):
    name = "bert.encoder.layer.2.output.dense.weight"
    rewritten(folder, lambda tensors: tensors | {name: tensors[name].to(torch.int8)})


def spoil_index(folder):
    (folder / "model.safetensors").unlink()
    index = {"weight_map": {"cls.predictions.bias": "model-00001-of-00002.safetensors"}}
    (folder / "model.safetensors.index.json").write_text(json.dumps(index))


def spoil_normalizer(folder):
    (folder / "tokenizer.json").write_text("{}")


def drop_special(folder, **token):
    edit(folder, "tokenizer_config.json", tokenizer_class="PreTrainedTokenizerFast", **token)


def spoil_mask(folder):
    drop_special(folder, mask_token=None)


def spoil_padding(folder):
    drop_special(folder, pad_token=None)


def without(folder, *names):
    rewritten(folder, lambda tensors: {n: t for n, t in tensors.items() if n not in names})


def drop_a_tensor(folder):
    without(folder, "bert.encoder.layer.3.output.dense.bias")


def drop_of_the_head(folder):
    without(folder, "cls.predictions.transform.LayerNorm.bias")


def edit(folder, file="config.json", /, **changes):
    path = folder / file
    path.write_text(json.dumps(json.loads(path.read_text()) | changes))


REFUSED = {
    spoil_kind: "is of type 'gpt2'; the known types are bert, distilbert",
    spoil_config: "has a config.json that is not JSON: line 1, column 2",
    spoil_vocabulary: "contradicts itself: its tokenizer has 96 pieces, its network 7",
    spoil_weights: "has its weights in pytorch_model.bin, a pickle, which can run code",
    spoil_index: "lacks model-00001-of-00002.safetensors, a part that its list of parts names",
    rename_weights: "holds bert.safetensors; the weights are expected in model.safetensors",
    truncate: "has model.safetensors in part: ",
    truncate_header: "has model.safetensors in part: 1,000 of",
    leave_a_pointer: "has, as its model.safetensors, a pointer file of Git LFS",
    save_a_page: "has, as its model.safetensors, a page of a web server",
    save_a_page_as_config: "has, as its config.json, a page of a web server",
    empty: "has, as its model.safetensors, an empty file",
    leave_a_graph: "holds an ONNX graph, model.onnx, and no model.safetensors",
    leave_tensorflow: "holds weights of TensorFlow, tf_model.h5",
    leave_flax: "holds weights of Flax, flax_model.msgpack",
    leave_an_adapter: "is an adapter of me/my-bert, without the model's own weights",
    leave_nothing_but_words: "has no model.safetensors and no config.json; it holds",
    pickle_without_tokenizer: "also has no tokenizer: a tokenizer.json, vocab.txt or spiece.model",
    name_mecab: "has the tokenizer BertJapaneseTokenizer, which needs fugashi",
    put_nan: "has NaN in bert.encoder.layer.2.output.dense.bias",
    put_infinity: "has infinity in bert.encoder.layer.2.output.dense.bias",
    put_whole_numbers: "has bert.encoder.layer.2.output.dense.weight in I8",
    spoil_normalizer: "has no tokenizer.json that can be read",
    spoil_mask: "has a tokenizer whose mask token no file names",
    spoil_padding: "has a tokenizer whose pad token no file names",
    drop_a_tensor: "contradicts itself: its file lacks bert.encoder.layer.3.output.dense.bias",
    drop_of_the_head: "its file lacks cls.predictions.transform.LayerNorm.bias",
    spoil_file: "has a damaged file",
    spoil_tokenizer: "has no tokenizer",
}


@pytest.mark.parametrize("spoil", REFUSED, ids=lambda spoil: spoil.__name__)
def test_what_cannot_stand_in_a_column_is_refused_in_a_sentence(spoil, copied, capsys):
    spoil(copied)
    with pytest.raises(own.NotAModel, match=REFUSED[spoil]):
        add(copied)
    with pytest.raises(SystemExit) as ended:
        parse_flags(["--model", f"bert={copied}"])
    assert ended.value.code == 2
    said = capsys.readouterr().err
    assert REFUSED[spoil] in said
    assert "Traceback" not in said
    assert not OWN


@pytest.fixture
def chinese_albert(tmp_path):
    """An ALBERT with a vocab.txt and no other tokenizer file, as the Chinese ones are published."""
    path = tmp_path / "albert-zh"
    save(*make_albert(2, 4, 48, 16), path)
    for file in path.glob("*token*"):
        file.unlink()
    (path / "spiece.model").unlink(missing_ok=True)
    pieces = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]", "北", "京"]
    (path / "vocab.txt").write_text("\n".join(pieces) + "\n")
    return path


def test_an_albert_with_vocab_txt_is_read_as_wordpiece(chinese_albert):
    """transformers 5.23 gives it five special tokens and reads every word as <unk>."""
    spec = add(chinese_albert, "albert")
    loaded = load_model(spec, "cpu", "float32")
    assert loaded.tokenizer.tokenize("北京") == ["北", "京"]
    assert (loaded.tokenizer.mask_token_id, loaded.tokenizer.pad_token_id) == (4, 0)
    assert f"python -m explorer convert {chinese_albert} TARGET" in spec.notes[0]


SAID = {
    "bert": {
        "by its config.json bert.encoder.layer.10.attention.output.LayerNorm.bias is none, in its file 48": {
            "num_hidden_layers": 6
        },
        "its file lacks bert.encoder.layer.12.": {"num_hidden_layers": 13},
        "layer.0.intermediate.dense.bias is 7, in its file 192": {"intermediate_size": 7},
        "token_type_embeddings.weight is 3 x 48, in its file 2 x 48": {"type_vocab_size": 3},
        "position_embeddings.weight is 99 x 48, in its file 512 x 48": {
            "max_position_embeddings": 99
        },
        "5 attention heads do not divide a width of 48": {"num_attention_heads": 5},
        "has null as hidden_size in its config.json, which is not a whole number": {
            "hidden_size": None
        },
        "has 48.0 as hidden_size": {"hidden_size": 48.0},
        "has -1 as num_hidden_layers": {"num_hidden_layers": -1},
        "more than 64 layers": {"num_hidden_layers": 65},
        "nothing as hidden_act, which is no activation of transformers": {"hidden_act": "nothing"},
        "would run code of its own": {"auto_map": {"AutoModel": "evil.Model"}},
        "has relative_key_query as position_embedding_type; only absolute is supported for BERT": {
            "position_embedding_type": "relative_key_query"
        },
        "has True as is_decoder; only False is supported for BERT": {"is_decoder": True},
    },
    "albert": {
        "has relative_key as position_embedding_type; only absolute": {
            "position_embedding_type": "relative_key"
        },
        "has 2 as num_hidden_groups; only 1 is supported for ALBERT": {"num_hidden_groups": 2},
        "has 12 as num_hidden_groups": {"num_hidden_groups": 12},
        "has 2 as inner_group_num; only 1 is supported for ALBERT": {"inner_group_num": 2},
        "attention.LayerNorm.bias is 96, in its file 48": {"hidden_size": 96},
        "7 attention heads do not divide a width of 48": {"num_attention_heads": 7},
    },
}


@pytest.mark.parametrize(
    ("key", "said"), [(key, said) for key, wrong in SAID.items() for said in wrong]
)
def test_a_config_that_contradicts_its_tensors_is_refused(key, said, folder, tmp_path):
    name = {"bert": "bert-base-uncased", "albert": "albert-base-v2"}[key]
    spoiled = shutil.copytree(folder / name, tmp_path / name)
    edit(spoiled, **SAID[key][said])
    with pytest.raises(own.NotAModel) as refused:
        add(spoiled, key)
    assert said in str(refused.value)
    assert not OWN


def test_code_beside_the_tokenizer_is_refused(copied):
    edit(copied, "tokenizer_config.json", auto_map={"AutoTokenizer": ["evil.Tokenizer", None]})
    with pytest.raises(own.NotAModel, match="would run code of its own"):
        add(copied)


def test_a_config_without_labels_is_no_failure(copied):
    saved_as(BertForSequenceClassification, copied)
    edit(copied, id2label=None, label2id=None)
    assert add(copied).tuned_for == ""


def test_an_albert_with_two_layers_of_its_own_is_refused(tmp_path):
    network, tokenizer = make_albert(4, 12, 48, 16)
    network.config.num_hidden_groups = 2
    save(type(network)(network.config), tokenizer, tmp_path / "two-groups")
    with pytest.raises(own.NotAModel, match="has 2 as num_hidden_groups"):
        add(tmp_path / "two-groups", "albert")


@pytest.mark.parametrize("given", ["bert", "bert=", "gpt=x", "=x", "bert=/no/such/folder"])
def test_what_is_no_model_at_all_is_refused(given):
    with pytest.raises(own.NotAModel):
        own.add_models([given])


def test_what_is_spoiled_after_the_start_is_said_on_its_card(copied):
    spec = add(copied)
    spoil_file(copied)
    family = f"bert={spec.size},distilbert=mini,albert=mini"
    _, missing = get_runs(PageState(text=TEXT, family=family).ask)
    assert isinstance(missing["bert"], ModelUnavailable)
    assert "damaged" in str(missing["bert"])


def saved_as(kind, copied, **config):
    network = kind.from_pretrained(copied, **config)
    network.save_pretrained(copied)
    return network.eval()


def family_of(spec):
    return f"bert={spec.size},distilbert=mini,albert=mini"


@pytest.mark.long
@pytest.mark.parametrize("labels", [("NEGATIVE", "POSITIVE"), ("neg", "pos")])
def test_a_sentiment_head_that_a_checkpoint_brings_is_used_and_said(labels, copied):
    named = dict(enumerate(labels))
    network = saved_as(BertForSequenceClassification, copied, id2label=named)
    spec = add(copied)
    text = "the cat was not good"
    (found,) = ENDPOINTS["sentiment"](text, family_of(spec))["models"]
    inputs = AutoTokenizer.from_pretrained(copied)(text, return_tensors="pt")
    with torch.no_grad():
        wanted = network(**inputs).logits.softmax(-1)[0, 1].item()
    assert found["positive"] == pytest.approx(wanted, abs=1e-5)
    loaded = load_model(spec)
    shared = {parameter.data_ptr() for parameter in loaded.network.parameters()}
    tuned_network = adapters.tuned_of(loaded, "sst2").network
    of_its_own = [n for n, p in tuned_network.named_parameters() if p.data_ptr() not in shared]
    assert of_its_own == ["classifier.weight", "classifier.bias"], "a second copy of the encoder"
    state = PageState(text=text, family=family_of(spec))
    assert f"{spec.label} answers with the head" in str(tuned.show_sentiment(state, text))
    assert "whose score was not measured here" in str(tuned.show_kept(state))


def test_a_question_head_that_a_checkpoint_brings_is_used(copied):
    network = saved_as(BertForQuestionAnswering, copied)
    spec = add(copied)
    asked, passage = "where was the cat?", "the cat sat on the mat in london."
    (found,) = ENDPOINTS["question"](asked, passage, family_of(spec))["models"]
    inputs = AutoTokenizer.from_pretrained(copied)(asked, passage, return_tensors="pt")
    with torch.no_grad():
        out = network(**inputs)
    inside = [i for i, side in enumerate(inputs.sequence_ids()) if side == 1]
    spans = {
        (i, j): (out.start_logits[0, i] + out.end_logits[0, j]).item()
        for i in inside
        for j in inside
        if j >= i
    }
    (start, end), _ = max(spans.items(), key=lambda one: one[1])
    first, last = inputs.token_to_chars(start).start, inputs.token_to_chars(end).end
    assert found["answers"][0]["text"] == passage[first:last]


@pytest.mark.parametrize("labels", [("POSITIVE", "NEGATIVE"), ("toxic", "mild"), ()])
def test_a_head_that_judges_something_else_is_not_asked(labels, copied):
    """Without names its classes are LABEL_0 and LABEL_1, which may be anything."""
    named = {"id2label": dict(enumerate(labels))} if labels else {}
    saved_as(BertForSequenceClassification, copied, **named)
    assert add(copied).tuned_for == ""


@pytest.mark.long
def test_a_family_that_is_mixed_says_who_left_layers_out(folder):
    spec = add(folder / "bert-large-uncased")
    shown = str(values_of(parameters, PageState(family=family_of(spec)))[0])
    told = re.sub("<[^>]*>", "", shown)
    assert re.search(r"mini-DistilBERT stores [^;]*: it has 3 layers, 72 wide, not 64\.", told)


@pytest.fixture
def hub(folder, monkeypatch):
    """Hub with one repository, which records the requests."""
    asked = []

    def fetched(repo, revision, allow_patterns, tqdm_class):
        asked.append((repo, revision, tuple(allow_patterns)))
        if repo != "someone/bert-of-mine":
            raise OSError("no such repository")
        with tqdm_class(total=2e6, unit="B") as bar:
            bar.update(1e6)
        return str(folder / "bert-base-uncased")

    monkeypatch.setattr(own, "snapshot_download", fetched)
    configure(any_model=True)
    return asked


def test_a_visitor_may_type_a_repository_only_where_that_is_allowed(hub, monkeypatch):
    assert own.typed_model("bert", "mini") == "mini"
    assert own.typed_model("bert", "someone/bert-of-mine@v2") == "bert-of-mine"
    spec = column("bert")["bert-of-mine"]
    assert (spec.repo, spec.revision) == ("someone/bert-of-mine", "v2")
    assert own.typed_model("bert", "someone/bert-of-mine@v2") == "bert-of-mine"
    assert [revision for _, revision, _ in hub] == ["v2", "v2"]
    configure(any_model=False)
    with pytest.raises(own.NotAModel, match="not a choice for this column"):
        own.typed_model("bert", "someone/bert-of-mine")
    assert own.typed_model("bert", "bert-of-mine") == "bert-of-mine"


def test_a_download_says_how_far_it_is_and_keeps_no_other_waiting(hub, monkeypatch):
    """Two repositories at once, and one of them typed twice: its second visitor waits."""
    at_once, fetched, told = threading.Barrier(2, timeout=300), own.snapshot_download, []

    def slowly(repo, **asked):
        if own.WEIGHT_PATTERNS[0] in asked["allow_patterns"]:
            at_once.wait()
        return fetched("someone/bert-of-mine", **asked)

    monkeypatch.setattr(own, "snapshot_download", slowly)
    typed = ["one/bert", "two/bert", "one/bert"]
    with ThreadPoolExecutor(3) as visitors:
        sizes = list(
            visitors.map(lambda t: own.typed_model("bert", t, lambda *s: told.append(s)), typed)
        )
    assert sizes[0] == sizes[2] != sizes[1]
    assert sorted(OWN) == ["bert", "own-bert"]
    assert ("Downloading one/bert: 1 of 2 MB", 0.5) in told


def test_a_typed_name_is_never_a_folder(hub, monkeypatch, folder):
    monkeypatch.chdir(folder.parent)
    for typed in (str(folder), f"{folder.name}/bert-base-uncased", "../x", "huge", ""):
        with pytest.raises(own.NotAModel):
            own.typed_model("bert", typed)
    assert not OWN


def test_a_repository_that_does_not_fit_is_refused_before_its_weights(hub, monkeypatch, capsys):
    """BERT-base's attention of 512 tokens takes 0.3 GB however narrow its weights are."""
    said = "needs 1.5 MB and 0.3 GB while it runs; the networks may take 0.1 GB"
    configure(memory_limit=1e8)
    with pytest.raises(own.NotAModel, match=said):
        own.typed_model("bert", "someone/bert-of-mine")
    configure(memory_limit=float("inf"))
    with pytest.raises(SystemExit):
        parse_flags(["--memory", "0.3", "--model", "bert=someone/bert-of-mine"])
    assert said.replace("0.1 GB", "0.3 GB") in " ".join(capsys.readouterr().err.split())
    assert [patterns for *_, patterns in hub] == [tuple(own.SMALL)] * 2


@pytest.mark.parametrize("typed", ["x" * 3_000, "o/" + "x" * 3_000, "o/x@" + "v" * 3_000])
def test_a_long_name_is_not_said_back_whole(hub, typed):
    with pytest.raises(own.NotAModel) as refusal:
        own.typed_model("bert", typed)
    assert len(str(refusal.value)) < 120
    assert not hub


def test_what_a_library_says_is_logged_on_one_line_and_shown_to_nobody(hub, copied, caplog):
    with pytest.raises(own.NotAModel) as refusal:
        own.typed_model("bert", "someone/else")
    assert str(refusal.value) == (
        "someone/else could not be downloaded from the hub: the hub did not answer, or the "
        "download broke off."
    )
    spoil_normalizer(copied)
    with pytest.raises(own.NotAModel) as refusal:
        add(copied)
    assert str(refusal.value) == f"{copied} has no tokenizer.json that can be read."
    first, second = (record.getMessage() for record in caplog.records)
    assert "no such repository" in first
    assert len(second) > len("a checkpoint is refused: ")
    assert "\n" not in first + second


def test_visitors_add_only_so_many(hub, monkeypatch):
    monkeypatch.setattr(own, "MAX_MODELS", 0)
    with pytest.raises(own.NotAModel, match="takes no more"):
        own.typed_model("bert", "someone/bert-of-mine")
