"""Strings shared by all tabs."""

from collections.abc import Iterable, Mapping, Sequence

from explorer.analysis.digits import quotient
from explorer.library.strings import language_notes, reading_notes
from explorer.models.choice.family import PRESETS, is_parent, parent_of
from explorer.models.run import Run
from explorer.models.specs import ModelSpec
from explorer.models.tokens import UNKNOWN, Tokens
from explorer.refusal import Sentence
from explorer.views.markup import Markup, el, note

TITLE = "BERT family explorer"
TAGLINE = "One text through BERT, DistilBERT and ALBERT"
TAGLINE_OWN = "One text through up to four encoders, side by side"
BADGES = {
    "mini": "Miniature models",
    "base": "Published models",
    "large": "Large models",
    "": "Mixed sizes",
    "only": "Chosen models",
}
"""Labels of the badge beside the title, by family."""
BADGE_OPENS = "choose models, device and precision"
MINIATURES = (
    "mini-BERT, mini-DistilBERT and mini-ALBERT are three miniatures trained for this page "
)
MINIATURES_CARD = "how they were made"
PUBLISHED = "; the published models load when you choose them here."
SKIP = "Skip to the results"
PREVIEW = "“{text}” through BERT, DistilBERT and ALBERT, side by side"
PREVIEW_OWN = "“{text}” through {models}, side by side"
TEXT_LABEL = "Text"
TEXT_PLACEHOLDER = "Type a sentence with [MASK] in it, or click a word to mask it."
TOO_MANY_WORDS = Sentence(
    "too-many-words-here",
    "The text has {found:,} words and punctuation marks; at most {limit:,} fit here.",
)
TOO_MANY_IN_SIX_WAYS = Sentence(
    "too-many-masks-in-six-ways",
    "The text has {found:,} masks; at most {limit} can be read in six ways.",
)
TOO_MANY_BY_LAYER = Sentence(
    "too-many-masks-to-read",
    "The text has {found:,} masks; at most {limit} can be read layer by layer.",
)
TOO_MANY_AT_ONCE = Sentence(
    "too-many-masks-to-compare",
    "The text has {found:,} masks; at most {limit} are compared at once.",
)
TOO_MANY_VECTORS = Sentence(
    "too-many-vectors",
    "The vectors of more than {most} words are too many for one answer: take pooling=mean, or a "
    "shorter text.",
)
TOO_MANY_TEXTS = Sentence(
    "too-many-texts", "{n} texts are too many: layers are compared over at most {most}."
)
IN_PYTHON = "What ``load`` returned, or the name of a family"
OR_LOADED = "; or what ``load`` returned"
"""Parts of docstrings for callers in Python only."""
NAMED_FAMILY = (
    '"mini" (bundled weights), "base" or "large" (the published checkpoints), or a size for each '
    'model: "bert=large,distilbert=base,albert=xlarge"'
)
AT_MOST_MASKS = "At most {limit} [MASK]s."
AT_MOST_WORDS = "At most {limit} words and signs."
AT_MOST_WORDS_WITHOUT = "Without ``{name}`` at most {limit} words and signs."
AT_MOST_TEXTS = "At most {limit}."
AT_MOST_SECONDS = "A program has at most {limit}."
POOLING = (
    '"words": each word by the mean of its pieces ({limit} at most); "mean" or "cls": the text by '
    "the mean of its tokens or by its first."
)
ROWS = (
    "Texts, or objects with ``text`` and any of ``answer``, ``label`` and ``group``; for pairs "
    "``good`` and ``bad``. At most {limit}."
)
"""Notes on arguments of endpoints, in place of the docstrings' or after them."""
COMPARE = "Compare"
COMPLETE = "Done"
PLACE = "Waiting: {n} ahead of you."
EXAMPLES_LABEL = "Try"
MORE_EXAMPLES = "More"
BOX = {
    "hint": "The words: click one to mask or unmask it; click a typed [MASK] to fill it in",
    "cut": "The first {shown} words and punctuation marks of the text; not shown: {left}.",
    "mask": "mask {word}",
    "unmask": "masked: {word}, unmask",
    "fill": "[MASK], type a word in its place",
    "edit": "Edit the text",
    "recent": "Your last texts",
    "first": "First sentence",
    "second": "Second sentence",
    "remove": "Remove the second sentence",
}
"""Strings of the text box."""
ADD_SENTENCE = "Add a second sentence"
GROUPS = {
    "Predict": ("predictions",),
    "Look inside": ("attention", "layer", "depth", "distillation"),
    "Put to use": ("texts", "tasks"),
    "Cost": ("parameters", "latency"),
    "Facts": ("claims",),
}
"""Groups of tabs: the name of each with its tabs."""
TABS_LABEL = "Tabs"
NEEDS_SCRIPT = (
    "JavaScript is switched off: this answer was drawn by the server, and the tabs, the examples "
    "and Compare work. Menus, sliders, the parts that open below each picture and saving need "
    "JavaScript."
)
FAMILY_LABEL = "Models"
SIZES = {
    "base": "Published base size",
    "mini": "Bundled miniatures",
    "large": "Published large size",
}
"""Names of the presets wherever one can be chosen."""
TYPE_ANY = "or type OWNER/NAME[@REVISION] of the model hub"
COLUMN_HERE = "{label}, {weights}, {running} running"
COLUMN_CLOSED = "not shown"
COLUMN_AWAY = "{label}, {weights} to download, {running} running"
"""Labels of a column's choices: a model on disk, a model to download, none."""
MIXED = "The chosen models"
"""Name of a family that is no preset."""
AT_SIZE = {
    "base": "At the published base size ",
    "mini": "Among the bundled miniatures ",
    "large": "At the published large size ",
    "larger": "At the published larger sizes ",
}
AT_CHOICE = "Among the chosen models "
"""Beginnings of a finding's sentence, which name the sizes that it is about."""
FAMILIES = [(SIZES[family], family) for family in PRESETS]
DEVICE_LABEL = "Device"
AUTO_DEVICE = "auto (the fastest)"
DTYPE_LABEL = "Precision"
HALF = {
    "name": "{dtype} against float32, this text.",
    "same": " {label}: no printed probability or attention weight differs.",
    "words": " {label}: printed probabilities that differ: {changed} of {count}, by up to "
    "{largest}; attention weights by up to {weights}.",
    "no_mask": " {label}: attention weights differ by up to {weights}.",
    "first": " Top prediction at mask {mask}: “{word}” (float32: “{exact}”).",
    "more": " Masks with other top predictions besides: {left}.",
    "absent": " Not compared with float32: {reason}",
}
"""Sentences on the numbers that half precision changes."""
LINK_LABEL = "Link to this view"
TOUR = {
    "name": "Tour",
    "count": "{i} of {n}",
    "back": "Back",
    "next": "Next",
    "projector": "Projector",
    "lessons": "Lessons",
    "leave": "Exit projector mode",
    "end": "End the tour",
}
"""Strings of the guided tour."""
LINK = {
    "label": LINK_LABEL,
    "copy": "Copy link",
    "copied": "Link copied",
    "press": "Press Ctrl+C to copy the selection.",
    "no_room": "These texts are too long for a link: {length} characters when compressed, and the "
    "limit is {longest}. “Save this tab” keeps everything in a file.",
    "qr": "QR code",
    "qr_alt": "QR code of the link to this view",
    "qr_save": "Save as SVG",
    "local": "The link opens on this computer only: its address, {host}, is that of every machine "
    "itself.",
    "embed": "Copy embed code",
    "embed_copied": "Embed code copied",
    "save_tab": "Save this tab",
    "not_taken": "The file could not be created.",
    "needs_page": "This part works only on the live page.",
    "live": "This view on the live page.",
    "full_view": "Open the full view",
    "computing": "Computing; while this machine measures, answers wait.",
    "unanswered": "Nothing was computed here; choose the tab again to ask once more.",
    "standing": "Still showing “{text}”; press Enter to compare the text in the box.",
    "standing_touch": "Still showing “{text}”; tap Compare for the text in the box.",
    "standing_refused": "Still showing “{text}”.",
    "title": TITLE,
}
"""Strings of the link and the controls beside it."""
STANDING_BACK = "Restore that text"
GLOSSARY_LINK = "Glossary"
OWN_MODEL = (
    "Your own checkpoint: start the explorer with “--model bert=FOLDER” (docs/models.md, “Your own "
    "checkpoint”)."
)
REFUSALS = {
    "title": "Refusals, and what to do about them",
    "lead": "What cannot be answered is refused in one sentence. Dots stand for what the sentence "
    "names.",
    "sentence": "It says",
    "why": "Why",
    "what_to_do": "What to do",
}
"""Strings of the page of all refusals."""
THEME_SWITCH = "Switch between light and dark"
STARTING = "The models are loading; your text runs as soon as they are ready."
OUT_OF_MEMORY = "Not enough memory for this: please use a shorter text or a smaller batch."
LITTLE_MEMORY = (
    "The machine that runs this page is low on memory (under 1 GB was free at startup): requests "
    "may fail, whatever the text."
)
SHORT_OF_MEMORY = (
    "The server is out of memory, and a shorter text would not help. Please tell whoever runs "
    "this page, or try again later."
)
UNEXPECTED = "Something went wrong on our side (error {mark}); your text is still here."
LEFT = "You left before the answer was ready."
WENT_AWAY = Sentence(
    "machine-gone", "The machine that was answering has gone away. Please try again in a moment."
)
ELSEWHERE = Sentence(
    "timing-elsewhere",
    "Timing is off here: the models run on other machines, which also serve others. Run app.py on "
    "the machine that you want to time.",
)
NOT_OFFERED = Sentence(
    "not-offered",
    "This request contains an option that the page does not offer. Please reload the page.",
)
NO_NUMBER = Sentence("needs-a-number", "“{label}” needs a number.")
WRONG_KIND = Sentence("wrong-type", "“{name}” must be {kind}.")
TOO_MANY_ARGUMENTS = Sentence(
    "too-many-arguments", "Too many arguments for {name}: at most {n}, given: {given}."
)
MISSING_ARGUMENTS = Sentence("missing-argument", "{name} needs the argument {missing}.")
REPAIRED = "The link contained invalid values; reset to the default: {fields}."
UNREADABLE = (
    "The texts in this link could not be read: they were too long, or the link was cut off."
)
NO_FAMILY = "These models could not be downloaded."
WAY_BACK = "Back to the bundled miniatures"
NO_PICTURE = "This picture failed to load. Reload the page; everything else still works."
BUNDLED = "bundled"
OWN = "your own"
NEWEST = "newest revision"
SAVE = "Save"
TAKE = {
    "svg": "SVG image",
    "png": "PNG image at twice the size",
    "csv": "CSV data",
    "json": "JSON data",
    "plotly": "Plotly figure (JSON)",
    "py": "Python code for the numbers and a figure",
    "ipynb": "Notebook (.ipynb)",
}
"""Choices of the menu below a picture, by the file's extension."""
LOOKS = {"width": ("", "800", "1200", "1600"), "theme": ("", "light", "dark")}
"""Options of a saved image that may differ from the page."""
LOOK = {
    "width": "Width",
    "theme": "Theme",
    "caption": "Caption",
    "": "as on the page",
}
NOT_TAKEN = LINK["not_taken"]
CITE = "{title}, version {version}{address}. Papers: {papers}."
CITE_LINK = "Cite"
RUNNING = "The explorer is at {url}"
IN_NETWORK = "Other machines of this network open {url}\n"
NOT_IN_NETWORK = (
    "In this network its address is {url}, which does not answer: a firewall of this machine may "
    "close the port.\n"
)
NO_NETWORK = "This machine is in no network: only browsers on it can open the page.\n"
SHARED = (
    "and, for up to a week, at {url}: anyone with that link can run measurements and training on "
    "this machine."
)
NOT_SHARED = "No public link: gradio.live cannot be reached from here. The page runs locally."
SAME = 0.015
"""Relative difference below which two amounts of compute are called nearly the same."""


def cited(about: Mapping[str, str], papers: Mapping[str, str]) -> str:
    """Return the citation in one line, with the arXiv number of each paper, by its model."""
    address = f", {about['repository-code']}" if "repository-code" in about else ""
    numbers = "; ".join(f"{label}, arXiv:{number}" for label, number in papers.items())
    return CITE.format(**about, address=address, papers=numbers)


def stored_said(weights: float, of_first: float) -> str:
    """Return a phrase that compares the stored weights of two models by their exact quotient."""
    fewer, more = quotient(of_first / weights), quotient(weights / of_first)
    if "1.00" in (fewer, more):
        return "as many weights as"
    if weights < of_first:
        return f"{fewer} times fewer weights than"
    return f"{more} times as many weights as"


def compute_said(times: float) -> str:
    """Return a phrase that compares two models' FLOP of one forward pass by their quotient."""
    if abs(times - 1) < SAME:
        return "the same compute" if times == 1 else "nearly the same compute"
    return "half the compute" if quotient(times) == "0.50" else f"{quotient(times)} × the compute"


def where_it_runs(local: str, public: str | None, was_chosen: bool) -> str:
    """Return the terminal's startup message: the address, and the public link or its failure."""
    lines = [RUNNING.format(url=local)]
    if public:
        lines.append(SHARED.format(url=public))
    elif was_chosen:
        lines.append(NOT_SHARED)
    return "\n".join([*lines, ""])


def reading_note(runs: Iterable[Run]) -> Markup | None:
    """Return a note on what the models cannot tell of their text; None without anything.

    These are [UNK] tokens, words that share a token, and a text that is not English.
    """
    runs = [*runs]
    texts = {run.tokens.text for run in runs}
    sentences = (*reading_notes(runs), *language_notes(texts, (run.spec for run in runs)))
    return note(" ".join(sentences)) if sentences else None


def language_note(specs: Iterable[ModelSpec], *texts: str) -> Markup | None:
    """Return a note if any text is not English, about the models known to know only English."""
    sentences = language_notes(texts, specs)
    return note(*sentences) if sentences else None


def unknown_share(tokens: Tokens) -> tuple[int, int]:
    """Return the number of [UNK] tokens of a text, and of all its tokens but special ones."""
    return sum(p in UNKNOWN for p in tokens.pieces), len(tokens) - sum(tokens.special)


def unreadable(read: Mapping[str, Tokens]) -> list[str]:
    """Return the names of the models for which at least half of the tokens are [UNK]."""
    shares = {label: unknown_share(tokens) for label, tokens in read.items()}
    return [label for label, (n, size) in shares.items() if n and 2 * n >= size]


FROM, TO = "From", "to"


def pair_choice(
    specs: Mapping[str, ModelSpec], columns: Sequence[str], pair: tuple[str, str]
) -> Markup:
    """Return the choice of two columns, which the browser hears of (``page/roles.js``)."""
    keys = tuple(dict.fromkeys((*columns, *pair)))

    def select(part: str, label: str, chosen: str) -> Markup:
        options = [
            el("option", specs[key].label, value=key, selected=key == chosen) for key in keys
        ]
        return el("label", label, " ", el("select", *options, data_pair=part))

    selects = select("teacher", FROM, pair[0]), " ", select("student", TO, pair[1])
    return el("p", *selects, class_="roles needs-script")


def lineage_note(teacher: ModelSpec, student: ModelSpec) -> Markup | str:
    """Return which teacher the student was distilled from, if not from this one."""
    parent = parent_of(student)
    if is_parent(teacher, student):
        return ""
    if is_parent(student, teacher):
        return note(f"{teacher.label} was distilled from {student.label}, not the other way round.")
    if parent is None and student.kind.teacher:
        return note(f"What {student.label} was distilled from is not known here.")
    if parent is None:
        return ""
    return note(f"{student.label} was distilled from {parent.label}, not from {teacher.label}.")
