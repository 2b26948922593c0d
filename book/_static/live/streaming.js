// Chapter 12: blocks arrive one by one; merged with care, and by the short formula.
import { BLUE, GREY, ORANGE, angleOf, column, covariance, eigh, live, mean, plus, random, root, scaled, slider } from "./controls.js";

const BLOCK = 10, offsetOf = far => (far && 10 ** far);
const block = (b, offset) => random(100 + b).normals(BLOCK, 2).map(([x, y]) => [offset + 1.5 * x + 0.3 * y, offset + 0.8 * x + 0.5 * y]);
function blockNumbers({ blocks, far }) {
  const offset = offsetOf(far), zero = [[0, 0], [0, 0]];
  let n = 0, centre = [0, 0], S = zero, sums = [0, 0], squares = zero;
  const added = (A, f) => A.map((row, i) => row.map((v, j) => v + f(i, j)));
  for (let b = 0; b < blocks; b++) {
    const X = block(b, offset), C = covariance(X), gap = plus(mean(X), centre, -1);
    S = added(S, (i, j) => BLOCK * C[i][j] + gap[i] * gap[j] * n * BLOCK / (n + BLOCK));
    centre = plus(centre, gap, BLOCK / (n + BLOCK));
    n += BLOCK;
    for (const x of X) { sums = plus(sums, x); squares = added(squares, (i, j) => x[i] * x[j]); }
  }
  const short = eigh(squares.map((row, i) => row.map((v, j) => v / n - sums[i] * sums[j] / n / n))), merged = eigh(S.map(row => scaled(row, 1 / n)));
  return { n, centre: centre.map(c => c - offset), first: merged.values[0], second: merged.values[1], angle: angleOf(column(merged.vectors, 0)), shortFirst: short.values[0], merged, short };
}

export const numbers = live("stream-blocks", {
  params: {
    blocks: slider("blocks of 10 rows", 3, 1, 60),
    far: slider("mean of the data", 0, 0, 9, 1, { format: x => (x ? `1e${x}` : "0") }),
  },
  actions: { next: { label: "Next block", run: ({ blocks }) => ({ blocks: Math.min(60, blocks + 1) }) } },
  panels: { plane: { title: "around the mean: merged (blue), short formula (orange)", x: [-5, 5], y: [-4, 4], width: 440 } },
  numbers: blockNumbers,
  words: { n: ["rows", 4], first: ["largest variance, merged", "f3"], shortFirst: ["by the short formula", 4] },
  draw({ plane }, { blocks, far }, { centre, merged, short }) {
    const offset = offsetOf(far);
    for (let b = 0; b < blocks; b++) plane.dots(block(b, offset).map(p => p.map(c => c - offset)), GREY, 2.5, b === blocks - 1 ? 1 : 0.4);
    const ellipse = ({ values, vectors }, ...style) => plane.ellipse(centre, ...[0, 1].map(k => scaled(column(vectors, k), 2 * root(values[k]))), ...style);
    ellipse(short, ORANGE, 2.5, "6 4");
    ellipse(merged, BLUE);
  },
});
