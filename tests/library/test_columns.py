"""Columns that hold any checkpoint: their names, their models, and numbers that do not depend on them."""

import json
import shutil

import numpy as np
import pytest
import torch
from scipy.stats import entropy
from transformers import AutoModelForMaskedLM, AutoTokenizer

import explorer
from explorer.inference.cache import CACHE
from explorer.inference.runs import get_runs
from explorer.library.command import main
from explorer.links.codec import from_params
from explorer.links.page_state import PageState
from explorer.models import loading
from explorer.models.choice.family import OWN, family_specs, read_family, sizes_of
from explorer.models.specs import KINDS, MODEL_KEYS
from explorer.models.task_heads import adapters
from explorer.refusal import Refusal
from explorer.ui.shell.tabs import values_of
from explorer.views.theme import COLOURS
from tests.tiny_roberta import save_roberta

TEXT = "The cat sat on the [MASK]."
QUESTION, PASSAGE = "Where is the cat?", "The cat sat on the mat."
ASKED = {
    "predict": lambda family: explorer.predict(TEXT, family),
    "attention": lambda family: explorer.attention(TEXT, family),
    "ablate": lambda family: explorer.ablate(TEXT, family),
    "layer": lambda family: explorer.layer(TEXT, family),
    "contexts": lambda family: explorer.contexts(TEXT, family),
    "depth": lambda family: explorer.depth(TEXT, family),
    "similarity": lambda family: explorer.similarity(family),
    "patch": lambda family: explorer.patch(TEXT, "The dog sat on the [MASK].", family),
    "score": lambda family: explorer.score("The cat sat.", family),
    "attribute": lambda family: explorer.attribute(TEXT, family),
    "sentiment": lambda family: explorer.sentiment("The cat is good.", family),
    "question": lambda family: explorer.question(QUESTION, PASSAGE, family),
    "pair": lambda family: explorer.pair("The cat sat.", "It was good.", family),
    "texts": lambda family: explorer.texts([TEXT, "A [MASK] sat."], family=family),
    "vectors": lambda family: explorer.vectors(TEXT, family),
}
OF_TWO = {
    "distillation": lambda family: explorer.distillation(TEXT, family),
    "changed": lambda family: explorer.changed(family, rows=[PASSAGE, "A dog was in the park."]),
    "close": lambda family: explorer.similarity(family, ["A cat sat.", "A dog ran."], [1, 1]),
}


def plain(folder, text=TEXT):
    """Return the probabilities of plain transformers at the first mask."""
    network, tokenizer = (
        kind.from_pretrained(folder) for kind in (AutoModelForMaskedLM, AutoTokenizer)
    )
    inputs = tokenizer(text.replace("[MASK]", tokenizer.mask_token), return_tensors="pt")
    place = (inputs["input_ids"][0] == tokenizer.mask_token_id).nonzero()[0, 0]
    with torch.no_grad():
        return network.eval()(**inputs).logits[0, place].double().softmax(-1).numpy()


@pytest.mark.long
@pytest.mark.parametrize("name", sorted(ASKED))
def test_one_checkpoint_has_equal_numbers_under_either_name(tuned_family, three_sentences, name):
    """Whichever is asked first: what is kept of the first must not answer for the second."""
    answers = [
        json.dumps(ASKED[name](explorer.load({column: "mini-bert"})).to_dict()).replace(column, "X")
        for column in ("mine", "yours", "mine")
    ]
    assert answers[0] == answers[1] == answers[2]
    of_two_columns(ASKED[name])


@pytest.mark.parametrize("name", sorted(OF_TWO))
def test_one_checkpoint_in_two_columns_is_compared_alike_in_either_order(
    tiny_family, three_sentences, name
):
    of_two_columns(OF_TWO[name])


def of_two_columns(ask):
    """Ask about one model in two columns in either order: what differs are the columns' names."""
    both, other = (
        json.dumps(ask(explorer.load(dict.fromkeys(names, "mini-bert"))).to_dict())
        for names in (("a1", "b1"), ("b1", "a1"))
    )
    swapped = other.replace("a1", "X").replace("b1", "a1").replace("X", "b1")
    assert swapped == both


def test_a_page_calls_a_model_by_the_column_that_is_open(tiny_family):
    """Results are kept by model, and a model may be shown in one column after another."""
    from explorer.ui.predictions import tab

    def labels(family):
        canvas = next(
            part for part in values_of(tab, PageState(TEXT, family)) if '"masks"' in str(part)
        )
        models = json.loads(canvas)["models"]
        return {key: model["label"] for key, model in models.items()}

    assert labels("only,before=mini-bert,after=mini-albert") == {
        "before": "before",
        "after": "after",
    }
    assert labels("mini")["bert"] == "mini-BERT"
    assert labels("only,before=mini-bert")["before"] == "before"


def test_a_kept_run_says_which_column_it_is_in(tiny_family):
    runs, _ = get_runs(PageState(TEXT, "only,before=mini-bert,after=mini-bert").ask)
    assert [(key, run.spec.key, run.spec.label) for key, run in runs.items()] == [
        ("before", "before", "before"),
        ("after", "after", "after"),
    ]
    assert runs["before"].hidden_states is runs["after"].hidden_states, "one pass serves both"
    assert get_runs(PageState(TEXT).ask)[0]["bert"].spec == tiny_family.specs["bert"]


def test_two_columns_share_one_network_and_its_adapters(tuned_family, monkeypatch):
    built = []

    def tuned_model(loaded, task):
        built.append(task)
        return tune(loaded, task)

    tune = adapters.tuned_model
    monkeypatch.setattr(adapters, "tuned_model", tuned_model)
    family = explorer.load({"one": "mini-bert", "two": "mini-bert"})
    first, second = (
        stack.network for spec in family.specs.values() for stack in [loading.load_model(spec)]
    )
    assert first is second
    for _ in range(2):
        explorer.question(QUESTION, PASSAGE, family)
    assert built == ["squad"]


def test_columns_are_any_models_in_the_callers_order(tiny_family, tmp_path):
    shutil.copytree(tiny_family.path / "mini-distilbert", tmp_path / "student")
    network = AutoModelForMaskedLM.from_pretrained(tiny_family.path / "mini-albert")
    family = explorer.load(
        {"z": "mini-bert", "ink": tmp_path / "student", "text": network, "bert": "mini"}
    )
    answers = explorer.predict(TEXT, family, top_k=5).models
    assert list(answers) == ["z", "ink", "text", "bert"]
    assert [spec.architecture_key for spec in family.specs.values()] == [
        *("bert", "distilbert", "albert", "bert"),
    ]
    folders = ("mini-bert", "mini-distilbert", "mini-albert", "mini-bert")
    for (key, answer), folder in zip(answers.items(), folders, strict=True):
        expected = np.sort(plain(tiny_family.path / folder))[::-1][:5]
        np.testing.assert_allclose(answer.probabilities[0], expected, atol=1e-4, err_msg=key)


@pytest.mark.parametrize("kind", ["roberta", "xlm-roberta", "camembert"])
def test_a_columns_architecture_is_that_of_its_config(tmp_path, kind):
    save_roberta(tmp_path := tmp_path / kind)
    config = json.loads((tmp_path / "config.json").read_text())
    (tmp_path / "config.json").write_text(json.dumps(config | {"model_type": kind}))
    family = explorer.load({"other": tmp_path})
    assert family.specs["other"].kind.config_type == kind
    answer = explorer.predict(TEXT, family, top_k=3).models["other"]
    network = AutoModelForMaskedLM.from_pretrained(tmp_path)
    tokenizer = AutoTokenizer.from_pretrained(tmp_path)
    ids = torch.tensor([answer_ids(family)])
    with torch.no_grad():
        logits = network.eval()(ids).logits[0, list(ids[0]).index(tokenizer.mask_token_id)]
    expected = logits.double().softmax(-1).sort(descending=True).values[:3]
    np.testing.assert_allclose(answer.probabilities[0], expected, atol=1e-4)
    assert explorer.attention(TEXT, family).heads().shape[:2] == (4, 3)


def answer_ids(family):
    """Return the ids that the family's only model reads."""
    runs, _ = get_runs(family.ask(TEXT))
    return next(iter(runs.values())).tokens.ids


def test_a_column_of_an_unknown_architecture_is_refused(tiny_family, tmp_path):
    shutil.copytree(tiny_family.path / "mini-bert", tmp_path / "x")
    config = json.loads((tmp_path / "x" / "config.json").read_text())
    (tmp_path / "x" / "config.json").write_text(json.dumps(config | {"model_type": "gpt2"}))
    with pytest.raises(Refusal, match="'gpt2'; the known types are bert, distilbert, albert"):
        explorer.load({"other": tmp_path / "x"})


@pytest.mark.parametrize("name", ["A", "1st", "a-b", "a b", "", "x" * 17, "é", 3, "a,b=c"])
def test_a_name_that_no_column_can_have_is_refused(name):
    with pytest.raises(Refusal, match="A column cannot be called"):
        explorer.load({name: "mini-bert"})


def test_a_family_has_one_to_four_columns(tiny_family):
    with pytest.raises(Refusal, match="one to 4 columns"):
        explorer.load(dict.fromkeys("abcde", "mini-bert"))
    with pytest.raises(Refusal, match="one to 4 columns"):
        explorer.load({}, only=True)
    assert list(explorer.load(dict.fromkeys("abcd", "mini-bert")).specs) == [*"abcd"]


def test_architectures_that_are_not_named_are_miniatures_unless_only_is_said(tiny_family):
    sizes = {"bert": "mini", "albert": "mini"}
    assert list(explorer.load(sizes).specs) == ["bert", "distilbert", "albert"]
    assert list(explorer.load(sizes, only=True).specs) == ["bert", "albert"]
    assert list(explorer.load("only,albert=mini,bert=mini").specs) == ["albert", "bert"]


def test_no_model_is_the_first_column_and_an_absent_one_is_refused(tiny_family):
    family = explorer.load({"before": "mini-albert", "after": "mini-bert"})
    assert explorer.attention(TEXT, family).model == "before"
    assert explorer.depth(TEXT, family).to_dict()["model"] == "before"
    assert explorer.layer(TEXT, family).to_dict()["model"] == "before"
    for ask in (explorer.attention, explorer.depth, explorer.layer):
        assert ask(TEXT, "mini").to_dict()["model"] == "bert"
        with pytest.raises(Refusal, match="one of before and after"):
            ask(TEXT, family, "bert")
    with pytest.raises(Refusal, match="must be solo, the only one"):
        explorer.depth(TEXT, explorer.load({"solo": "mini-bert"}), "bert")
    with pytest.raises(Refusal, match="one of before and after"):
        explorer.ablate(TEXT, family, {"": [(0, 0)]})


@pytest.mark.long
def test_loading_leaves_no_trace_in_what_all_families_share(tiny_family, tmp_path):
    save_roberta(tmp_path / "r")
    before = list(MODEL_KEYS), list(KINDS), dict(OWN)
    families = [
        explorer.load({"before": tiny_family.path / "mini-bert", "after": "mini-bert"}),
        explorer.load({"roberta": tmp_path / "r"}),
        explorer.load({"bert": tiny_family.path / "mini-bert"}),
    ]
    assert list(families[1].specs) == ["bert", "distilbert", "albert", "roberta"]
    assert (list(MODEL_KEYS), list(KINDS), dict(OWN)) == before
    with pytest.raises(Refusal) as refused:
        explorer.predict(TEXT, "no-family")
    assert "before" not in str(refused.value)


def test_labels_in_a_family_all_differ(tiny_family, tmp_path):
    shutil.copytree(tiny_family.path / "mini-bert", tmp_path / "after")
    family = explorer.load({"bert": tmp_path / "after", "after": "mini-bert"})
    assert [spec.label for spec in family.specs.values()] == ["after (bert)", "after"]


def test_the_shell_takes_columns(tiny_family, tmp_path, capsys):
    shutil.copytree(tiny_family.path / "mini-bert", tmp_path / "b")
    columns = f"before=mini-bert,after={tmp_path / 'b'}"
    assert main(["predict", TEXT, "--family", columns, "--json"]) == 0
    models = json.loads(capsys.readouterr().out)["models"]
    assert [model["model"] for model in models] == ["before", "after"]
    assert models[0]["masks"] == models[1]["masks"]
    only = f"only,bert={tmp_path / 'b'},albert=mini"
    assert main(["predict", TEXT, "--family", only, "--json"]) == 0
    models = json.loads(capsys.readouterr().out)["models"]
    assert [model["model"] for model in models] == ["bert", "albert"]


def test_any_two_models_of_one_vocabulary_are_compared_softly(tiny_family, tmp_path):
    family = explorer.load({"x": "mini-albert", "big": "mini-bert", "small": "mini-distilbert"})
    found = explorer.distillation(TEXT, family, 1.0)
    assert found.models == ("big", "small"), "a model and its parent"
    turned = explorer.distillation(TEXT, family, 1.0, teacher="small")
    assert turned.models == ("small", "big")
    big, small = (plain(tiny_family.path / f"mini-{key}") for key in ("bert", "distilbert"))
    assert found.masks[0].kl_teacher_student == pytest.approx(entropy(big, small), abs=1e-4)
    assert turned.masks[0].kl_teacher_student == pytest.approx(entropy(small, big), abs=1e-4)
    with pytest.raises(Refusal, match="must be one of"):
        explorer.distillation(TEXT, family, teacher="bert")
    with pytest.raises(Refusal, match="do not share a vocabulary"):
        explorer.distillation(TEXT, family, teacher="big", student="x")
    with pytest.raises(Refusal, match="both would be 'big'"):
        explorer.distillation(TEXT, family, teacher="big", student="big")
    with pytest.raises(Refusal, match="No two models"):
        explorer.distillation(TEXT, explorer.load({"solo": "mini-bert"}))


@pytest.mark.parametrize(
    ("family", "canonical"),
    [
        ("before=mini-bert,after=mini-albert", "only,before=mini-bert,after=mini-albert"),
        ("only,after=mini-albert,before=mini-bert", "only,after=mini-albert,before=mini-bert"),
        ("only,text=mini-bert,tab=bert-large-uncased",) * 2,
        ("only,bert=mini,albert=base",) * 2,
        ("only,bert=mini,distilbert=mini,albert=mini", "mini"),
        ("bert=large", "bert=large,distilbert=mini,albert=mini"),
        ("base,bert=large", "bert=large,distilbert=base,albert=base"),
    ],
)
def test_a_family_of_columns_has_one_name(family, canonical):
    assert read_family(family) == canonical
    assert sizes_of(canonical) == sizes_of(family)
    assert list(family_specs(family)) == list(family_specs(canonical))


@pytest.mark.parametrize(
    "family",
    [
        *("only", "only,", "", "before=nope", "mini,before=mini-bert"),
        *("only,A=mini-bert", "only,a=mini"),
    ],
)
def test_a_family_that_does_not_exist_is_refused(family):
    assert read_family(family) is None
    with pytest.raises(Refusal):
        explorer.predict(TEXT, family)


def test_a_page_without_these_columns_opens_its_own():
    family = "only,before=mini-bert,after=mini-albert"
    state, repaired = from_params({"family": family, "model": "before"})
    assert (state.family, set(repaired)) == ("mini", {"family", "model"})


def test_a_page_opens_a_family_without_one_of_its_columns():
    family = "only,bert=mini,albert=mini"
    state, repaired = from_params({"family": family, "model": "albert"})
    assert (state.family, state.model, repaired) == (family, "albert", ())


def test_colours_go_by_position(tiny_family):
    """The four colours, each once, whatever the names; a known name has its own."""
    four = dict.fromkeys(("ink", "z", "bert", "a"), "mini-bert") | {"bert": "mini"}
    figure = explorer.predict(TEXT, explorer.load(four), top_k=2).figure()
    drawn = {bar.name: bar.marker.color for bar in figure.data}
    fills = [COLOURS[key].fill for key in ("distilbert", "albert", "bert", "roberta")]
    assert list(drawn.values()) == fills
    turned = explorer.load({"after": "mini-albert", "before": "mini-bert"})
    depth = explorer.depth(TEXT, turned, "before")
    assert {line.line.color for line in depth.figure().data} == {COLOURS["distilbert"].fill}
    assert f"--ink-before:{COLOURS['distilbert'].ink};" in depth._repr_html_()


@pytest.mark.long
def test_results_of_a_family_that_is_gone_are_dropped(tiny_family, tmp_path):
    import gc

    shutil.copytree(tiny_family.path / "mini-bert", tmp_path / "gone")
    family = explorer.load({"before": tmp_path / "gone"})
    explorer.predict(TEXT, family)
    assert any("gone" in str(key) for key in CACHE._values)
    del family
    gc.collect()
    assert not any("gone" in str(key) for key in (*CACHE._values, *loading._loaded))
    assert explorer.load({"again": tmp_path / "gone"}).specs["again"].name == "gone"
