"""What programs and links rely on stays as it is."""

from pathlib import Path

from tests.ui.shell.public_names import public_names

WRITTEN = Path(__file__).with_name("public_names.txt")


def test_every_public_name_is_the_one_that_was_written_down(three_sentences):
    assert public_names() == WRITTEN.read_text("utf-8").splitlines(), (
        "a name is public: python -m tests.ui.shell.public_names writes them, if that is meant"
    )
