"""The sentences of the page itself; each tab keeps its own beside its module."""

from collections.abc import Mapping

from explorer.models.spelling import UNKNOWN
from explorer.models.tokens import Tokens
from explorer.views.markup import Markup, listed, note

TITLE = "BERT family explorer"
TAGLINE = "One text through BERT, DistilBERT and ALBERT: what each predicts, attends to and costs."
MINIATURES = (
    "mini-BERT, mini-DistilBERT and mini-ALBERT are three miniatures trained for this page "
)
MINIATURES_CARD = "how they were made"
PUBLISHED = "; the published models load when you choose them under “Models and machine”."
SKIP = "Skip to the results"
PREVIEW = "“{text}” through BERT, DistilBERT and ALBERT, side by side"
TEXT_LABEL = "Text"
TEXT_PLACEHOLDER = "Type a sentence with [MASK] in it, or click a word below to mask it."
COMPARE = "Compare"
PLACE = "Waiting: {n} before this one."
EXAMPLES_LABEL = "Try"
RECENT_LABEL = "Your last texts"
WORDS_LABEL = (
    "Click a word to hide it and a hidden word to bring it back; click a [MASK] that you typed or "
    "found here to type a word in its place."
)
KEYS = "In the box Enter ends a line, Shift+Enter compares."
WORDS_CUT = "These are the first {shown} words and signs of the text; {left} more follow."
FAMILY_LABEL = "Models"
BAD_FAMILY = "The family is either mini or base."
SIZES = {"base": "Published base size", "mini": "Bundled miniatures"}
"""What the sizes are called wherever one is chosen."""
AT_SIZE = {
    "base": "At the published base size ",
    "mini": "Among the bundled miniatures ",
    "larger": "At the published larger sizes ",
}
"""How a finding says which sizes it is about."""
FAMILIES = [(SIZES[family], family) for family in ("mini", "base")]
DEVICE_LABEL = "Device"
AUTO_DEVICE = "auto (the fastest)"
DTYPE_LABEL = "Precision"
SETTINGS = "Models and machine"
LINK_LABEL = "Link to this view"
GALLERY = "Twelve views that each show one thing worth knowing"
LINK = {
    "label": LINK_LABEL,
    "copy": "Copy link",
    "copied": "Link copied",
    "press": "Press Ctrl+C to copy what is selected.",
    "cut": "The link keeps the first {limit} characters of the text; “Save this tab” keeps all.",
    "qr": "QR code",
    "qr_alt": "QR code of the link to this view",
    "qr_save": "Save as SVG",
    "embed": "Copy embed code",
    "embed_copied": "Lines for another page copied",
    "save_tab": "Save this tab",
    "not_taken": "That file could not be made.",
    "needs_page": "What stood here needs the running page.",
    "live": "This view on the running page.",
    "full_view": "Open the full view",
    "title": TITLE,
}
"""What stands beside the link."""
GLOSSARY_LINK = "All words of this page"
THEME_SWITCH = "Light or dark"
STARTING = "The models are being loaded; your text is run as soon as they are there."
OUT_OF_MEMORY = "There is not enough memory for this: please use a shorter text or a smaller batch."
UNEXPECTED = "Something failed on our side (noted as {mark}); your text is still here."
LEFT = "You had left before the answer was there."
WENT_AWAY = "The machine that was answering has gone away. Please ask again in a moment."
ELSEWHERE = (
    "Nothing is timed here: the models run on other machines, which also serve others. "
    "Start app.py on the machine that you want to time."
)
NOT_OFFERED = "This question holds a choice that the page does not offer. Please load it again."
REPAIRED = "The link held something that does not fit here; put back to the default: {fields}."
NO_FAMILY = "None of these models can be had here."
WAY_BACK = "Show the bundled miniatures again"
NO_PICTURE = "This picture failed to load. Reload the page; all else works without it."
BUNDLED = "bundled"
SAVE = "Save"
TAKE = {
    "svg": "Picture, SVG",
    "png": "Picture, PNG at twice the size",
    "csv": "Numbers, CSV",
    "json": "Numbers, JSON",
    "py": "Python that computes them again",
}
"""What the menu below a picture offers, by the file's ending."""
NOT_TAKEN = LINK["not_taken"]
CITE = "{title}, version {version}. CITATION.cff in its repository has the papers."
RUNNING = "The explorer is at {url}"
SHARED = (
    "and, for a week at most, at {url}: whoever has that link can run measurements and training "
    "on this machine."
)
NOT_SHARED = "There is no public link: gradio.live cannot be reached from here. The page goes on."


def where_it_runs(local: str, public: str | None, asked: bool) -> str:
    """What the terminal says at the start: the address, and how far a public link came."""
    lines = [RUNNING.format(url=local)]
    if public:
        lines.append(SHARED.format(url=public))
    elif asked:
        lines.append(NOT_SHARED)
    return "\n".join([*lines, ""])


def unknown_note(read: Mapping[str, Tokens]) -> Markup | None:
    """Which models cannot write a part of the text, and how many pieces that is; None if all can.

    Args:
        read: the text as each model reads it, by the model's name.
    """
    counts = {
        label: (sum(piece in UNKNOWN for piece in tokens.pieces), len(tokens) - sum(tokens.special))
        for label, tokens in read.items()
    }
    said = [f"{label} {n} of {size} pieces" for label, (n, size) in counts.items() if n]
    if not said:
        return None
    return note("Read as [UNK], unknown and all alike to the model: ", listed(said), ".")
