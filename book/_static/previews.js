// Previews: while a link to a theorem, equation, figure, exercise, citation or function has the
// mouse or the focus, what it points to is shown beside it. Escape closes it. From another page
// the piece is fetched; from a disk (file://), where that is not allowed, nothing happens.
(() => {
  const KINDS = ".proof, .exercise, div.math, figure, div.citation, dl.py";
  const pages = new Map();
  const box = document.createElement("div");
  box.id = "preview";
  box.setAttribute("role", "tooltip");
  box.hidden = true;
  let link = null, byMouse = false, opening = 0, closing = 0;

  async function find(url) {
    const id = decodeURIComponent(url.hash.slice(1));
    let page = document;
    if (url.pathname !== location.pathname) {
      if (!/^http/.test(url.protocol) || url.origin !== location.origin) return null;
      if (!pages.has(url.pathname)) {
        pages.set(url.pathname, fetch(url.pathname)
          .then(answer => (answer.ok ? answer.text() : ""))
          .then(text => new DOMParser().parseFromString(text, "text/html"))
          .catch(() => null));
      }
      page = await pages.get(url.pathname);
    }
    const target = page && id && page.getElementById(id);
    const found = target && target.closest(KINDS);
    if (!found || found.matches(":has(h1, h2)")) return null;
    const copy = document.importNode(found, true);
    if (found.matches("dl.py")) copy.querySelectorAll("dd > :not(p:first-child), dl").forEach(e => e.remove());
    copy.querySelectorAll(".headerlink, .exercise-folds, .exercise-field, .copybtn").forEach(e => e.remove());
    for (const e of [copy, ...copy.querySelectorAll("*")]) e.removeAttribute("id");
    for (const e of copy.querySelectorAll("a")) e.tabIndex = -1;
    for (const e of copy.querySelectorAll("img")) e.src = new URL(e.getAttribute("src"), url);
    return copy;
  }

  async function show(a) {
    const copy = await find(new URL(a.href));
    if (!copy || link !== a) return;
    box.replaceChildren(copy);
    if (!box.isConnected) document.querySelector(".bd-article").append(box);
    box.hidden = false;
    a.setAttribute("aria-describedby", box.id);
    if (window.MathJax?.typesetPromise) await MathJax.typesetPromise([box]).catch(() => {});
    if (link !== a) return;
    const at = a.getBoundingClientRect(), size = box.getBoundingClientRect();
    const width = document.documentElement.clientWidth;
    const left = Math.max(8, Math.min(at.left, width - size.width - 8));
    const below = at.bottom + size.height + 12 < innerHeight || at.top < size.height + 12;
    box.style.left = `${left + scrollX}px`;
    box.style.top = `${(below ? at.bottom + 6 : at.top - size.height - 6) + scrollY}px`;
  }

  function close() {
    clearTimeout(opening);
    clearTimeout(closing);
    link?.removeAttribute("aria-describedby");
    link = null;
    box.hidden = true;
  }

  function ask(a, wait, mouse) {
    clearTimeout(closing);
    if (a === link) return;
    close();
    link = a;
    byMouse = mouse;
    opening = setTimeout(() => show(a), wait);
  }

  const linkAt = e => e.target.closest?.(".bd-article a.internal[href*='#']:not(#preview a, .headerlink)");
  document.addEventListener("mouseover", e => {
    if (!matchMedia("(hover: hover)").matches) return;
    const a = linkAt(e);
    if (a) ask(a, 200, true);
    else if (box.contains(e.target)) clearTimeout(closing);
    else if (link && byMouse) { clearTimeout(closing); closing = setTimeout(close, box.hidden ? 0 : 250); }
  });
  document.addEventListener("focusin", e => {
    const a = linkAt(e);
    if (a && a.matches(":focus-visible")) ask(a, 100, false);
    else if (link && !box.contains(e.target)) close();
  });
  document.addEventListener("keydown", e => { if (e.key === "Escape") close(); });
})();
