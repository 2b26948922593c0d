// 1. A display formula that is wider than the page, as on a phone, is broken before its relation
//    signs. Those that fit stay as they were written. What cannot be broken scrolls.
// 2. Folds are opened for print, and closed again afterwards.
// 3. What scrolls sideways can be reached by Tab.
(() => {
  const RELATION = /^(?:[=<>]|\\(?:leq?|geq?|approx|sim|ll|gg|subset(?:eq)?|in|to|iff|implies|Rightarrow|Longleftrightarrow|equiv|preceq|succeq|propto|q?quad)(?![a-zA-Z]))/;
  const SILENT = /^(?:[{}^_&\s]|\\(?:left|right|[bB]ig[lr]?|begin|end|frac|tfrac|operatorname|mathrm|mathbf|mathbb|mathcal|text|tilde|hat|bar|top)?)$/;

  // Split TeX before each relation outside groups, brackets that stretch, and environments;
  // beside each piece, roughly how many signs it shows.
  function pieces(tex) {
    const out = [{ tex: "", signs: 0 }];
    let depth = 0;
    for (let i = 0; i < tex.length; ) {
      const rest = tex.slice(i), word = /^\\(?:[a-zA-Z]+|[^])/.exec(rest)?.[0] ?? rest[0];
      if (/^(?:\{|\\left|\\begin)$/.test(word)) depth++;
      if (/^(?:\}|\\right|\\end)$/.test(word)) depth--;
      if (!depth && RELATION.test(rest) && out.at(-1).tex.trim()) out.push({ tex: "", signs: 0 });
      out.at(-1).tex += word;
      out.at(-1).signs += SILENT.test(word) ? 0 : 1;
      i += word.length;
    }
    return out;
  }

  // Fill lines with the pieces, each line as long as the box allows.
  function broken(source, share) {
    const body = source.trim();
    if (/\\\\|&/.test(body.replace(/\\begin\{([pbvV]?matrix|cases|aligned)\}[^]*?\\end\{\1\}/g, ""))) return null;
    const parts = pieces(body), room = share * parts.reduce((sum, part) => sum + part.signs, 0);
    const lines = [];
    for (const { tex, signs } of parts) {
      const line = lines.at(-1);
      if (line && line.signs + signs <= room) { line.tex += tex; line.signs += signs; }
      else lines.push({ tex: tex.replace(/^\\q?quad/, ""), signs: signs + 2, far: RELATION.test(tex) && !/^\\q?quad/.test(tex) });
    }
    if (lines.length < 2) return null;
    return `\\begin{aligned}${lines.map(l => (l.far ? "&\\quad" : "&") + l.tex).join("\\\\[3pt]")}\\end{aligned}`;
  }

  const whole = new Map(); // formulas that are broken now, and what they were
  function fit() {
    const page = window.MathJax?.startup?.document;
    if (!page) return;
    whole.forEach((nodes, box) => box.replaceChildren(...nodes));
    whole.clear();
    const wide = [...page.math]
      .filter(item => item.display && item.typesetRoot?.isConnected)
      .map(item => [item, item.typesetRoot, item.typesetRoot.clientWidth / item.typesetRoot.scrollWidth])
      .filter(([, box, share]) => box.clientWidth && share < 0.995);
    for (const [item, box, share] of wide) {
      const tex = broken(item.math, share * 0.95);
      if (!tex) continue;
      whole.set(box, [...box.childNodes]);
      box.replaceChildren(...MathJax.tex2chtml(tex, { display: true }).childNodes);
    }
    if (wide.length) MathJax.startup.output.styleSheet(page);
  }
  let width = innerWidth, timer = 0;
  const soon = () => { clearTimeout(timer); timer = setTimeout(fit, 100); };
  addEventListener("load", () => window.MathJax?.startup?.promise?.then(fit));
  addEventListener("resize", () => { if (innerWidth !== width) { width = innerWidth; soon(); } });
  document.addEventListener("toggle", e => { if (e.target.open) fit(); }, true);

  let opened = [];
  addEventListener("beforeprint", () => {
    opened = [...document.querySelectorAll(".bd-article details:not([open])")];
    opened.forEach(fold => { fold.open = true; });
  });
  addEventListener("afterprint", () => opened.splice(0).forEach(fold => { fold.open = false; }));

  // The theme decides this before the faces of the type are there, and before a sidebar that slides
  // away after a change of size has come to rest.
  // What a closed fold holds is left alone until it opens and the article grows: to measure it there
  // would lay it out. And all are measured before the first is changed.
  function tabStops() {
    const boxes = [...document.querySelectorAll("pre, .cell_output > .output, .pst-scrollable-table-container")]
      .filter(box => box.checkVisibility());
    const stops = boxes.map(box => box.scrollWidth > box.clientWidth || box.scrollHeight > box.clientHeight);
    boxes.forEach((box, i) => { box.tabIndex = stops[i] ? 0 : -1; });
  }
  addEventListener("load", () => {
    new ResizeObserver(tabStops).observe(document.querySelector(".bd-article") ?? document.body);
    document.fonts.ready.then(tabStops);
  });
})();
