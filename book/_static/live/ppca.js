// Chapter 4: a cloud of probability, one sample, and EM a step at a time.
import {
  BLUE, GREEN, GREY, ORANGE, apply, centered, dot, handle, live, mean, norm, plus, random, scaled, slider, sqrt, sum,
  transpose, word,
} from "./controls.js";

function planeNumbers({ points, w, sigma2, point, missing }) {
  const mu = mean(points), n = points.length, X = centered(points, mu), squares = sum(X.map(x => dot(x, x)));
  const M = dot(w, w) + sigma2, scores = apply(X, w); // xᵀC⁻¹x = (xᵀx − (wᵀx)²/M)/σ²
  const likelihood = -n * Math.log(2 * Math.PI) - n / 2 * Math.log(M * sigma2) - (squares - dot(scores, scores) / M) / (2 * sigma2);
  const x = plus(point, mu, -1), seen = missing ? [w[0], 0] : w, Mx = dot(seen, seen) + sigma2;
  const code = dot(seen, x) / Mx, spread = sqrt(sigma2 / Mx), bar = sqrt(sigma2 * (1 + w[1] ** 2 / Mx));
  const z = scaled(scores, 1 / M), zz = dot(z, z) + n * sigma2 / M, next = scaled(apply(transpose(X), z), 1 / zz); // E-step, M-step
  const nextSigma2 = (squares - 2 * dot(z, apply(X, next)) + zz * dot(next, next)) / (2 * n);
  return { mu, likelihood, code, spread, back: plus(mu, w, code), bar, next, nextSigma2 };
}
const { normal, normals } = random(7);
const cloud = normals(24, 2).map(([a, b]) => [1.5 * a + 0.5 * b, 0.9 * a + 0.5 * normal()].map(x => +x.toFixed(2)));

export const numbers = live("ppca-plane", {
  params: {
    sigma2: slider("noise σ²", 1, 0.05, 3, 0.05),
    missing: { label: "second coordinate missing", value: false },
    w: [0.3, 1.2],
    point: [2.5, 0],
    points: cloud,
  },
  actions: { em: { label: "EM step", run: state => { const { next, nextSigma2 } = planeNumbers(state); return { w: next, sigma2: nextSigma2 }; } } },
  panels: { plane: { title: "drag W and the sample x", x: [-5, 5], y: [-4, 4], width: 380 } },
  handles: state => {
    const mu = mean(state.points);
    return [{ panel: "plane", label: "W", at: plus(mu, state.w), move: (_, to) => ({ w: plus(to, mu, -1) }) }, handle(state, "point", "plane", "the sample")];
  },
  numbers: planeNumbers,
  words: {
    likelihood: ["log-likelihood", "f2"],
    code: ["code of the sample", (x, _, { spread }) => `${word(x, "f2")} ± ${word(spread, "f2")}`],
    bar: ["filled in", (x, { missing }, { back }) => (missing ? `${word(back[1], "f2")} ± ${word(x, "f2")}` : "nothing")],
  },
  draw({ plane }, { points, w, sigma2, point, missing }, { mu, back, bar, spread }) {
    const size = norm(w) || 1e-9, u = scaled(w, 1 / size), long = sqrt(size ** 2 + sigma2), wide = sqrt(sigma2);
    for (const r of [1, 2]) plane.ellipse(mu, scaled(u, r * long), scaled([-u[1], u[0]], r * wide), BLUE, 1.5, r === 2 ? "5 4" : null);
    plane.dots(points, GREY, 3);
    plane.line([-9, 9].map(c => plus(mu, u, c)), BLUE, 1, null, 0.5);
    plane.line([-spread, spread].map(c => plus(back, w, c)), GREEN, 4, null, 0.6);
    plane.arrow(mu, plus(mu, w), BLUE);
    if (missing) {
      plane.line([[point[0], -9], [point[0], 9]], GREY, 1, "2 3");
      plane.line([-2, 2].map(r => [point[0], back[1] + r * bar]), ORANGE, 4, null, 0.6);
      plane.dots([[point[0], back[1]]], ORANGE, 5);
    } else plane.line([point, back], ORANGE, 1.5);
    plane.dots([back], GREEN, 5);
    plane.text(plus(mu, w), "W", BLUE);
    plane.text(point, "x", ORANGE);
  },
});
