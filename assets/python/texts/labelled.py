"""Labelled rows: a logistic regression on frozen features, beside TF-IDF: pip install scikit-learn.

Each row is predicted by a regression that has not seen it.
"""

import numpy as np
import torch
from sklearn.feature_extraction.text import TfidfVectorizer
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GridSearchCV, StratifiedKFold
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from transformers import AutoModel

ROWS = [
    [number, f"{'Good' if number % 2 else 'Bad'} film {number}.", "ab"[number % 2]]
    for number in range(40)
]
READ = {}  # by number the rows with a choice such as [he|she], which the models read as a mask
POOLING = "mean"
LAYERS = {
    "mini-BERT": -1,
    "mini-DistilBERT": -1,
    "mini-ALBERT": -1,
}
STRENGTHS = [0.0001, 0.001, 0.01, 0.1, 1.0]  # of which each fold chooses one on its training rows


def predicted(data, truth, make, strengths):
    """Out-of-fold predictions; equally good penalties: the stronger one."""
    data, truth = np.array(data, object if isinstance(data[0], str) else None), np.array(truth)
    found = np.empty(len(truth), object)
    for train, test in StratifiedKFold(5, shuffle=True, random_state=0).split(truth, truth):
        smallest = min(np.unique(truth[train], return_counts=True)[1])
        inner = StratifiedKFold(min(3, smallest), shuffle=True, random_state=0)
        grid = {"logisticregression__C": strengths}
        search = GridSearchCV(make(), grid, scoring="accuracy", cv=inner)
        found[test] = search.fit(data[train], truth[train]).predict(data[test])
    return found


def regression():
    """Standardized features with a logistic regression."""
    return make_pipeline(StandardScaler(), LogisticRegression(max_iter=200))


def bag_of_words():
    """TF-IDF of words with the same regression."""
    words = TfidfVectorizer(token_pattern=r"(?u)\S+", sublinear_tf=True)
    return make_pipeline(words, LogisticRegression(max_iter=200))


def features(tokenizer, model, text, layer):
    """The hidden states of a text at one layer, averaged over its tokens or at the first."""
    with torch.inference_mode():
        out = model(**encode(tokenizer, model, text), output_hidden_states=True)
    states = out.hidden_states[layer][0]
    return (states[0] if POOLING == "cls" else states.mean(0)).numpy()


columns = ["row", "model", "text", "label", "predicted", "right"]
rows = []
labels = [label for _, _, label in ROWS]
answers = {}
for label, layer in LAYERS.items():
    tokenizer, model = load(label, AutoModel)
    read = [READ.get(str(number), text) for number, text, _ in ROWS]
    data = [features(tokenizer, model, text, layer) for text in read]
    answers[label] = predicted(data, labels, regression, STRENGTHS)
texts = [text for _, text, _ in ROWS]
answers["TF-IDF"] = predicted(texts, labels, bag_of_words, [100 * C for C in STRENGTHS])
usual = np.empty(len(labels), object)
for train, test in StratifiedKFold(5, shuffle=True, random_state=0).split(labels, labels):
    names, counts = np.unique(np.array(labels)[train], return_counts=True)
    usual[test] = names[counts.argmax()]
answers["most frequent label"] = usual
for name, found in answers.items():
    for (number, text, truth), guess in zip(ROWS, found, strict=True):
        rows.append([number, name, text, truth, guess, guess == truth])
rows.sort(key=lambda row: row[0])  # all models of a row together
plotted = [
    [None, name, None, None, None, (found == np.array(labels, object)).mean().item()]
    for name, found in answers.items()
]  # the accuracy of each
FIGURE = ("bars", "model", "model", ["right"])
