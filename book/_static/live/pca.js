// Chapter 3: a line to turn, points to drag; kept and lost add up.
import {
  BLUE, INK, ORANGE, angleOf, centered, column, dot, eigh, list, live, mean, plus, pointHandle, random, slider,
  sum, times, transpose, unit,
} from "./controls.js";

function lineNumbers({ points, angle, center }) {
  const anchor = center ? mean(points) : [0, 0], X = centered(points, anchor), v = unit(angle);
  const total = sum(X.map(x => dot(x, x))), kept = sum(X.map(x => dot(x, v) ** 2)), { values, vectors } = eigh(times(transpose(X), X));
  return { anchor, total, kept, lost: total - kept, most: values[0], best: angleOf(column(vectors, 0)) };
}
const cloud = random(4).normals(14, 2).map(([a, b]) => [1.6 + 1.3 * a + 0.2 * b, 1.4 + 0.7 * a - 0.5 * b].map(x => +x.toFixed(2)));

export const numbers = live("pca-line", {
  params: {
    angle: slider("angle of the line", 15, 0, 179, 1, { format: x => `${Math.round(x)}°` }),
    center: { label: "centre the data first", value: true },
    points: cloud,
  },
  actions: { best: { label: "Turn to the best", run: state => ({ angle: lineNumbers(state).best }) } },
  panels: {
    plane: { title: "drag a point, or click to turn the line", x: [-2.5, 5.5] },
    curves: { title: "kept (blue) + lost (orange) = total", x: [0, 180], xTicks: [0, 45, 90, 135, 180], xLabel: "angle in degrees", height: 308 },
  },
  handles: ({ points }) => points.map((_, i) => pointHandle("plane", `point ${i + 1}`, points, i)),
  click: { panel: "plane", label: "turn the line here", run: (state, to) => ({ angle: Math.round(angleOf(plus(to, lineNumbers(state).anchor, -1))) % 180 }) },
  numbers: lineNumbers,
  words: { kept: ["kept", 4], lost: ["lost", 4], total: ["total", 4], most: ["most that any line keeps", 4] },
  draw({ plane, curves }, state, { anchor, total, kept }) {
    const { points, angle } = state, v = unit(angle), on = c => plus(anchor, v, c), feet = points.map(p => on(dot(plus(p, anchor, -1), v)));
    plane.line([on(-9), on(9)], BLUE);
    points.forEach((p, i) => plane.line([p, feet[i]], ORANGE, 1.5));
    plane.dots(feet, BLUE, 3);
    plane.dots([anchor], INK, 4);
    curves.clear([0, 180], [0, 1.1 * total || 1]);
    const curve = list(61, i => [3 * i, lineNumbers({ ...state, angle: 3 * i }).kept]);
    curves.bar(angle - 3, angle + 3, kept, BLUE);
    curves.bar(angle - 3, angle + 3, total, ORANGE, kept);
    curves.line(curve, BLUE);
    curves.line(curve.map(([x, y]) => [x, total - y]), ORANGE, 2, "6 4");
    curves.line([[0, total], [180, total]], INK, 1.2, "2 3");
  },
});
