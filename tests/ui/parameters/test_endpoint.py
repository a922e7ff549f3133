"""/parameters returns the counts of the released models and refuses other names in words."""

import pytest

from explorer.links.page_state import PageState
from explorer.models.specs import BASE, LARGER
from explorer.refusal import Refusal
from tests.endpoints import parameters

COMPONENTS = {
    "word_embeddings",
    "position_embeddings",
    "token_type_embeddings",
    "embedding_projection",
    "attention",
    "ffn",
    "layer_norm",
    "pooler",
    "head",
}


def test_the_seven_at_once():
    names = [spec.name for spec in [*BASE.values(), *LARGER.values()]]
    models = parameters(names)["models"]
    assert [m["name"] for m in models] == names
    for model in models:
        parts = model["components"]
        assert set(parts) == COMPONENTS
        assert model["total"] == sum(parts.values()) - parts["head"]
        assert model["stored_bytes_fp32"] == 4 * model["total"]


def test_albert_base():
    (model,) = parameters(["albert-base-v2"])["models"]
    assert (model["total"], model["applied"]) == (11_683_584, 89_650_176)
    assert model["components"]["head"] == 130_226


def test_a_mini_model_counts_what_its_files_hold(tiny_family):
    from safetensors import safe_open

    for spec in tiny_family.specs.values():
        (model,) = parameters([spec.name])["models"]
        with safe_open(tiny_family.path / spec.name / "model.safetensors", "pt") as weights:
            held = sum(weights.get_tensor(name).numel() for name in weights.keys())  # noqa: SIM118
        assert model["total"] + model["components"]["head"] == held


@pytest.mark.parametrize("bad", [[], ["gpt-2"], ["bert-base-uncased", 3], None, [None], [["x"]]])
def test_bad_names_are_refused_in_one_sentence(bad):
    with pytest.raises(Refusal, match="there are: bert-base-uncased"):
        parameters(bad)


def test_a_refusal_quotes_as_a_program_reads_it():
    import gradio as gr

    from explorer.ui.kit.errors import plain_errors
    from explorer.ui.shell.api import register_endpoints

    def refuse():
        raise Refusal("no 'gpt' and no <b>")

    with pytest.raises(gr.Error) as error:
        plain_errors(refuse)()
    assert error.value.message == "no 'gpt' and no &lt;b&gt;"
    with gr.Blocks() as page:
        register_endpoints(PageState())
    endpoint = next(f for f in page.fns.values() if f.api_name == "parameters")
    with pytest.raises(gr.Error) as error:
        endpoint.fn(["<b> & 'x'"])
    assert repr("<b> & 'x'") in error.value.message
