"""What a head reads is made where its network is, on a machine with an accelerator too."""

from types import SimpleNamespace

import pytest
import torch

from explorer.models.task_heads import classifiers
from explorer.models.task_heads.adapters import TunedModel
from explorer.models.task_heads.windows import Window

ELSEWHERE = torch.device("meta")


class Tokenizer:
    """Tokenizer of three pieces whatever it reads, which it notes; its mask is RoBERTa's."""

    mask_token = "<mask>"

    def __init__(self):
        self.read = []

    def __call__(self, text, **_):
        self.read.append(text)
        return {"input_ids": [1, 2, 3], "token_type_ids": [0, 0, 0]}


@pytest.fixture
def tuned():
    """Network on a device whose numbers cannot be read; it records the device of its inputs."""
    given = []

    def network(**inputs):
        given.extend(tensor.device for tensor in inputs.values())
        ends = torch.zeros(1, 3)
        return SimpleNamespace(logits=torch.zeros(1, 2), start_logits=ends, end_logits=ends)

    spec = SimpleNamespace(architecture=SimpleNamespace(n_segments=2))
    loaded = SimpleNamespace(device=ELSEWHERE, spec=spec, tokenizer=Tokenizer())
    return TunedModel(loaded, network, {}), given


def test_pieces_and_segments_of_a_passage(tuned):
    head, given = tuned
    classifiers._window_logits(head, Window((1, 2, 3), (0, 0, 1), (None, None, (0, 1))))
    assert given == [ELSEWHERE, ELSEWHERE]


def test_texts_without_a_word(tuned):
    head, given = tuned
    classifiers.margins(head, ["a", "b"], classifiers.log_odds(1))
    assert given == [ELSEWHERE] * 2, "ids and segments; two texts of one length are one pass"


def test_a_mask_is_read_as_the_model_spells_it(tuned):
    head, _ = tuned
    classifiers.margins(head, ["it was [MASK]"], classifiers.log_odds(1))
    assert head.loaded.tokenizer.read == ["it was <mask>"]
