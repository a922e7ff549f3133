"""How is each model made: every step of the recipe, from the corpus to the exported weights?"""
