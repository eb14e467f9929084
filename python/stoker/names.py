"""Names of functions of Python, as the text of a pipeline holds them (stoker/functions)."""


class Name(str):
    """Keeps a function that has no other name, as long as a stage has this one; `held` is None for those that can be imported."""

    held = None
