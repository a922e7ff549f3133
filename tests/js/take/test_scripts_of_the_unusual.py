"""Parts of the saved scripts, run here, against the page's numbers for models and texts of other kinds."""

import re

import pytest
import torch

from explorer.library.spans import words_found
from explorer.links.page_state import PageState
from explorer.models.choice.family import family_specs
from explorer.models.forward import tokenize
from explorer.models.loading import load_model
from explorer.ui.kit.canvas import RECIPES, recipe_parts
from tests.tiny_models import make_bert, save
from tests.tiny_roberta import save_roberta


def parts(*names):
    """Return what parts of the scripts define."""
    defined = {}
    for name in names:
        exec((RECIPES / name).read_text("utf-8"), defined)
    return defined


def run(kind, **constants):
    """Run the lines of a picture with these constants, and return what they define."""
    lines = recipe_parts(kind)["computes"]
    for name, value in constants.items():
        lines, n = re.subn(
            rf"^{name} = (?:\{{\n(?:    .*\n)*\}}|\S.*?)(?=  #.*$|$)",
            lambda _, said=f"{name} = {value!r}": said,
            lines,
            flags=re.MULTILINE,
        )
        assert n == 1, name
    defined = {}
    exec(lines, defined)
    return defined


TEXTS = ("The [MASK] sat on the mat.", "the cat [MASK]. [SEP] it [MASK] sat.", "a cat sat")


@pytest.mark.parametrize("text", TEXTS)
def test_tokens_stand_where_the_page_finds_them_whatever_the_mask_is_called(four, text):
    token_spans = parts("models.py", "spans.py")["token_spans"]
    for spec in family_specs("mini"):
        loaded = load_model(spec)
        tokens = tokenize(loaded, text)
        encoding, spans = token_spans(loaded.tokenizer, text)
        assert tuple(encoding["input_ids"]) == tokens.ids, spec.label
        assert tuple(spans) == tokens.spans, spec.label


@pytest.mark.parametrize(
    ("text", "hidden"),
    [("the [MASK] sat on it", "dog"), ("the cat play[MASK]", "ing"), ("the cat s[MASK]", "at")],
)
def test_a_hidden_word_is_read_in_its_place(four, text, hidden):
    models = {s.label: [str(s.bundled_path), "main"] for s in family_specs("mini")}
    found = words_found(four.runs(text), PageState(text=text).ask, hidden.split("|"))
    rows = run("predictions/gaps", TEXT=text, HIDDEN=[hidden], TOP=1, MODELS=models)["rows"]
    top = {row[1]: row[4] for row in rows if row[4] is not None}
    own = {row[1]: (row[2], row[5]) for row in rows if row[4] is None}
    for spec in family_specs("mini"):
        page = found[spec.key][0]
        if not page.rank:
            assert spec.label not in own
        elif page.rank > 1:
            assert own[spec.label] == (page.rank, pytest.approx(page.probability, rel=1e-4))
        else:
            assert spec.label in top


def test_losses_of_models_of_two_widths_lack_the_cosine_alone(tmp_path):
    models = {}
    for name, width in (("wide", 48), ("narrow", 24)):
        save(*make_bert(2, 2, width), tmp_path / name)
        models[name] = [str(tmp_path / name), "main"]
    rows = run(
        "distillation/losses", TEXT="the [MASK] sat", PLACE=1, MODELS=models, PAIR=[*models]
    )["rows"]
    columns = ("kl", "share_of_kl", "cosine", "loss_ce", "loss_mlm", "loss_cos")
    first = dict(zip(columns, rows[0][3:], strict=False))
    assert first["cosine"] is first["loss_cos"] is None
    assert first["kl"] > 0
    assert first["loss_ce"] > 0


def test_weights_that_are_stored_in_half_precision_are_read_as_the_page_does(tmp_path):
    network, tokenizer = make_bert(2, 2, 24)
    save(network.bfloat16(), tokenizer, tmp_path / "half")
    names = parts("models.py")
    names["MODELS"] = {"half": [str(tmp_path / "half"), "main"]}
    _, model = names["load"]("half", type(network))
    assert {p.dtype for p in model.parameters()} == {torch.float32}


def test_a_word_that_a_model_lacks_gives_and_takes_no_attention():
    between = parts("averaged.py")["between_words"]
    found = between(torch.ones(1, 2, 2) / 2, [[0], [], [1]])
    assert found[0].tolist() == [[0.5, 0, 0.5], [0, 0, 0], [0.5, 0, 0.5]]


OF_ONE_TOKEN = {
    "layer/stations": {"LAYERS": 1, "HEADS": 2, "POSITIONS": 2},
    "layer/steps": {"POSITIONS": 2, "IDS": 7},
    "layer/contexts": {"WANTED": 7},
    "depth/words": {"GROUPS": [[1], [2]]},
}


@pytest.mark.long
@pytest.mark.parametrize("kind", ["xlm-roberta", "camembert"])
def test_models_that_run_on_robertas_network_have_its_lines(tmp_path, kind):
    found = []
    for name in ("roberta", kind):
        save_roberta(tmp_path / name)
        config = tmp_path / name / "config.json"
        config.write_text(config.read_text("utf-8").replace('"roberta"', f'"{name}"'), "utf-8")
        one = {"MODELS": {"x": [str(tmp_path / name), "main"]}}
        rows = [
            run(picture, TEXT=TEXTS[0], **one, **{name: {"x": v} for name, v in told.items()})[
                "rows"
            ]
            for picture, told in OF_ONE_TOKEN.items()
        ]
        pair = {"PAIR": ["x", "x"], "READER": ["x"], "TEXTS": ["The cat sat on the mat."]}
        rows.append(run("depth/changed", **one, **pair)["rows"])
        assert all(rows)
        found.append(rows)
    assert found[0] == found[1]
