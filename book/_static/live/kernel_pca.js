// Chapter 7: points by click, contour lines of a component at once. At most 80 points.
import { live } from "./controls.js";
import { BLUE, GREY, INK } from "./draw.js";
import { KERNELS, centerGram, column, dot, eigh, gram, kernelOf, sum } from "./linalg.js";

const MOST = 80;
function contourNumbers(state) {
  const { points, component } = state, kernel = kernelOf(state), K = gram(points, kernel), n = points.length;
  const { values, vectors } = eigh(centerGram(K)), lam = values.map(x => Math.max(x, 0)), total = sum(lam);
  const top = lam[component - 1] ?? 0, alive = top > 1e-9 * total;
  const alpha = alive ? column(vectors, component - 1).map(a => a / Math.sqrt(top)) : points.map(() => 0);
  const means = K.map(row => sum(row) / n), shift = dot(alpha, means); // Σα = 0, so the other means drop out
  const score = t => dot(alpha, points.map(x => kernel(x, t))) - shift;
  return { lam: lam.slice(0, 8), share: alive ? top / total : 0, middle: score([0, 0]), corner: score([1, 1]), score };
}
export const numbers = { "kpca-contours": contourNumbers };

const rings = Array.from({ length: 44 }, (_, i) => { const r = (i < 16 ? 0.45 : 1.35) + 0.1 * Math.sin(7 * i); return [r * Math.cos(2.4 * i), r * Math.sin(2.4 * i)]; });

live("kpca-contours", {
  params: {
    kernel: { label: "kernel", value: "rbf", options: KERNELS },
    sigma: { label: "width σ", value: 0.5, min: 0.05, max: 10, step: 0.05 },
    degree: { label: "degree", value: 2, min: 1, max: 6, step: 1 },
    component: { label: "component", value: 1, min: 1, max: 6, step: 1 },
    points: { value: rings },
  },
  actions: { empty: { label: "Keep 3 points", run: ({ points }) => ({ points: points.slice(0, 3) }) } },
  panels: {
    plane: { title: "click to add a point", x: [-2, 2], y: [-2, 2], width: 360, height: 348 },
    bars: { title: "eigenvalues", x: [0, 8], y: [0, 10], width: 240, height: 300 },
  },
  click: { panel: "plane", run: ({ points }, at) => ({ points: points.length < MOST ? [...points, at] : points }) },
  numbers: contourNumbers,
  words: { share: ["share of the variance", "%"], middle: ["score at the middle", 3] },
  draw({ plane, bars }, { points, component }, { lam, score }) {
    plane.landscape(score);
    plane.dots(points, { color: INK, r: 3 });
    bars.clear([0, 8], [0, 1.1 * (lam[0] || 1)]);
    lam.forEach((x, i) => bars.bar(i + 0.1, i + 0.9, x, { color: i === component - 1 ? BLUE : GREY }));
  },
});
