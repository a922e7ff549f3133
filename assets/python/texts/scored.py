"""Rows with a score: a ridge regression on frozen features: pip install scikit-learn.

Each row is predicted by a regression that has not seen it.
"""

import re

import numpy as np
import torch
from sklearn.linear_model import Ridge
from sklearn.model_selection import GridSearchCV, GroupKFold, KFold
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from transformers import AutoModel

ROWS = [
    [number, f"A film of {number}. [SEP] {'A film' * (number % 2)} it was.", number % 2, ""]
    for number in range(40)
]
READ = {}  # by number the rows with a choice such as [he|she], which the models read as a mask
CUT = {}  # by number the part of a row that is read where all of it is too long
POOLING = "mean"
LAYERS = {
    "mini-BERT": -1,
    "mini-DistilBERT": -1,
    "mini-ALBERT": -1,
}
ADAPTERS = {}  # by model with a head that is scored: its adapter, empty for the checkpoint's own
HEADS = {}  # by the same models: labels, way to read them, and which of them is each of yours
PENALTIES = [1.0, 10.0, 100.0, 1e3, 1e4, 1e5]  # of which each fold chooses one on its own rows


def folds(n, rows):
    """Splits of some rows; rows of one group are on one side of each."""
    n = min(n, len(set(units[rows])))
    kind = GroupKFold if any(groups) else KFold
    splits = kind(n, shuffle=True, random_state=0)
    return list(splits.split(rows, groups=units[rows]))


def predicted(data):
    """Out-of-fold predictions from the penalty with the smallest squared error in training."""
    data, found = np.array(data), np.empty(len(scores))
    grid = {"ridge__alpha": PENALTIES}
    for train, test in folds(5, np.arange(len(scores))):
        model = make_pipeline(StandardScaler(), Ridge())
        search = GridSearchCV(model, grid, scoring="neg_mean_squared_error", cv=folds(3, train))
        found[test] = search.fit(data[train], scores[train]).predict(data[test])
    return found


def features(tokenizer, model, text, layer):
    """The hidden states of a text at one layer, averaged over its tokens or at the first."""
    with torch.inference_mode():
        out = model(**encode(tokenizer, model, text), output_hidden_states=True)
    states = out.hidden_states[layer][0]
    return (states[0] if POOLING == "cls" else states.mean(0)).double().numpy()


def in_common(text):
    """What the words of two texts have in common; of one text, their number and length."""
    first, *others = (re.findall(r"\w+", part.lower()) for part in text.split("[SEP]"))
    if not others:
        letters = sum(map(len, first))
        return [len(first), len(text), letters / max(1, len(first)), len(set(first))]
    a, b = set(first), set(others[0])
    both = [len(a & b) / max(1, n) for n in (len(a | b), len(a), len(b))]
    return [*both, len(first) - len(others[0])]


columns = ["row", "model", "text", "score", "group", "predicted", "head_score"]
rows = []
numbers, _, scores, groups = zip(*ROWS, strict=True)
scores, units = np.array(scores, float), [group or number for number, _, _, group in ROWS]
units = np.array([units.index(unit) for unit in units])
texts = [CUT.get(str(number), text) for number, text, *_ in ROWS]
answers, heads = {}, {}
for label, layer in LAYERS.items():
    tokenizer, model = load(label, AutoModel)
    read = [READ.get(str(number), text) for number, text, *_ in ROWS]
    answers[label] = predicted([features(tokenizer, model, text, layer) for text in read])
    if label in HEADS:
        heads[label] = own_logits(label, ADAPTERS[label], read)[:, 0].tolist()
answers["words alone"] = predicted([in_common(text) for text in texts])
for name, found in answers.items():
    for row, guess, said in zip(
        ROWS, found.tolist(), heads.get(name, [None] * len(ROWS)), strict=True
    ):
        rows.append([row[0], name, *row[1:], guess, said])
rows.sort(key=lambda row: row[0])  # all models of a row together
FIGURE = ("points", "model", "score", ["predicted"])
