// Chapter 11: a random sample of a matrix, and random features of a kernel.
import { live } from "./controls.js";
import { BLUE, GREEN, GREY, INK, ORANGE } from "./draw.js";
import { distance2, dot, norm, orth, random, sum, transpose } from "./linalg.js";

const SIZE = 60;
// X is diagonal with the singular values i^−decay. Error of k terms from k + p samples, q power steps.
function sampleNumbers({ decay, k, p, q, seed }) {
  const s = Array.from({ length: SIZE }, (_, i) => (i + 1) ** -decay), times = A => A.map((row, i) => row.map(x => x * s[i]));
  let Y = times(random(seed).normals(SIZE, k + p));
  for (let i = 0; i < q; i++) Y = times(times(orth(Y)));
  const Q = orth(Y), all = sum(s.map(x => x * x)), inside = sum(Q.map((row, i) => s[i] ** 2 * dot(row, row)));
  const best = norm(s.slice(k));
  return { s, error: Math.sqrt(Math.max(all - inside, 0)), best, bound: q === 0 && p >= 2 ? Math.sqrt(1 + k / (p - 1)) * best : null, passes: 2 * q + 2 };
}
// Gram matrix of points on a line, and by m/2 random waves.
const LINE = Array.from({ length: 48 }, (_, i) => [i / 8]);
function waveNumbers({ m, sigma, seed }) {
  const { normal } = random(seed), waves = Array.from({ length: m / 2 }, () => normal() / sigma);
  const features = LINE.map(([x]) => waves.flatMap(w => [Math.cos(w * x), Math.sin(w * x)]).map(c => c * Math.sqrt(2 / m)));
  const exact = LINE.map(x => LINE.map(y => Math.exp(-distance2(x, y) / (2 * sigma * sigma)))), near = features.map(f => features.map(g => dot(f, g)));
  const errors = near.flatMap((row, i) => row.map((v, j) => Math.abs(v - exact[i][j])));
  return { exact, near, worst: Math.max(...errors), typical: Math.sqrt(sum(errors.map(e => e * e)) / errors.length) };
}
export const numbers = { "sketch-range": sampleNumbers, "sketch-waves": waveNumbers };

const draw = { draw: { label: "Draw again", run: ({ seed }) => ({ seed: seed + 1 }) } };
live("sketch-range", {
  params: {
    decay: { label: "decay of the values", value: 0.5, min: 0, max: 2, step: 0.1 },
    k: { label: "terms k", value: 8, min: 2, max: 20, step: 1 },
    p: { label: "oversampling p", value: 4, min: 0, max: 20, step: 1 },
    q: { label: "power steps q", value: 0, min: 0, max: 3, step: 1 },
    seed: { value: 1 },
  },
  actions: draw,
  panels: { bars: { title: "singular values; those of the k terms in blue", x: [0, SIZE], y: [0, 1.1], width: 440, height: 220 }, errors: { title: "error", x: [0, 3], y: [0, 1], width: 220, height: 220 } },
  numbers: sampleNumbers,
  words: { best: ["best of rank k", 3], error: ["of the sample", 3], bound: ["bound on its mean", 3], passes: ["passes over X", 3] },
  draw({ bars, errors }, { k }, { s, best, error, bound }) {
    s.forEach((x, i) => bars.bar(i, i + 0.8, x, { color: i < k ? BLUE : GREY }));
    errors.clear([0, 3], [0, 1.1 * Math.max(best, error, bound ?? 0)]);
    [[best, GREEN, "best"], [error, BLUE, "sample"], [bound ?? 0, ORANGE, "bound"]].forEach(([y, color, name], i) => {
      errors.bar(i + 0.05, i + 0.95, y, { color });
      if (y) errors.text([i + 0.5, 0], name, { anchor: "middle", dy: -6, color: "var(--live-paper)" });
    });
  },
});
live("sketch-waves", {
  params: {
    m: { label: "features m", value: 20, min: 2, max: 600, step: 2 },
    sigma: { label: "width σ", value: 1, min: 0.3, max: 3, step: 0.1 },
    seed: { value: 1 },
  },
  actions: draw,
  panels: { curve: { title: "the kernel, and m/2 waves (blue)", xLabel: "distance", x: [0, 6], y: [-1, 1.1], width: 440, height: 260 } },
  numbers: waveNumbers,
  words: { typical: ["root mean squared error", 2], worst: ["largest error", 2] },
  draw({ curve }, _, { exact, near }) { for (const [K, color] of [[near, BLUE], [exact, INK]]) curve.line(K[0].map((v, i) => [LINE[i][0], v]), { color }); },
});
