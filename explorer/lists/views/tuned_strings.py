"""Sentences on fine-tuned models, and the card of a saved one."""

NO_SCORES = "No seed was finished for every model, so that there are no scores to compare."
SPLIT = (
    "Each model is trained on {train}, with {early} more for early stopping, and tested on "
    "{tested} others: at most {epochs}, {seeds}, and the same batches for all models."
)
FOLDS = (
    "Each row is tested in one of {folds} folds, where a model is trained on {train}, with {early} "
    "more for early stopping: at most {epochs}, {seeds}, and the same batches for all models."
)
SPREAD = "{name} is right in {accuracy}, and in {low} to {high} by seed ({seeds})."
COST = "{label} {cost}"
COSTS = "Time of training and peak memory of a step: {costs}."
LOSS = "Loss on the rows for early stopping (thin: of each training step)"
ACCURACY = "Accuracy on the rows for early stopping"
NATS = "nats a row"
SHARE = "share of the rows"
STEP = "step"
BASELINES = "Frozen features and a bag of words are judged first."
NOW = "{label}, training {n} of {all}: step {step} of {steps}, loss {loss}."
WORK = ["Model", "Trainings done", "Time", "Peak memory of a step"]
HEAD = [
    "Classifier",
    "Accuracy, 95% CI",
    "By seed",
    "Macro F1, 95% CI",
    "Training",
    "Peak memory",
    "A row",
    "Weights",
    "Points a second",
    "Points a MB",
]
"""Columns of the table of classifiers."""
NOTE = (
    "The intervals are those of these trained classifiers on further rows; the range over seeds is "
    "that of training again. Points are percentage points of accuracy above always answering the "
    "most frequent label: for each second of training, and for each megabyte of weights."
)
SAVED = "The best model of each column is saved in {folder}. Open them as columns, or compare:"
SAVED_THERE = "The best models are saved where this page runs, in the folder {folder}."
CHANGED = "python -m explorer changed --family before={before},after={after}"
METHODS = {
    "full": "all weights were trained",
    "lora": "LoRA (Hu et al. 2021) of rank 8 at queries and values, merged, and a new head",
}
FRONT = "---\nbase_model: {base}\npipeline_tag: text-classification\n---\n"
CARD = """{front}# {label}, fine-tuned on labelled rows

A classifier of texts with the labels {labels}. `AutoModelForSequenceClassification.from_pretrained`
opens this folder.

**Base.** {base}.

**Data.** A list of {rows} ({columns}): {train} to train on, {early} for early stopping, and
{tested} held out from this model.

**Training.** {method}; at most {epochs} of batches of 16 rows, AdamW with a peak learning rate of
{rate:g}, linear warm-up over 10% of the steps and linear decay, seed {seed}. These are the weights
after epoch {best} of {done}, the latest of those with the highest accuracy on the rows for early
stopping; one that is lower by at most a standard error counts as equal.

**Score.** {score} The score is that of all seeds on the held-out rows.

Made by the BERT family explorer: `explorer.finetune`.
"""
