"""Strings of the tab for lists of texts."""

from collections.abc import Mapping

from explorer.analysis.digits import counted
from explorer.lists.rows import KINDS, MAX_ROWS, MAX_TOKENS
from explorer.refusal import Sentence

LABEL = "Your texts"
QUESTION = "Which of the models is best for a list of your own texts?"
FINDING = "Paste your texts, open a file, or try a list: which of the models is best for them?"
LIMITS = (
    f"At most {MAX_ROWS:,} rows of {MAX_TOKENS} tokens. Nothing is kept: the rows are sent with "
    "the question, and deleted once it is answered."
)
KIND_NAMES = {
    "masked": "Masked rows",
    "plain": "Sentences",
    "pairs": "Pairs of sentences",
    "labelled": "Labelled texts",
    "multilabel": "Texts with several labels",
    "scored": "Texts with a score",
    "tagged": "Words with tags",
}
GOES_IN = {
    "masked": "text with one [MASK]; answer and group, where you have them",
    "plain": "one sentence a line",
    "pairs": "good and bad, or sentence1 and sentence2; group, where you have one",
    "labelled": "text and label, or two texts and label: 2 to 100 labels, 40 rows or more; group, "
    "where rows stay together",
    "multilabel": "text and a list of labels, or two texts and one: each label on 10 rows or more, "
    "40 rows or more; group, where rows stay together",
    "scored": "two texts, or one, and score: a number, 40 rows or more; group, where rows stay "
    "together",
    "tagged": "a file with a word and its tag on each line (CoNLL), or tokens and ner_tags",
}
"""Columns of each kind."""
COMES_OUT = {
    "masked": "How often the given answer comes first, by model, and where the models disagree.",
    "plain": "How likely each model finds each sentence, and which words surprise it.",
    "pairs": "In how many pairs each model finds the good sentence likelier.",
    "labelled": "How often each model's own classifier is right, which encoder separates your "
    "labels best without fine-tuning, and whether a bag of words does as well.",
    "multilabel": "Which encoder, not fine-tuned, finds your labels best, and whether a bag of "
    "words does as well.",
    "scored": "Which encoder, not fine-tuned, predicts the order of your scores best, and whether "
    "words alone do as well.",
    "tagged": "Which of your fine-tuned models finds the names (or other spans) best, label by "
    "label, and where each fails.",
}
ASK = {
    "box": "Your texts: one a line, or a table with a header",
    "placeholder": "Paste texts here, one a line, or a table with a header: text,label …",
    "run": "Run",
    "open": "Open a file",
    "try": "Try",
    "change": "Change how the rows are read",
    "kind": "Read as",
    "none": "none",
    "options": "Options",
    "pooling": "Features",
    "layer": "Layer",
    "last": "last",
    "score": "Score",
    "precision": "Precision",
    "way": f"Over {MAX_TOKENS} tokens",
    "too_large": "This list is too large for one question: {size} KB when compressed, and the "
    "limit is {limit} KB. Please split it.",
    "empty": "The box is empty: paste your texts, open a file, or try a list.",
    "not_read": "The list could not be read. Please try again.",
    "not_linked": "This link does not contain its list ({rows} rows; a link holds up to {most} "
    "characters). Paste it, or open its file, and press Run.",
    "no_link": "The link to this view does not hold the list: it has more than {most} characters.",
}
"""Strings of the form."""
ROLES = {
    "text": "Text",
    "second": "Second text",
    "answer": "Answer",
    "good": "Good sentence",
    "bad": "Bad sentence",
    "label": "Label",
    "score": "Score",
    "group": "Group",
    "tokens": "Words",
    "tags": "Tags",
}
POOLINGS = {"mean": "mean of all tokens", "cls": "[CLS] alone"}
WAYS = {
    "leave_out": "leave out",
    "head": "read the beginning",
    "head_and_tail": "read beginning and end",
}
PRECISIONS = {
    "float32": "exact: float32",
    "fast": "fast: bfloat16, close rows again",
}
SAVED_FAST = "fast; computed again in float32, the numbers differ by what is said next to the rows"
SCORES = {"pll": "PLL", "pll_word_l2r": "PLL-word-l2r"}
TABLE = {
    "label": "Rows",
    "show": "Show",
    "all": "all rows",
    "differ": "rows on which the models disagree",
    "wrong": "rows that every model gets wrong",
    "only": "{right} right, {wrong} wrong",
    "group": "Group",
    "order": "Order",
    "apart": "disagreement first",
    "apart_pairs": "right in some models only, then the largest disagreement",
    "list": "as in the list",
    "count": "{n} of {total} rows",
    "so_far": "The first {n} of {total} rows so far, those of most disagreement first.",
    "more": "Show {n} more",
    "none": "No row is like that.",
    "number": "#",
    "text": "Text",
    "second": "Second text",
    "answer": "answer: {answer}",
    "label_of": "label: {label}",
    "labels_of": "labels: {labels}",
    "no_labels": "none",
    "score_of": "score: {score}",
    "spans_of": "spans: {spans}",
    "no_spans": "no spans",
    "as_given": "as in your list",
    "missed": "missed: {spans}",
    "in_vain": "wrong: {spans}",
    "apart_scores": "Difference",
    "bad": "not: {bad}",
    "sides_bad": "against: {bad}",
    "sides_apart_pairs": "{first} likelier in some models only, then the largest difference",
    "sides_right": "{first} is likelier",
    "sides_wrong_one": "{second} is likelier",
    "sides_wrong": "pairs in which no model finds {first} likelier",
    "sides_only": "{right} finds {first} likelier, {wrong} does not",
    "sides_yes": "",
    "sides_no": "",
    "yes": "✓",
    "no": "✗",
    "js": "Difference, nats",
    "a_word_apart": "Difference, nats a word",
    "right": "right",
    "wrong_one": "wrong",
    "rank": "answer: rank {rank}, {probability}",
    "unknown": "answer not in the vocabulary",
    "no_word": "not in the vocabulary",
    "pieces": "answer: {pieces} pieces",
    "exact": "float32",
    "opens_predictions": "Open in Predictions",
    "opens_attention": "Open in Attention",
    "opens_depth": "Open in Depth",
    "opens_tasks": "Open in Tasks: why does each model's own head say so?",
    "view_attention": "Attention",
    "view_depth": "Depth",
    "view_tasks": "Why?",
    "by_features": "features: {predicted}",
    "no_head": "frozen features",
}
"""Strings of the table of rows."""
HEADS_ALONE = "{why} Run then scores only the models' own heads."
TUNE = "Fine-tune all models on these rows"
TUNE_NOTE = (
    "Each model is trained with three seeds on a part of the rows, and tested on the others, next "
    "to its frozen features and a bag of words. It runs in a process of its own."
)
TUNING_IS_OFF = Sentence(
    "tuning-off", "Fine-tuning is off on this page: its start did not allow it (--finetune)."
)
TUNING_METHODS = {"full": "all weights", "lora": "LoRA"}
TUNING_BEGINS = "Fine-tuning begins: the models are loaded in a process of their own."
TUNING_STOPPED = "Stopped before anything could be scored."
TUNING_ENDED = {
    "stopped": "Stopped: these are the seeds that every model had finished.",
    "deadline": "The time is over: these are the seeds that every model had finished.",
}
SUMMARY = {
    "model": "Model",
    "classifier": "Classifier",
    "at_1": "Answer first, 95% CI",
    "at_5": "Answer among five, 95% CI",
    "several": "Answers of several pieces",
    "unknown": "Answers outside the vocabulary",
    "per_word": "PLL-word-l2r a word, nats",
    "perplexity": "Pseudo-perplexity",
    "all_pairs": "All pairs, 95% CI",
    "mean_margin": "Mean log-ratio, nats, 95% CI",
    "mean_rank": "Mean rank of the answer (median)",
    "crows": "Unmodified tokens only, 95% CI",
    "stereotype": "of these, stereotypes",
    "anti_stereotype": "of these, anti-stereotypes",
    "ss": "StereoSet's ss, 95% CI",
    "lms": "lms",
    "icat": "icat",
    "has_unknown": "Rows with [UNK]",
    "accuracy": "Accuracy, 95% CI",
    "macro_f1": "Macro F1, 95% CI",
    "micro_f1": "Micro F1, 95% CI",
    "mixed": "Macro F1, shuffled labels",
    "spearman": "Spearman, 95% CI",
    "pearson": "Pearson, 95% CI",
    "shuffled": "Spearman, shuffled scores",
    "time": "Time a text",
    "size": "Size",
    "two": "Models",
    "only_first": "Rows that only the first has right",
    "only_second": "Only the second",
    "p_value": "p",
    "duels": "Comparisons of each two models",
    "heads_model": "Model",
    "heads_accuracy": "Accuracy, 95% CI",
    "heads_frozen": "Its frozen features",
    "heads_macro_f1": "Macro F1, 95% CI",
    "heads_micro_f1": "Micro F1, 95% CI",
    "heads_confidence": "Mean confidence",
    "heads_ece": "Calibration error (by chance)",
    "heads_ece_labels": "Calibration error (by chance)",
    "heads_temperature": "Temperature",
    "heads_spearman": "Spearman, 95% CI",
    "heads_pearson": "Pearson, 95% CI",
    "heads_two": "Own head, and compared with",
    "heads_only_first": "Rows that only the first has right",
    "heads_only_second": "Only the second",
    "heads_difference": "Difference, 95% CI",
    "heads_p_value": "p",
    "heads_holm": "p, Holm",
    "heads_duels": "Comparisons of the own heads",
    "tags_model": "Model",
    "tags_f1": "F1, 95% CI",
    "tags_precision": "Precision",
    "tags_recall": "Recall",
    "tags_macro_f1": "Macro F1",
    "tags_rows_right": "Rows with all spans right",
    "tags_by_label": "F1 of each label",
    "tags_label": "Label",
    "tags_n": "Spans in your list",
    "tags_two": "Own head, and compared with",
    "tags_only_first": "Rows that only the first has right",
    "tags_only_second": "Only the second",
    "tags_difference": "Difference in F1, 95% CI",
    "tags_p_value": "p",
    "tags_holm": "p, Holm",
    "tags_duels": "Comparisons of the own heads",
    "table_tagged": "Exact spans by the models' own heads",
    "table_by_label": "F1 of exact spans, by label",
    "table_duels_tags": "Test of Yeh 2000 on the same rows",
    "table_heads": "The models' own heads, which learn nothing from these rows",
    "table_features": "Frozen features: each row predicted by a classifier that did not see it",
    "repeated": "Only {n} of the {rows} are different. Each copy counts, so intervals are too "
    "narrow.",
    "table_masked": "The given answers, by model",
    "table_plain": "The list as a whole, by model",
    "table_pairs": "Pairs of which {first} is likelier, by model",
    "table_labelled": "Each row predicted by a classifier that did not see it",
    "table_multilabel": "Each row's labels predicted by a classifier that did not see it",
    "table_scored": "Each row's score predicted by a regression that did not see it",
    "table_duels": "McNemar's exact test on the same rows",
    "left_out": "Rows not read",
    "row": "Row {n}:",
    "more_rows": "and {n} more",
}
"""Strings of the tables of models."""
NOTES = {
    "heads": "Own heads: the checkpoints' own classifiers, which learn nothing from these rows.\n"
    "Names decide which label is which, whatever their case, spaces, hyphens and underscores. "
    "Intervals: Wilson for the accuracy; for macro F1 a bootstrap of 2,000 confusion matrices, "
    "smoothed by two rows, so that none has a width of 0. Tests: McNemar's exact test, with p "
    "corrected by Holm (1979); the verdict counts a difference below 1% over all tests of the "
    "heads, those against the most frequent label and TF-IDF among them. Calibration error: the "
    "expected calibration error over up to ten bins of equally many rows, twenty or more in each; "
    "in brackets its mean over 2,000 draws in which each row is right with just its probability. "
    "Temperature: fitted by the likelihood to all rows (Guo et al. 2017); the losses before and "
    "after are of the rows of five folds, each at the temperature of the other four. Rows whose "
    "label a head does not know are not scored.",
    "masked": "Intervals: Wilson. An answer of several pieces gets as many masks.\n"
    "It is scored piece by piece from the left, each piece with those after it masked, and its "
    "rank is that of its worst piece. An answer that a vocabulary cannot write counts as wrong. "
    "Difference: Jensen-Shannon divergence over the words that both vocabularies have, averaged "
    "over each two models that have any in common.",
    "plain": "PLL masks each token alone; PLL-word-l2r also the rest of its word.\n"
    "Salazar et al. 2020; Kauf and Ivanova 2023. The word is the tokenizer's own, as in minicons: "
    "BERT's splits dog's into three, ALBERT's takes well-known and sings. for one each. A row "
    "shows the sum of PLL-word-l2r over its words, and PLL below it. Pseudo-perplexities compare "
    "models of one vocabulary alone: a piece of another vocabulary is another piece. Difference: "
    "each model's PLL-word-l2r a word, less its own mean over the rows; the largest of these less "
    "the smallest. The scores of the list leave out sentences with a word that a model reads as "
    "[UNK].",
    "pairs": "A pair counts where the first sentence is likelier by 0.0001 nats or more.\n"
    "Intervals: Wilson; of the mean log-ratio, Student's t. A row shows the log-ratio of the first "
    "sentence to the second in nats: below 0 the second is likelier. Unmodified tokens only: the "
    "metric of CrowS-Pairs (Nangia et al. 2020), of all pairs. Each token that both sentences have "
    "is masked alone, and scores are compared to three decimals. Difference: the largest log-ratio "
    "less the smallest. Pairs with a word that a model reads as [UNK] are not compared otherwise. "
    "ss, lms and icat: StereoSet's, of the words at BLANK (Nadeem et al. 2021). A word's score is "
    "the mean probability of its pieces, each at [MASK] after the earlier ones. ss is how often "
    "the stereotype's word has the higher score, lms how often a related word beats the unrelated "
    "one, both by target term and then averaged; icat is lms min(ss, 100 − ss) / 50. Intervals: "
    "bootstrap over the target terms. "
    "The form is that of BLiMP and of CrowS-Pairs.",
    "labelled": "Features of an encoder that is not fine-tuned, a logistic regression by "
    "scikit-learn, five stratified folds.\n"
    "Each row is predicted by a regression that has not seen it; its penalty, and what is a word "
    "for TF-IDF (words of two letters or more, or every word and sign), are chosen inside each "
    "fold by log-loss. Intervals: Wilson, of macro F1 by the delta method. They are the wider the "
    "nearer a classifier is to guessing, because the folds share training rows, and cover the "
    "accuracy of these trained classifiers on further rows like these, not that of another "
    "training. The curve is the mean of three training sets of each size, and its last point is "
    "that of the table. With groups each group counts once, and McNemar's exact test exchanges "
    "whole groups. Time: of the encoder, or of TF-IDF, on these rows, on one core where it runs on "
    "one. Size: the encoder's weights, or TF-IDF's words and weights. The advice counts a "
    "difference if the test, corrected for all comparisons, stays below 1%.",
    "multilabel": "Features of an encoder that is not fine-tuned, a logistic regression for "
    "each label (one-vs-rest), five folds.\n"
    "A label is given where its probability is above one half. Each row is predicted by "
    "regressions that have not seen it; their penalty, one for all labels, and what is a word "
    "for TF-IDF are chosen inside each fold by log-loss. Macro F1: the mean of the labels' F1, "
    "2 TP / (2 TP + FP + FN). Micro F1: that of all decisions together. Every label: of all "
    "constants the one with the largest F1. Shuffled labels: the rows exchange their labels, "
    "and the same procedure is run. Intervals: Wilson for the variance "
    "by the delta method, for 70% of the rows, because the folds share training rows. They "
    "cover the F1 of these regressions on further rows like these. With groups each group "
    "counts once. The advice counts a difference in macro F1 if the test of Yeh 2000, which "
    "exchanges the predictions of whole rows or groups, corrected for all comparisons, stays "
    "below 1%. A row is right where all its judged labels are.",
    "scored": "Features of an encoder that is not fine-tuned, a ridge regression, five folds.\n"
    "Two texts are read as A [SEP] B. Each row is predicted by a regression that has not seen it; "
    "its penalty is chosen inside each fold. Words alone: the same regression on how many words "
    "the two texts have in common, or on the number and length of a text's words. Shuffled scores: "
    "the mean of five orders, through the same folds and regression; it is a little below 0, "
    "because a fold's mean is predicted from the others'. Intervals: Fisher's z, for Spearman by "
    "Bonett and Wright 2000, for 55% of the rows, because the folds share training rows. They "
    "cover the correlation of these regressions on further rows like these. The advice counts a "
    "difference if the test of Meng et al. 1992, corrected for all comparisons, stays below 1%. "
    "Difference: the largest predicted score less the smallest.",
    "tagged": "Own heads: the checkpoints' own token classifiers, which learn nothing from these "
    "rows.\nA word has the tag of its first token, and tags are joined as conlleval and seqeval "
    "join them. A span counts where its label, its first and its last word are those of the list: "
    "F1, precision and recall are micro averages, as seqeval prints them, and macro F1 is the mean "
    "over the labels. Names decide which label is which, whatever their case. Intervals: Wilson "
    "for the variance over the rows by the delta method, so that none has a width of 0. "
    "Comparisons: the predictions of whole rows are exchanged at random (Yeh 2000), with p "
    "corrected by Holm (1979); the verdict counts a difference below 1% over all tests. The most "
    "frequent tag of each word is learnt in five folds from the other rows, and a word that they "
    "do not have gets their most frequent tag.",
}
"""Notes on the numbers of each kind: how they are made."""
CHARTS = {
    "reliability": "Own heads: right against confidence, with 95% intervals",
    "reliable": "%{customdata} rows: confidence %{x:.1%}, right %{y:.1%}",
    "confidence": "mean confidence of bins of equally many rows",
    "share_right": "share right",
    "confusion_head": "Predictions of {label}'s own head",
    "another": "another label",
    "all_rows": "all rows",
    "at_1": "Given answer first, with 95% intervals",
    "at_5": "Given answer among the first five, with 95% intervals",
    "good": "Pairs of which {first} is likelier, with 95% intervals",
    "scatter": "{second} against {first}, a point for each sentence",
    "axis": "{label}, nats a word",
    "cost": "Accuracy against cost, measured on these rows",
    "cost_ms": "milliseconds a text",
    "cost_mb": "megabytes",
    "accuracy": "accuracy",
    "learning": "Accuracy by number of training rows, with 95% intervals",
    "learning_axis": "training rows; the last point is the table's",
    "by_layer": "Accuracy by layer of the features; the highest of several flatters",
    "by_layer_axis": "layer; 0: the embeddings",
    "confusion": "Predictions from {label}'s features",
    "confused": "true %{y}, predicted %{x}: %{z}",
    "predicted": "predicted",
    "true": "true",
    "f1": "F1 over all labels, with 95% intervals",
    "f1_by_label": "F1 of each label, with 95% intervals",
    "macro": "macro F1",
    "micro": "micro F1",
    "f1_spans": "F1 of exact spans, with 95% intervals",
    "all_spans": "all spans",
    "spearman": "Spearman correlation with your scores, with 95% intervals",
    "your_scores": "your scores",
    "shuffled": "shuffled scores",
    "scored": "Scores predicted by {label}",
    "given": "given score",
    "predicted_score": "predicted score",
}
"""Titles of the charts."""
TOKENIZING = "The rows are being tokenized."
ROWS = "{done} of {total}{speed}."
SPEED = ", {rate} rows a second, {left} left"
TRAINING = "All rows are done. Classifiers: {done} of {total} steps."
STOPPED = "Stopped after {done} of {total}: what follows is about those."
STOPPED_EARLY = "Stopped after {done} of {total}: press Run again."
SCORES_NEED_ALL = "Stopped after {done} of {total}. Scores need all rows: press Run again."
STOP = "Stop"


def progress_said(done: int, total: int, seconds: float) -> str:
    """Return how many rows are done, how fast, and how long the others will take."""
    speed = ""
    if done and seconds > 0:
        rate = done / seconds
        speed = SPEED.format(
            rate=f"{rate:,.0f}" if rate >= 100 else f"{rate:.3g}",
            left=duration((total - done) / rate),
        )
    return ROWS.format(done=f"{done:,}", total=counted(total, "row"), speed=speed)


def duration(seconds: float) -> str:
    """Format a time to wait in seconds or minutes."""
    return f"{max(1, round(seconds))} s" if seconds < 100 else f"{round(seconds / 60)} min"


def kinds() -> Mapping[str, tuple[str, str, str]]:
    """Return by kind its name, its columns, and what comes out."""
    return {kind: (KIND_NAMES[kind], GOES_IN[kind], COMES_OUT[kind]) for kind in KINDS}
