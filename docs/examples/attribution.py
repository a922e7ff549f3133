import explorer

text = "The capital of France is [MASK]."
why = explorer.attribute(text, "mini", target="paris")
why.models["bert"].integrated_gradients, why.models["bert"].completeness_error
explorer.ablate(text, "mini", {"bert": [(0, 3), (1, 7)]}).to_frame()
explorer.latency("mini", sequence_length=16, repeats=8).to_frame()
