"""The charts of a student that learns: each measure at its own steps, all from zero."""

from explorer.ui.distillation.strings import CANVAS
from explorer.views.distillation.live import live_figures


def test_losses_stand_at_the_steps_and_exams_at_theirs():
    losses = {"loss": [9.0, 8.0], "ce": [1.0, 2.0], "mlm": [3.0, 4.0], "cos": [5.0, 6.0]}
    exams = {"same_first": [0.1], "shared_five": [0.2], "found": [0.3]}
    agree, total, parts = live_figures(([10, 20], losses), ([0], exams), CANVAS)
    assert [(trace.x, trace.y) for trace in total.data] == [((10, 20), (9.0, 8.0))]
    assert [trace.name for trace in parts.data] == list(CANVAS["parts"].values())
    assert [trace.y for trace in parts.data] == [(1.0, 2.0), (3.0, 4.0), (5.0, 6.0)]
    assert [(trace.x, trace.y) for trace in agree.data] == [
        ((0,), (share,)) for share in (0.1, 0.2, 0.3)
    ]
    assert tuple(agree.layout.yaxis.range) == (0, 1.02)
    assert {figure.layout.yaxis.rangemode for figure in (total, parts)} == {"tozero"}
    assert len({trace.line.color for trace in parts.data}) == 3
    nothing = {key: [] for key in losses | exams}
    before = live_figures(([], nothing), ([], nothing), CANVAS)
    assert [len(figure.data) for figure in before] == [3, 1, 3]
