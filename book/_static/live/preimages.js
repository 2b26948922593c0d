// Chapter 9: the landscape of a reconstruction, and a digit to draw and to clean.
import {
  BLUE, GREEN, INK, ORANGE, abs, apply, distance2, dot, grey, handle, kernelOf, kernelPCA, list, live, load,
  mapped, mean, plus, random, scaled, slider, sum, transpose,
} from "./controls.js";

const withMean = gamma => { const rest = (1 - sum(gamma)) / gamma.length; return gamma.map(g => g + rest); };

const STEPS = 15;
function ringNumbers(state) {
  const { points, sample, start } = state, { alpha, scores, seen } = kernelPCA(state);
  let gamma = points.map(() => 0);
  for (let j = 0; j < state.k; j++) gamma = plus(gamma, alpha(j), scores(j)(sample));
  if (state.mean) gamma = withMean(gamma);
  // What a place sees of all samples: h, and the step of the plain and of the guarded iteration.
  const look = t => {
    const w = seen(t).map((k, i) => k * gamma[i]), h = sum(w), pull = plus(apply(transpose(points), w), t, -h);
    return { h, plain: scaled(pull, 1 / h), step: scaled(pull, 1 / Math.max(abs(h), sum(w.map(abs)) / 100)) };
  };
  const plain = [start], guarded = [start];
  for (let i = 0; i < STEPS; i++) {
    plain.push(plus(plain[i], look(plain[i]).plain));
    const { h, step } = look(guarded[i]);
    let share = 1, next;
    do { next = plus(guarded[i], step, share); share /= 2; } while (look(next).h < h && share > 1e-6);
    guarded.push(next);
  }
  const height = t => dot(gamma, seen(t));
  return { gamma, plain, guarded, first: plain[1], h: height(start), end: height(guarded[STEPS]), height };
}
export const numbers = live("pre-ring", {
  params: {
    sigma: slider("width σ", 0.6, 0.2, 2, 0.05),
    k: slider("components k", 6, 1, 12),
    mean: { label: "keep the mean", value: true },
    sample: [0.9, 1.1],
    start: [-0.6, 0.7],
    points: list(32, i => [Math.cos(i * 2.4), Math.sin(i * 2.4)].map(c => +c.toFixed(3))),
  },
  panels: { plane: { title: "h(x): drag the sample and the start", x: [-1.8, 1.8], width: 420 } },
  handles: state => [handle(state, "sample", "plane", "the noisy sample"), handle(state, "start", "plane", "the start")],
  numbers: ringNumbers,
  words: { h: "h at the start", end: "h at the end, guarded" },
  draw({ plane }, { points, sample, start }, { plain, guarded, height }) {
    plane.landscape(height);
    plane.dots(points, INK, 2.5);
    for (const [path, color, dash] of [[plain, ORANGE, "5 4"], [guarded, GREEN]]) {
      const near = path.filter(p => p.every(Number.isFinite));
      plane.line(near, color, 2.5, dash);
      plane.dots(near.slice(-1), color, 6);
    }
    plane.text(sample, "sample");
    plane.text(start, "start");
  },
});

// 240 digits of 64 pixels, a sign of base 17 each; what PCA and kernel PCA found in them; others to try.
const data = await load("digits.json"), [X, others] = [data.X, data.others].map(all => all.map(signs => Array.from(signs, c => parseInt(c, 17) / 16)));
const { alpha, shift, V, mean: middle } = data, kernel = kernelOf(data), seen = t => X.map(x => kernel(x, t)), columns = transpose(X);
function digitNumbers({ picture, noise, seed }) {
  const { normal } = random(seed), noisy = picture.map(v => v + noise * normal()), far = X.map(x => distance2(x, noisy));
  const neighbours = mean([...X.keys()].sort((a, b) => far[a] - far[b]).slice(0, data.neighbours).map(i => X[i]));
  const linear = plus(middle, apply(V, apply(transpose(V), plus(noisy, middle, -1))));
  const gamma = withMean(apply(alpha, plus(apply(transpose(alpha), seen(noisy)), shift, -1)));
  let clean = neighbours;
  for (let i = 0; i < 60; i++) { const w = seen(clean).map((k, j) => k * gamma[j]); clean = scaled(apply(columns, w), 1 / sum(w)); }
  const error = Y => Math.sqrt(distance2(Y, picture) / 64);
  return { noisy, average: neighbours, linear, clean, byNeighbours: error(neighbours), byLinear: error(linear), byKernel: error(clean) };
}
const titles = { drawn: "draw here", noisy: "with noise", average: "neighbours", linear: "linear PCA", clean: "kernel PCA" };
live("pre-digit", {
  params: { noise: slider("noise", 0.3, 0, 0.6, 0.05), seed: 1, picture: others[0] },
  actions: {
    empty: { label: "Empty page", run: () => ({ picture: new Array(64).fill(0) }) },
    other: { label: "Another digit", run: ({ seed }) => ({ seed: seed + 1, picture: others[seed % others.length] }) },
  },
  panels: mapped(titles, (title, name) => ({ title, width: name === "drawn" ? 190 : 110, axes: false, x: [0, 8] })),
  click: {
    panel: "drawn", label: "draw", start: [4, 4], paint: true,
    run: ({ picture }, at) => ({ picture: picture.map((v, i) => Math.min(1, v + 0.8 * Math.exp(-2.2 * distance2(at, [i % 8 + 0.5, 7.5 - (i >> 3)])))) }),
  },
  numbers: digitNumbers,
  words: { byNeighbours: ["root mean squared error: neighbours", "f3"], byLinear: ["linear PCA", "f3"], byKernel: ["kernel PCA", "f3"] },
  draw(panels, { picture }, found) {
    for (const [name, panel] of Object.entries(panels)) {
      const flat = found[name] ?? picture;
      panel.picture(list(8, i => flat.slice(8 * i, 8 * i + 8)), v => grey(1 - v));
      panel.line([[0, 0], [8, 0], [8, 8], [0, 8], [0, 0]], name === "drawn" ? BLUE : INK, 1);
    }
  },
});
