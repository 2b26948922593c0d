// Chapter 2: the power method step by step, for X = diag(1, √ratio).
import { BLUE, GREEN, GREY, ORANGE, live, max, norm, plus, scaled, slider, turn, unit } from "./controls.js";

const MOST = 40;
// Tangent of the angle to v₁, residual, and relative error of s, after 0, 1, …, MOST steps.
function stepNumbers({ ratio, start, t }) {
  const tangents = [], residuals = [], errors = [], angles = [];
  let v = unit(start);
  for (let i = 0; i <= MOST; i++) {
    const s2 = v[0] ** 2 + ratio * v[1] ** 2, w = [v[0], ratio * v[1]]; // XᵀXv
    tangents.push(v[1] / v[0]);
    residuals.push(norm(plus(w, v, -s2)) / s2);
    errors.push((1 - ratio) * v[1] ** 2 / (1 + Math.sqrt(s2))); // 1 − s, without cancellation
    angles.push(turn(v));
    v = scaled(w, 1 / norm(w));
  }
  return { tangents, residuals, errors, angles, angle: angles[t], residual: residuals[t], error: errors[t] };
}

export const numbers = live("power-steps", {
  params: {
    ratio: slider("λ₂/λ₁", 0.7, 0, 0.99, 0.01),
    start: slider("start: angle to v₁", 80, 1, 89, 1, { format: x => `${x}°` }),
    t: slider("steps t", 0, 0, MOST),
  },
  actions: { step: { label: "Step", run: ({ t }) => ({ t: Math.min(t + 1, MOST) }) } },
  panels: {
    circle: { title: "y₀, …, yₜ on the circle; v₁ points right", x: [-0.1, 1.15] },
    errors: { title: "errors after t steps", x: [0, MOST], y: [1e-12, 100], log: true, xLabel: "steps", height: 308 },
  },
  handles: ({ start }) => [{ panel: "circle", label: "start y₀", at: unit(start), move: (_, [x, y]) => ({ start: Math.round(turn([max(x, 0.02), max(y, 0.02)])) }) }],
  numbers: stepNumbers,
  words: { angle: ["angle to v₁, degrees", 4], residual: "residual", error: "error of s" },
  draw({ circle, errors }, { t }, found) {
    circle.ellipse([0, 0], [1, 0], [0, 1], GREY, 1);
    found.angles.slice(0, t).forEach(a => circle.line([[0, 0], unit(a)], BLUE, 1, null, 0.35));
    circle.arrow([0, 0], unit(found.angle), BLUE);
    [["tangents", "tan θ", BLUE], ["residuals", "residual", ORANGE], ["errors", "error of s", GREEN]].forEach(([name, word, color], i) => {
      const curve = found[name].map((x, j) => [j, max(x, 1e-12)]);
      errors.line(curve, color, 1, null, 0.5);
      errors.dots(curve.slice(0, t + 1).filter(([, x]) => x > 1e-12), color, 3);
      errors.text([4, 1e-12], word, color, 0, 18 * i - 46);
    });
  },
});
