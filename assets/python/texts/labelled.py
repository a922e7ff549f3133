"""Labelled rows: a logistic regression on frozen features, beside TF-IDF: pip install scikit-learn.

Each row is predicted by a regression that has not seen it.
"""

import numpy as np
import torch
from sklearn.feature_extraction.text import TfidfVectorizer
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GridSearchCV, StratifiedGroupKFold, StratifiedKFold
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from transformers import AutoModel

ROWS = [
    [number, f"{'Good' if number % 2 else 'Bad'} film {number}.", "ab"[number % 2], ""]
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
LEARNS = True  # False: too few rows, or one label, so that only the models' own heads are asked
STRENGTHS = [0.0001, 0.001, 0.01, 0.1, 1.0]  # of which each fold chooses one on its training rows
PATTERNS = [r"(?u)\b\w\w+\b", r"(?u)\w+|[^\w\s]"]  # of a word, also chosen there


def folds(n, rows):
    """Stratified splits of some rows; rows of one group are on one side of each."""
    kind = StratifiedGroupKFold if any(groups) else StratifiedKFold
    splits = kind(n, shuffle=True, random_state=0)
    return list(splits.split(rows, truth[rows], units[rows]))


def minus_log_loss(model, data, labels):
    """The mean of ln P(true label); larger is better."""
    shares = model.predict_proba(data)[
        np.arange(len(labels)), np.searchsorted(model.classes_, labels)
    ]
    return np.log(np.clip(shares, np.finfo(float).eps, 1)).mean()


def predicted(data, make, grid):
    """Out-of-fold predictions from the setting with the smallest log-loss in the training rows."""
    data = np.array(data, object if isinstance(data[0], str) else None)
    found = np.empty(len(truth), object)
    for train, test in folds(5, np.arange(len(truth))):
        least = min(len(set(units[train][truth[train] == label])) for label in set(truth[train]))
        search = GridSearchCV(make(), grid, scoring=minus_log_loss, cv=folds(min(3, least), train))
        found[test] = search.fit(data[train], truth[train]).predict(data[test])
    return found


def regression():
    """Standardized features with a logistic regression."""
    return make_pipeline(StandardScaler(), LogisticRegression(max_iter=200))


def bag_of_words():
    """TF-IDF of words with the same regression."""
    return make_pipeline(TfidfVectorizer(sublinear_tf=True), LogisticRegression(max_iter=200))


def features(tokenizer, model, text, layer):
    """The hidden states of a text at one layer, averaged over its tokens or at the first."""
    with torch.inference_mode():
        out = model(**encode(tokenizer, model, text), output_hidden_states=True)
    states = out.hidden_states[layer][0]
    return (states[0] if POOLING == "cls" else states.mean(0)).numpy()


def by_head(label, texts):
    """The label that a model's own head gives to each text, its probability, and if it is right."""
    names, problem, yours = HEADS[label]
    logits = own_logits(label, ADAPTERS[label], texts)
    is_one = problem == "single_label_classification"
    for row, p in zip(ROWS, logits.softmax(-1) if is_one else logits.sigmoid(), strict=True):
        best = int(p.argmax())
        yield names[best], p[best].item(), best == yours[row[2]] if row[2] in yours else None


columns = ["row", "model", "text", "label", "group", "predicted", "right"]
columns += ["head_predicted", "head_probability", "head_right"]
rows = []
numbers, _, truth, groups = zip(*ROWS, strict=True)
truth, units = np.array(truth, object), [group or number for number, _, _, group in ROWS]
units = np.array([units.index(unit) for unit in units])
texts = [CUT.get(str(number), text) for number, text, *_ in ROWS]
answers, heads = {}, {}
for label, layer in LAYERS.items():
    tokenizer, model = load(label, AutoModel)
    read = [READ.get(str(number), text) for number, text, *_ in ROWS]
    answers[label] = [None] * len(ROWS)
    if LEARNS:
        data = [features(tokenizer, model, text, layer) for text in read]
        answers[label] = predicted(data, regression, {"logisticregression__C": STRENGTHS})
    if label in HEADS:
        heads[label] = list(by_head(label, read))
grid = {
    "logisticregression__C": [100 * C for C in STRENGTHS],
    "tfidfvectorizer__token_pattern": PATTERNS,
}
if LEARNS:
    answers["TF-IDF"] = predicted(texts, bag_of_words, grid)
names, counts = np.unique(truth, return_counts=True)
answers["most frequent label"] = np.full(len(truth), names[counts.argmax()], object)
for name, found in answers.items():
    of_head = heads.get(name, [[None, None, None]] * len(ROWS))
    for row, guess, said in zip(ROWS, found, of_head, strict=True):
        is_right = None if guess is None else guess == row[2]
        rows.append([row[0], name, *row[1:], guess, is_right, *said])
rows.sort(key=lambda row: row[0])  # all models of a row together
plotted = [
    [None, name, *[None] * 4, (found == truth).mean().item(), None, None, None]
    for name, found in answers.items()
]  # the accuracy of each
FIGURE = ("bars", "model", "model", ["right"])
