"""Table of all request limits: the code reads its numbers from these rows.

The maximum length of a text depends on the models and each analysis, and is defined there.
``python -m explorer.limits`` writes the table into ``docs/serving.md``.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from explorer.refusal import Sentence

DOCUMENT = Path(__file__).parents[1] / "docs" / "serving.md"
BEGIN, END = "<!-- limits: python -m explorer.limits -->\n", "<!-- end of limits -->\n"
REFUSED, CLOSED, WAITS = "refused (429)", "the connection is closed", "the next waits"
BUSY = Sentence(
    "all-waiting", "{n} requests are already waiting. Please try again in a few seconds."
)
UNHEARD_SAYS = Sentence(
    "stream-not-opened",
    "The connection for this answer was not opened within {limit} s, so it was not computed. "
    "Please ask again, and open the stream at once.",
)


NO_SENTENCE = Sentence("", "")


@dataclass(frozen=True, slots=True)
class Limit:
    """Table row: ``maximum`` of ``subject`` for ``scope``, and what happens beyond it."""

    scope: str
    subject: str
    maximum: int
    unit: str
    consequence: str
    message: Sentence = NO_SENTENCE

    def sentence(self, n: object = "") -> Sentence:
        """Return the message with ``n``, the current number, and the row's limit filled in."""
        return self.message.format(n=n, limit=self.maximum)


QUESTIONS = Limit("all together", "waiting requests", 64, "", REFUSED, BUSY)
PROGRAMS = Limit("all programs", "of these requests", 32, "", REFUSED, BUSY)
ADDRESS = Limit(
    "one address beyond an equal share",
    "of the places in each row that counts waiting requests",
    15,
    f"sixteenths: {QUESTIONS.maximum * 15 // 16} of {QUESTIONS.maximum}, "
    f"{PROGRAMS.maximum * 15 // 16} of {PROGRAMS.maximum}",
    REFUSED,
    Sentence(
        "address-waiting",
        "{n} questions from your address are already waiting, as many as one address may have now. "
        "Please try again when one of them is answered.",
    ),
)
PAGE = Limit(
    "one page",
    "waiting requests",
    16,
    "",
    REFUSED,
    Sentence(
        "page-waiting",
        "{n} of your questions are already waiting, the most that one page may have. Please try "
        "again when one of them is answered.",
    ),
)
UNHEARD = Limit(
    "one request",
    "time until the stream of its answer is open, without time during which the server is blocked",
    5,
    "s",
    "dropped; a request of the page returns when its stream opens",
    UNHEARD_SAYS,
)
UNHEARD_IF_FULL = Limit(
    "one request",
    "the same while all places are taken, or all places of its address",
    1,
    "s",
    "the same",
    UNHEARD_SAYS,
)
ASIDE = Limit(
    "all pages",
    "dropped requests that may return",
    64,
    "",
    "the oldest is dropped for good",
)
RUNNING = Limit("all together", "requests answered at once", 64, "", WAITS)
COMPARES = Limit("all pages", "Compares answered at once", 4, "", WAITS)
COMPARES_ELSEWHERE = Limit(
    "all pages", "the same if the models are on other machines", 16, "", WAITS
)
LIGHT = Limit("all pages", "other short requests answered at once", 4, "", WAITS)
LONG = Limit("all pages", "sweeps and strips of masked words at once", 4, "", WAITS)
LISTS = Limit("all pages", "lists of texts run at once", 2, "", WAITS)
HUB = Limit("all pages", "requests to the model hub at once", 4, "", WAITS)
CALLS = Limit("all programs", "requests answered at once", 4, "", WAITS)
TIMED_CALLS = Limit("all programs", "`/latency` answered at once", 4, "", WAITS)
TIMED = Limit("all pages", "measurements started and shown at once", 4, "", WAITS)
OWN_LINE = Limit(
    "all pages",
    "live training runs, and jobs of each other kind, started and shown at once",
    8,
    "",
    WAITS,
)
JOBS = Limit(
    "all together",
    "waiting measurements, and (counted separately) waiting live training runs",
    8,
    "",
    "refused in the answer",
    Sentence("queue-full", "The queue is full. Please try again later."),
)
JOBS_OF_ADDRESS = Limit(
    "the programs at one address",
    "of these jobs",
    2,
    "",
    "refused in the answer",
    Sentence(
        "address-measuring",
        "{limit} measurements from your address are waiting or running. Please ask again when one "
        "of them is done.",
    ),
)
PROCESSOR_SAYS = Sentence(
    "processor-time",
    "Programs at one address may now use {limit} seconds of processor time a minute for "
    "/sentiment, /question, /depth, /similarity, /changed, /patch, /ablate, /contexts, /score, "
    "/attribute, /texts and /latency, and yours is used up. Please try again in a minute.",
)
PROCESSOR = Limit(
    "the programs at one address",
    "processor time a minute for `/sentiment`, `/question`, `/depth`, `/similarity`, `/changed`, "
    "`/patch`, `/ablate`, `/contexts`, `/score`, `/attribute`, `/texts`, `/latency`",
    30,
    "s",
    "the next request is refused in the answer",
    PROCESSOR_SAYS,
)
PROCESSOR_ALONE = Limit(
    "the programs at one address",
    "the same if no other address has used any in this minute",
    60,
    "s",
    "the same",
    PROCESSOR_SAYS,
)
TEXTS = Limit(
    "one call of `/texts`",
    "rows",
    200,
    "",
    "refused in the answer",
    Sentence(
        "too-many-rows",
        "{n} rows are too many: one call of /texts takes at most {limit}. Please send them in "
        "parts.",
    ),
)
TEXTS_TIME = Limit(
    "one call of `/texts`", "time for its rows", 60, "s", "answered with the finished rows"
)
SIMILARITY = Limit(
    "one call of `/similarity`",
    "time for its texts, if it does not ask for another",
    20,
    "s",
    "answered with the texts read",
)
TUNING = Limit("all pages", "lists that models are fine-tuned on at once", 1, "", WAITS)
TUNING_ROWS = Limit(
    "one fine-tuning on a page",
    "rows",
    500,
    "",
    "refused in the answer",
    Sentence(
        "tuning-too-many-rows",
        "{n} rows are too many to fine-tune on a page, which takes at most {limit}: keep fewer, or "
        "call explorer.finetune from Python or a shell.",
    ),
)
TUNING_TIME = Limit(
    "one fine-tuning on a page", "its time", 900, "s", "answered with the finished seeds"
)
TUNING_MEMORY = Limit("one fine-tuning on a page", "its memory", 6, "GB", "refused in the answer")
MEASURE = Limit(
    "one call of `/latency`", "time spent measuring", 10, "s", "answered with the finished rounds"
)
MEASURE_WAIT = Limit(
    "one call of `/latency`",
    "time until it is answered, including its wait in the queue",
    25,
    "s",
    "refused in the answer",
    Sentence(
        "busy-measuring",
        "The machine is busy with other measurements. Please ask again in a minute.",
    ),
)
PAGES_AT_ONCE = Limit("all together", "requests for the page answered at once", 1, "", WAITS)
PAGES_WAITING = Limit("all together", "of these that wait", 512, "", REFUSED, BUSY)
FIRST_PICTURES = Limit(
    "all together",
    "new texts a minute that are computed for the page that is sent",
    20,
    "",
    "the page is sent without the answer and requests it",
)
PICTURES_AT_ONCE = Limit("all pages", "requests of pictures answered at once", 4, "", WAITS)
PICTURES_WAITING = Limit("all pages", "of these that wait", 64, "", REFUSED, BUSY)
PICTURES_OF_ADDRESS = Limit("one address", "requests of pictures answered at once", 3, "", WAITS)
POSTS_AT_ONCE = Limit("all programs", "requests put into the queue at once", 2, "", WAITS)
POSTS_WAITING = Limit("all programs", "of these that wait", 1024, "", REFUSED, BUSY)
SESSIONS = Limit(
    "all together", "sessions kept", 2_000, "", "the least recently used session is reset"
)
BODY = Limit(
    "one request",
    "its body",
    256,
    "KB",
    "refused (413)",
    Sentence("request-too-large", "This request is larger than the limit of {limit} KB."),
)
HEAD = Limit(
    "one request",
    "its address and headers",
    32,
    "KB",
    "refused (431)",
    Sentence(
        "headers-too-large", "The URL and headers of this request are longer than {limit} KB."
    ),
)
STOPPING = Limit(
    "one request",
    "time for its answer after the server was told to stop",
    5,
    "s",
    "ended in a sentence",
    Sentence("stopping", "The server is stopping or restarting. Please try again in a minute."),
)
HEALTH = Limit(
    "one call of `/health`",
    "time until its own request is answered by the queue",
    10,
    "s",
    "answered with 503",
    Sentence("queues-stuck", "The queues did not answer within {limit} s."),
)


def rows() -> Iterator[Limit]:
    """Yield every limit in the order of this file."""
    yield from (value for value in globals().values() if isinstance(value, Limit))


def table() -> str:
    """Return the rows as a Markdown table."""
    lines = ["| who | what | limit | beyond it | what is said |", "|---|---|---|---|---|"]
    for row in rows():
        maximum = f"{row.maximum:,} {row.unit}".strip()
        cells = (row.scope, row.subject, maximum, row.consequence, row.sentence(n="N"))
        lines.append(f"| {' | '.join(cells)} |".replace("|  |", "| |"))
    return "\n".join(lines) + "\n"


def with_table(document: str) -> str:
    """Return a document with the table between its two markers."""
    before, _, rest = document.partition(BEGIN)
    return before + BEGIN + table() + END + rest.partition(END)[2]


if __name__ == "__main__":
    DOCUMENT.write_text(with_table(DOCUMENT.read_text("utf-8")), "utf-8")
