"""Fine-tuning as a function and from a shell: what is trained, kept, saved and opened again."""

import json

import numpy as np
import pytest
import torch
from transformers import AutoModelForSequenceClassification, AutoTokenizer

import explorer
from explorer.library.command import main
from explorer.lists import finetune as library
from explorer.lists import tuning
from explorer.lists.library import Interrupted, table_of
from explorer.lists.rows import text_list
from explorer.lists.tuned import TuningOptions
from explorer.lists.tuning import TuningQuestion
from explorer.models.tuning import networks as tuning_networks
from explorer.models.tuning import training
from explorer.refusal import Refusal
from explorer.scheduling.cancel import Cancelled, CancelToken
from tests.tiny_models import make_albert, make_bert, make_distilbert

pytestmark = pytest.mark.long
ROWS = [
    {
        "text": f"the {'cat' if n % 2 else 'dog'} sat on {'a' * (n % 7 + 1)} mat {n}",
        "label": "xy"[n % 2],
    }
    for n in range(120)
]


@pytest.fixture(scope="module")
def narrow():
    """Three random models of two layers, in memory."""
    torch.manual_seed(1)
    made = {
        "bert": make_bert(2, 2, 24),
        "distilbert": make_distilbert(2, 2, 24),
        "albert": make_albert(2, 2, 24, 12),
    }
    return explorer.load(
        {key: (network.eval(), tokenizer) for key, (network, tokenizer) in made.items()}
    )


@pytest.fixture(scope="module", params=["full", "lora"])
def tuned(request, narrow):
    return explorer.finetune(ROWS, narrow, request.param, epochs=2, rate=2e-2)


def test_every_column_has_its_courses_scores_and_costs(tuned):
    found, answers = tuned.to_dict(), tuned.answers
    assert found["done"]
    assert [(run["model"], run["seed"]) for run in found["runs"]] == [
        (key, seed) for key in ("bert", "distilbert", "albert") for seed in range(3)
    ]
    for run in found["runs"]:
        assert len(run["losses"]) == 5 * len(run["epochs"])
        assert run["epochs"][-1]["step"] == len(run["losses"])
    rows = {(row[0], row[1]): dict(zip(tuned.COLUMNS, row, strict=True)) for row in tuned.rows()}
    kinds = [("tuned", key) for key in ("bert", "distilbert", "albert")]
    kinds += [("frozen", key) for key in ("bert", "distilbert", "albert")]
    assert [*rows] == [*kinds, ("tfidf", None), ("majority", None)]
    for row in list(rows.values())[:3]:
        assert row["lowest_seed"] <= row["accuracy"] <= row["highest_seed"]
        assert row["train_seconds"] > 0
        assert row["peak_megabytes"] > row["megabytes"]
    assert tuned.sentences()[0] == tuned.advice == answers.scores.advice
    assert len(answers.plan.tested) == 30
    assert len(tuned.figure().data) == 27


def test_predictions_are_those_of_the_saved_folder_in_plain_transformers(tuned, tmp_path):
    folders = tuned.save(tmp_path)
    answers = tuned.answers
    texts = [row.read for row in answers.texts.rows]
    family = explorer.load({key: str(folder) for key, folder in folders.items()})
    for key, folder in folders.items():
        network, info = AutoModelForSequenceClassification.from_pretrained(
            folder, output_loading_info=True
        )
        assert not info["missing_keys"]
        assert network.config.id2label == {0: "x", 1: "y"}
        tokenizer = AutoTokenizer.from_pretrained(folder)
        saved = json.loads((folder / "tokenizer_config.json").read_text("utf-8"))
        # Of version 5's own TokenizersBackend, version 4 knows nothing.
        assert saved["tokenizer_class"] != "TokenizersBackend"
        tested = [texts[place] for place in answers.plan.splits[0][1]]
        inputs = tokenizer(tested, padding=True, return_tensors="pt")
        if key == "distilbert":
            inputs.pop("token_type_ids", None)
        with torch.inference_mode():
            logits = network.eval()(**inputs).logits
        best = answers.best[key].run
        np.testing.assert_array_equal(logits.argmax(-1).numpy(), best.predicted)
        assert best in answers.runs[key]
        ends = [run.curves.epochs[run.curves.best] for run in answers.runs[key]]
        assert answers.best[key].quality == max((end.accuracy, -end.loss) for end in ends)
        found = explorer.classify(tested[0], family).models[key]
        np.testing.assert_allclose(found.values, logits[0].softmax(-1), atol=1e-5)
        card = (folder / "README.md").read_text("utf-8")
        assert "A list of 120 rows (text: text, label: label): 75 to train on" in card
        assert {path.name for path in folder.iterdir()} >= {
            "config.json",
            "model.safetensors",
            "tokenizer.json",
        }
    with pytest.raises(Refusal, match="exists and is not empty"):
        tuned.save(tmp_path)
    (tmp_path / "file").write_text("")
    with pytest.raises(Refusal, match="cannot be written to"):
        tuned.save(tmp_path / "file")


def test_training_changed_what_changed_says(narrow, tuned, tmp_path):
    tuned.save(tmp_path)
    before = next(model for model in narrow.given if model.spec.key == "bert")
    both = explorer.load(
        {"before": (before.network, before.tokenizer), "after": str(tmp_path / "bert")}, only=True
    )
    found = explorer.changed(
        both, rows=["the cat sat on the mat and it was good", "he was not in london"]
    )
    assert max(change.distance for change in found.weights if change.layer is not None) > 0


predict = tuning.TuningQuestion._predict


def test_no_test_row_is_read_before_a_training_has_ended(narrow, monkeypatch):
    read, tested = [], []
    inputs = training.EncodedRows.inputs
    monkeypatch.setattr(
        training.EncodedRows, "inputs", lambda self, rows: read.extend(rows) or inputs(self, rows)
    )

    def watched(self, column, tuned, place):
        tested.append({*read})
        found = predict(self, column, tuned, place)
        read.clear()
        return found

    monkeypatch.setattr(tuning.TuningQuestion, "_predict", watched)
    monkeypatch.setattr(tuning.TuningQuestion, "_peak", lambda *_: None)
    with library.asked(narrow) as asked:
        asking = TuningQuestion(
            text_list(table_of(ROWS[:60])), asked.ask(), TuningOptions(epochs=1, rate=1e-2)
        )
        for _ in asking.run():
            pass
    plan = asking.plan
    assert len(tested) == 45
    for number, rows in enumerate(tested):
        fold = number // 3 % 5
        assert rows == {*plan.splits[fold][0]}
        assert not rows & {*plan.splits[fold][1]}


def test_all_models_get_the_same_batches(narrow, monkeypatch):
    drawn = []
    step = training.Tuning.step
    monkeypatch.setattr(
        training.Tuning,
        "step",
        lambda self, batch, rate: (
            drawn.append((self._rows.label, tuple(batch))) or step(self, batch, rate)
        ),
    )
    monkeypatch.setattr(tuning.TuningQuestion, "_peak", lambda *_: None)
    explorer.finetune(ROWS, narrow, epochs=1, rate=1e-2)
    by_model = {}
    for label, batch in drawn:
        by_model.setdefault(label, []).append(batch)
    assert len(by_model) == 3
    first, *others = by_model.values()
    assert len(first) == 3 * 5
    assert all(each == first for each in others)


def test_a_stop_keeps_what_every_model_has_finished_and_the_best_so_far(narrow, tmp_path):
    cancel = CancelToken()
    with library.asked(narrow) as asked:
        asking = TuningQuestion(
            text_list(table_of(ROWS)), asked.ask(), TuningOptions(epochs=2, rate=1e-2), cancel
        )
        assert asking.total == 3 * 3 * 10
        dones = []

        def go_on():
            for progress in asking.run():
                dones.append(progress.done)
                live = progress.live
                if live and (live.seed, live.column) == (1, "distilbert") and live.curves.epochs:
                    cancel.stop()

        with pytest.raises(Cancelled):
            go_on()
        found = asking.result()
    assert dones == sorted(dones)
    assert {key: len(runs) for key, runs in found.runs.items()} == {
        "bert": 2,
        "distilbert": 1,
        "albert": 1,
    }
    assert found.seeds == 1
    assert all(len(each.by_seed) == 1 for each in found.scores.standings.values())
    result = library.FineTuned("mini", False, found)
    assert [*result.save(tmp_path)] == ["bert", "distilbert", "albert"]


def test_ctrl_c_carries_what_was_trained(narrow, monkeypatch):
    run = tuning.TuningQuestion.run

    def interrupted(self):
        for progress in run(self):
            yield progress
            if progress.live and progress.live.curves.epochs:
                raise KeyboardInterrupt

    monkeypatch.setattr(tuning.TuningQuestion, "run", interrupted)
    with pytest.raises(Interrupted) as stopped:
        explorer.finetune(ROWS, narrow, epochs=2, rate=1e-2)
    found = stopped.value.result
    assert not found.done
    assert found.rows() == []
    assert found.sentences()[0].startswith("No seed was finished for every model")
    with pytest.raises(Refusal, match="no training has finished an epoch"):
        found.save("nowhere")


def test_a_model_whose_loss_is_no_number_is_left_out_with_its_sentence(narrow, monkeypatch):
    classifier_on = tuning_networks.classifier_on

    def damaged(loaded, labels, seed):
        network = classifier_on(loaded, labels, seed)
        if loaded.spec.key in failing:
            torch.nn.init.constant_(network.classifier.weight, float("inf"))
        return network

    monkeypatch.setattr(tuning_networks, "classifier_on", damaged)
    failing = ["distilbert"]
    found = explorer.finetune(ROWS, narrow, epochs=1, rate=1e-2)
    assert [*found.answers.labels] == ["bert", "albert"]
    assert "was no number in step 1" in str(found.missing["distilbert"])
    assert found.to_dict()["missing"] == [str(found.missing["distilbert"])]
    assert [row[:2] for row in found.rows()[:4]] == [
        ("tuned", "bert"),
        ("tuned", "albert"),
        ("frozen", "bert"),
        ("frozen", "albert"),
    ]
    failing += ["bert", "albert"]
    with pytest.raises(Refusal, match=r"No model could be fine-tuned\. The loss of"):
        explorer.finetune(ROWS, narrow, epochs=1, rate=1e-2)


def test_random_labels_of_a_real_training_lead_to_no_advice(narrow):
    labels = np.random.default_rng(3).permutation([row["label"] for row in ROWS])
    rows = [{"text": row["text"], "label": label} for row, label in zip(ROWS, labels, strict=True)]
    found = explorer.finetune(rows, narrow, epochs=1, rate=1e-2)
    assert found.answers.scores.advised == ()
    assert found.advice.startswith("Fine-tune none of them")


def test_a_long_text_is_left_out_with_its_reason(narrow):
    rows, label = [*ROWS, {"text": "the cat " * 300, "label": "x"}], narrow.specs["bert"].label
    found = explorer.finetune(rows, narrow, epochs=1, rate=1e-2).answers.texts
    assert [(row.number, row.reason) for row in found.left_out] == [
        (121, f"The text has 602 tokens for {label}; 512 fit. Please shorten it.")
    ]


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ({"rows": ROWS[:5]}, "needs at least 40 rows with a label, and this list has 5 rows"),
        ({"rows": [row | {"label": "x"} for row in ROWS]}, "all of these rows have the label “x”"),
        ({"rows": ["One text.", "Two."]}, "needs rows with one label each"),
        ({"epochs": 51}, "epochs must be a whole number from 0 to 50"),
        ({"epochs": -1}, "epochs must be a whole number from 0 to 50"),
        ({"seeds": 2}, "seeds must be a whole number from 3 to 20"),
        (
            {"rate": float("nan")},
            "The learning rate must be a number from 0, for the usual one, to 1",
        ),
        ({"method": "none"}, "The method must be one of: full, lora"),
    ],
)
def test_what_cannot_be_trained_has_a_sentence_of_its_own(tiny_family, given, said):
    with pytest.raises(Refusal, match=said):
        explorer.finetune(**({"rows": ROWS} | given))


def test_half_precision_that_cannot_be_trained_in_is_refused(tiny_family):
    with pytest.raises(Refusal, match="float32 or bfloat16, and these models are asked in float16"):
        explorer.finetune(ROWS, explorer.load("mini", dtype="float16"))


def test_a_shell_trains_saves_and_says_how_the_list_was_read(narrow, monkeypatch, tmp_path, capsys):
    monkeypatch.setattr("explorer.library.command.family_of", lambda *_: narrow)
    path = tmp_path / "rows.csv"
    path.write_text("\n".join(["text,label", *(f"{row['text']},{row['label']}" for row in ROWS)]))
    how = ["--epochs", "1", "--rate", "0.01", "--save", str(tmp_path / "tuned"), "--json"]
    assert main(["finetune", str(path), *how]) == 0
    out, err = capsys.readouterr()
    assert json.loads(out)["method"] == "full"
    assert "120 labelled texts" in err
    assert (tmp_path / "tuned" / "albert" / "model.safetensors").exists()


def test_a_folder_that_is_not_empty_is_refused_before_anything_is_trained(narrow, tmp_path):
    (tmp_path / "albert").mkdir()
    (tmp_path / "albert" / "kept.txt").write_text("mine")
    with pytest.raises(Refusal, match="albert exists and is not empty"):
        explorer.finetune(ROWS, narrow, save=str(tmp_path))
    assert (tmp_path / "albert" / "kept.txt").read_text() == "mine"
