"""The types of the data that Python sends are those of the browser code."""

from explorer.links.page_state import PageState
from explorer.ui.shell.input_bar import BoxData, box_data
from explorer.ui.shell.view import ViewConfig, view_config
from tests.js.typedefs import DOCUMENT, document, typescript


def test_the_types_are_written_anew():
    assert DOCUMENT.read_text("utf-8") == document(), "python -m tests.js.typedefs"


def test_what_is_sent_has_the_fields_of_its_type():
    assert {*box_data(PageState().text)} == BoxData.__required_keys__
    assert {*view_config()} == ViewConfig.__required_keys__


def test_a_type_of_python_has_its_json_in_typescript():
    nested = dict[str, list[list[str | float | None]]]
    assert typescript(nested) == "Record<string, (string | number | null)[][]>"
    assert typescript(list[tuple[str, float]]) == "[string, number][]"
