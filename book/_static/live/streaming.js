// Chapter 12: blocks arrive one by one; merged with care, and by the short formula.
import { live } from "./controls.js";
import { BLUE, GREY, ORANGE } from "./draw.js";
import { angleOf, column, covariance, eigh, mean, random } from "./linalg.js";

const BLOCK = 10;
const block = (b, offset) => random(100 + b).normals(BLOCK, 2).map(([x, y]) => [offset + 1.5 * x + 0.3 * y, offset + 0.8 * x + 0.5 * y]);
function blockNumbers({ blocks, far }) {
  const offset = far === 0 ? 0 : 10 ** far;
  let n = 0, centre = [0, 0], S = [[0, 0], [0, 0]], sums = [0, 0], squares = [[0, 0], [0, 0]];
  for (let b = 0; b < blocks; b++) {
    const X = block(b, offset), m = mean(X), C = covariance(X), gap = m.map((c, j) => c - centre[j]);
    S = S.map((row, i) => row.map((v, j) => v + BLOCK * C[i][j] + gap[i] * gap[j] * n * BLOCK / (n + BLOCK)));
    centre = centre.map((c, j) => c + gap[j] * BLOCK / (n + BLOCK));
    n += BLOCK;
    for (const x of X) { sums = sums.map((c, j) => c + x[j]); squares = squares.map((row, i) => row.map((v, j) => v + x[i] * x[j])); }
  }
  const short = squares.map((row, i) => row.map((v, j) => v / n - sums[i] * sums[j] / n / n)), { values, vectors } = eigh(S.map(row => row.map(v => v / n)));
  return { n, centre: centre.map(c => c - offset), first: values[0], second: values[1], angle: angleOf(column(vectors, 0)), short: eigh(short).values, shortFirst: eigh(short).values[0], vectors, shortVectors: eigh(short).vectors };
}
export const numbers = { "stream-blocks": blockNumbers };

live("stream-blocks", {
  params: {
    blocks: { label: "blocks of 10 rows", value: 3, min: 1, max: 60, step: 1 },
    far: { label: "mean of the data", value: 0, min: 0, max: 9, step: 1, format: x => (x ? `1e${x}` : "0") },
  },
  actions: { next: { label: "Next block", run: ({ blocks }) => ({ blocks: Math.min(60, blocks + 1) }) } },
  panels: { plane: { title: "around the mean: merged (blue), short formula (orange)", x: [-5, 5], y: [-4, 4], width: 440, height: 354 } },
  numbers: blockNumbers,
  words: { n: ["rows", 4], first: ["largest variance, merged", "f3"], shortFirst: ["by the short formula", 4] },
  draw({ plane }, { blocks, far }, { centre, first, second, short, vectors, shortVectors }) {
    const offset = far === 0 ? 0 : 10 ** far;
    for (let b = 0; b < blocks; b++) plane.dots(block(b, offset).map(p => p.map(c => c - offset)), { color: GREY, r: 2.5, opacity: b === blocks - 1 ? 1 : 0.4 });
    const ellipse = (values, V, style) => plane.ellipse(centre, ...[0, 1].map(k => column(V, k).map(x => 2 * Math.sqrt(Math.max(values[k], 0)) * x)), style);
    ellipse(short, shortVectors, { color: ORANGE, dash: "6 4", width: 2.5 });
    ellipse([first, second], vectors, { color: BLUE });
  },
});
