// Chapter 5: variances of signal and noise, the edge, and what each rule says.
import { live } from "./controls.js";
import { BLUE, GREEN, GREY, ORANGE } from "./draw.js";
import { covariance, eigh, random, sum } from "./linalg.js";

// Three factors, and noise that may differ between columns (spread) or have heavy tails (Student's t₃).
function table({ n, d, signal, spread, heavy, seed }) {
  const { normal, normals } = random(seed), Z = normals(n, 3), W = normals(3, d).map(w => { const l = Math.hypot(...w); return w.map(x => x / l); });
  const sizes = Array.from({ length: d }, (_, j) => Math.exp(spread * (j / (d - 1) - 0.5)));
  return Z.map(z => sizes.map((size, j) => {
    const tail = heavy ? Math.sqrt((normal() ** 2 + normal() ** 2 + normal() ** 2) / 3) : 1;
    return signal * (z[0] * W[0][j] * 1.6 + z[1] * W[1][j] * 1.25 + z[2] * W[2][j]) + size * normal() / tail;
  }));
}
// The median of Marchenko and Pastur's law, by bisection of its integral.
function noiseMedian(beta) {
  const low = (1 - Math.sqrt(beta)) ** 2, high = (1 + Math.sqrt(beta)) ** 2, steps = 4000;
  const part = to => { // with x = low + (high − low) sin² the integrand is smooth
    const end = Math.asin(Math.sqrt((to - low) / (high - low)));
    let area = 0;
    for (let i = 0; i < steps; i++) { const t = (i + 0.5) / steps * end, s = Math.sin(t) ** 2, x = low + (high - low) * s; area += s * (1 - s) / x; }
    return area * end / steps * (high - low) ** 2 / (Math.PI * beta);
  };
  let [a, b] = [low, high];
  for (let i = 0; i < 40; i++) { const m = (a + b) / 2; if (part(m) < 0.5) a = m; else b = m; }
  return (a + b) / 2;
}
function ruleNumbers(state) {
  const X = table(state), { n, d } = state, lam = eigh(covariance(X)).values.map(x => Math.max(x, 0)), total = sum(lam);
  const [small, large] = [n - 1, d].sort((a, b) => a - b), beta = small / large, seen = lam.slice(0, small).map(x => Math.sqrt(n * x));
  const middle = (seen[(small - 1) >> 1] + seen[small >> 1]) / 2, sigma = middle / Math.sqrt(large * noiseMedian(beta));
  const factor = Math.sqrt(2 * (beta + 1) + 8 * beta / (beta + 1 + Math.sqrt(beta ** 2 + 14 * beta + 1)));
  const threshold = factor * Math.sqrt(large) * sigma, edge = (sigma * (Math.sqrt(large) + Math.sqrt(small))) ** 2 / n;
  let kept = 0, share = 0;
  while (kept < total * 0.8) kept += lam[share++];
  const bic = Array.from({ length: small }, (_, k) => {
    const rest = sum(lam.slice(k)) / (d - k), logs = sum(lam.slice(0, k).map(Math.log)) + (d - k) * Math.log(rest) + d * Math.log(2 * Math.PI) + d;
    return n * logs + (d + 1 + d * k - k * (k - 1) / 2) * Math.log(n);
  });
  return { lam, edge, cut: threshold ** 2 / n, hard: seen.filter(s => s > threshold).length, share, bic: bic.indexOf(Math.min(...bic)), kaiser: lam.filter(x => x > total / d).length };
}
export const numbers = { "k-rules": ruleNumbers };

live("k-rules", {
  params: {
    signal: { label: "strength of 3 factors", value: 2, min: 0, max: 5, step: 0.1 },
    n: { label: "rows n", value: 150, min: 60, max: 400, step: 10 },
    d: { label: "columns d", value: 30, min: 10, max: 50, step: 5 },
    spread: { label: "unequal noise", value: 0, min: 0, max: 3, step: 0.25 },
    heavy: { label: "heavy tails", value: false },
    seed: { value: 1 },
  },
  actions: { draw: { label: "New data", run: ({ seed }) => ({ seed: seed + 1 }) } },
  panels: { bars: { title: "variances, largest first", x: [0, 30], y: [0, 6], width: 380, height: 270, xLabel: "component" } },
  numbers: ruleNumbers,
  words: { hard: ["k by threshold", 3], bic: ["BIC", 3], kaiser: ["above the mean", 3], share: ["80 % rule", 3] },
  draw({ bars }, { d }, { lam, edge, cut }) {
    bars.clear([0, d], [0, 1.1 * Math.max(lam[0], cut)]);
    lam.forEach((x, i) => bars.bar(i + 0.1, i + 0.9, x, { color: i < 3 ? BLUE : GREY }));
    for (const [y, color, word, dy] of [[edge, GREEN, "edge of noise", 14], [cut, ORANGE, "threshold", -4]]) {
      bars.line([[0, y], [d, y]], { color, width: 1.5, dash: "6 4" });
      bars.text([d, y], word, { color, anchor: "end", dy });
    }
  },
});
