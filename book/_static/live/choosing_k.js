// Chapter 5: variances, the edge of noise, what each rule says. At most 400 rows, 50 columns.
import {
  BLUE, GREEN, GREY, ORANGE, PI, again, apply, covariance, eigh, list, live, max, norm, random, scaled, slider, sqrt,
  sum, transpose,
} from "./controls.js";

// Three factors, and noise that may differ between columns (spread) or have heavy tails (Student's t₃).
function table({ n, d, signal, spread, heavy, seed }) {
  const { normal, normals } = random(seed), Z = normals(n, 3), W = normals(3, d).map((w, i) => scaled(w, signal * [1.6, 1.25, 1][i] / norm(w)));
  const columns = transpose(W), sizes = list(d, j => Math.exp(spread * (j / (d - 1) - 0.5))), tail = () => (heavy ? norm([normal(), normal(), normal()]) / sqrt(3) : 1);
  return Z.map(z => apply(columns, z).map((x, j) => x + sizes[j] / tail() * normal()));
}
// The median of Marchenko and Pastur's law: add up its density until half is reached.
function noiseMedian(beta) {
  const low = (1 - sqrt(beta)) ** 2, width = 4 * sqrt(beta), at = t => Math.sin(t) ** 2, h = 1e-4;
  for (let t = 0, area = 0; ; t += h) { // with x = low + width sin²t the density is smooth
    const s = at(t + h / 2), more = 16 / PI * h * s * (1 - s) / (low + width * s);
    if (area + more >= 0.5) return low + width * at(t + h * (0.5 - area) / more);
    area += more;
  }
}
function ruleNumbers(state) {
  const { n, d } = state, lam = eigh(covariance(table(state))).values.map(x => max(x, 0)), total = sum(lam);
  const [small, large] = [n - 1, d].sort((a, b) => a - b), beta = small / large, seen = lam.slice(0, small).map(x => sqrt(n * x));
  const sigma = (seen[(small - 1) >> 1] + seen[small >> 1]) / 2 / sqrt(large * noiseMedian(beta));
  const factor = sqrt(2 * (beta + 1) + 8 * beta / (beta + 1 + sqrt(beta ** 2 + 14 * beta + 1)));
  const threshold = factor * sqrt(large) * sigma, edge = (sigma * (sqrt(large) + sqrt(small))) ** 2 / n;
  let kept = 0, share = 0;
  while (kept < total * 0.8) kept += lam[share++];
  const bic = list(small, k => {
    const logs = sum(lam.slice(0, k).map(Math.log)) + (d - k) * Math.log(sum(lam.slice(k)) / (d - k));
    return n * logs + (d * k - k * (k - 1) / 2) * Math.log(n);
  });
  return { lam, edge, cut: threshold ** 2 / n, hard: seen.filter(s => s > threshold).length, share, bic: bic.indexOf(Math.min(...bic)), kaiser: lam.filter(x => x > total / d).length };
}

export const numbers = live("k-rules", {
  params: {
    signal: slider("strength of 3 factors", 2, 0, 5, 0.1),
    n: slider("rows n", 150, 60, 400, 10),
    d: slider("columns d", 30, 10, 50, 5),
    spread: slider("unequal noise", 0, 0, 3, 0.25),
    heavy: { label: "heavy tails", value: false },
    seed: 1,
  },
  actions: { draw: again("New data") },
  panels: {
    bars: { title: "variances, largest first", width: 380, height: 270, xLabel: "component" },
    counts: { title: "how many, by size", width: 240, height: 270, xLabel: "variance" },
  },
  numbers: ruleNumbers,
  words: { hard: "k by threshold", bic: "BIC", kaiser: "above the mean", share: "80 % rule" },
  draw({ bars, counts }, { d }, { lam, edge, cut }) {
    const top = 1.1 * max(lam[0], cut), bins = list(24, i => lam.filter(x => Math.floor(24 * x / top) === i).length);
    bars.clear([0.5, d + 0.5], [0, top]);
    bars.bars(lam, i => (i < 3 ? BLUE : GREY));
    counts.clear([0, top], [0, 1.05 * max(...bins)]);
    bins.forEach((y, i) => counts.bar(i * top / 24, (i + 0.9) * top / 24, y, GREY));
    for (const [y, color, word, dy] of [[cut, ORANGE, "threshold", -5], [edge, GREEN, "edge of noise", 14]]) {
      bars.line([[0, y], [d + 1, y]], color, 1.5, "6 4");
      counts.line([[y, 0], [y, d]], color, 1.5, "6 4");
      bars.text([d, y], word, color, 0, dy, "end");
    }
  },
});
