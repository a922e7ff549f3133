"""What programs and links rely on stays as it is, and every public name is described."""

import inspect
from pathlib import Path

import pytest

import explorer
from tests.public_names import public_names

WRITTEN = Path(__file__).with_name("public_names.txt")


@pytest.mark.long
def test_every_public_name_is_the_one_that_was_written_down(three_sentences):
    assert public_names() == WRITTEN.read_text("utf-8").splitlines(), (
        "a name is public: python -m tests.public_names writes them, if that is meant"
    )


def test_every_public_name_has_a_docstring_with_its_arguments_and_errors():
    for name in explorer.__all__:
        value = getattr(explorer, name)
        assert inspect.getdoc(value), name
        if inspect.isfunction(value):
            text = inspect.getdoc(value)
            assert "Args:" in text, name
            assert "Raises:" in text, name
            for argument in inspect.signature(value).parameters:
                assert f"    {argument}: " in text, f"{name}: {argument}"


def test_dir_lists_the_public_names_and_another_name_is_an_error():
    assert dir(explorer) == sorted(explorer.__all__)
    assert explorer.__all__ == sorted(explorer.__all__)
    assert not hasattr(explorer, "nothing")
