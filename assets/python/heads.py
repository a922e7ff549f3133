"""The masked-LM head of an architecture: put in front of a recipe that applies one."""

MLM_HEAD = {
    "bert": lambda model, hidden: model.cls(hidden),
    "distilbert": lambda model, hidden: model.vocab_projector(
        model.vocab_layer_norm(model.activation(model.vocab_transform(hidden)))
    ),
    "albert": lambda model, hidden: model.predictions(hidden),
    "roberta": lambda model, hidden: model.lm_head(hidden),
}
MLM_HEAD |= dict.fromkeys(("xlm-roberta", "camembert"), MLM_HEAD["roberta"])
