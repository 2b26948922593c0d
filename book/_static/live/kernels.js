// Chapter 6: two points to drag, the Gram matrix and its eigenvalues follow.
import { BLUE, GREY, ORANGE, eigh, gram, kernelChoice, kernelOf, largest, list, live, pointHandle, random, root, signed } from "./controls.js";

const { normal } = random(3), group = (x, y) => list(7, () => [x + 0.35 * normal(), y + 0.35 * normal()].map(c => +c.toFixed(2)));

export const numbers = live("kernel-gram", {
  params: { ...kernelChoice(0.7, 4), points: [[-1.2, 0.9], [1.1, -0.7], ...group(-1, 0.6), ...group(1, -0.6)] },
  panels: {
    plane: { title: "drag x and y", x: [-2.2, 2.2], width: 300 },
    matrix: { title: "Gram matrix; x and y first", width: 260, axes: false },
    bars: { title: "its eigenvalues, the largest is 1", x: [0.5, 16.5], y: [1e-8, 2], log: true, width: 340, height: 200 },
  },
  handles: ({ points }) => [0, 1].map(i => pointHandle("plane", "xy"[i], points, i)),
  numbers(state) {
    const K = gram(state.points, kernelOf(state)), value = K[0][1];
    return { K, value, distance: root(K[0][0] + K[1][1] - 2 * value), eigenvalues: eigh(K).values };
  },
  words: { value: "κ(x, y)", distance: "distance of φ(x) and φ(y)" },
  draw({ plane, matrix, bars }, { points }, { K, eigenvalues }) {
    plane.dots(points.slice(2), GREY);
    plane.line(points.slice(0, 2), ORANGE, 1, "4 3");
    [0, 1].forEach(i => plane.text(points[i], "xy"[i]));
    const top = largest(K.flat());
    matrix.picture(K, k => signed(k / top));
    bars.bars(eigenvalues.map(lam => Math.max(lam / eigenvalues[0], 1e-8)), () => BLUE);
  },
});
