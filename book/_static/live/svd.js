// Chapter 1: a right angle that stays one, and a photograph as a sum of terms.
import { live, load, wanted } from "./controls.js";
import { BLUE, GREEN, GREY, ORANGE, grey } from "./draw.js";
import { angleOf, apply, column, dot, norm, sum, svd, turn, unit } from "./linalg.js";

// A matrix by its columns, and a unit vector by its angle in degrees.
function circleNumbers({ angle, a, b }) {
  const A = [[a[0], b[0]], [a[1], b[1]]], v = unit(angle), w = [-v[1], v[0]], Av = apply(A, v), Aw = apply(A, w);
  const { s, V } = svd(A), cross = Av[0] * Aw[1] - Av[1] * Aw[0];
  return { Av, Aw, length: norm(Av), between: Math.atan2(Math.abs(cross), dot(Av, Aw)) * 180 / Math.PI, s1: s[0] ?? 0, s2: s[1] ?? 0, best: s.length ? angleOf(column(V, 0)) : 0 };
}

live("svd-circle", {
  params: {
    angle: { label: "angle of v", value: 20, min: 0, max: 360, step: 0.5, format: x => `${x}°` },
    a: { value: [3, 4] },
    b: { value: [0, 5] },
  },
  actions: { best: { label: "Turn to the longest", run: state => ({ angle: circleNumbers(state).best }) } },
  panels: {
    before: { title: "v, and w at a right angle to it", x: [-1.6, 1.6], y: [-1.6, 1.6], height: 308 },
    after: { title: "Av and Aw; a₁ and a₂ are A's columns", x: [-9, 9], y: [-9, 9], height: 308 },
  },
  handles: ({ angle, a, b }) => [
    { panel: "before", label: "v", at: unit(angle), move: (_, to) => ({ angle: Math.round(2 * turn(to)) / 2 }) },
    { panel: "after", label: "first column, a₁", at: a, move: (_, at) => ({ a: at }) },
    { panel: "after", label: "second column, a₂", at: b, move: (_, at) => ({ b: at }) },
  ],
  numbers: circleNumbers,
  words: {
    length: ["‖Av‖", "f3"],
    s1: ["longest possible, s₁", "f3"],
    between: ["angle between Av and Aw", "°"],
  },
  draw({ before, after }, { angle, a, b }, { Av, Aw, between }) {
    const v = unit(angle), right = Math.abs(between - 90) < 1.5;
    before.ellipse([0, 0], [1, 0], [0, 1], { width: 1.2 });
    before.arrow([0, 0], v, { color: BLUE });
    before.arrow([0, 0], [-v[1], v[0]], { color: ORANGE });
    before.text(v, "v", { color: BLUE, dx: 12, dy: -8 });
    before.text([-v[1], v[0]], "w", { color: ORANGE, dx: 6, dy: -8 });
    after.ellipse([0, 0], [1, 0], [0, 1], { width: 1, dash: "2 3" });
    after.ellipse([0, 0], a, b, { width: 1.2 });
    if (right) after.line([Av, Aw].map(u => u.map(x => x * 0.9 / (norm(u) || 1))).flatMap((u, i, all) => (i ? [[all[0][0] + u[0], all[0][1] + u[1]], u] : [u])), { color: GREEN });
    after.arrow([0, 0], Av, { color: BLUE });
    after.arrow([0, 0], Aw, { color: ORANGE });
    for (const [at, word, color] of [[Av, "Av", BLUE], [Aw, "Aw", ORANGE]]) after.text(at.map(x => 1.18 * x), word, { color, anchor: "middle", dy: 4 });
    [a, b].forEach((at, i) => after.text(at, `a${"₁₂"[i]}`, { dx: 10, dy: 5 }));
  },
});

// A photograph, grey from 0 to 1. Its terms are found once, in the page.
let photograph;
const photo = () => photograph ??= load("photo.json").then(({ rows }) => {
  const picture = rows.map(row => Array.from(atob(row), c => c.charCodeAt(0) / 255));
  return { picture, terms: svd(picture) };
});
function rankNumbers({ k }, { picture, terms: { s } }) {
  const n = picture.length, d = picture[0].length, squares = s.map(x => x * x);
  return { error: Math.sqrt(sum(squares.slice(k)) / sum(squares)), kept: k * (n + d + 1) };
}

export const numbers = {
  "svd-circle": circleNumbers,
  "svd-rank": async state => rankNumbers(state, await photo()),
};

if (wanted("svd-rank")) {
  const found = await photo(), { picture, terms: { U, s, V } } = found, n = picture.length, d = picture[0].length;
  live("svd-rank", {
    params: { k: { label: "terms k", value: 10, min: 0, max: n, step: 1 } },
    panels: {
      picture: { title: "the sum of k terms", width: 340, height: 340 * n / d, axes: false },
      values: { title: "singular values", x: [0, n], y: [0.01, 100], log: "y", xLabel: "term", height: 240 },
    },
    numbers: state => rankNumbers(state, found),
    words: {
      error: ["relative error", "%"],
      kept: ["numbers stored", x => `${x} of ${n * d}`],
    },
    draw(panels, { k }) {
      const right = V.map(row => row.slice(0, k).map((x, j) => x * s[j]));
      panels.picture.picture(U.map(row => right.map(r => dot(r, row))), grey);
      s.forEach((x, i) => panels.values.bar(i, i + 0.8, x, { color: i < k ? BLUE : GREY }));
    },
  });
}
