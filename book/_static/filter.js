/* The filter of the ledger and of the library's index: a row stays if it, or the heading above it,
   holds all the words that are typed, in any order. */
(() => {
  "use strict";
  const input = document.getElementById("row-words");
  if (!input) return;
  const count = document.getElementById("row-count");
  const groups = [...document.querySelectorAll("details.fold-rows, .row-group")].map((box) => ({
    box,
    title: box.querySelector("h2").textContent.toLowerCase(),
    rows: [...box.querySelectorAll("tbody tr")],
  }));
  const texts = new Map(); // read before MathJax sets the formulas; their TeX is in a hidden span
  for (const { rows } of groups) {
    for (const row of rows) texts.set(row, row.textContent.toLowerCase());
  }

  function filter() {
    const words = input.value.toLowerCase().split(/\s+/).filter(Boolean);
    let shown = 0;
    for (const { box, title, rows } of groups) {
      let here = 0;
      for (const row of rows) {
        const text = texts.get(row);
        row.hidden = !words.every((word) => text.includes(word) || title.includes(word));
        here += !row.hidden;
      }
      shown += here;
      box.hidden = here === 0;
      if ("open" in box) box.open = words.length > 0 && here > 0;
    }
    const all = texts.size;
    if (!words.length) count.textContent = `${all} rows`;
    else if (!shown) count.textContent = `No row of ${all} holds all of that`;
    else count.textContent = `${shown} of ${all} rows`;
  }

  input.addEventListener("input", filter);
  input.addEventListener("keydown", (event) => {
    if (event.key === "Escape" && input.value) {
      input.value = "";
      filter();
      event.preventDefault();
    }
  });
  input.form.addEventListener("submit", (event) => event.preventDefault());
  filter();
})();
