import pytest
import torch

from explorer.analysis.distillation.student import Batch
from training.family import new_model
from training.recipe import TINY
from training.steps.objectives import ORDER_WEIGHT, PretrainObjective, order_loss

NO_PAIR = -100


@pytest.fixture
def albert():
    torch.manual_seed(0)
    return new_model("mini-albert", TINY).eval()


@pytest.fixture
def batch():
    """An ordered pair, a swapped pair with padding, and a single text."""
    ids = torch.tensor(
        [[2, 11, 12, 3, 13, 14, 3], [2, 15, 3, 16, 3, 0, 0], [2, 17, 18, 19, 20, 21, 3]]
    )
    types = torch.tensor([[0, 0, 0, 0, 1, 1, 1], [0, 0, 0, 1, 1, 0, 0], [0] * 7])
    hidden = torch.tensor([1, 8])
    pairs = torch.tensor([0, 1, NO_PAIR])
    return Batch(ids, types, (ids != 0).long(), hidden, torch.tensor([11, 15]), pairs)


def order_by_hand(albert, states, batch):
    """Segment by segment: 0 for the pieces of the text that came first, 1 for the other's."""
    losses = []
    for row, pair in enumerate(batch.pairs.tolist()):
        for column in range(batch.ids.shape[1]):
            if pair == NO_PAIR or not batch.mask[row, column]:
                continue
            in_second_place = batch.types[row, column].item()
            came_second = in_second_place if pair == 0 else 1 - in_second_place
            pooled = torch.tanh(albert.albert.pooler(states[row, column]))
            chances = torch.softmax(albert.sop_classifier.classifier(pooled), -1)
            losses.append(-torch.log(chances[came_second]).item())
    assert len(losses) == 7 + 5
    return sum(losses) / len(losses)


def test_every_piece_is_asked_whether_its_segment_came_second(albert, batch):
    with torch.no_grad():
        states = albert.albert(batch.ids, batch.mask, batch.types).last_hidden_state * 5
        found = order_loss(albert, states, batch).item()
        assert found == pytest.approx(order_by_hand(albert, states, batch), abs=1e-5)


def test_the_parts_of_mini_alberts_loss_add_up(albert, batch):
    parts = PretrainObjective(albert)(batch)
    states = albert.albert(batch.ids, batch.mask, batch.types).last_hidden_state
    order = ORDER_WEIGHT * order_loss(albert, states, batch)
    torch.testing.assert_close(parts["loss"], parts["mlm"] + parts["pair"] + order)


def test_mini_bert_has_no_order_to_learn(batch):
    assert "order" not in PretrainObjective(new_model("mini-bert", TINY))(batch)
