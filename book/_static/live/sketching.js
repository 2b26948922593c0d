// Chapter 11: a random sample of a matrix, and random features of a kernel.
import {
  BLUE, GREEN, GREY, INK, ORANGE, again, average, dot, kernelOf, largest, list, live, norm, orth, plus, random, root,
  scaled, signed, slider, sum,
} from "./controls.js";

const SIZE = 60;
// X is diagonal with the singular values i^−decay. Error of k terms from k + p samples, q power steps.
function sampleNumbers({ decay, k, p, q, seed }) {
  const s = list(SIZE, i => (i + 1) ** -decay), times = A => A.map((row, i) => scaled(row, s[i]));
  let Y = times(random(seed).normals(SIZE, k + p));
  for (let i = 0; i < q; i++) Y = times(times(orth(Y)));
  const inside = sum(orth(Y).map((row, i) => s[i] ** 2 * dot(row, row))), best = norm(s.slice(k));
  return { s, error: root(dot(s, s) - inside), best, bound: q === 0 && p >= 2 ? Math.sqrt(1 + k / (p - 1)) * best : null, passes: 2 * q + 2 };
}
export const numbers = live("sketch-range", {
  params: {
    decay: slider("decay of the values", 0.5, 0, 2, 0.1),
    k: slider("terms k", 8, 2, 20),
    p: slider("oversampling p", 4, 0, 20),
    q: slider("power steps q", 0, 0, 3),
    seed: 1,
  },
  actions: { draw: again("Draw again") },
  panels: {
    bars: { title: "singular values; those of the k terms in blue", x: [0.5, SIZE + 0.5], y: [0, 1.1], width: 400, height: 220 },
    errors: { title: "error", xTicks: [[1, "best"], [2, "sample"], [3, "bound"]], width: 220, height: 220 },
  },
  numbers: sampleNumbers,
  words: { best: "least error of rank k", error: "of the sample", bound: "bound on its mean", passes: "passes over X" },
  draw({ bars, errors }, { k }, { s, best, error, bound }) {
    bars.bars(s, i => (i < k ? BLUE : GREY));
    const heights = [best, error, bound ?? 0];
    errors.clear([0.5, 3.5], [0, 1.1 * Math.max(...heights)]);
    errors.bars(heights, i => [GREEN, BLUE, ORANGE][i]);
  },
});

// Gram matrix of points on a line, and by m/2 random waves: cos(wx) cos(wy) + sin(wx) sin(wy) = cos(wx − wy).
const LINE = list(48, i => i / 8);
function waveNumbers({ m, sigma, seed }) {
  const { normal } = random(seed), waves = list(m / 2, () => normal() / sigma), kernel = kernelOf({ sigma });
  const matrix = f => { const row = LINE.map(f); return row.map((_, i) => row.map((_, j) => row[Math.abs(i - j)])); };
  const exact = matrix(x => kernel([x], [0])), near = matrix(x => average(waves.map(w => Math.cos(w * x))));
  const errors = near.flatMap((row, i) => plus(row, exact[i], -1));
  return { exact, near, worst: largest(errors), typical: norm(errors) / errors.length ** 0.5 };
}
const square = { width: 180, axes: false };
live("sketch-waves", {
  params: {
    m: slider("features m", 20, 2, 600, 2),
    sigma: slider("width σ", 1, 0.3, 3, 0.1),
    seed: 1,
  },
  actions: { draw: again("Draw again") },
  panels: {
    curve: { title: "the kernel, and m/2 waves (blue)", xLabel: "distance", x: [0, 6], y: [-1.1, 1.1], width: 400, height: 240 },
    exact: { title: "Gram matrix", ...square },
    near: { title: "by features", ...square },
  },
  numbers: waveNumbers,
  words: { typical: ["root mean squared error", 2], worst: ["largest error", 2] },
  draw({ curve, ...panels }, _, found) {
    for (const [name, color] of [["near", BLUE], ["exact", INK]]) {
      curve.line(found[name][0].map((v, i) => [LINE[i], v]), color);
      panels[name].picture(found[name], signed);
    }
  },
});
