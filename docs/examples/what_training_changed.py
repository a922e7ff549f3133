import explorer

tuned = explorer.load({"before": "mini-bert", "after": "./my-bert"})
rows = ["The cat sat on the mat.", "He poured the tea into a cup."]
difference = explorer.changed(tuned, before="before", after="after", rows=rows)
difference.sentences()  # what changed most and what least
difference.figure()  # weights, states, heads, predictions; grey is the control of each
difference.weights[3]  # the query matrix of the first layer: distance, scale, cosine
