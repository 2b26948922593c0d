// Chapter 12: blocks arrive one by one; merged with care, and by the short formula.
import { BLUE, GREY, INK, ORANGE, angleOf, column, covariance, eigh, list, live, mean, plus, power, random, root, scaled, slider, times, transpose } from "./controls.js";

const BLOCK = 10, offsetOf = far => (far && 10 ** far);
const block = (b, offset) => random(100 + b).normals(BLOCK, 2).map(([x, y]) => [offset + 1.5 * x + 0.3 * y, offset + 0.8 * x + 0.5 * y]);
const added = (A, B, c = 1) => A.map((row, i) => plus(row, B[i], c)), outer = x => x.map(a => scaled(x, a));
function blockNumbers({ blocks, far }) {
  const offset = offsetOf(far), zero = [[0, 0], [0, 0]];
  let n = 0, centre = [0, 0], S = zero, sums = [0, 0], squares = zero;
  for (let b = 0; b < blocks; b++) {
    const X = block(b, offset), m = mean(X), gap = plus(m, centre, -1), share = BLOCK / (n + BLOCK);
    S = added(added(S, covariance(X), BLOCK), outer(gap), n * share);
    centre = plus(centre, gap, share);
    n += BLOCK;
    sums = plus(sums, m, BLOCK);
    squares = added(squares, times(transpose(X), X));
  }
  const over = A => A.map(row => scaled(row, 1 / n)), merged = eigh(over(S)), short = eigh(added(over(squares), outer(scaled(sums, 1 / n)), -1));
  return { n, centre: centre.map(c => c - offset), first: merged.values[0], second: merged.values[1], angle: angleOf(column(merged.vectors, 0)), shortFirst: short.values[0], merged, short };
}

export const numbers = live("stream-blocks", {
  params: {
    blocks: slider("blocks of 10 rows", 3, 1, 60),
    far: slider("mean of the data", 0, 0, 9, 1, { format: x => (x ? power(x) : "0") }),
  },
  actions: { next: { label: "Next block", run: ({ blocks }) => ({ blocks: Math.min(60, blocks + 1) }) } },
  panels: { plane: { title: "merged (blue), by the short formula (orange)", x: [-5, 5], y: [-4, 4], width: 440 } },
  numbers: blockNumbers,
  words: { n: ["rows", 4], first: ["largest variance, merged", "f3"], shortFirst: ["by the short formula", 4] },
  draw({ plane }, { blocks, far }, { centre, merged, short }) {
    const offset = offsetOf(far);
    const rows = list(blocks, b => block(b, offset).map(p => p.map(c => c - offset)));
    plane.dots(rows.slice(0, -1).flat(), GREY, 2.5, 0.5);
    plane.dots(rows.at(-1), INK, 2.5);
    const ellipse = ({ values, vectors }, ...style) => plane.ellipse(centre, ...[0, 1].map(k => scaled(column(vectors, k), 2 * root(values[k]))), ...style);
    ellipse(merged, BLUE, 2.5);
    ellipse(short, ORANGE, 2.5, "6 6");
  },
});
