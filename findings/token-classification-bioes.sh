#!/usr/bin/env bash
# transformers 5.23.0: entities tagged by BIOES or BILOU are cut in two, and parts of speech are joined.
#
# The token-classification pipeline knows the prefixes B- and I- only. A name of two words that a head
# tags B-PER E-PER (BILOU: B-PER L-PER) comes out as two entities. Two names of one word each, S-PER
# S-PER, come out as one. Tags without prefixes, such as NOUN, are joined in the same way, though two
# neighbouring nouns are two words. seqeval reads the first and the third of these tags as meant.
set -euo pipefail
folder=$(mktemp -d); trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/venv"
"$folder/venv/bin/pip" install -q torch==2.13.0 transformers==5.23.0 seqeval==1.2.2

cat > "$folder/check.py" <<'PYTHON'
import torch
from seqeval.metrics.sequence_labeling import get_entities
from transformers import BertConfig, BertForTokenClassification, BertTokenizer, pipeline

WORDS = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]", "anna", "berg", "met", "carl", "dora"]
tokenizer = BertTokenizer(vocab={word: i for i, word in enumerate(WORDS)})


def found(text, tags):
    """The entities of the pipeline, and of seqeval, for a network that gives these tags to words."""
    labels = sorted({*tags.values(), "O"})
    config = BertConfig(
        vocab_size=len(WORDS), hidden_size=16, num_hidden_layers=1, num_attention_heads=2,
        intermediate_size=16, num_labels=len(labels), id2label=dict(enumerate(labels)),
    )
    model = BertForTokenClassification(config).eval()
    ids = torch.tensor([tokenizer(text)["input_ids"]])
    wanted = torch.tensor([labels.index(tags.get(WORDS[i], "O")) for i in ids[0]])
    with torch.no_grad():  # the least-squares head of this text: it gives each word its tag
        states = model.bert(ids).last_hidden_state[0]
        model.classifier.weight.copy_(torch.linalg.pinv(states).mul(9).matmul(torch.eye(len(labels))[wanted]).T)
        model.classifier.bias.zero_()
    tagged = [labels[i] for i in model(ids).logits[0].argmax(-1)]
    assert tagged == [labels[i] for i in wanted], "the head does not give the tags"
    ner = pipeline("ner", model=model, tokenizer=tokenizer, aggregation_strategy="simple")
    return [(e["entity_group"], e["word"]) for e in ner(text)], get_entities(tagged[1:-1])


for text, tags, pipelines, seqevals in (
    ("anna berg met", {"anna": "B-PER", "berg": "E-PER"}, [("PER", "anna"), ("PER", "berg")], [("PER", 0, 1)]),
    ("anna berg met", {"anna": "B-PER", "berg": "L-PER"}, [("PER", "anna"), ("PER", "berg")], None),
    ("met carl dora", {"carl": "S-PER", "dora": "S-PER"}, [("PER", "carl dora")], [("PER", 1, 1), ("PER", 2, 2)]),
    ("met carl dora", {"carl": "NOUN", "dora": "NOUN"}, [("NOUN", "carl dora")], None),
    ("anna berg met", {"anna": "B-PER", "berg": "I-PER"}, [("PER", "anna berg")], [("PER", 0, 1)]),
):
    seen, read = found(text, tags)
    print(*tags.values(), "->", seen, "" if seqevals is None else f"; seqeval: {read}")
    assert seen == pipelines and seqevals in (None, read), "changed"
PYTHON
"$folder/venv/bin/python" "$folder/check.py" 2>/dev/null
