/* Ranks and shows what book/_ext/search_page.py has collected: sections, theorems, functions, works. */
(() => {
  "use strict";
  const input = document.getElementById("book-search-words");
  if (!input || typeof SEARCH_TEXTS === "undefined") return;
  const count = document.getElementById("book-search-count");
  const list = document.getElementById("book-search-results");
  const MOST = 40;
  const NAMES = { theorem: "", chapter: "", page: "", function: "function in ", work: "" };
  // What stands first when the words fit equally well: the chapters, then their theorems.
  const PRIOR = { chapter: 12, theorem: 9, page: 4, function: 0, work: -4 };
  const SMALL = new Set(["a", "an", "and", "are", "do", "for", "how", "in", "is", "of", "on", "or", "the", "to", "what", "with"]);
  const OTHER_SPELLING = { center: "centr", centering: "centr", centered: "centr", centre: "centr", centring: "centr", preimage: "pre-image", preimages: "pre-image", nystroem: "nyström", color: "colour", standardize: "standardis", factorization: "factoris", randomized: "randomis" };

  const plain = (text) => text.toLowerCase().normalize("NFD").replace(/[\u0300-\u036f]/g, "");

  /* The beginning that all forms of a word share: components, component; denoising, denoise. */
  function stem(word) {
    if (OTHER_SPELLING[word]) return plain(OTHER_SPELLING[word]);
    if (word.includes("_") || word.length < 5) return word;
    return word.replace(/(ings?|ed|es|e|s)$/, (end) => (word.length - end.length >= 4 ? "" : end));
  }

  const entries = SEARCH_TEXTS.map(([kind, url, title, place, text, words]) => ({
    kind, url, title, place, text,
    inTitle: plain(title),
    inPlace: plain(place),
    inText: plain(text),
    inWords: plain(words),
  }));

  const escaped = (text) => text.replace(/[.*+?^${}()|[\]\\]/g, "\\$&");
  const startOf = (root) => new RegExp(`(?<![\\p{L}\\p{N}])${escaped(root)}`, "gu");

  function wordsOf(query) {
    const all = plain(query).split(/[\s,;:?!"“”]+/).filter(Boolean);
    const kept = all.filter((word) => !SMALL.has(word));
    return (kept.length ? kept : all).map((word) => {
      const root = stem(word);
      return { word, root, pattern: startOf(root) };
    });
  }

  // Sections that every chapter has say less about a word than the one that explains it.
  const BACK = /^(exercises|sources and further reading|summary|in practice)$/;

  function score(entry, words, phrase) {
    let total = PRIOR[entry.kind] - (BACK.test(entry.inTitle) ? 10 : 0);
    let matched = 0;
    for (const { word, pattern } of words) {
      let points = 0;
      if (entry.inTitle.match(pattern)) points += entry.inTitle === word ? 60 : 14;
      if (entry.inWords.match(pattern)) points += entry.kind === "function" ? 2 : 5;
      if (entry.inPlace.match(pattern)) points += 3;
      const hits = entry.inText.match(pattern);
      if (hits) points += 2 + 2 * Math.log2(1 + Math.min(hits.length, 7));
      if (points) matched += 1;
      total += points;
    }
    if (words.length > 1) {
      if (entry.inTitle.includes(phrase)) total += 25;
      if (entry.inWords.includes(phrase)) total += 22;
      if (entry.inText.includes(phrase)) total += 12;
    }
    return { matched, total };
  }

  function find(query) {
    const words = wordsOf(query);
    if (!words.length) return { words, found: [] };
    const phrase = plain(query).trim().replace(/\s+/g, " ");
    const scored = entries.map((entry) => ({ entry, ...score(entry, words, phrase) }));
    const most = Math.max(...scored.map((s) => s.matched));
    const found = scored
      .filter((s) => s.matched > 0 && s.matched === most)
      .sort((a, b) => b.total - a.total);
    return { words, found: found.map((s) => s.entry), all: most === words.length };
  }

  /* Some 200 letters around the place where most of the words stand together. */
  function excerpt(entry, words) {
    const { text } = entry;
    const low = plain(text).length === text.length ? plain(text) : text.toLowerCase();
    let best = 0;
    let most = -1;
    for (const { pattern } of words) {
      for (const match of low.matchAll(pattern)) {
        const near = low.slice(match.index, match.index + 160);
        const held = words.filter((w) => near.match(w.pattern)).length;
        if (held > most) [best, most] = [match.index, held];
      }
    }
    const sentence = Math.max(text.lastIndexOf(". ", best) + 2, 0);
    let start = best - sentence < 90 ? sentence : text.indexOf(" ", best - 60) + 1;
    if (most < 0) start = 0;
    let end = text.indexOf(" ", start + 200);
    if (end < 0) end = text.length;
    return (start > 1 && start !== sentence ? "… " : "") + text.slice(start, end) + (end < text.length ? " …" : "");
  }

  function marked(text, words) {
    const out = document.createDocumentFragment();
    const low = plain(text).length === text.length ? plain(text) : text.toLowerCase();
    const spots = [];
    for (const { pattern } of words) {
      for (const match of low.matchAll(pattern)) {
        const tail = low.slice(match.index).match(/^[\p{L}\p{N}_-]+/u);
        spots.push([match.index, match.index + (tail ? tail[0].length : match[0].length)]);
      }
    }
    spots.sort((a, b) => a[0] - b[0]);
    let end = 0;
    for (const [from, to] of spots) {
      if (from < end) continue;
      out.append(text.slice(end, from));
      const mark = document.createElement("mark");
      mark.textContent = text.slice(from, to);
      out.append(mark);
      end = to;
    }
    out.append(text.slice(end));
    return out;
  }

  function element(tag, kind, ...content) {
    const made = document.createElement(tag);
    made.className = kind;
    made.append(...content);
    return made;
  }

  function show() {
    const query = input.value.trim();
    const { words, found, all } = find(query);
    list.replaceChildren();
    if (!query) {
      count.textContent = "";
      return;
    }
    const shown = found.slice(0, MOST);
    const more = found.length > MOST ? `, the best ${MOST} are shown` : "";
    count.textContent = !found.length
      ? "Nothing holds these words. Try fewer, or another."
      : `${found.length} place${found.length > 1 ? "s" : ""}${all ? "" : " with some of the words"}${more}`;
    for (const entry of shown) {
      const link = element("a", "", marked(entry.title, words));
      link.href = entry.url;
      const item = element("li", `found-${entry.kind}`, element("p", "found-title", link));
      if (entry.place !== entry.title) item.append(element("p", "found-place", NAMES[entry.kind] + entry.place));
      if (entry.text) item.append(element("p", "found-text", marked(excerpt(entry, words), words)));
      list.append(item);
    }
  }

  input.value = new URLSearchParams(location.search).get("q") || "";
  let waiting = 0;
  input.addEventListener("input", () => {
    clearTimeout(waiting);
    waiting = setTimeout(() => {
      history.replaceState(null, "", `?q=${encodeURIComponent(input.value)}`);
      show();
    }, 120);
  });
  input.form.addEventListener("submit", (event) => {
    event.preventDefault();
    show();
  });
  input.focus();
  show();
})();
