r"""A search that knows sections, theorems and functions, and shows what a reader can read.

Sphinx's search finds pages, ranks the reference before the chapters and cuts its excerpts out of
the page's source, with raw TeX in it. Here the pages as they were built are cut into sections,
theorems, functions and entries of the bibliography; formulas become letters (``\lambda_i`` reads
λᵢ), code is left out but for the library's names. ``search.js`` ranks and shows them. All of it is
one file that only the search page loads, so that it works from a folder, too, without a server.
"""

from __future__ import annotations

import json
import re
from dataclasses import dataclass, field
from html import unescape
from html.parser import HTMLParser
from pathlib import Path

from contents import chapters
from plain_math import plain_math

# Words that readers type and chapters may not say. They count as much as a title.
EVERYDAY = {
    "01_svd": "image compression, pseudoinverse, condition number, rank of a matrix, matrix"
    " factorization, low-rank approximation, truncated SVD",
    "02_power_method": "PageRank, power iteration, Lanczos, Krylov, eigenvalue algorithm, ARPACK",
    "03_pca": "dimensionality reduction, dimension reduction, explained variance, loadings, scores,"
    " biplot, standardize, whitening, feature extraction, principal axes",
    "04_ppca": "missing values, missing data, missing entries, NaN, imputation, fill gaps, factor"
    " analysis, EM algorithm, maximum likelihood, generative model",
    "05_choosing_k": "scree plot, elbow, how many components, number of components, number of"
    " factors, how many principal components to keep, cross-validation, model selection",
    "06_kernels": "kernel trick, feature map, Mercer, RBF, Gaussian kernel, similarity, RKHS,"
    " kernel width",
    "07_kernel_pca": "kernel trick, nonlinear PCA, non-linear dimension reduction, manifold",
    "08_centering": "centering, double centering, MDS, multidimensional scaling, kernel centerer",
    "09_preimages": "denoising, inverse transform, preimage, inverse kernel PCA, noise removal",
    "10_sparse_pca": "lasso, elastic net, interpretable components, feature selection, L1 penalty,"
    " variable selection",
    "11_sketching": "random projection, random Fourier features, Nystroem, randomized SVD,"
    " approximate kernel, big data",
    "12_streaming": "big data, out of core, incremental PCA, online PCA, Dask, larger than memory,"
    " streaming",
    "13_faces": "eigenfaces, face recognition",
    "14_documents": "LSA, LSI, latent semantic analysis, topics, text, tf-idf, word counts",
    "15_genes": "population genetics, genome, ancestry, SNP",
    "16_digits": "MNIST, handwritten digits, classification",
    "17_novelty": "outlier detection, anomaly detection, one class",
    "18_relations": "t-SNE, UMAP, Isomap, Laplacian eigenmaps, autoencoder, k-means, spectral"
    " clustering, comparison of methods, when to use which",
    "notation": "symbols, conventions, transpose, degrees of freedom, n-1, scikit-learn, R, Julia",
}
LEFT_OUT = {"book/index", "book/ledger", "search", "index", "genindex"}
CODE = re.compile(  # code, and what it has printed
    r'<div class="[^"]*highlight-[^"]*">.*?</pre></div>\s*</div>', re.DOTALL
)
TAG = re.compile(r"<[^>]*>")
VOID = {"br", "col", "hr", "img", "input", "link", "meta", "source", "wbr"}
SKIPPED_TAGS = {"script", "style", "svg", "summary", "nav", "button", "form"}
SKIPPED_CLASSES = {"headerlink", "eqno", "section-number", "viewcode-link"}
LONGEST = 6000  # letters of an entry


@dataclass
class Entry:
    """Something that can be found: a section, a theorem, a function, a cited work."""

    kind: str
    url: str
    title: str = ""
    place: str = ""
    parts: list[str] = field(default_factory=list)
    names: set[str] = field(default_factory=set)

    @property
    def text(self) -> str:
        text = " ".join("".join(self.parts).split())
        text = re.sub(r"\s+([.,;:!?)])", r"\1", text)
        return text[:LONGEST]


class PageReader(HTMLParser):
    """Cut the article of a built page into entries."""

    def __init__(self, page: str, kind: str):
        super().__init__(convert_charrefs=True)
        self.page, self.kind = page, kind
        self.entries: list[Entry] = []
        self.open: list[tuple[str, str]] = []  # (tag, what it does here)
        self.current: list[Entry] = []
        self.skipping = 0
        self.catching: list[str] | None = None  # the text of a title or formula

    def handle_starttag(self, tag, attrs):
        if tag in VOID:
            return
        about = dict(attrs)
        classes = set((about.get("class") or "").split())
        role = "" if self.skipping else self.role(tag, classes, about)
        if (
            tag in SKIPPED_TAGS
            or classes & SKIPPED_CLASSES
            or "hidden" in about
        ):
            role = "skip"
        if role == "skip" or self.skipping:
            self.skipping += 1
        self.open.append((tag, role))
        if role in {"title", "math", "names", "label"}:
            self.catching = []

    def role(self, tag: str, classes: set[str], about: dict) -> str:
        ident = about.get("id")
        if tag == "section" and ident:
            return self.begin(self.kind, ident)
        if "proof" in classes and "admonition" in classes and ident:
            return self.begin("theorem", ident)
        if tag == "div" and "citation" in classes and ident:
            return self.begin("work", ident)
        if tag == "dt" and "sig" in classes:
            if ident:
                self.begin("function", ident)
                self.current[-1].title = ident
            return "skip"  # the signature is for the reference itself
        if tag == "dl" and "py" in classes:
            return "functions"
        if tag in {"h1", "h2", "h3", "h4"} or "admonition-title" in classes:
            return "title"
        if (
            "label" in classes
            and self.current
            and self.current[-1].kind == "work"
        ):
            return "label"
        if "math" in classes:
            return "math"
        if "search-names" in classes:
            return "names"
        return ""

    def begin(self, kind: str, ident: str) -> str:
        entry = Entry(kind, f"{self.page}.html#{ident}")
        self.entries.append(entry)
        self.current.append(entry)
        return "entry"

    def handle_endtag(self, tag):
        if tag in VOID or not self.open:
            return
        _, role = self.open.pop()
        if self.skipping:
            self.skipping -= 1
            return
        text = "".join(self.catching or [])
        if role in {"title", "label"} and self.current:
            self.take_title(text)
        elif role == "math":
            self.say(plain_math(text))
        elif role == "names" and self.current:
            self.current[-1].names.update(text.split())
        if role in {"title", "label", "math", "names"}:
            self.catching = None
        if role == "entry" or (
            role == "functions" and self.current[-1].kind == "function"
        ):
            self.current.pop()
        elif tag in {"p", "li", "div", "tr", "td", "dd"}:
            self.say(" ")

    def handle_data(self, data):
        if self.skipping:
            return
        if self.catching is not None:
            self.catching.append(data)
        else:
            self.say(data)

    def say(self, text: str) -> None:
        if self.current:
            self.current[-1].parts.append(text)

    def take_title(self, text: str) -> None:
        entry, text = self.current[-1], " ".join(text.split())
        if entry.title and entry.kind != "function":
            self.say(f" {text}. ")
        elif entry.kind != "function":
            entry.title = text.strip("[]")


def read_page(html: str, page: str, kind: str, names: set[str]) -> list[Entry]:
    """Return the entries of a built page; ``names`` are the library's words that code may hold."""
    article = html[html.find('<article class="bd-article"') :]
    article = article[: article.find("</article>")]

    def only_names(match: re.Match) -> str:
        words = set(re.findall(r"\w+", unescape(TAG.sub("", match[0]))))
        return f'<i class="search-names">{" ".join(sorted(words & names))}</i>'

    reader = PageReader(page, kind)
    reader.feed(CODE.sub(only_names, article))
    return [e for e in reader.entries if e.title]


def collect(app) -> list[list]:
    """Return [kind, address, title, place, text, words] for all that can be found."""
    numbered = {c.page: c for c in chapters()}
    objects = app.env.get_domain("py").objects
    names = {name.rsplit(".", 1)[-1] for name in objects}
    rows = []
    for page in sorted(app.env.found_docs - LEFT_OUT):
        path = Path(app.outdir, f"{page}.html")
        if not path.exists():
            continue
        chapter = numbered.get(page)
        kind = "chapter" if chapter else "page"
        found = read_page(path.read_text("utf8"), page, kind, names)
        if not found:
            continue
        home = found[0].title
        if chapter:
            home = f"{chapter.number} {chapter.title}"
        for position, entry in enumerate(found):
            everyday = "" if position else EVERYDAY.get(page.split("/")[-1], "")
            rows.append(_row(entry, home, everyday))
    return rows


def _row(entry: Entry, home: str, everyday: str) -> list:
    title, place = entry.title, home
    if entry.kind == "function":
        module, _, title = title.rpartition(".")
        place = module
    elif entry.kind in {"chapter", "page"} and "#" in entry.url:
        title = title.replace("`", "")
    text = entry.text
    if entry.kind == "theorem":
        title = re.sub(r"\s*\((.*)\)$", r": \1", title)
    words = " ".join(filter(None, [everyday, *sorted(entry.names)]))
    return [entry.kind, entry.url, title, place, text, words]


def write_texts(app, exception) -> None:
    """Write what can be found beside the other scripts of the pages."""
    if exception or app.builder.name != "html":
        return
    rows = json.dumps(collect(app), ensure_ascii=False, separators=(",", ":"))
    target = Path(app.outdir, "_static", "search-texts.js")
    target.write_text(f"const SEARCH_TEXTS = {rows};\n", "utf8")


def no_index_of_sphinx(app) -> None:
    if app.builder.name == "html":
        app.builder.search = False


def search_page(app):
    if app.builder.name == "html":
        yield "search", {"title": "Search"}, "search.html"


def setup(app):
    app.connect("builder-inited", no_index_of_sphinx)
    app.connect("html-collect-pages", search_page)
    app.connect("build-finished", write_texts)
    return {"version": "1", "parallel_read_safe": True}
