// Chapter 1: a right angle that stays one, and a photograph as a sum of terms.
import {
  BLUE, GREEN, GREY, INK, ORANGE, abs, angleOf, apply, column, dot, eigh, grey, handle, live, load, norm, plus, root,
  scaled, slider, sum, times, transpose, turn, unit,
} from "./controls.js";

const partner = ([x, y]) => [-y, x];
function circleNumbers({ angle, a, b }) {
  const A = transpose([a, b]), v = unit(angle), Av = apply(A, v), Aw = apply(A, partner(v)), { values, vectors } = eigh(times(transpose(A), A));
  const between = Math.atan2(abs(dot(partner(Av), Aw)), dot(Av, Aw)) * 180 / Math.PI;
  return { Av, Aw, length: norm(Av), between, s1: root(values[0]), s2: root(values[1]), best: angleOf(column(vectors, 0)) };
}

export const numbers = live("svd-circle", {
  params: {
    angle: slider("angle of v", 20, 0, 360, 0.5, { format: x => `${x}°` }),
    a: [3, 4],
    b: [0, 5],
  },
  actions: { best: { label: "Turn to the longest", run: state => ({ angle: circleNumbers(state).best }) } },
  panels: {
    before: { title: "v, and w at a right angle to it", x: [-1.6, 1.6] },
    after: { title: "Av and Aw; a₁ and a₂ are A's columns", x: [-9, 9] },
  },
  handles: state => [
    { panel: "before", label: "v", at: unit(state.angle), move: (_, to) => ({ angle: Math.round(2 * turn(to)) / 2 }) },
    handle(state, "a", "after", "first column, a₁"),
    handle(state, "b", "after", "second column, a₂"),
  ],
  numbers: circleNumbers,
  words: { length: ["‖Av‖", "f3"], s1: ["longest possible, s₁", "f3"], between: ["angle between Av and Aw, degrees", "f1"] },
  draw({ before, after }, { angle, a, b }, { Av, Aw, between }) {
    const v = unit(angle), w = partner(v), zero = [0, 0];
    const arrow = (panel, to, word, color, place) => { panel.arrow(zero, to, color); panel.text(place, word, color, 0, 4, "middle"); };
    before.ellipse(zero, [1, 0], [0, 1], INK, 1.2);
    arrow(before, v, "v", BLUE, scaled(v, 1.25));
    arrow(before, w, "w", ORANGE, scaled(w, 1.18));
    after.ellipse(zero, [1, 0], [0, 1], INK, 1, "2 3");
    after.ellipse(zero, a, b, INK, 1.2);
    if (abs(between - 90) < 1.5) { // a corner
      const [p, q] = [Av, Aw].map(u => scaled(u, 0.9 / (norm(u) || 1)));
      after.line([p, plus(p, q), q], GREEN);
    }
    arrow(after, Av, "Av", BLUE, scaled(Av, 1.18));
    arrow(after, Aw, "Aw", ORANGE, scaled(Aw, 1.18));
    [a, b].forEach((at, i) => after.text(at, `a${"₁₂"[i]}`, INK, 10, 5));
  },
});

// A photograph A, grey from 0 to 1. Its terms are found once, in the page: U from AAᵀ, and UᵀA = SVᵀ.
const picture = (await load("photo.json")).rows.map(row => Array.from(atob(row), c => c.charCodeAt(0) / 255));
const { values: squares, vectors: U } = eigh(picture.map(row => apply(picture, row))), right = times(transpose(U), picture), n = picture.length, d = picture[0].length;
live("svd-rank", {
  params: { k: slider("terms k", 10, 0, n) },
  panels: {
    sum: { title: "the sum of k terms", width: 340, x: [0, d], y: [0, n], axes: false },
    values: { title: "singular values", x: [0.5, n + 0.5], y: [0.01, 100], log: true, xLabel: "term", height: 240 },
  },
  numbers: ({ k }) => ({ error: Math.sqrt(sum(squares.slice(k)) / sum(squares)), kept: k * (n + d + 1) }),
  words: { error: ["relative error", "%"], kept: ["numbers stored", x => `${x} of ${n * d}`] },
  draw(panels, { k }) {
    panels.sum.picture(times(U.map(row => row.map((u, j) => (j < k ? u : 0))), right), grey);
    panels.values.bars(squares.map(root), i => (i < k ? BLUE : GREY));
  },
});
