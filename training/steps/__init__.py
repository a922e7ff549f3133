"""Steps of the recipe, from the corpus to the exported weights."""
