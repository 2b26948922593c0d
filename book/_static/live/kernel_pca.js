// Chapter 7: points by click, contour lines of a component at once. At most 60 points.
import { BLUE, GREY, INK, adding, kernelChoice, kernelPCA, list, live, scaled, slider, unit } from "./controls.js";

const rings = list(44, i => scaled(unit(i * 432 / Math.PI), (i < 16 ? 0.45 : 1.35) + 0.1 * Math.sin(7 * i)));

export const numbers = live("kpca-contours", {
  params: { ...kernelChoice(0.5, 10), component: slider("component", 1, 1, 6), points: rings },
  actions: { empty: { label: "Keep 3 points", run: ({ points }) => ({ points: points.slice(0, 3) }) } },
  panels: {
    plane: { title: "click to add a point", x: [-2, 2], width: 360 },
    bars: { title: "eigenvalues", width: 240, height: 260, xLabel: "component" },
  },
  click: adding,
  numbers(state) {
    const { lam, total, scores } = kernelPCA(state), j = state.component - 1, score = scores(j);
    return { lam: lam.slice(0, 8), share: (lam[j] ?? 0) / total, middle: score([0, 0]), corner: score([1, 1]), score };
  },
  words: { share: ["share of the variance", "%"], middle: "score at the middle" },
  draw({ plane, bars }, { points, component }, { lam, score }) {
    plane.landscape(score);
    plane.dots(points, INK, 3);
    bars.clear([0.5, 8.5], [0, 1.1 * (lam[0] || 1)]);
    bars.bars(lam, i => (i === component - 1 ? BLUE : GREY));
  },
});
