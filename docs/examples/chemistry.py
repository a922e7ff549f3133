import explorer

family = explorer.load({"bert": "rxn-bert", "albert": "rxn-albert"}, only=True)
