"""Our numbers stay as near to scikit-learn's as the book's page on agreement says."""

import importlib

import agreement
import pytest

each_case = pytest.mark.parametrize(
    "case", agreement.CASES, ids=lambda case: f"{case.ours} {case.what[:30]}"
)


@each_case
def test_the_difference_has_not_grown(case):
    assert case.measure() < case.bound


@each_case
def test_both_sides_exist(case):
    """The page links to the one and names the other."""
    for root, dotted in (("kpca_edu", case.ours), ("sklearn", case.theirs)):
        parts = dotted.split(".")
        places = [i for i, part in enumerate(parts) if not part.islower() or i == len(parts) - 1]
        thing = importlib.import_module(".".join([root, *parts[: places[0]]]))
        for part in parts[places[0] :]:
            thing = getattr(thing, part)
        assert callable(thing)


def test_a_difference_is_seen():
    """The measure is not blind: a changed number and a lost column both show."""
    assert agreement.apart([1.0, 2.0], [1.0, 2.5]) == pytest.approx(0.2)
    with pytest.raises(AssertionError):
        agreement.apart([1.0], [1.0, 2.0])
