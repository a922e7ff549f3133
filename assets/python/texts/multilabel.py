"""Rows with several labels: a regression for each on frozen features: pip install scikit-learn.

Each row is predicted by regressions that have not seen it.
"""

import numpy as np
import torch
from sklearn.feature_extraction.text import TfidfVectorizer
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import f1_score
from sklearn.model_selection import GridSearchCV, GroupKFold, KFold
from sklearn.multiclass import OneVsRestClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from transformers import AutoModel

ROWS = [
    [number, f"{'Good' if number % 2 else 'Bad'} film {number}.", "ab"[number % 2], ""]
    for number in range(40)
]
LABELS = ["a", "b"]  # those that are judged
GIVEN = {str(number): ["ab"[number % 2]] for number in range(40)}  # the labels of each row
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
STRENGTHS = [0.0001, 0.001, 0.01, 0.1, 1.0]  # of which each fold chooses one on its training rows
PATTERNS = [r"(?u)\b\w\w+\b", r"(?u)\w+|[^\w\s]"]  # of a word, also chosen there


def folds(n, rows):
    """Splits of some rows; rows of one group are on one side of each."""
    n = min(n, len(set(units[rows])))
    kind = GroupKFold if any(groups) else KFold
    splits = kind(n, shuffle=True, random_state=0)
    return list(splits.split(rows, groups=units[rows]))


def minus_log_loss(model, data, truth):
    """The mean of ln P(whether a row has a label); larger is better."""
    shares = model.predict_proba(data)[:, -truth.shape[1] :]  # of one label both are there
    shares = np.where(truth, shares, 1 - shares)
    return np.log(np.clip(shares, np.finfo(float).eps, 1)).mean()


def predicted(data, first, grid):
    """Out-of-fold predictions from the setting with the smallest log-loss in the training rows."""
    data = np.array(data, object if isinstance(data[0], str) else None)
    found = np.empty(truth.shape, int)
    for train, test in folds(5, np.arange(len(truth))):
        model = make_pipeline(first, OneVsRestClassifier(LogisticRegression(max_iter=200)))
        search = GridSearchCV(model, grid, scoring=minus_log_loss, cv=folds(3, train))
        guess = search.fit(data[train], truth[train]).predict(data[test])
        found[test] = guess.reshape(len(test), -1)
    return found


def features(tokenizer, model, text, layer):
    """The hidden states of a text at one layer, averaged over its tokens or at the first."""
    with torch.inference_mode():
        out = model(**encode(tokenizer, model, text), output_hidden_states=True)
    states = out.hidden_states[layer][0]
    return (states[0] if POOLING == "cls" else states.mean(0)).numpy()


def by_head(label, texts):
    """The labels of yours that a model's own head gives to each text, and if these are right."""
    _, _, yours = HEADS[label]
    for row, p in zip(ROWS, own_logits(label, ADAPTERS[label], texts).sigmoid(), strict=True):
        given = [name for name in LABELS if name in yours and p[yours[name]] > 0.5]
        own = set(GIVEN[str(row[0])]) & set(yours) & set(LABELS)
        yield "|".join(given), set(given) == own


columns = ["row", "model", "text", "labels", "group", "predicted", "right"]
columns += ["head_predicted", "head_right"]
rows = []
numbers, _, _, groups = zip(*ROWS, strict=True)
truth = np.array([[label in GIVEN[str(number)] for label in LABELS] for number in numbers], int)
units = [group or number for number, _, _, group in ROWS]
units = np.array([units.index(unit) for unit in units])
texts = [CUT.get(str(number), text) for number, text, *_ in ROWS]
strengths = "onevsrestclassifier__estimator__C"
answers, heads = {}, {}
for label, layer in LAYERS.items():
    tokenizer, model = load(label, AutoModel)
    read = [READ.get(str(number), text) for number, text, *_ in ROWS]
    data = [features(tokenizer, model, text, layer) for text in read]
    answers[label] = predicted(data, StandardScaler(), {strengths: STRENGTHS})
    if label in HEADS:
        heads[label] = list(by_head(label, read))
grid = {strengths: [100 * C for C in STRENGTHS], "tfidfvectorizer__token_pattern": PATTERNS}
answers["TF-IDF"] = predicted(texts, TfidfVectorizer(sublinear_tf=True), grid)
answers["every label"] = np.ones_like(truth)
for name, found in answers.items():
    of_head = heads.get(name, [[None, None]] * len(ROWS))
    for row, own, guess, said in zip(ROWS, truth, found, of_head, strict=True):
        labels = "|".join(label for label, has in zip(LABELS, guess, strict=True) if has)
        rows.append([row[0], name, *row[1:], labels, bool((guess == own).all()), *said])
rows.sort(key=lambda row: row[0])  # all models of a row together
plotted = [
    [None, name, *[None] * 4, float(f1_score(truth, found, average="macro")), None, None]
    for name, found in answers.items()
]  # the macro F1 of each
FIGURE = ("bars", "model", "model", ["right"])
