"""A checkpoint of the reader's own: what is taken, what it is called, and what is refused."""

import json
import shutil

import pytest
import torch
from safetensors.torch import load_file, save_file
from transformers import (
    AutoModel,
    AutoModelForPreTraining,
    AutoTokenizer,
    BertForQuestionAnswering,
    BertForSequenceClassification,
    BertModel,
)

from explorer.models import loading
from explorer.models.choice import own
from explorer.models.choice.family import OWN, column, family_specs
from explorer.models.hub import ModelUnavailable
from explorer.models.loading import read_checkpoint
from explorer.models.specs import MODEL_KEYS
from explorer.page_state import PageState
from explorer.runs import get_answers, get_runs
from explorer.start import parse_flags
from explorer.ui.parameters import tab as parameters
from explorer.ui.shell.api import ENDPOINTS
from explorer.ui.shell.tabs import TABS
from explorer.ui.tasks import kept, tuned
from explorer.ui.tasks.words import NOT_IN_CHECKPOINT, head_said
from tests.models.choice.seven_sizes import SHAPES, narrow, save_seven
from tests.tiny_roberta import save_roberta

TEXT = "The [MASK] sat on the mat."


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    folder = tmp_path_factory.mktemp("own")
    save_seven(folder)
    save_roberta(folder / "My Roberta")
    return folder


@pytest.fixture(autouse=True)
def as_before(tiny_family, monkeypatch):
    yield
    for key in [key for key in loading._loaded if key[0] in OWN]:
        del loading._loaded[key]
    OWN.clear()
    own.KINDS.pop("roberta", None)
    MODEL_KEYS[:] = [key for key in MODEL_KEYS if key != "roberta"]


@pytest.fixture
def copied(folder, tmp_path):
    """A copy of a BERT that a test may spoil."""
    return shutil.copytree(folder / "bert-base-uncased", tmp_path / "Spoiled_BERT")


def add(folder, key="bert"):
    own.add_models([f"{key}={folder}"])
    return next(reversed(OWN.values()))


def rewritten(folder, change):
    path = folder / "model.safetensors"
    save_file(change(load_file(path)), path, {"format": "pt"})


def test_it_is_a_choice_of_its_column_and_open_at_the_start(folder):
    flags = parse_flags(["--model", f"bert={folder / 'bert-large-uncased'}"])
    # The published one has that name already.
    assert flags.family == "bert=own-bert-large-uncased,distilbert=mini,albert=mini"
    spec = column("bert")["own-bert-large-uncased"]
    assert (spec.label, spec.architecture.n_layers) == ("own-bert-large-uncased", 24)
    answer = ENDPOINTS["predict"](TEXT, flags.family, 5)["models"][0]
    network = AutoModel.from_pretrained(folder / "bert-large-uncased")
    assert answer["name" if "name" in answer else "model"]
    run = get_runs(PageState(text=TEXT, family=flags.family))[0]["bert"]
    with torch.no_grad():
        states = network(torch.tensor([run.tokens.ids]), output_hidden_states=True).hidden_states
    assert torch.allclose(torch.cat(states), torch.tensor(run.hidden_states), atol=1e-5)


def test_a_known_kind_without_a_column_gets_one(folder):
    spec = add(folder / "My Roberta", "roberta")
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
        assert tab.show(PageState(text=TEXT))


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
    assert get_runs(PageState(text=TEXT, family=family))[0]["bert"].spec == spec


@pytest.mark.parametrize("kind", [BertModel, BertForSequenceClassification])
def test_without_a_head_it_predicts_nothing_and_shows_all_else(kind, copied):
    tokenizer = {path.name for path in copied.iterdir()}
    kind.from_pretrained(copied).save_pretrained(copied)
    assert tokenizer <= {path.name for path in copied.iterdir()}
    spec = add(copied)
    assert not spec.has_head
    state = PageState(text=TEXT, family=f"bert={spec.size},distilbert=mini,albert=mini")
    runs, _ = get_runs(state)
    assert runs["bert"].attention.shape == (12, 12, *[len(runs["bert"].tokens)] * 2)
    answers, missing = get_answers(state)
    assert list(answers) == ["distilbert", "albert"]
    assert "no masked-LM head" in str(missing["bert"])
    for tab in TABS:
        shown = "".join(map(str, tab.show(state)))
        assert "NaN" not in shown
        assert ("no masked-LM head" in shown) == (
            tab.ID in ("predictions", "depth", "distillation")
        )
    absent = ENDPOINTS["predict"](TEXT, state.family, 3)
    assert [m["model"] for m in absent["models"]] == ["distilbert", "albert"]


def test_a_cased_one_keeps_its_case(copied):
    path = copied / "tokenizer_config.json"
    path.write_text(json.dumps(json.loads(path.read_text()) | {"do_lower_case": False}))
    assert add(copied).lower_case is False


def spoil_kind(folder):
    edit(folder, model_type="gpt2")


def spoil_config(folder):
    (folder / "config.json").write_text("{")


def spoil_layers(folder):
    edit(folder, num_hidden_layers=6)


def spoil_vocabulary(folder):
    edit(folder, vocab_size=7)


def spoil_code(folder):
    edit(folder, auto_map={"AutoModel": "evil.Model"})


def spoil_weights(folder):
    (folder / "model.safetensors").rename(folder / "pytorch_model.bin")


def spoil_file(folder):
    (folder / "model.safetensors").write_bytes(b"no weights at all")


def spoil_tokenizer(folder):
    for path in folder.glob("*token*"):
        path.unlink()
    (folder / "vocab.txt").unlink(missing_ok=True)


def edit(folder, **changes):
    path = folder / "config.json"
    path.write_text(json.dumps(json.loads(path.read_text()) | changes))


REFUSED = {
    spoil_kind: "is of the type 'gpt2'; this column takes 'bert'",
    spoil_config: "has no config.json that can be read",
    spoil_layers: "contradicts itself: 6 layers by its config.json, 12 in its file",
    spoil_vocabulary: "contradicts itself: by its config.json word_embeddings.weight is 7 x 48",
    spoil_code: "would run code of its own",
    spoil_weights: "only pickled weights",
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


@pytest.mark.parametrize("given", ["bert", "bert=", "gpt=x", "=x", "bert=/no/such/folder"])
def test_what_is_no_model_at_all_is_refused(given):
    with pytest.raises(own.NotAModel):
        own.add_models([given])


def test_what_is_spoiled_after_the_start_is_said_on_its_card(copied):
    spec = add(copied)
    spoil_file(copied)
    family = f"bert={spec.size},distilbert=mini,albert=mini"
    _, missing = get_runs(PageState(text=TEXT, family=family))
    assert isinstance(missing["bert"], ModelUnavailable)
    assert "damaged" in str(missing["bert"])


def saved_as(kind, copied, **config):
    network = kind.from_pretrained(copied, **config)
    network.save_pretrained(copied)
    return network.eval()


def family_of(spec):
    return f"bert={spec.size},distilbert=mini,albert=mini"


@pytest.mark.parametrize("labels", [{}, {"id2label": {0: "NEGATIVE", 1: "POSITIVE"}}])
def test_a_sentiment_head_that_a_checkpoint_brings_is_used_and_said(labels, copied):
    network = saved_as(BertForSequenceClassification, copied, **labels)
    spec = add(copied)
    text = "the cat was not good"
    (found,) = ENDPOINTS["sentiment"](text, family_of(spec))["models"]
    inputs = AutoTokenizer.from_pretrained(copied)(text, return_tensors="pt")
    with torch.no_grad():
        wanted = network(**inputs).logits.softmax(-1)[0, 1].item()
    assert found["positive"] == pytest.approx(wanted, abs=1e-5)
    state = PageState(text=text, family=family_of(spec))
    assert f"{spec.label} answers with the head" in str(tuned.show_sentiment(state, text))
    assert "whose score was not measured here" in str(kept.show_kept(state))


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


@pytest.mark.parametrize("labels", [{0: "POSITIVE", 1: "NEGATIVE"}, {0: "toxic", 1: "mild"}])
def test_a_head_that_judges_something_else_is_not_asked(labels, copied):
    saved_as(BertForSequenceClassification, copied, id2label=labels)
    assert add(copied).tuned_for == ""


def test_a_family_that_is_mixed_says_who_left_layers_out(folder):
    spec = add(folder / "bert-large-uncased")
    shown = str(parameters.show(PageState(family=family_of(spec)))[0])
    assert "mini-DistilBERT</span> has 3 layers and stores" in shown


@pytest.fixture
def hub(folder, monkeypatch):
    """A hub that has one repository; what it is asked for is kept."""
    asked = []

    def fetched(repo, revision, allow_patterns):
        asked.append((repo, revision, tuple(allow_patterns)))
        if repo != "someone/bert-of-mine":
            raise OSError("no such repository")
        return str(folder / "bert-base-uncased")

    monkeypatch.setattr(own, "snapshot_download", fetched)
    monkeypatch.setattr(own, "ANY", [True])
    return asked


def test_a_visitor_may_type_a_repository_only_where_that_is_allowed(hub, monkeypatch):
    assert own.typed_model("bert", "mini") == "mini"
    assert own.typed_model("bert", "someone/bert-of-mine@v2") == "bert-of-mine"
    spec = column("bert")["bert-of-mine"]
    assert (spec.repo, spec.revision) == ("someone/bert-of-mine", "v2")
    assert own.typed_model("bert", "someone/bert-of-mine@v2") == "bert-of-mine"
    assert [revision for _, revision, _ in hub] == ["v2", "v2"]
    monkeypatch.setattr(own, "ANY", [False])
    with pytest.raises(own.NotAModel, match="none of this column's choices"):
        own.typed_model("bert", "someone/bert-of-mine")
    assert own.typed_model("bert", "bert-of-mine") == "bert-of-mine"


def test_a_typed_name_is_never_a_folder(hub, monkeypatch, folder):
    monkeypatch.chdir(folder.parent)
    for typed in (str(folder), f"{folder.name}/bert-base-uncased", "../x", "huge", ""):
        with pytest.raises(own.NotAModel):
            own.typed_model("bert", typed)
    assert not OWN


def test_a_repository_that_does_not_fit_is_refused_before_its_weights(hub, monkeypatch):
    monkeypatch.setattr(own, "LIMIT", [1000.0])
    with pytest.raises(own.NotAModel, match=r"needs 0\.00 GB; the networks may take 0\.00 GB"):
        own.typed_model("bert", "someone/bert-of-mine")
    assert [patterns for *_, patterns in hub] == [tuple(own.SMALL)]


def test_visitors_add_only_so_many(hub, monkeypatch):
    monkeypatch.setattr(own, "MOST", 0)
    with pytest.raises(own.NotAModel, match="takes no more"):
        own.typed_model("bert", "someone/bert-of-mine")


def as_published(name, tensors):
    """The names that the published files have: old ones for BERT, no order head for ALBERT."""
    old = {"LayerNorm.weight": "LayerNorm.gamma", "LayerNorm.bias": "LayerNorm.beta"}
    found = {n: t for n, t in tensors.items() if "sop_classifier" not in n}
    if name.startswith("bert"):
        for new, before in old.items():
            found = {n.replace(new, before): t for n, t in found.items()}
    return found


@pytest.mark.parametrize("name", SHAPES)
def test_each_of_the_seven_loads_with_no_tensor_missing_but_those_that_are_explained(
    name, folder, tmp_path, monkeypatch
):
    path = shutil.copytree(folder / name, tmp_path / name)
    rewritten(path, lambda tensors: as_published(name, tensors))
    with narrow(monkeypatch, tmp_path) as specs:
        loaded = read_checkpoint(specs[name], path, "cpu", "float32")
    head = ("sop_classifier.classifier.bias", "sop_classifier.classifier.weight")
    assert loaded.missing == (head if name.startswith("albert") else ())
    _, info = AutoModelForPreTraining.from_pretrained(path, output_loading_info=True)
    assert not info["unexpected_keys"]
    assert not info["mismatched_keys"]
    if loaded.missing:
        said = head_said(specs[name], trained=False, skill=None)
        assert said == NOT_IN_CHECKPOINT.format(label=specs[name].label, objective="SOP")
