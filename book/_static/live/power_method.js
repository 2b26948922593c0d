// Chapter 2: the power method step by step, for X = diag(1, √ratio).
import { live } from "./controls.js";
import { BLUE, GREEN, GREY, ORANGE } from "./draw.js";
import { unit } from "./linalg.js";

const MOST = 40;
// Tangent of the angle to v₁, residual, and relative error of s, after 0, 1, …, MOST steps.
function stepNumbers({ ratio, start, t }) {
  const tangents = [], residuals = [], errors = [], angles = [];
  let v = unit(start);
  for (let i = 0; i <= MOST; i++) {
    const s2 = v[0] ** 2 + ratio * v[1] ** 2, w = [v[0], ratio * v[1]]; // XᵀXv
    tangents.push(v[1] / v[0]);
    residuals.push(Math.hypot(w[0] - s2 * v[0], w[1] - s2 * v[1]) / s2);
    errors.push((1 - ratio) * v[1] ** 2 / (1 + Math.sqrt(s2))); // 1 − s, without cancellation
    angles.push(Math.atan2(v[1], v[0]) * 180 / Math.PI);
    v = w.map(x => x / Math.hypot(...w));
  }
  return { tangents, residuals, errors, angles, angle: angles[t], tangent: tangents[t], residual: residuals[t], error: errors[t] };
}
export const numbers = { "power-steps": stepNumbers };

live("power-steps", {
  params: {
    ratio: { label: "λ₂/λ₁", value: 0.7, min: 0, max: 0.99, step: 0.01 },
    start: { label: "start: angle to v₁", value: 80, min: 1, max: 89, step: 1, format: x => `${x}°` },
    t: { label: "steps t", value: 0, min: 0, max: MOST, step: 1 },
  },
  actions: { step: { label: "Step", run: ({ t }) => ({ t: Math.min(t + 1, MOST) }) } },
  panels: {
    circle: { title: "y₀, …, yₜ on the circle; v₁ points right", x: [-0.1, 1.15], y: [-0.1, 1.15], height: 308 },
    errors: { title: "errors after t steps", x: [0, MOST], y: [1e-12, 100], log: "y", xLabel: "steps", height: 308 },
  },
  handles: ({ start }) => [{ panel: "circle", label: "start y₀", at: unit(start), move: (_, to) => ({ start: Math.min(89, Math.max(1, Math.round(Math.atan2(to[1], to[0]) * 180 / Math.PI))) }) }],
  numbers: stepNumbers,
  words: {
    angle: ["angle to v₁, degrees", 4],
    residual: ["residual", "e"],
    error: ["error of s", "e"],
  },
  draw({ circle, errors }, { t }, found) {
    circle.ellipse([0, 0], [1, 0], [0, 1], { color: GREY, width: 1 });
    found.angles.slice(0, t + 1).forEach((a, i) => {
      const at = unit(a);
      if (i === t) circle.arrow([0, 0], at, { color: BLUE });
      else circle.line([[0, 0], at], { color: BLUE, width: 1, opacity: 0.35 });
    });
    const kinds = [["tangents", "tan θ", BLUE], ["residuals", "residual", ORANGE], ["errors", "error of s", GREEN]];
    kinds.forEach(([name, word, color], i) => {
      errors.line(found[name].map((x, j) => [j, Math.max(x, 1e-12)]), { color, width: 1, opacity: 0.5 });
      errors.dots(found[name].slice(0, t + 1).map((x, j) => [j, x]).filter(([, x]) => x > 1e-12), { color, r: 3 });
      errors.text([MOST, 30], word, { color, anchor: "end", dx: -6, dy: 16 * i });
    });
  },
});
