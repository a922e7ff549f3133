"""Every picture's lines of Python, as a reader gets them, find that picture's rows again."""

import ast
import json
import re
import runpy
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import pytest
import torch

from explorer.library.citation import checkpoint
from explorer.links.page_state import PageState
from explorer.models import specs
from explorer.models.choice.family import specs_by_key
from explorer.models.specs import BASE, MINI
from explorer.serving.start import parse_flags
from explorer.ui.kit.canvas import RECIPES, recipe_parts
from explorer.ui.kit.jobs import handler
from explorer.ui.shell.tabs import values_of
from explorer.ui.tasks.labels import show_labels, show_spans
from tests.js import page_values as values
from tests.js.take.recomputed import agree, run_alone
from tests.needs import needs_node
from tests.stand_in_hub import save_base_family, stand_in_hub
from tests.tiny_models import WIDE_SPREAD, WIDTH, make_bert, save, with_random_head
from tests.ui.kit import test_drawn
from tests.ui.kit.test_drawn import GAPS, OFFERED, PAIR, PASSAGE, drawings, numbers_in

HERE = Path(__file__).parent
KINDS = sorted(
    path.relative_to(RECIPES).with_suffix("").as_posix() for path in RECIPES.glob("*/*.py")
)
TEXT = "the unbelievable cat sat on the [MASK]; it was =[MASK]."
LABELLED = "the unbelievable cat's mat, and a dog."
CAT = 2
"""The word that is hidden for the losses, so that its own loss is known."""
CARRIED = (PageState(text="the cat sat on the [MASK]."), "the dog sat on the [MASK].")
"""Two texts whose answers differ by so much that a share of it is no matter of rounding."""
WORDS = PageState(text="the unbelievable cat's mat. [SEP] it sat.")
TEXTS = {
    "depth/patching": CARRIED[0].text,
    "predictions/words": WORDS.text,
    "tasks/quadrants": PAIR.text,
    "predictions/attribution": GAPS.text,
    "predictions/joint": GAPS.text,
    "layer/contexts": GAPS.text,
    "attention/ablation": GAPS.text,
}
pytestmark = [needs_node, pytest.mark.processes]


@pytest.fixture
def may_draw(tuned_family, little_training, monkeypatch):
    """What pictures with lines are drawn from, whatever the columns: models, tasks, training."""
    monkeypatch.setattr("explorer.ui.tasks.tab.is_shown", lambda skill: True)


@pytest.fixture
def pictures(may_draw, monkeypatch):
    """The data of every picture that has lines, for texts with words of many pieces."""
    drawn = drawn_with(monkeypatch)
    del drawn["depth/changed"]  # of two columns of one shape, which the bundled family has not
    others = {"depth/changed", *OF_OWN_HEADS}
    assert {name.split(":")[0] for name in drawn} == {*KINDS} - others
    return drawn


def drawn_with(monkeypatch, columns=None):
    """The data of the pictures that have lines, by their names: those of a family, or usual ones.

    ``columns`` are the fields of a state that differ from the usual: the family and the column.
    """
    columns = columns or {}
    state = PageState(text=TEXT, **columns)
    for name, usual in (("PAIR", PAIR), ("GAPS", GAPS), ("OFFERED", OFFERED)):
        monkeypatch.setattr(test_drawn, name, replace(usual, **columns))
    monkeypatch.setattr(values, "STATE", state)
    if columns:
        monkeypatch.setattr(values, "SAME_TWICE", state)
    from explorer.ui.attention import folds as attention_folds
    from explorer.ui.attention.strings import SUMMARIES
    from explorer.ui.depth import patching
    from explorer.ui.depth import tab as depth
    from explorer.ui.distillation import folds
    from explorer.ui.parameters import folds as parameters_folds
    from explorer.ui.parameters import tab as parameters
    from explorer.ui.predictions import folds as predictions_folds
    from explorer.ui.predictions import tab as predictions
    from explorer.ui.tasks import tuned

    found = values.attention_values() | values.depth_values(monkeypatch)
    found |= values.distillation_values(monkeypatch) | values.layer_values(monkeypatch)
    found["distillation/losses"] = folds.show_losses(replace(state, word=CAT))
    found["predictions/gaps"] = values_of(predictions, state)[1]
    found["predictions/words"] = list(handler(predictions_folds.WORDS)(replace(WORDS, **columns)))[
        -1
    ][1]
    found["parameters/map"] = values_of(parameters, state)[1]
    found["parameters/sizes"] = parameters_folds.show_sizes()[0]
    found["parameters/embedding"], found["parameters/spectrum"], _ = (
        parameters_folds.show_embedding(state)
    )
    found["parameters/sharing"] = parameters_folds.show_sharing()
    found["attention/switches"] = list(handler(attention_folds.SWEEP)(state))[-1][1]
    found["depth/patching"] = list(
        handler(patching.PATCHING)(replace(CARRIED[0], **columns), CARRIED[1])
    )[-1][2]
    for way in SUMMARIES:
        found[f"attention/summary:{way}"] = attention_folds.show_summary(state, way)[1]
    for kind, markup in drawings(state.model).items():
        found[kind] = json.dumps(numbers_in(markup)[kind])
    long = tuned.show_question(state, "Where was the dog?", 12 * f"{PASSAGE} ")
    found["tasks/question:long"] = json.dumps(numbers_in(long)["tasks/question"])
    found["parameters/memory"] = parameters_folds.show_memory("mini", 32, 1, keeps=False)
    found["parameters/memory:kept"] = parameters_folds.show_memory("larger", 16, 2, keeps=True)
    found |= lists(state.family)
    asked = {"params": {"text": TEXT, **columns}, "want": "words"}
    found["depth/words"] = depth.read_deeper(asked)
    found = {name: found[name] for name in found if name.split(":")[0] in KINDS}
    drawn = {name: json.loads(str(value)) for name, value in found.items()}
    drawn["depth/lens:followed"] = drawn["depth/lens"] | {
        "look": f"follow:{list(state.ask.specs)[1]}"
    }
    return drawn


OF_NO_COLUMN = {
    "distillation/masking",
    "parameters/built",
    "parameters/memory",
    "parameters/sharing",
    "parameters/sizes",
}
"""Pictures of a tokenizer and of shapes, which go by the models' own names."""
LISTS = {
    "masked": [
        {"text": "the [MASK] sat.", "answer": "cat", "group": "x"},
        {"text": "it was [MASK].", "answer": "unbelievable"},
        {"text": "he is a [MASK].", "answer": "日本"},
        {"text": "the cat sat on the [MASK]."},
        {"text": "the [cat|unbelievable|dog] sat."},
        {"text": "a [MASK] ran.", "answer": "日本|unbelievable|dog"},
    ],
    "plain": ["the unbelievable cat's mat.", "it sat."],
    "pairs": [{"good": "the cat was unbelievable.", "bad": "the cat unbelievable was."}],
    "pairs:stereoset": [
        {
            "context": "the cat BLANK on it.",
            "target": "cat",
            "sentences": {
                "sentence": [f"the cat {word} on it." for word in ("sat", "unbelievable", "日本")],
                "gold_label": [0, 1, 2],
            },
        },
        {
            "context": "it sat.",
            "target": "it",
            "sentences": {"sentence": ["it was.", "he was.", "cat."], "gold_label": [0, 1, 2]},
        },
    ],
    "labelled": [
        {
            "text": f"the {'cat' if i % 2 else 'dog'} sat{' and [sat|was]' * (i % 3)}.",
            "label": "ab"[i % 2],
        }
        for i in range(40)
    ],
    "labelled:groups": [
        {
            "text": f"the {'cat' if i % 3 else 'dog'} sat{'?!'[i % 2]} {i // 3}",
            "label": "ab"[i % 2],
            "group": f"{i // 3}" if i < 30 else "",
        }
        for i in range(42)
    ],
    "labelled:cut": [
        {"text": f"it {'[cat|dog] was ' * (400 * (not i % 20))}here {i}.", "label": "ab"[i % 2]}
        for i in range(40)
    ],
    "multilabel": [
        {
            "text": f"the {'cat' if i % 2 else 'dog'} sat{' and [sat|was]' * (i % 3 == 1)}.",
            "labels": ["a|b", "c"][i % 2 :] * (i % 7 > 0) + ["rare"] * (i == 8),
        }
        for i in range(42)
    ],
    "multilabel:groups": [
        {
            "text": f"it {'was ' * (i % 3)}here {i % 2}.",
            "labels": ["x", "y"][: i % 3],
            "group": f"{i // 2}",
        }
        for i in range(50)
    ],
    "scored": [
        {
            "sentence1": f"the {'cat' if i % 2 else 'dog'} sat{' and [sat|was]' * (i % 3 == 2)}.",
            "sentence2": "it was " * (1 + i % 4) + "!",
            "score": (i * 7 % 11) / 2,
        }
        for i in range(40)
    ],
    "scored:groups": [
        {
            "text": f"the cat sat {'it was ' * (i % 5)}.",
            "score": i % 5 + i % 3,
            "group": f"{i // 2}",
        }
        for i in range(40)
    ],
}
"""Rows of each kind: words of several pieces, an answer outside the vocabulary, one without, and
labelled rows of which some stay together."""


def lists(family):
    """Each kind's rows as the table of Your texts saves them, with what its lines are told."""
    import explorer
    from explorer.lists.views.rows import rows_canvas

    found = {}
    for kind, rows in LISTS.items():
        given = [row if isinstance(row, str) else {"answer": "", "group": ""} | row for row in rows]
        way = "head_and_tail" if kind.endswith(":cut") else "leave_out"
        result = explorer.texts(given, family, kind.split(":")[0], too_long=way)
        found[f"texts/{kind}"] = rows_canvas(result.answers, {}, {})
    return found


@pytest.fixture
def told(pictures):
    """Each picture's CSV and its lines, as the browser writes both."""
    return written(pictures, {spec.label: placed(spec.name) for spec in MINI.values()})


def placed(name):
    """Where a bundled model is, as the page tells the browser."""
    return [f"assets/models/{name}", "main"]


def written(pictures, models):
    """The CSV and the lines of pictures; ``models`` are the places of their models, by label."""
    given = {
        "models": models,
        "pictures": {
            name: {
                "lines": recipe_parts(name.split(":")[0]),
                "text": TEXTS.get(name, TEXT),
                "data": data,
            }
            for name, data in pictures.items()
        },
    }
    done = subprocess.run(
        ["node", HERE / "recipes.js"], input=json.dumps(given), capture_output=True, text=True
    )
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


def test_every_saved_script_stands_alone_and_prints_the_csv_saved_beside_it(told, tmp_path):
    recomputed(told, tmp_path)


COLUMNS = {
    "before": "mini-bert",
    "after": "second",
    "small": "mini-distilbert",
    "ink": "mini-albert",
}


def test_so_does_every_script_of_columns_by_names_of_their_own(
    may_draw, own_models, tmp_path, monkeypatch
):
    """Of what has no column in it the test above is enough."""
    torch.manual_seed(7)
    save(*make_bert(6, 12, WIDTH, WIDE_SPREAD), tmp_path / "second")
    given = COLUMNS | {"after": tmp_path / "second"}
    parse_flags([f"--model={name}={model}" for name, model in given.items()])
    family = ",".join(["only", *(f"{name}={model}" for name, model in COLUMNS.items())])
    monkeypatch.setattr("explorer.library.citation.ROOT", specs.BUNDLED.parent)
    told = [checkpoint(spec) for spec in specs_by_key(family).values()]
    known = {one["label"]: [one["source"], one["revision"]] for one in told}
    places = {name: [f"models/{model}", "main"] for name, model in COLUMNS.items()}
    assert known == places | {"after": ["second", ""]}
    drawn = drawn_with(monkeypatch, {"family": family, "model": "before"})
    named = re.compile("|".join(f'"{name}"' for name in COLUMNS))
    drawn = {name: data for name, data in drawn.items() if named.search(json.dumps(data))}
    assert set(KINDS) - {name.split(":")[0] for name in drawn} == OF_NO_COLUMN | OF_OWN_HEADS
    models = {name: placed(model) for name, model in COLUMNS.items()}
    models["after"] = [str(tmp_path / "second"), ""]
    recomputed(written(drawn, models), tmp_path)


OF_OWN_HEADS = {"tasks/labels", "tasks/entities", "tasks/why", "texts/tagged"}
TAGS = {
    "bert": ("O", "B-X", "I-X", "B-Y", "I-Y"),
    "distilbert": ("NOUN", "VERB"),
    "albert": ("O", *(f"{prefix}-X" for prefix in "BIES")),
}


TAGGED = [
    {"tokens": ["the", "unbelievable", "cat's", "mat"], "ner_tags": ["O", "B-X", "I-X", "B-Y"]},
    {"tokens": ["it", "sat", "#"], "ner_tags": ["I-X", "O", "O"]},
    {"tokens": ["he"], "ner_tags": ["O"]},
]


def test_so_does_the_script_of_token_classifiers(tiny_family, own_models, tmp_path):
    from transformers import AutoModelForTokenClassification

    import explorer
    from explorer.lists.views.rows import rows_canvas

    places = {}
    for kind, tags in TAGS.items():
        encoder, place = tiny_family.path / f"mini-{kind}", tmp_path / f"own-{kind}"
        places[kind] = with_random_head(place, encoder, AutoModelForTokenClassification, tags)
    flags = parse_flags([f"--model=m{kind}={place}" for kind, place in places.items()])
    state, text = PageState(family=flags.family), f"{LABELLED} {LABELLED}"
    spans, choice, _, _ = show_spans(state, text, "")
    drawn = {"tasks/entities": numbers_in(spans)["tasks/entities"]}
    chosen = [value for _, value in choice.choices if not value.endswith(("NOUN", "VERB"))]
    for span in (chosen[0], chosen[-1], choice.choices[0][1]):
        drawn[f"tasks/why:{span}"] = numbers_in(show_spans(state, text, span)[-1])["tasks/why"]
    assert len(drawn) == 4
    drawn["texts/tagged"] = json.loads(
        rows_canvas(explorer.texts(TAGGED, flags.family).answers, {}, {})
    )
    models = {f"m{kind}": [str(place), ""] for kind, place in places.items()}
    recomputed(written(drawn, models), tmp_path)


HEADS = {
    "bert": (("x", "y", "z"), None),
    "distilbert": (("some", "others"), "multi_label_classification"),
    "albert": (("score",), None),
}


@pytest.fixture
def own_heads(tiny_family, own_models, tmp_path):
    """Add columns with a random head each; return the family, and the folders by label."""
    from transformers import AutoModelForSequenceClassification

    places = {}
    for kind, (labels, problem) in HEADS.items():
        encoder, place = tiny_family.path / f"mini-{kind}", tmp_path / f"own-{kind}"
        given = AutoModelForSequenceClassification, labels
        places[kind] = with_random_head(place, encoder, *given, problem_type=problem)
    flags = parse_flags([f"--model=m{kind}={place}" for kind, place in places.items()])
    return flags.family, {f"m{kind}": [str(place), ""] for kind, place in places.items()}


def test_so_does_the_script_of_heads_of_a_user_s_own(own_heads, tmp_path):
    family, models = own_heads
    drawn = {
        f"tasks/labels:{number}": numbers_in(show_labels(PageState(family=family), text))[
            "tasks/labels"
        ]
        for number, text in enumerate((LABELLED, f"{LABELLED} [SEP] it was bad."))
    }
    of_one = PageState(family=family, label="others")
    drawn["tasks/labels:others"] = numbers_in(show_labels(of_one, LABELLED))["tasks/labels"]
    recomputed(written(drawn, models), tmp_path)


def test_so_do_the_scripts_of_lists_that_heads_of_a_user_s_own_are_scored_on(own_heads, tmp_path):
    """Of each kind of list one of the heads; a label that the head cannot give is neither."""
    import explorer
    from explorer.lists.views.rows import rows_canvas

    family, models = own_heads
    given = {
        "labelled": [{**row, "label": "XYw"[i % 3]} for i, row in enumerate(LISTS["labelled"])],
        "multilabel": [
            {**row, "labels": [["some"], ["Others", "more"], []][i % 3]}
            for i, row in enumerate(LISTS["multilabel"])
        ],
        "scored": LISTS["scored"],
    }
    drawn = {}
    for kind, rows in given.items():
        result = explorer.texts(rows, family, kind).answers
        assert len(result.heads.scores) == 1
        drawn[f"texts/{kind}"] = json.loads(rows_canvas(result, {}, {}))
    few = explorer.texts(given["labelled"][:5], family, "labelled").answers
    assert few.untrained
    drawn["texts/labelled:few"] = json.loads(rows_canvas(few, {}, {}))
    recomputed(written(drawn, models), tmp_path)


def recomputed(told, tmp_path):
    """Run each script in an empty folder, and compare what it prints with the picture's CSV."""
    empty, home, scripts = tmp_path / "empty", tmp_path / "home", []
    empty.mkdir()
    (home / "assets").mkdir(parents=True)
    (home / "assets" / "models").symlink_to(specs.BUNDLED)
    for number, found in enumerate(told.values()):
        scripts.append(tmp_path / f"{number}.py")
        scripts[-1].write_text(found["lines"], "utf-8")
    printed = run_alone(scripts, empty, home)
    for (name, found), text in zip(told.items(), printed, strict=True):
        agree(found["csv"], text, name.split(":")[0])
    assert {path.name for path in empty.iterdir()} == {f"{one.stem}.html" for one in scripts}


def test_a_script_of_published_models_has_them_from_the_hub(tmp_path):
    """The same numbers as from the checkpoints themselves, in full vocabularies and narrow."""
    folder, empty = tmp_path / "hub", tmp_path / "empty"
    empty.mkdir()
    save_base_family(folder, width=24)
    places = {
        "hub": {spec.label: [spec.repo, spec.revision] for spec in BASE.values()},
        "disk": {spec.label: [str(folder / spec.repo), "main"] for spec in BASE.values()},
    }
    parts = recipe_parts("predictions/gaps")
    scripts = [tmp_path / f"{name}.py" for name in places]
    for script, models in zip(scripts, places.values(), strict=True):
        told = re.sub(r"MODELS = \{.*?\n\}", f"MODELS = {models}", parts["computes"], flags=re.S)
        script.write_text(told + parts["prints"] + parts["draws"] + parts["writes"], "utf-8")
    with stand_in_hub(folder) as hub:
        there, here = run_alone(
            scripts, empty, None, HF_ENDPOINT=hub.url, HF_HOME=str(tmp_path / "home")
        )
    assert there == here
    assert there.count("\n") == 1 + 50 * len(BASE)


def test_a_script_of_somebodys_own_folder_asks_for_its_path_in_a_sentence(
    tiny_family, tmp_path, capsys
):
    """The page names the folder and keeps its path private."""
    parts, script = recipe_parts("predictions/gaps"), tmp_path / "script.py"

    def run(source):
        models = f'MODELS = {{"my-bert": [{source!r}, ""]}}'
        code = re.sub(r"MODELS = \{.*?\n\}", models, parts["computes"], flags=re.S)
        script.write_text(code + parts["prints"], "utf-8")
        runpy.run_path(str(script), run_name="__main__")

    with pytest.raises(SystemExit) as end:
        run("my-bert")
    said = "Write the path of your copy of my-bert into MODELS: it is no public model."
    assert (end.value.code, capsys.readouterr().out) == (said, "")
    run(str(tiny_family.path / MINI["bert"].name))
    assert capsys.readouterr().out.count("\n") == 51


HEAD = (RECIPES / "head.py").read_text("utf-8") + "print(BUNDLED)"
SENTENCE = "Set EXPLORER to a folder with a copy of the explorer: its models are read.\n"


def found_by(lines, explorer=None):
    """Where the head of a script finds the models, in a process of its own, or what it says."""
    given = {"EXPLORER": str(explorer)} if explorer else {}
    done = subprocess.run(
        [sys.executable, "-I", "-c", lines], env=given, capture_output=True, text=True
    )
    return done.returncode, done.stdout.strip() or done.stderr


def test_the_models_are_found_by_explorer_else_by_the_package_else_one_sentence_says_what_to_set(
    tmp_path,
):
    copy, installed, empty = (tmp_path / name for name in ("copy", "installed", "empty"))
    for place in (copy, installed):
        (place / "assets" / "models").mkdir(parents=True)
    empty.mkdir()
    (installed / "explorer").mkdir()
    (installed / "explorer" / "__init__.py").write_text("raise AssertionError('imported')")
    with_package = f"import sys\nsys.path.insert(0, {str(installed)!r})\n{HEAD}"
    assert found_by(HEAD, copy) == (0, str(copy / "assets" / "models"))
    assert found_by(with_package, copy) == (0, str(copy / "assets" / "models"))
    assert found_by(with_package) == (0, str(installed / "assets" / "models"))
    assert found_by(HEAD) == found_by(with_package, empty) == (1, SENTENCE)


@pytest.mark.parametrize("kind", KINDS)
def test_they_need_nothing_of_the_explorer(kind):
    tree = ast.parse("".join(recipe_parts(kind).values()))
    roots = {
        name.name.split(".")[0]
        for n in ast.walk(tree)
        if isinstance(n, ast.Import)
        for name in n.names
    }
    roots |= {n.module.split(".")[0] for n in ast.walk(tree) if isinstance(n, ast.ImportFrom)}
    installed = {"torch", "transformers", "peft", "numpy", "plotly", "huggingface_hub", "sklearn"}
    assert roots <= installed | set(sys.stdlib_module_names)
