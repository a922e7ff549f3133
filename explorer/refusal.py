"""The one parent of every error whose text is written for readers."""


class Refusal(Exception):
    """Refuse a question: the message is one sentence, shown to whoever asked as it is.

    Every other exception is a failure of the program: it is logged, and its text shown to nobody.
    """
