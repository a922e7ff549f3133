"""Two checkpoints of a user's own, of a language other than English: every sentence is true of them."""

import json
import re
from dataclasses import replace

import pytest
import torch
from transformers import BertConfig, BertForMaskedLM, BertTokenizer

from explorer.lists.ui import tab as texts_tab
from explorer.serving.launch import opened_on
from explorer.serving.start import parse_flags
from explorer.ui.distillation import folds as distillation_folds
from explorer.ui.kit.jobs import handler
from explorer.ui.layer import folds as layer_folds
from explorer.ui.shell.family import family_html
from explorer.ui.shell.page import header_html
from explorer.ui.shell.tabs import TABS, question_of, values_of
from tests.js.page_values import SENTENCES
from tests.lists.ui.test_tab import asked
from tests.markup import parsed
from tests.tiny_models import save
from tests.ui.shell.surfaces import folds

GERMAN = [
    *("der", "die", "das", "hund", "katze", "schläft", "auf", "dem", "sofa", "ist", "nicht"),
    *("schön", "er", "sie", "war", "gut", "im", "haus"),
]
LETTERS = "abcdefghijklmnopqrstuvwxyzäöüß"
TEXTS = (
    "Der [MASK] schläft auf dem Sofa.",
    "Der [MASK] ist nicht [MASK].",
    "Die Katze schläft im Haus.",
    "Der Hund schläft. [SEP] Er ist [MASK].",
)
COLUMNS = ("vorher", "nachher")
OF_OTHERS = re.compile(
    r"\b(English|[Tt]eachers?|students?|[Dd]istilled|[Ii]nitialised from|copied from|fitted to \w+'s"
    r"|[Mm]iniatures?|mini-\w+|[Bb]undled(?! sentences)|(?:[Aa]ll|[Tt]he) (?:three|[2-9])"
    r"|three models|NSP|SOP|(?:Distil|AL|Ro|)BERTa?(?:-\w+)?)\b"
)
"""Words of what is known of other models only: their language, lineage, sizes and training."""
OF_PUBLISHED = {"parameters", "latency", "claims"}
"""Tabs that are about the published models too, in sentences that name those."""
GENERAL = (
    "All 3 texts were read",
    "BERT family explorer",
    "BERT, 4 layers",
    "BERT's splits dog's into three, ALBERT's takes well-known and sings. for one each.",
    "The more abruptly the gradient changes, the more points it takes: a published ALBERT",
    "The sum of the word's row, its position's row and, except in DistilBERT, its segment's row",
    "The losses of the recipe are those of a student and the model that it was distilled from: "
    "nachher is not known to be distilled from vorher.",
    "NSP was trained on true pairs and on unrelated second sentences, never on swapped ones;",
    "SOP on true and swapped pairs, never on unrelated sentences (Devlin et al.",
    "Lan et al. 2019 (arXiv 1909.11942 v6), Table 5",
    "In the paper the head trained on unrelated sentences (NSP) orders",
    "Published: the papers' own tables, for the published sizes",
    "The often quoted 97% is DistilBERT's share of BERT's GLUE score.",
    "The 102% claimed for ALBERT divides its average",
    "The paper's ALBERT-base is version 1;",
)
"""Sentences of the papers, of architectures and of what these two lack."""
TABLES = ("Component ",)
"""First words of tables with a column for each model, which are no sentences."""
LACK = re.compile(r"The file of (vorher|nachher) has no NSP head\.$")


def save_german(folder):
    """Save two random BERTs with one German vocabulary and no head but the masked-LM head."""
    special = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]"]
    pieces = [*special, *LETTERS, *".,?!", *("##" + letter for letter in LETTERS), *GERMAN]
    vocab = {piece: i for i, piece in enumerate(pieces)}
    tokenizer = BertTokenizer(vocab=vocab, strip_accents=False)
    config = BertConfig(
        vocab_size=len(vocab),
        hidden_size=48,
        num_hidden_layers=4,
        num_attention_heads=4,
        intermediate_size=96,
        initializer_range=0.16,
    )
    for name in COLUMNS:
        save(BertForMaskedLM(config), tokenizer, folder / f"{name}-modell")


@pytest.fixture
def state(own_models, tmp_path, three_sentences, monkeypatch):
    """The page of the two, over few of the bundled sentences."""
    torch.manual_seed(1)
    save_german(tmp_path)
    for module in (distillation_folds, layer_folds.assets):
        monkeypatch.setattr(module, "sentences", lambda: SENTENCES)
    return opened_on(
        parse_flags([f"--model={name}={tmp_path / f'{name}-modell'}" for name in COLUMNS])
    )


def texts_in(value):
    """Return the texts that a reader sees of a handler's value: of markup, or of a picture's JSON."""
    if isinstance(value, dict):
        seen = [
            inner
            for name, inner in value.items()
            if name not in {"constants", "part", "keys", "role_key"}
        ]
        return [text for inner in seen for text in texts_in(inner)]
    if isinstance(value, list | tuple):
        return [text for inner in value for text in texts_in(inner)]
    if not isinstance(value, str):
        return []
    if value.startswith('{"'):
        return texts_in(json.loads(value))
    element = parsed(value)
    for node in (element, *element):
        node.children = [
            child
            for child in node.children
            if isinstance(child, str)
            or not (child.tag in {"option", "button", "svg"} or "hidden" in child.attributes)
        ]
    return [element.text(" ")]


def sentences_of(value):
    """Return the sentences of a value, each with its words apart by one space."""
    spoken = [re.sub(r"\s+|\{\w+\}", " ", text) for text in texts_in(value)]
    return [one for text in spoken for one in re.split(r"(?<=[.;:])\s+(?=[A-Z(])", text) if one]


def on_open(tab, state):
    """Return what a tab shows of a text: its headline, and its folds as they open."""
    return [question_of(tab), values_of(tab, state), [values for _, values in folds(tab, state)]]


LISTS = (
    "text,answer\nDer [MASK] schläft.,hund\nDie [MASK] ist gut.,katze\n",
    "Die Katze schläft im Haus.\nEr war nicht gut.\n",
    "good,bad\nDer Hund schläft.,Hund der schläft.\nSie ist gut.,Ist gut sie.\n",
)


def on_request(state):
    """Return the results of what is computed over many texts, by the tabs that show them."""
    return {
        "texts": [list(handler(texts_tab.LIST)(asked(rows), state))[-1] for rows in LISTS],
        "distillation": list(handler(distillation_folds.AGREEMENT)(state))[-1],
        "layer": list(handler(layer_folds.HELD_OUT)(state))[-1],
    }


def is_of_others(tab, sentence):
    """Return whether a sentence says what is known of other models, of these two or besides."""
    if not OF_OTHERS.search(sentence) or sentence.startswith(TABLES):
        return False
    if tab in OF_PUBLISHED:
        return any(re.search(rf"(?<![\w-]){name}(?![\w-])", sentence) for name in COLUMNS)
    return not (any(one in sentence for one in GENERAL) or LACK.search(sentence))


@pytest.mark.long
def test_no_sentence_says_of_them_what_is_known_of_others(state):
    found = {"page": sentences_of([str(header_html(state)), str(family_html(state))])}
    for tab in TABS:
        of_tab = [on_open(tab, replace(state, text=text, tab=tab.ID)) for text in TEXTS]
        found[tab.ID] = sentences_of(of_tab)
    for tab, values in on_request(state).items():
        found[tab] += sentences_of(values)
    assert {(tab, one) for tab in found for one in found[tab] if is_of_others(tab, one)} == set()
    assert all(found.values())
