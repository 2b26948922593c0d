"""Checkers for the exercises of chapter 14: documents."""

from __future__ import annotations

from typing import Any

import numpy as np

from .checking import (
    WrongAnswer,
    as_function,
    as_number,
    as_numbers,
    as_pair,
    as_words,
    exercise,
    expect_choices,
    expect_number,
)

SEARCHES = ("words", "scores", "neither")


@exercise(
    "documents-1",
    "Two factors: one for the three occurrences, one for how rare the word is.",
    "(1 + log 3) · log(1000/10), with natural logarithms.",
)
def a_weight_by_hand(answer: Any) -> None:
    rare = np.log(100)
    expect_number(
        answer,
        (1 + np.log(3)) * rare,
        3,
        {
            3 * rare: "Three occurrences count as 1 + log 3, and not as 3.",
            np.log(3) * rare: "The 1 before the logarithm of the count is missing.",
            rare: "That is the rarity alone: the count is the other factor.",
            1 + np.log(3): "That is the factor of the count alone: how rare is the word?",
            (1 + np.log10(3)) * 2: "Logarithms are natural here, and not to the base 10.",
            (1 + np.log2(3)) * np.log2(100): "Logarithms are natural here, and not to the base 2.",
            (1 + np.log(3)) * (rare + 1): "That adds 1 to the rarity, as scikit-learn does.",
            (1 + np.log(3)) * np.log(1000 / 3): "The rarity divides by the documents that have it.",
            (1 + np.log(3)) * 100: "The ratio 1000/10 needs its logarithm.",
        },
    )


@exercise(
    "documents-2",
    "The two rows are equally long and play equal parts: what is their sum?",
    "v₁ = (1, 4, 1)/√18; multiply the entries of tea and coffee.",
)
def a_chain_of_words(answer: Any) -> None:
    expect_number(
        answer,
        1 / 18,
        3,
        {
            1 / np.sqrt(18): "That is one entry of v₁: the link is the product of two.",
            4 / 18: "That is the link between tea and cup.",
            16 / 18: "That is the entry of cup with itself.",
            1 / 6: "That is the example of the chapter: here cup stands twice.",
            1.0: "v₁ must have length one: divide by √18.",
            0.0: "The rows' inner product for tea and coffee is zero, the link is not.",
        },
        percent=True,
    )


@exercise(
    "documents-3",
    "Scores are x @ V and y @ V.",
    "The inner product of the scores, over the product of their two lengths.",
)
def compare_two_documents(answer: Any) -> None:
    likeness = as_function(answer)
    rng = np.random.default_rng(0)
    given, right, mistakes = [], [], []
    for d, k in ((8, 2), (30, 5), (12, 3)):
        V = np.linalg.qr(rng.standard_normal((d, k)))[0]
        x, y = rng.random(d), rng.random(d)
        if k == 5:
            y = y - x  # a negative cosine
        given.append(as_number(likeness(V.copy(), x.copy(), y.copy())))
        a, b = x @ V, y @ V
        lengths = np.linalg.norm(a) * np.linalg.norm(b)
        whole = np.linalg.norm(x) * np.linalg.norm(y)
        right.append(a @ b / lengths)
        mistakes.append(
            {
                "That is the inner product of the scores: divide by their lengths.": a @ b,
                "That is the cosine of the words: V is not used.": x @ y / whole,
                "Divide by the lengths of the scores, and not by those of x and y.": a @ b / whole,
                "That is the distance of the scores.": np.linalg.norm(a - b),
                "That is one minus the cosine, a distance.": 1 - a @ b / lengths,
                "Divide by lengths, and not by their squares.": a @ b / lengths**2,
                "A cosine has a sign: scores may point away from each other.": abs(a @ b) / lengths,
                "The scores were centred: here nothing is.": np.corrcoef(a, b)[0, 1],
            }
        )
    if np.allclose(given, right, rtol=0, atol=1e-6):
        return
    for diagnosis in mistakes[0]:
        if np.allclose(given, [values[diagnosis] for values in mistakes], rtol=1e-6):
            raise WrongAnswer(diagnosis)
    raise WrongAnswer("That is not the cosine of the scores.")


@exercise(
    "documents-4",
    "Look for the first dot above the dashed line, and for the highest dot.",
    "The dot at 20 is below the line, the dot at 40 above; which one is the highest?",
)
def read_a_search(answer: Any) -> None:
    smallest, best = as_numbers(answer, 2)
    if (smallest, best) == (40, 80):
        return
    if (smallest, best) == (80, 40):
        raise WrongAnswer("The two numbers are right, their order is not.")
    if smallest != 40:
        if smallest == 20:
            raise WrongAnswer("The dot at 20 is still below the dashed line.")
        if smallest == 320:
            raise WrongAnswer("320 is the largest that beats words: the smallest is asked for.")
        raise WrongAnswer("The first is not right: which dot is the first above the line?")
    if best == 320:
        raise WrongAnswer("The largest k is not the best: look at the highest dot.")
    raise WrongAnswer("The second is not right: which dot is the highest?")


@exercise(
    "documents-5",
    "What does the projector do to a vector that lies in its plane?",
    "40 independent documents span 40 dimensions: one direction less can't hold them all.",
)
def nothing_happens(answer: Any) -> None:
    letter, value = as_pair(answer, "abcd", ("a", 10))
    if letter == "a":
        raise WrongAnswer('Against "a": related texts would not change either.')
    if letter == "c":
        raise WrongAnswer('Against "c": centring changes the table, but it is not what is asked.')
    if letter == "d":
        raise WrongAnswer('Against "d": signs cancel in V Vᵀ for every k.')
    k = as_number(value)
    if k == 39:
        return
    if k == 40:
        raise WrongAnswer("The letter is right; with 40 nothing changes, as the cell shows.")
    if k in (99, 100):
        raise WrongAnswer("The letter is right; 40 documents have 40 directions, and not 100.")
    if k == 1:
        raise WrongAnswer("The letter is right; 1 is the smallest such k, not the largest.")
    raise WrongAnswer("The letter is right, the number is not.")


@exercise(
    "documents-6",
    "Ask of each: are the very words wanted, and do different words ever keep common company?",
    "No Finnish word meets a Swedish one, nor a word that does: there is nothing to link them.",
)
def choose_a_search(answer: Any) -> None:
    words = as_words(answer, 3, SEARCHES)
    reasons = {
        (0, "scores"): "In 1 the very message is wanted, and links blur it.",
        (0, "neither"): "In 1 the very words are known.",
        (1, "words"): "In 2 people ask in other words than the notes use.",
        (1, "neither"): "In 2 many short texts on few subjects let words keep company.",
        (2, "words"): "In 3 a Finnish question has no word in common with a Swedish file.",
        (2, "scores"): "In 3 no text links the two languages.",
    }
    expect_choices(words, reasons)
