// Chapter 8: what centring changes, and distances that no map can have.
import {
  BLUE, INK, ORANGE, abs, adding, average, centerGram, dot, eigh, kernelPCA, largest, list, live, max, norm, plus,
  root, scaled, slider, sqrt, sum, times, transpose, unit,
} from "./controls.js";

const corners = [[-0.5, -0.2], [0, 0.6], [0.5, 0]], clusters = list(24, i => plus(corners[i % 3], unit(i * 432 / Math.PI), 0.04 * sqrt(i)));
const plane = { x: [-1.25, 1.25], y: [-1, 1], width: 330 };
export const numbers = live("center-landscape", {
  params: {
    center: { label: "centre the features", value: false },
    component: slider("component", 1, 1, 3),
    sigma: slider("width σ", 0.5, 0.05, 2, 0.05),
    points: clusters,
  },
  panels: { plane: { title: "scores along one direction; click to add a point", ...plane }, average: { title: "along the mean feature", ...plane } },
  click: adding,
  numbers(state) {
    const { lam, total, means, alpha, seen, scores } = kernelPCA(state, state.center), j = state.component - 1, length = sqrt(average(means));
    return { value: lam[j], share: lam[j] / total, cosine: abs(dot(alpha(j), means)) / length, score: scores(j), along: t => average(seen(t)) / length };
  },
  words: { share: ["share of this direction", "%"], cosine: ["|cos| with the mean feature", "f3"] },
  draw({ plane, average }, { points }, { score, along }) {
    plane.landscape(score);
    average.landscape(along);
    for (const panel of [plane, average]) panel.dots(points, INK, 3);
  },
});

const NAMES = ["A", "B", "C", "hub"], ALL = [0, 1, 2, 3], PAIRS = ALL.flatMap(i => ALL.slice(i + 1).map(j => [i, j]));
// Three towns and a hub: −½JD²J, mended, and the distances that this gives.
function distanceNumbers(state) {
  const far = (i, j) => state[[i, j].sort().map(k => NAMES[k]).join("")] ?? (i === j ? 0 : state.spoke);
  const B = centerGram(ALL.map(i => ALL.map(j => -(far(i, j) ** 2) / 2))), { values, vectors } = eigh(B);
  const mend = { clip: x => max(x, 0), flip: abs }[state.mend], shift = max(0, -values[3]);
  const M = mend ? times(vectors.map(row => row.map((v, j) => v * mend(values[j]))), transpose(vectors))
    : B.map((row, i) => row.map((b, j) => b + shift * ((i === j) - 0.25)));
  const wanted = PAIRS.map(([i, j]) => far(i, j)), after = PAIRS.map(([i, j]) => root(M[i][i] + M[j][j] - 2 * M[i][j])), mended = eigh(M);
  const places = mended.vectors.map(row => [0, 1].map(j => row[j] * root(mended.values[j])));
  const off = largest(plus(after, wanted, -1)), negative = sum(values.filter(x => x < 0)) / -sum(values.map(abs));
  return { eigenvalues: values, mended: mended.values, wanted, after, off, negative, places };
}
live("center-distances", {
  params: {
    spoke: slider("hub to each town", 1, 0.5, 1.9, 0.05),
    ...Object.fromEntries(["AB", "AC", "BC"].map(pair => [pair, slider(`${pair[0]} to ${pair[1]}`, 2, 0.5, 3, 0.05)])),
    mend: { label: "negative eigenvalues", value: "clip", options: [["clip", "set to zero"], ["flip", "take moduli"], ["shift", "add a constant"]] },
  },
  panels: {
    map: { title: "the map after repair", width: 220, axes: false },
    hours: { title: "distances; dots: repaired", width: 220, height: 220, xTicks: PAIRS.map(([i, j], p) => [p + 1, NAMES[i] + NAMES[j][0]]) },
    bars: { title: "eigenvalues of −½JD²J", width: 200, height: 220 },
  },
  numbers: distanceNumbers,
  words: { off: ["largest error of a distance", "f3"], negative: ["negative mass", "f3"] },
  draw({ map, hours, bars }, _, { eigenvalues, mended, wanted, after, places }) {
    const size = 1.4 * max(0.5, ...places.map(norm)), ink = i => (i === 3 ? ORANGE : BLUE);
    map.clear([-size, size], [-size, size]);
    PAIRS.forEach(([i, j]) => map.line([places[i], places[j]], ink(j), 2, j === 3 ? "5 4" : null));
    places.forEach((at, i) => {
      map.dots([at], ink(i), 6, 1);
      map.text(i === 3 ? at : scaled(at, 1 + 0.16 * size / (norm(at) || 1)), NAMES[i], INK, 0, i === 3 ? 22 : 5, "middle");
    });
    hours.clear([0.5, 6.5], [0, 1.15 * max(...wanted, ...after)]);
    hours.bars(wanted, p => ink(PAIRS[p][1]));
    hours.dots(after.map((x, p) => [p + 1, x]), INK, 4);
    bars.clear([0.5, 4.5], [Math.min(-0.3, 1.2 * eigenvalues[3]), 1.15 * max(mended[0], eigenvalues[0])]);
    bars.bars(eigenvalues, (i, x) => (x < 0 ? ORANGE : BLUE));
    bars.dots(mended.map((x, i) => [i + 1, x]), INK, 4);
  },
});
