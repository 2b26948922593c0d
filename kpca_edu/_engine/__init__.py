"""What makes the chapters' functions fast and safe, one call deep. It knows nothing of chapters.

``checks`` refuses bad input with a sentence, ``model`` makes results that can't change,
``progress`` shows bars, ``eigen`` finds the leading eigenpairs of a symmetric matrix, ``panels``
holds half of one, ``descent`` minimises for many points at once.

Linear algebra in loops is NumPy's alone. NumPy and SciPy bring an OpenBLAS each, whose threads go
on spinning for a while after a call; a loop that alternates the two makes them fight for the cores.
"""
