"""The trainer that the program `stoker` starts (``stoker train recipe.yaml``). There is nothing to import here."""
