import explorer

family = explorer.load("mini")
answer = explorer.predict("The capital of France is [MASK].", family)
answer  # in a notebook: a column for each model, light or dark, without scripts
answer.to_frame()  # pandas: model, mask, rank, token, probability, word
answer.figure()  # a Plotly figure
answer.to_dict()  # the JSON of the endpoint /predict
