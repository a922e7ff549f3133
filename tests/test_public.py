"""The public interface of the package: its names, and their signatures.

To renew: ``python -m tests.test_public > tests/public.txt``; a line that changes breaks programs.
"""

import inspect
import sys
from pathlib import Path

import explorer

SNAPSHOT = Path(__file__).with_name("public.txt")


def lines():
    """Return every public name with its signature; with its public members where it is a class."""
    found = []
    for name in explorer.__all__:
        value = getattr(explorer, name)
        found.append(f"{name}{signature(value)}")
        if inspect.isclass(value):
            members = [n for n in vars(value) if not n.startswith("_") and n.islower()]
            found += [f"{name}.{n}{signature(getattr(value, n))}" for n in sorted(members)]
    return found


def signature(value):
    """Return a signature in the words of the source, independent of where a type lives."""
    if not callable(value) or issubclass_of_exception(value):
        return ""
    text = str(inspect.signature(value))
    for module in ("explorer.library.family.", "explorer.library.", "collections.abc."):
        text = text.replace(module, "")
    return text


def issubclass_of_exception(value):
    return inspect.isclass(value) and issubclass(value, BaseException)


def test_the_public_interface_is_that_of_the_snapshot():
    assert lines() == SNAPSHOT.read_text("utf-8").splitlines()


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


if __name__ == "__main__":
    sys.stdout.write("\n".join(lines()) + "\n")
