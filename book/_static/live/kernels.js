// Chapter 6: two points to drag, the Gram matrix and its eigenvalues follow.
import { live } from "./controls.js";
import { BLUE, GREY, ORANGE, signed } from "./draw.js";
import { KERNELS, eigh, gram, kernelOf, random } from "./linalg.js";

function gramNumbers(state) {
  const kernel = kernelOf(state), { points: [x, y] } = state, K = gram(state.points, kernel);
  return { K, value: kernel(x, y), distance: Math.sqrt(Math.max(K[0][0] + K[1][1] - 2 * K[0][1], 0)), eigenvalues: eigh(K).values };
}
export const numbers = { "kernel-gram": gramNumbers };

const { normal } = random(3), group = (n, x, y) => Array.from({ length: n }, () => [x + 0.35 * normal(), y + 0.35 * normal()].map(c => +c.toFixed(2)));

live("kernel-gram", {
  params: {
    kernel: { label: "kernel", value: "rbf", options: KERNELS },
    sigma: { label: "width σ", value: 0.7, min: 0.05, max: 4, step: 0.05, when: ({ kernel }) => /rbf|laplacian/.test(kernel) },
    degree: { label: "degree", value: 2, min: 1, max: 6, step: 1, when: ({ kernel }) => kernel === "polynomial" },
    points: { value: [[-1.2, 0.9], [1.1, -0.7], ...group(7, -1, 0.6), ...group(7, 1, -0.6)] },
  },
  panels: {
    plane: { title: "drag x and y", x: [-2.2, 2.2], y: [-2.2, 2.2], width: 300, height: 288 },
    matrix: { title: "Gram matrix; x and y first", width: 260, height: 260, axes: false },
    bars: { title: "its eigenvalues, the largest is 1", x: [0, 16], y: [1e-8, 2], log: "y", width: 340, height: 200 },
  },
  handles: ({ points }) => [0, 1].map(i => ({ panel: "plane", label: "xy"[i], at: points[i], move: ({ points }, to) => ({ points: points.map((p, j) => (j === i ? to : p)) }) })),
  numbers: gramNumbers,
  words: { value: ["κ(x, y)", 3], distance: ["distance of φ(x) and φ(y)", 3] },
  draw({ plane, matrix, bars }, { points }, { K, eigenvalues }) {
    plane.dots(points.slice(2), { color: GREY });
    plane.line(points.slice(0, 2), { color: ORANGE, width: 1, dash: "4 3" });
    [0, 1].forEach(i => plane.text(points[i], "xy"[i], { dx: 9, dy: -7 }));
    const top = Math.max(...K.flat().map(Math.abs));
    matrix.picture(K.map(row => row.map(k => k / top)), signed);
    eigenvalues.forEach((lam, i) => bars.bar(i + 0.1, i + 0.9, Math.max(lam / eigenvalues[0], 1e-8), { color: BLUE }));
  },
});
