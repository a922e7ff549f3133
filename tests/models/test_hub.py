"""The published family against a hub on this machine: first download, cache, and every failure."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from explorer.models.specs import BASE, MODEL_KEYS
from tests.stand_in_hub import WEIGHTS, save_base_family, stand_in_hub

ROOT = Path(__file__).parents[2]
pytestmark = pytest.mark.processes
CLOSED = "http://127.0.0.1:9"


@pytest.fixture(scope="module")
def base_folder(tmp_path_factory):
    folder = tmp_path_factory.mktemp("hub")
    save_base_family(folder, width=96)
    return folder


@pytest.fixture(scope="module")
def home(tmp_path_factory):
    return tmp_path_factory.mktemp("home")


@pytest.fixture(scope="module")
def answers_by_hub_state(home, base_folder):
    """The first start, then the same process with an empty cache and a hub that fails in four ways.

    By state of the hub: the answers, and the requests to the hub.
    """
    moods = ["good", "mute", "down", "no-such-file", "corrupt"]
    rounds = ["-", *(f"{mood},wipe" for mood in moods[1:])]
    with stand_in_hub(base_folder) as hub:
        answers = ask(hub.url, home, *rounds)
        return {
            m: (a, hub.asked_in[m.replace("-", " ")]) for m, a in zip(moods, answers, strict=True)
        }


@pytest.fixture(scope="module")
def first(answers_by_hub_state):
    return answers_by_hub_state["good"]


@pytest.fixture(scope="module")
def second(home, first):
    """The second start with the hub gone, and then with one checkpoint damaged on disk."""
    return ask(CLOSED, home, "-", "-,damage")


@pytest.fixture(scope="module")
def failures(answers_by_hub_state):
    return {mood: answer for mood, (answer, _) in answers_by_hub_state.items()}


def ask(url, home, *rounds, **more):
    environment = {k: v for k, v in os.environ.items() if not k.lower().endswith("_proxy")}
    environment.pop("HF_HUB_OFFLINE", None)
    environment |= {
        "HF_ENDPOINT": url,
        "HF_HOME": str(home),
        "HF_HUB_DISABLE_TELEMETRY": "1",
        "OMP_NUM_THREADS": "1",
        **more,
    }
    done = subprocess.run(
        [sys.executable, "-m", "tests.models.ask_base_family", *rounds],
        cwd=ROOT,
        env=environment,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr[-3000:]
    return json.loads(done.stdout.splitlines()[-1])


def bert_sentence(answer):
    """What the reader is told about BERT, once all three are known to be missing, plainly."""
    assert list(answer["missing"]) == list(MODEL_KEYS)
    assert answer["shapes"] == {}
    assert answer["family"] == "mini"
    for key, sentence in answer["missing"].items():
        assert sentence.startswith(f"{BASE[key].label} ({BASE[key].repo}) is not available: ")
        assert sentence.endswith(".")
        assert "\n" not in sentence
    return answer["missing"]["bert"]


def test_the_first_start_downloads_with_progress(first):
    answer, asked = first
    assert answer["family"] == "mini"
    assert answer["missing"] == {}
    assert answer["shapes"] == {k: [1, BASE[k].architecture.d_vocab] for k in MODEL_KEYS}
    for key in MODEL_KEYS:
        prefix = f"Downloading {BASE[key].label}:"
        shares = [share for text, share in answer["reports"] if text.startswith(prefix)]
        assert len(shares) >= 2
        assert all(0 <= share <= 1 for share in shares)
        assert shares[-1] == 1
    assert all(spec.revision in " ".join(asked) for spec in BASE.values())


def test_only_the_files_that_are_read_are_fetched(first):
    names = {line.rpartition("/")[2] for line in first[1] if "/resolve/" in line}
    assert WEIGHTS in names
    assert not {n for n in names if n.endswith((".bin", ".h5", ".msgpack", ".onnx", ".py"))}


def test_the_second_start_needs_no_hub(second):
    answer = second[0]
    assert answer["family"] == "base"
    assert answer["missing"] == {}
    assert all(text.startswith("Loading ") for text, _ in answer["reports"])
    assert set(answer["shapes"]) == set(MODEL_KEYS)


def test_a_damaged_cache_takes_down_one_model_only(second):
    answer = second[1]
    assert list(answer["missing"]) == ["albert"]
    assert "damaged" in answer["missing"]["albert"]
    assert set(answer["shapes"]) == {"bert", "distilbert"}


@pytest.mark.parametrize("mood", ["mute", "down"])
def test_a_hub_that_never_answers_or_is_down_is_asked_once_for_each_model(
    answers_by_hub_state, mood
):
    answer, asked = answers_by_hub_state[mood]
    assert "does not answer" in bert_sentence(answer)
    assert len(asked) <= len(MODEL_KEYS), asked


def test_a_repository_with_pickled_weights_alone_is_one_sentence(failures):
    said = "has no model.safetensors for it; pickled weights are not read."
    assert said in bert_sentence(failures["no-such-file"])


def test_weights_that_arrive_corrupt_are_one_sentence(failures):
    assert "damaged" in bert_sentence(failures["corrupt"])


def test_without_permission_to_ask_nothing_is_asked(tmp_path, base_folder, monkeypatch):
    from explorer.models import hub as client

    with stand_in_hub(base_folder) as hub:
        monkeypatch.setenv("HF_ENDPOINT", hub.url)
        monkeypatch.delenv("HF_HUB_OFFLINE", raising=False)
        assert client.hub_reachable()
        monkeypatch.setenv("HF_HUB_OFFLINE", "1")
        assert not client.hub_reachable()
        assert len(hub.asked_in["good"]) == 1
