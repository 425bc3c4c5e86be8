"""How many tokens a text will take, before a model has counted them."""

# Of running text in English and French; code, figures and other scripts take more tokens.
CHARACTERS_PER_TOKEN = 4.0
