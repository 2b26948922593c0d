// Chapter 9: the landscape of a reconstruction, and a digit to draw and to clean.
import { live, load, wanted } from "./controls.js";
import { BLUE, GREEN, GREY, INK, ORANGE, grey } from "./draw.js";
import { apply, centerGram, column, distance2, dot, eigh, gram, kernelOf, random, sum, transpose } from "./linalg.js";

const STEPS = 15;
// What a point sees of all samples: h, and the next place of the plain and of the guarded iteration.
function look(t, points, gamma, kernel) {
  const w = points.map((x, i) => gamma[i] * kernel(x, t)), total = sum(w);
  const pull = [0, 1].map(j => sum(points.map((x, i) => w[i] * (x[j] - t[j]))));
  const divisor = Math.max(Math.abs(total), sum(w.map(Math.abs)) / 100);
  return { h: total, plain: t.map((c, j) => c + pull[j] / total), step: pull.map(p => p / divisor) };
}
function ringNumbers(state) {
  const { points, k, sample, start, mean } = state, kernel = kernelOf(state), K = gram(points, kernel), n = points.length;
  const { values, vectors } = eigh(centerGram(K)), means = K.map(row => sum(row) / n), here = points.map(x => kernel(x, sample));
  let gamma = points.map(() => 0);
  for (let j = 0; j < k; j++) { // γ = αz, and what the mean feature adds
    const alpha = column(vectors, j).map(a => a / Math.sqrt(values[j])), z = dot(alpha, here) - dot(alpha, means);
    gamma = gamma.map((g, i) => g + z * alpha[i]);
  }
  if (mean) { const rest = (1 - sum(gamma)) / n; gamma = gamma.map(g => g + rest); }
  const see = t => look(t, points, gamma, kernel), plain = [start], guarded = [start];
  for (let i = 0; i < STEPS; i++) {
    plain.push(see(plain[i]).plain);
    const { h, step } = see(guarded[i]);
    let share = 1, next;
    do { next = guarded[i].map((c, j) => c + share * step[j]); share /= 2; } while (see(next).h < h && share > 1e-6);
    guarded.push(next);
  }
  return { gamma, plain, guarded, first: plain[1], h: see(start).h, end: see(guarded[STEPS]).h, height: t => see(t).h };
}

let known;
const digits = () => known ??= load("digits.json").then(data => {
  const bytes = text => Uint8Array.from(atob(text), c => c.charCodeAt(0)), doubles = text => Array.from(new Float64Array(bytes(text).buffer));
  const rows = (flat, width) => Array.from({ length: flat.length / width }, (_, i) => flat.slice(i * width, (i + 1) * width));
  return { ...data, X: rows(Array.from(bytes(data.X), v => v / 16), 64), alpha: rows(doubles(data.alpha), data.k), V: rows(doubles(data.V), data.linear), others: rows(Array.from(bytes(data.others), v => v / 16), 64), shift: doubles(data.shift), mean: doubles(data.mean) };
});
function digitNumbers({ picture, noise, seed }, { X, alpha, shift, V, mean, sigma, neighbours }) {
  const { normal } = random(seed), noisy = picture.map(v => v + noise * normal()), kernel = kernelOf({ sigma });
  const near = X.map((x, i) => [distance2(x, noisy), i]).sort((a, b) => a[0] - b[0]).slice(0, neighbours).map(([, i]) => X[i]);
  const average = transpose(near).map(c => sum(c) / c.length);
  const scores = apply(transpose(V), noisy.map((v, i) => v - mean[i])), linear = apply(V, scores).map((v, i) => v + mean[i]);
  const seen = X.map(x => kernel(x, noisy)), z = transpose(alpha).map((a, j) => dot(a, seen) - shift[j]);
  let gamma = alpha.map(a => dot(a, z));
  const rest = (1 - sum(gamma)) / X.length;
  gamma = gamma.map(g => g + rest);
  let clean = average;
  for (let i = 0; i < 60; i++) { const w = X.map((x, j) => gamma[j] * kernel(x, clean)), all = sum(w); clean = apply(transpose(X), w).map(v => v / all); }
  const error = Y => Math.sqrt(distance2(Y, picture) / 64);
  return { noisy, average, linear, clean, byNeighbours: error(average), byLinear: error(linear), byKernel: error(clean) };
}
export const numbers = { "pre-ring": ringNumbers, "pre-digit": async state => digitNumbers(state, await digits()) };

const ring = Array.from({ length: 32 }, (_, i) => [Math.cos(i * 2.4), Math.sin(i * 2.4)].map(c => +c.toFixed(3)));
live("pre-ring", {
  params: {
    sigma: { label: "width σ", value: 0.6, min: 0.2, max: 2, step: 0.05 },
    k: { label: "components k", value: 6, min: 1, max: 12, step: 1 },
    mean: { label: "keep the mean", value: true },
    sample: { value: [0.9, 1.1] },
    start: { value: [-0.6, 0.7] },
    points: { value: ring },
  },
  panels: { plane: { title: "h(x): drag the sample and the start", x: [-1.8, 1.8], y: [-1.8, 1.8], width: 420, height: 408 } },
  handles: ({ sample, start }) => [["the noisy sample", "sample", sample], ["the start", "start", start]].map(([label, key, at]) => ({ panel: "plane", label, at, move: (_, to) => ({ [key]: to }) })),
  numbers: ringNumbers,
  words: { h: ["h at the start", 3], end: ["h at the end, guarded", 3] },
  draw({ plane }, { points, sample, start }, { plain, guarded, height }) {
    plane.landscape(height);
    plane.dots(points, { color: GREY, r: 3 });
    const near = path => path.filter(p => p.every(Number.isFinite)).map(p => p.map(c => Math.max(-99, Math.min(99, c))));
    for (const [path, color, dash] of [[plain, ORANGE, "5 4"], [guarded, GREEN]]) { plane.line(near(path), { color, dash, width: 2.5 }); plane.dots(near(path).slice(-1), { color, r: 6 }); }
    plane.text(sample, "sample", { dx: 10, dy: -8 });
    plane.text(start, "start", { dx: 10, dy: -8 });
  },
});

if (wanted("pre-digit")) {
  const data = await digits(), size = { width: 150, height: 150, axes: false, x: [0, 8], y: [0, 8] };
  const brush = ({ picture }, [x, y]) => ({ picture: picture.map((v, i) => Math.min(1, v + 0.8 * Math.exp(-2.2 * ((i % 8 + 0.5 - x) ** 2 + (7.5 - (i >> 3) - y) ** 2)))) });
  live("pre-digit", {
    params: {
      noise: { label: "noise", value: 0.3, min: 0, max: 0.6, step: 0.05 },
      seed: { value: 1 },
      picture: { value: data.others[0] },
    },
    actions: {
      empty: { label: "Empty page", run: () => ({ picture: new Array(64).fill(0) }) },
      other: { label: "Another digit", run: ({ seed }) => ({ seed: seed + 1, picture: data.others[seed % data.others.length] }) },
    },
    panels: { drawn: { title: "draw here", ...size }, noisy: { title: "with noise", ...size }, average: { title: "neighbours", ...size }, linear: { title: "linear PCA", ...size }, clean: { title: "kernel PCA", ...size } },
    click: { panel: "drawn", paint: true, run: brush },
    numbers: state => digitNumbers(state, data),
    words: { byNeighbours: ["root mean squared error: neighbours", "f3"], byLinear: ["linear PCA", "f3"], byKernel: ["kernel PCA", "f3"] },
    draw(panels, { picture }, found) {
      for (const name of Object.keys(panels)) {
        const flat = found[name] ?? picture;
        panels[name].picture(Array.from({ length: 8 }, (_, i) => flat.slice(8 * i, 8 * i + 8).map(v => 1 - v)), grey);
        panels[name].line([[0, 0], [8, 0], [8, 8], [0, 8]], { close: true, color: name === "drawn" ? BLUE : INK, width: 1 });
      }
    },
  });
}
