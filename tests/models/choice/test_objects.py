"""Objects in memory that a caller has: each is read, or refused by what to give in its place."""

import pytest
import torch
from transformers import AutoTokenizer, BertForMaskedLM, BertModel, pipeline

import explorer
from explorer.models.choice.refused import NotAModel
from explorer.models.loading import given_model
from tests.tiny_models import make_bert, save

TEXT = "the cat sat on the [MASK]"


@pytest.fixture(autouse=True)
def as_before(own_models):
    """Restore the choice of models after each test."""


@pytest.fixture(scope="module")
def saved(tmp_path_factory):
    path = tmp_path_factory.mktemp("objects") / "my-bert"
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(6)
        save(*make_bert(1, 2, 16), path)
    return path


@pytest.fixture
def network(saved):
    return BertForMaskedLM.from_pretrained(saved).eval()


@pytest.fixture
def tokenizer(saved):
    return AutoTokenizer.from_pretrained(saved)


class Wrapped(torch.nn.DataParallel):
    """Stands for any class that derives from one of those that hold a model."""


def compiled(network):
    """Return the network as ``torch.compile`` wraps it; nothing is compiled before a pass."""
    return torch.compile(network)


def adapted(network):
    peft = pytest.importorskip("peft")
    return peft.get_peft_model(network, peft.LoraConfig(r=2, target_modules=["query"]))


@pytest.mark.long
@pytest.mark.parametrize(
    ("wrap", "inside"),
    [
        (torch.nn.DataParallel, "DataParallel holds a model: give model.module."),
        (Wrapped, "Wrapped holds a model: give model.module."),
        (compiled, "OptimizedModule holds a model: give model._orig_mod."),
        (adapted, "PeftModel holds a model: give model.merge_and_unload()."),
        (lambda network: "my-model".title, "is no model of transformers"),
    ],
)
def test_what_holds_a_model_is_refused_by_how_the_model_is_written(
    wrap, inside, network, tokenizer
):
    with pytest.raises(NotAModel) as refused:
        given_model("mine", wrap(network), tokenizer)
    assert inside in str(refused.value)
    assert refused.value.__notes__


def test_what_a_pipeline_holds_can_be_given(network, tokenizer):
    pipe = pipeline("fill-mask", model=network, tokenizer=tokenizer)
    with pytest.raises(NotAModel, match=r"give \(pipe\.model, pipe\.tokenizer\)"):
        given_model("mine", pipe)
    found = explorer.predict(TEXT, explorer.load({"mine": (pipe.model, pipe.tokenizer)}), 5)
    plain = pipe(TEXT, top_k=5)
    assert found.models["mine"].ids[0].tolist() == [answer["token"] for answer in plain]


def test_weights_without_values_and_whole_numbers_are_refused(network, tokenizer):
    quantised = torch.ao.quantization.quantize_dynamic(network, {torch.nn.Linear})
    with pytest.raises(NotAModel, match=r"self\.query in qint8; only weights in floating point"):
        given_model("mine", quantised, tokenizer)
    with torch.device("meta"):
        empty = BertModel(network.config)
    with pytest.raises(NotAModel, match="weights without values, on the device meta"):
        given_model("mine", empty, tokenizer)


def test_the_folder_of_a_tokenizer_stands_for_it(network, tokenizer, saved):
    network.config._name_or_path = ""
    loaded = given_model("mine", network, str(saved))
    assert loaded.tokenizer(TEXT).input_ids == tokenizer(TEXT).input_ids
    with pytest.raises(NotAModel, match="none is next to its files"):
        given_model("mine", network, str(saved / "nowhere"))
