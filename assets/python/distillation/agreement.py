"""Teacher and student on sentences with one hidden word: first answers, KL, shared answers."""

import torch
from transformers import AutoModelForMaskedLM

PAIR = ["mini-BERT", "mini-DistilBERT"]  # teacher and student
SENTENCES = ["The ship sailed across the [MASK] to America."]

columns = ["sentence", "teacher", "student", "kl_teacher_student_nats", "shared_of_five"]
said = []
for label in PAIR:
    tokenizer, model = load(label, AutoModelForMaskedLM)
    said.append([])
    for sentence in SENTENCES:
        inputs = tokenizer(sentence, return_tensors="pt")
        mask = inputs["input_ids"][0] == tokenizer.mask_token_id
        with torch.inference_mode():
            said[-1].append(model(**inputs).logits[0, mask][0].double().log_softmax(-1))
rows = []
for sentence, teacher, student in zip(SENTENCES, *said, strict=True):
    kl = (teacher.exp() * (teacher - student)).sum().item()
    five = [set(one.topk(5).indices.tolist()) for one in (teacher, student)]
    first = [spelled(tokenizer, one.argmax()) for one in (teacher, student)]
    rows.append([sentence, *first, kl, len(five[0] & five[1])])
FIGURE = ("bars", "", "sentence", ["kl_teacher_student_nats"])
