// Exercises whose answer is a number or a short list are checked on the page. The bounds come from the
// book's Python checkers (page_answers.py). What was solved is kept in this browser and nowhere else.
(() => {
  "use strict";
  const plain = src => document.head.appendChild(Object.assign(document.createElement("script"), { src }));
  // A page opened from a disk may load no modules. The build has the live figures as plain scripts, too.
  if (location.protocol === "file:") {
    for (const { src } of document.querySelectorAll('script[type="module"][src*="/live/"]')) plain(src.replace("/live/", "/live/plain/"));
  }

  const STORE = "kpca-edu-solved";
  const boxes = [...document.querySelectorAll(".exercise-field[data-exercise]")];
  const cards = [...document.querySelectorAll("li.chapter-card")];
  if (!boxes.length && !cards.length) return;
  const base = document.currentScript.src;

  const solved = () => { try { return new Set(JSON.parse(localStorage.getItem(STORE) ?? "[]")); } catch { return new Set(); } };
  const keep = set => { try { localStorage.setItem(STORE, JSON.stringify([...set])); } catch { /* private window: not kept */ } };

  // "3/4", "3 / 4", "75 %", "−2", "1,5" is two numbers; null where something is no number.
  function numbers(text) {
    const parts = text.replace(/−/g, "-").replace(/\s*\/\s*/g, "/").replace(/[[\](){}]/g, " ").split(/[,;\s]+(?!%)/).filter(Boolean);
    const found = parts.map(part => {
      const match = /^([+-]?(?:\d+\.?\d*|\.\d+)(?:e[+-]?\d+)?)(?:\/((?:\d+\.?\d*|\.\d+)(?:e[+-]?\d+)?))?\s*(%?)$/i.exec(part);
      return match ? Number(match[1]) / Number(match[2] ?? 1) / (match[3] ? 100 : 1) : NaN;
    });
    return found.every(Number.isFinite) ? found : null;
  }

  function verdict([size, bounds, otherwise], given) {
    if (!given) return [false, "Numbers are needed, such as 0.75, 3/4 or 2.5e-3."];
    if (given.length !== (size || 1)) return [false, size ? `${size} numbers are needed, and these are ${given.length}.` : "One number is needed."];
    for (const [at, within, right, words] of bounds) {
      if (at.every((value, i) => Math.abs(given[i] - value) <= within)) return [right, words];
    }
    return [false, otherwise];
  }

  function form(box, id, field) {
    const input = Object.assign(document.createElement("input"), { type: "text", id: `answer-${id}`, autocomplete: "off", spellcheck: false });
    const label = Object.assign(document.createElement("label"), { htmlFor: input.id, textContent: field[0] ? `Your answer, ${field[0]} numbers` : "Your answer, a number" });
    const button = Object.assign(document.createElement("button"), { type: "submit", textContent: "Check" });
    const said = document.createElement("p");
    said.setAttribute("role", "status");
    const line = document.createElement("form");
    line.append(label, input, button, said);
    const done = () => { said.className = "right"; said.textContent = "✓ Right."; };
    if (solved().has(id)) { done(); said.textContent = "✓ Solved before."; }
    line.addEventListener("submit", event => {
      event.preventDefault();
      const [right, words] = verdict(field, numbers(input.value));
      if (right) { done(); keep(solved().add(id)); }
      else { said.className = "wrong"; said.textContent = `✗ Not right. ${words || "A hint stands below."}`; }
    });
    box.append(line);
  }

  function progress(card, ids) {
    const all = solved(), count = ids.filter(id => all.has(id)).length;
    card.querySelector(".card-progress")?.remove();
    if (!count) return;
    const line = Object.assign(document.createElement("p"), { className: "card-progress", textContent: `${count} of ${ids.length} exercises solved on the page` });
    card.append(line);
  }

  plain(new URL("exercises-table.js", base).href).addEventListener("load", () => {
    const { fields, chapters } = window.exerciseTable;
    const table = JSON.parse(new TextDecoder().decode(Uint8Array.from(atob(fields), c => c.charCodeAt(0))));
    window.pageAnswers = { ids: Object.keys(table), verdict: (id, text) => verdict(table[id], numbers(text)) }; // for the tests
    for (const box of boxes) if (table[box.dataset.exercise]) form(box, box.dataset.exercise, table[box.dataset.exercise]);
    const show = () => cards.forEach(card => {
      const stem = card.querySelector("a[href]").getAttribute("href").replace(".html", "");
      progress(card, (chapters[stem] ?? []).filter(id => table[id]));
    });
    show();
    if (cards.length && solved().size) {
      const clear = Object.assign(document.createElement("button"), { type: "button", className: "clear-progress", textContent: "Forget what I solved" });
      clear.addEventListener("click", () => { keep(new Set()); show(); clear.remove(); });
      cards.at(-1).parentElement.after(clear);
    }
  });
})();
