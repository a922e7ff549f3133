"""Where a student's layers began, by the weights and by the table of its layers."""

from explorer.analysis.depth.states import copied_rows, weight_lineage
from explorer.models.inside.activations import layer_cosines


def test_layers_copied_from_the_teacher_find_their_origin(tiny_family):
    teacher = tiny_family.loaded("bert")
    found = weight_lineage(layer_cosines(teacher, teacher)[[1, 3, 5]], (1, 3, 5))
    assert found.nearest == (1, 3, 5)
    assert found.is_as_initialised
    assert not weight_lineage(found.cosine, (0, 2, 4)).is_as_initialised


def test_the_copied_pairs_stand_where_their_layers_stand():
    rows = [("a", 0), ("a", 1), ("a", 2), ("a", 3), ("b", 0), ("b", 1), ("b", 2)]
    assert copied_rows(rows, ("a", "b"), (0, 2)) == [(0, 4), (1, 5), (3, 6)]
    assert copied_rows(rows, ("a", "b"), ()) == []
