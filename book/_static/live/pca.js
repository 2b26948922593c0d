// Chapter 3: a line to turn, points to drag; kept and lost add up.
import { live } from "./controls.js";
import { BLUE, INK, ORANGE } from "./draw.js";
import { angleOf, column, dot, eigh, mean, random, sum, times, transpose, unit } from "./linalg.js";

function lineNumbers({ points, angle, center }) {
  const anchor = center ? mean(points) : [0, 0], X = points.map(p => [p[0] - anchor[0], p[1] - anchor[1]]);
  const v = unit(angle), total = sum(X.map(x => dot(x, x))), kept = sum(X.map(x => dot(x, v) ** 2));
  const { values, vectors } = eigh(times(transpose(X), X));
  return { anchor, total, kept, lost: total - kept, most: values[0], best: angleOf(column(vectors, 0)) };
}
export const numbers = { "pca-line": lineNumbers };

const { normals } = random(4);
const points = normals(14, 2).map(([a, b]) => [1.6 + 1.3 * a + 0.2 * b, 1.4 + 0.7 * a - 0.5 * b].map(x => +x.toFixed(2)));

live("pca-line", {
  params: {
    angle: { label: "angle of the line", value: 15, min: 0, max: 179, step: 1, format: x => `${Math.round(x)}°` },
    center: { label: "centre the data first", value: true },
    points: { value: points },
  },
  actions: { best: { label: "Turn to the best", run: state => ({ angle: lineNumbers(state).best }) } },
  panels: {
    plane: { title: "drag a point, or click to turn the line", x: [-2.5, 5.5], y: [-2.5, 5.5], height: 308 },
    curves: { title: "kept + lost = sum, for all angles", x: [0, 180], y: [0, 60], xTicks: [0, 45, 90, 135, 180], xLabel: "angle in degrees", height: 308 },
  },
  handles: ({ points }) => points.map((at, i) => ({ panel: "plane", label: `point ${i + 1}`, at, move: ({ points }, to) => ({ points: points.map((p, j) => (j === i ? to : p)) }) })),
  numbers: lineNumbers,
  words: { kept: ["kept", 4], lost: ["lost", 4], total: ["total", 4], most: ["most that any line keeps", 4] },
  click: { panel: "plane", run: (state, [x, y]) => { const [a, b] = lineNumbers(state).anchor; return { angle: Math.round(angleOf([x - a, y - b])) % 180 }; } },
  draw({ plane, curves }, state, { anchor, total, kept }) {
    const { points, angle } = state, v = unit(angle);
    const on = c => [anchor[0] + c * v[0], anchor[1] + c * v[1]], feet = points.map(p => on(dot(p, v) - dot(anchor, v)));
    plane.line([on(-9), on(9)], { color: BLUE });
    points.forEach((p, i) => plane.line([p, feet[i]], { color: ORANGE, width: 1.5 }));
    plane.dots(feet, { r: 3 });
    plane.dots([anchor], { color: INK, r: 4 });
    curves.clear([0, 180], [0, 1.2 * total || 1]);
    const curve = Array.from({ length: 61 }, (_, i) => [3 * i, lineNumbers({ ...state, angle: 3 * i }).kept]);
    curves.line(curve, { color: BLUE });
    curves.line(curve.map(([x, y]) => [x, total - y]), { color: ORANGE, dash: "6 4" });
    curves.line([[0, total], [180, total]], { width: 1.2, dash: "2 3" });
    curves.line([[angle, 0], [angle, total]], { width: 1 });
    curves.dots([[angle, kept]], { r: 5 });
    curves.dots([[angle, total - kept]], { color: ORANGE, r: 5 });
    [["kept", BLUE], ["lost", ORANGE], ["sum", INK]].forEach(([word, color], i) => curves.text([70 + 50 * i, 1.08 * total], word, { color, anchor: "end" }));
  },
});
