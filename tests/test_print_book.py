"""The book as one PDF: what is put together before Chromium prints it."""

from __future__ import annotations

import print_book
import pytest
from print_book import Page, article, pages, starts

SVD, PCA = Page("book/01_svd", "Linear"), Page("book/api/pca", "Reference")
THERE = {page.name: page for page in (SVD, PCA)}


def put(html: str, page: Page = SVD):
    return article(f'<article class="bd-article"><h1>1 A</h1>{html}</article>', page, THERE)


@pytest.mark.parametrize(
    ("page", "href", "place"),
    [
        (SVD, "#rank", "#01_svd--rank"),
        (SVD, "api/pca.html#fit", "#api-pca--fit"),
        (SVD, "api/pca.html", "#api-pca"),
        (PCA, "../01_svd.html#rank", "#01_svd--rank"),
        (SVD, "https://example.org/#rank", "https://example.org/#rank"),
        (SVD, "mailto:a@example.org", "mailto:a@example.org"),
        (SVD, "../_static/principal-components.zip", None),
    ],
)
def test_links_lead_to_places_of_the_one_page(page, href, place):
    assert put(f'<a href="{href}">words</a>', page).a.get("href") == place


def test_ids_differ_between_pages_and_links_reach_them():
    html = '<h2 id="same">S</h2><p id="same">T</p><a href="#same">s</a><label for="same">l</label>'
    first, second = put(html), put(html, PCA)
    ids = [node["id"] for body in (first, second) for node in body.select("[id]")]
    assert len(ids) == len(set(ids))
    for body in (first, second):
        assert body.a["href"] == f"#{body.h2['id']}"
        assert body.label["for"] == body.h2["id"]
    assert (first.h1["id"], second.h1["id"]) == (SVD.key, PCA.key)  # what links to a page lead to


def test_pictures_are_found_from_the_one_page_and_keep_their_marks():
    body = put('<img src="../../_images/a.png" loading="lazy"><path fill="url(#dots)"/>', PCA)
    assert body.img["src"] == "_images/a.png"
    assert "loading" not in body.img.attrs
    assert body.path["fill"] == "url(#api-pca--dots)"


def test_folds_are_open_and_what_only_a_screen_needs_is_gone():
    body = put(
        "<details><summary>Proof</summary>because</details>"
        "<details><summary>Plot code</summary>plot()</details>"
        "<table><tr><td><details><summary>2 tests</summary>test_a</details></td></tr></table>"
        '<button>Run</button><div class="exercise-field">Answer</div><a class="headerlink">#</a>'
    )
    assert [fold.has_attr("open") for fold in body.select("details")] == [True]
    assert body.get_text() == "1 AProofbecause2 tests"


def test_long_names_in_tables_break_at_their_seams():
    table = put("<table><tr><td><code>pca.fit_pca</code> a_b</td></tr></table>").table
    assert str(table.code) == "<code>pca.<wbr/>fit_<wbr/>pca</code>"
    assert "a_b" in str(table)


def test_every_page_of_the_contents_is_printed_once():
    names = [page.name for page in pages()]
    assert names[0] == "book/index"
    assert len(names) == len(set(names)) == len({page.key for page in pages()})
    for name in names:
        assert list((print_book.ROOT / name).parent.glob(f"{name.split('/')[-1]}.*")), name


def test_pages_of_places_are_read_from_a_pdf():
    """Pages count in the order of the tree of pages, not of the file."""
    pdf = b"""
    1 0 obj <</Type /Catalog /Pages 2 0 R /Dests 9 0 R>> endobj
    7 0 obj <</Type /Page /Parent 2 0 R>> endobj
    2 0 obj <</Type /Pages /Kids [3 0 R 7 0 R]>> endobj
    3 0 obj <</Type /Pages /Kids [8 0 R 5 0 R]>> endobj
    5 0 obj <</Type /Page>> endobj
    8 0 obj <</Type /Page>> endobj
    9 0 obj <</01_svd--rank [5 0 R /XYZ 0 700 0] /api-pca [7 0 R /XYZ 0 10 0]
    /01_svd [8 0 R /XYZ 0 700 0]>> endobj
    4 0 obj <</Title (An entry of the outline) /Dest [7 0 R /XYZ 0 700 0]>> endobj
    """
    assert starts(pdf) == {"01_svd": 1, "01_svd--rank": 2, "api-pca": 3}
