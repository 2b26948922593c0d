// Chapter 4: a cloud of probability, one sample, and EM a step at a time.
import { live, word } from "./controls.js";
import { BLUE, GREEN, GREY, ORANGE } from "./draw.js";
import { dot, mean, random, sum } from "./linalg.js";

function planeNumbers({ points, w, sigma2, point, missing }) {
  const mu = mean(points), n = points.length, off = p => [p[0] - mu[0], p[1] - mu[1]], X = points.map(off);
  const ww = dot(w, w), M = ww + sigma2, inside = x => (dot(x, x) - dot(w, x) ** 2 / M) / sigma2; // xᵀC⁻¹x
  const likelihood = -n * Math.log(2 * Math.PI) - n / 2 * Math.log(M * sigma2) - sum(X.map(inside)) / 2;
  const x = off(point), Mx = missing ? w[0] ** 2 + sigma2 : M; // what is observed of the sample
  const code = (missing ? w[0] * x[0] : dot(w, x)) / Mx, spread = Math.sqrt(sigma2 / Mx);
  const back = [mu[0] + w[0] * code, mu[1] + w[1] * code], bar = Math.sqrt(sigma2 * (1 + w[1] ** 2 / Mx));
  const z = X.map(r => dot(w, r) / M), zz = dot(z, z) + n * sigma2 / M; // E-step
  const next = [0, 1].map(j => sum(X.map((r, i) => r[j] * z[i])) / zz); // M-step
  const nextSigma2 = (sum(X.map(r => dot(r, r))) - 2 * sum(X.map((r, i) => z[i] * dot(next, r))) + zz * dot(next, next)) / (2 * n);
  return { mu, likelihood, code, spread, back, bar, next, nextSigma2 };
}
export const numbers = { "ppca-plane": planeNumbers };

const { normals } = random(7);
const points = normals(24, 2).map(([a, b]) => [1.5 * a + 0.5 * b, 0.9 * a + 0.5 * normals(1, 1)[0][0]].map(x => +x.toFixed(2)));

live("ppca-plane", {
  params: {
    sigma2: { label: "noise σ²", value: 1, min: 0.05, max: 3, step: 0.05 },
    missing: { label: "second coordinate missing", value: false },
    w: { value: [0.3, 1.2] },
    point: { value: [2.5, 0] },
    points: { value: points },
  },
  actions: {
    em: { label: "EM step", run: state => { const { next, nextSigma2 } = planeNumbers(state); return { w: next, sigma2: nextSigma2 }; } },
  },
  panels: { plane: { title: "drag W and the sample x", x: [-5, 5], y: [-4, 4], width: 380, height: 301 } },
  handles: ({ points, w, point }) => {
    const mu = mean(points);
    return [
      { panel: "plane", label: "W", at: [mu[0] + w[0], mu[1] + w[1]], move: (_, to) => ({ w: [to[0] - mu[0], to[1] - mu[1]] }) },
      { panel: "plane", label: "the sample", at: point, move: (_, to) => ({ point: to }) },
    ];
  },
  numbers: planeNumbers,
  words: {
    likelihood: ["log-likelihood", "f2"],
    code: ["code of the sample", (x, s) => `${word(x, "f2")} ± ${word(planeNumbers(s).spread, "f2")}`],
    bar: ["filled in", (x, s) => (s.missing ? `${word(planeNumbers(s).back[1], "f2")} ± ${word(x, "f2")}` : "nothing")],
  },
  draw({ plane }, { points, w, sigma2, point, missing }, { mu, back, bar }) {
    const size = Math.hypot(...w) || 1e-9, u = w.map(c => c / size), long = Math.sqrt(size ** 2 + sigma2), wide = Math.sqrt(sigma2);
    for (const r of [1, 2]) plane.ellipse(mu, u.map(c => r * long * c), [-r * wide * u[1], r * wide * u[0]], { color: BLUE, width: 1.5, dash: r === 2 ? "5 4" : undefined });
    plane.dots(points, { color: GREY, r: 3 });
    plane.line([-9, 9].map(c => [mu[0] + c * u[0], mu[1] + c * u[1]]), { color: BLUE, width: 1, opacity: 0.5 });
    plane.arrow(mu, [mu[0] + w[0], mu[1] + w[1]], { color: BLUE });
    if (missing) {
      plane.line([[point[0], -9], [point[0], 9]], { color: GREY, width: 1, dash: "2 3" });
      plane.line([[point[0], back[1] - 2 * bar], [point[0], back[1] + 2 * bar]], { color: ORANGE, width: 4, opacity: 0.6 });
      plane.dots([[point[0], back[1]]], { color: ORANGE, r: 5 });
    } else plane.line([point, back], { color: ORANGE, width: 1.5 });
    plane.dots([back], { color: GREEN, r: 5 });
    plane.text([mu[0] + w[0], mu[1] + w[1]], "W", { color: BLUE, dx: 9, dy: -7 });
    plane.text(point, "x", { color: ORANGE, dx: 9, dy: -7 });
  },
});
