"""The one parent of every error whose text is written for readers, and how it quotes them."""


class Refusal(Exception):
    """Refuse a question: the message is one sentence, shown to whoever asked as it is.

    Every other exception is a failure of the program: it is logged, and its text shown to nobody.
    """


def brief(written: object, most: int = 60) -> str:
    """Shorten what somebody else wrote, so that a sentence of ours can say it back."""
    text = str(written)
    return text if len(text) <= most else f"{text[: most - 1]}…"
