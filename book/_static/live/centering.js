// Chapter 8: what centring changes, and distances that no map can have.
import { live } from "./controls.js";
import { BLUE, INK, ORANGE } from "./draw.js";
import { centerGram, column, dot, eigh, gram, kernelOf, norm, sum, times, transpose } from "./linalg.js";

// A direction of the features, centred or not, and the mean feature.
function landscapeNumbers(state) {
  const { points, center, component } = state, kernel = kernelOf(state), K = gram(points, kernel), n = points.length;
  const { values, vectors } = eigh(center ? centerGram(K) : K), top = values[component - 1], alpha = column(vectors, component - 1).map(a => a / Math.sqrt(top));
  const means = K.map(row => sum(row) / n), shift = center ? dot(alpha, means) : 0;
  return { value: top, share: top / sum(values), cosine: Math.abs(dot(alpha, means)) / Math.sqrt(sum(means) / n), score: t => dot(alpha, points.map(x => kernel(x, t))) - shift };
}

const NAMES = ["A", "B", "C", "hub"], ALL = [0, 1, 2, 3], PAIRS = ALL.flatMap(i => ALL.slice(i + 1).map(j => [i, j]));
// Three towns and a hub: −½JD²J, mended, and the distances that this gives.
function distanceNumbers(state) {
  const far = (i, j) => (i === j ? 0 : i > j ? far(j, i) : j === 3 ? state.spoke : state[NAMES[i] + NAMES[j]]);
  const B = centerGram(ALL.map(i => ALL.map(j => -(far(i, j) ** 2) / 2))), { values, vectors } = eigh(B), h = Math.max(0, -values[3]);
  const mend = { clip: x => Math.max(x, 0), flip: Math.abs }[state.mend];
  const M = mend ? times(vectors.map(row => row.map((v, j) => v * mend(values[j]))), transpose(vectors)) : B.map((row, i) => row.map((b, j) => b + h * ((i === j) - 0.25)));
  const after = PAIRS.map(([i, j]) => Math.sqrt(Math.max(0, M[i][i] + M[j][j] - 2 * M[i][j]))), mended = eigh(M);
  return { eigenvalues: values, mended: mended.values, after, off: Math.max(...after.map((d, p) => Math.abs(d - far(...PAIRS[p])))), negative: sum(values.filter(x => x < 0)) / -sum(values.map(Math.abs)), places: mended.vectors.map(row => [0, 1].map(j => row[j] * Math.sqrt(Math.max(mended.values[j], 0)))) };
}
export const numbers = { "center-landscape": landscapeNumbers, "center-distances": distanceNumbers };

const corners = [[-0.5, -0.2], [0, 0.6], [0.5, 0]];
live("center-landscape", {
  params: {
    center: { label: "centre the features", value: false },
    component: { label: "component", value: 1, min: 1, max: 3, step: 1 },
    sigma: { label: "width σ", value: 0.5, min: 0.05, max: 2, step: 0.05 },
    points: { value: Array.from({ length: 24 }, (_, i) => [Math.cos, Math.sin].map((f, j) => corners[i % 3][j] + 0.04 * Math.sqrt(i) * f(2.4 * i))) },
  },
  panels: { plane: { title: "scores along one direction; click to add a point", x: [-1.25, 1.25], y: [-1, 1], width: 440, height: 360 } },
  click: { panel: "plane", run: ({ points }, at) => ({ points: points.length < 60 ? [...points, at] : points }) },
  numbers: landscapeNumbers,
  words: { share: ["share of this direction", "%"], cosine: ["|cos| with the mean feature", "f3"] },
  draw({ plane }, { points }, { score }) { plane.landscape(score); plane.dots(points, { color: INK, r: 3 }); },
});

live("center-distances", {
  params: {
    spoke: { label: "hub to each town", value: 1, min: 0.5, max: 2, step: 0.05 },
    ...Object.fromEntries(["AB", "AC", "BC"].map(pair => [pair, { label: `${pair[0]} to ${pair[1]}`, value: 2, min: 0.5, max: 3, step: 0.05 }])),
    mend: { label: "negative eigenvalues", value: "clip", options: [["clip", "set to zero"], ["flip", "take moduli"], ["shift", "add a constant"]] },
  },
  panels: {
    map: { title: "the map, and the distances after repair", x: [-2, 2], y: [-2, 2], width: 320, height: 300, axes: false },
    bars: { title: "eigenvalues of −½JD²J; dots: repaired", x: [0, 4], y: [-1, 3], width: 280, height: 300 },
  },
  numbers: distanceNumbers,
  words: { off: ["largest error of a distance", "f3"], negative: ["negative mass", "f3"] },
  draw({ map, bars }, _, { eigenvalues, mended, after, places }) {
    const size = 1.3 * Math.max(0.5, ...places.map(norm));
    map.clear([-size, size], [-size, size]);
    PAIRS.forEach(([i, j], p) => {
      const color = j === 3 ? ORANGE : BLUE, [a, b] = [places[i], places[j]];
      map.line([a, b], { color, dash: j === 3 ? "5 4" : undefined });
      map.text([(a[0] + b[0]) / 2, (a[1] + b[1]) / 2], after[p].toFixed(2), { color, dx: 5, dy: -3 });
    });
    places.forEach((at, i) => { map.dots([at], { color: i === 3 ? ORANGE : BLUE, r: 6, opacity: 1 }); map.text(at, NAMES[i], { dx: 8, dy: 16 }); });
    bars.clear([0, 4], [Math.min(-0.3, 1.2 * eigenvalues[3]), 1.15 * Math.max(mended[0], eigenvalues[0])]);
    eigenvalues.forEach((x, i) => { bars.bar(i + 0.15, i + 0.85, x, { color: x < 0 ? ORANGE : BLUE }); bars.dots([[i + 0.5, mended[i]]], { color: INK, r: 4 }); });
  },
});
