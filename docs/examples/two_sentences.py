import explorer

good = explorer.score("The keys to the cabinet are here.", "mini")
bad = explorer.score("The keys to the cabinet is here.", "mini")
{key: good.models[key].pll - bad.models[key].pll for key in good.models}
