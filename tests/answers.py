"""What the tables of answers share: wrong answers that any exercise may get."""

import numpy as np

NAN = float("nan")


def fails(*_):
    raise KeyError("oops")


# (wrong answer, words of the diagnosis), for exercises that ask for a function
FUNCTION_NEEDED = (np.eye(3), "function is needed")
FAILS = (fails, "raised KeyError: 'oops'")
