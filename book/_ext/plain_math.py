r"""Formulas as a line of letters, for places that can't set math: ``\lambda_i^2`` becomes λᵢ²."""

from __future__ import annotations

import re

SYMBOLS = {
    "alpha": "α", "beta": "β", "gamma": "γ", "delta": "δ", "epsilon": "ε", "varepsilon": "ε",
    "zeta": "ζ", "eta": "η", "theta": "θ", "kappa": "κ", "lambda": "λ", "mu": "μ", "nu": "ν",
    "xi": "ξ", "pi": "π", "rho": "ρ", "sigma": "σ", "tau": "τ", "phi": "φ", "varphi": "φ",
    "chi": "χ", "psi": "ψ", "omega": "ω", "Gamma": "Γ", "Delta": "Δ", "Theta": "Θ",
    "Lambda": "Λ", "Xi": "Ξ", "Pi": "Π", "Sigma": "Σ", "Phi": "Φ", "Psi": "Ψ", "Omega": "Ω",
    "le": "≤", "leq": "≤", "ge": "≥", "geq": "≥", "ne": "≠", "neq": "≠", "approx": "≈",
    "equiv": "≡", "sim": "∼", "propto": "∝", "ll": "≪", "gg": "≫", "in": "∈", "notin": "∉",
    "subset": "⊂", "subseteq": "⊆", "cup": "∪", "cap": "∩", "emptyset": "∅", "perp": "⊥",
    "times": "×", "cdot": "·", "odot": "⊙", "otimes": "⊗", "oplus": "⊕", "circ": "∘",
    "pm": "±", "mp": "∓", "ast": "*", "star": "*", "sum": "Σ", "prod": "∏", "int": "∫",
    "partial": "∂", "nabla": "∇", "infty": "∞", "to": "→", "rightarrow": "→", "mapsto": "↦",
    "Rightarrow": "⇒", "iff": "⇔", "implies": "⇒", "forall": "∀", "exists": "∃", "ell": "ℓ",
    "dots": "…", "ldots": "…", "cdots": "…", "vdots": "…", "langle": "⟨", "rangle": "⟩",
    "lVert": "‖", "rVert": "‖", "Vert": "‖", "|": "‖", "lvert": "|", "rvert": "|", "vert": "|",
    "mid": "|", "lfloor": "⌊", "rfloor": "⌋", "lceil": "⌈", "rceil": "⌉", "{": "{", "}": "}",
    "%": "%", "top": "ᵀ", "prime": "′", "quad": " ", "qquad": " ", ",": " ", ";": " ", ":": " ",
    "!": "", " ": " ", "left": "", "right": "", "big": "", "Big": "", "bigl": "", "bigr": "",
    "Bigl": "", "Bigr": "", "bigg": "", "Bigg": "", "displaystyle": "", "textstyle": "",
    "limits": "", "nolimits": "", "colon": ":", "backslash": "\\", "setminus": "\\", "&": "&",
}  # fmt: skip
ACCENTS = {"tilde": "\u0303", "widetilde": "\u0303", "hat": "\u0302", "widehat": "\u0302",
           "bar": "\u0304", "overline": "\u0304", "dot": "\u0307"}  # fmt: skip
UP = str.maketrans("0123456789+-=()nijkdtmrp×ᵀ", "⁰¹²³⁴⁵⁶⁷⁸⁹⁺⁻⁼⁽⁾ⁿⁱʲᵏᵈᵗᵐʳᵖˣᵀ")
DOWN = str.maketrans(
    "0123456789+-=()aeijklmnoprstuvx", "₀₁₂₃₄₅₆₇₈₉₊₋₌₍₎ₐₑᵢⱼₖₗₘₙₒₚᵣₛₜᵤᵥₓ"
)
GROUP = r"\{((?:[^{}]|\{[^{}]*\})*)\}"
LONGEST = 90


def plain_math(tex: str) -> str:
    """Return a formula as text; a long one or a matrix only as three dots."""
    tex = tex.strip().removeprefix("\\(").removesuffix("\\)")
    tex = tex.removeprefix("\\[").removesuffix("\\]")
    if re.search(r"\\begin\{(?!split|aligned)", tex) or tex.count("\\\\") > 1:
        return " … "
    tex = re.sub(r"\\(?:begin|end)\{\w+\*?\}|\\\\|&", " ", tex)
    tex = _groups(tex)
    text = re.sub(r"\\([A-Za-z]+|.)(\s*)", _symbol, tex)
    text = re.sub(r"\^\s*(ᵀ|[^\s{]|" + GROUP + ")", _raised, text)
    text = re.sub(r"_\s*([^\s{]|" + GROUP + ")", _lowered, text)
    text = " ".join(text.replace("{", "").replace("}", "").split())
    return text if len(text) <= LONGEST else " … "


def _groups(tex: str) -> str:
    """Write out fractions, roots, letters of other faces, accents and names."""
    for _ in range(3):  # they nest
        tex = re.sub(
            r"\\[dt]?frac\s*(\w|" + GROUP + r")\s*(\w|" + GROUP + ")",
            _fraction,
            tex,
        )
    tex = re.sub(
        r"\\sqrt\s*" + GROUP,
        lambda m: f"√({m[1]})" if len(m[1]) > 1 else f"√{m[1]}",
        tex,
    )
    tex = re.sub(r"\\sqrt\s*(\w)", r"√\1", tex)
    tex = re.sub(r"\\mathbb\s*\{?R\}?", "ℝ", tex)
    tex = re.sub(r"\\mathbb\s*\{?E\}?", "E", tex)
    faces = r"mathbf|mathrm|mathcal|mathsf|operatorname\*?|text|textbf|boldsymbol|mathit"
    for _ in range(2):
        tex = re.sub(rf"\\(?:{faces})\s*{GROUP}", r" \1", tex)
    names = "|".join(ACCENTS)
    return re.sub(
        rf"\\({names})(?![A-Za-z])\s*(?:\{{(\\?\w+)\}}|(\\[A-Za-z]+|\w))",
        lambda m: _accented(m[2] or m[3], ACCENTS[m[1]]),
        tex,
    )


def _symbol(match: re.Match) -> str:
    """Return a command as a letter; the space after it is TeX's and goes."""
    if match[1] in SYMBOLS:
        return SYMBOLS[match[1]]
    return match[1] + match[2]


def _accented(letter: str, accent: str) -> str:
    letter = SYMBOLS.get(letter.removeprefix("\\"), letter)
    return letter + accent if len(letter) == 1 else letter


def _fraction(match: re.Match) -> str:
    above, below = match[2] or match[1], match[4] or match[3]
    return f"{_bracketed(above)}/{_bracketed(below)}"


def _bracketed(text: str) -> str:
    return f"({text})" if re.search(r"[\s+-]", text.strip()) else text


def _raised(match: re.Match) -> str:
    content = (match[2] or match[1]).replace(" ", "")
    raised = content.translate(UP)
    simple = all(
        a != b or a == "ᵀ" for a, b in zip(content, raised, strict=True)
    )
    return raised if simple else f"^{_bracketed(content)}"


def _lowered(match: re.Match) -> str:
    content = (match[2] or match[1]).replace(" ", "")
    lowered = content.translate(DOWN)
    simple = all(a != b for a, b in zip(content, lowered, strict=True))
    return lowered if simple else f"_{_bracketed(content)}"
