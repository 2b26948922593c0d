// Chapter 10: the pit props, m loadings by four methods; and a penalty that first turns, then cuts.
import { BLUE, GREEN, GREY, ORANGE, PURPLE, apply, dot, live, load, mapped, signed, slider, word } from "./controls.js";

const { C, names, found, path, penalties } = await load("pitprops.json"); // with the library's results
const KINDS = { exact: ["exact", BLUE], threshold: ["thresholding", ORANGE], spca: ["SPCA", GREY], refitted: ["SPCA refitted", GREEN] };
const variance = (kind, m) => { const b = found[kind][m - 1]; return dot(b, apply(C, b)) / dot(b, b); };
const share = (x, _, { exact }) => word(x / exact, "%");
export const numbers = live("sparse-props", {
  params: { m: slider("loadings m", 5, 1, 13) },
  panels: mapped(KINDS, ([title]) => ({ title, x: [0.5, 13.5], y: [-0.3, 1], width: 150, height: 190, xLabel: "feature" })),
  numbers: ({ m }) => ({ ...mapped(KINDS, (_, kind) => variance(kind, m)), support: names.filter((_, i) => found.exact[m - 1][i]) }),
  words: {
    threshold: ["of the exact variance: thresholding", share], spca: ["SPCA", share], refitted: ["SPCA refitted", share],
    support: ["exact support", list => list.join(", ")],
  },
  draw(panels, { m }) { mapped(KINDS, ([, color], kind) => panels[kind].bars(found[kind][m - 1], () => color)); },
});
live("sparse-path", {
  params: { step: slider("penalty ℓ", 0, 0, penalties.length - 1, 1, { format: i => String(+penalties[i].toPrecision(2)) }) },
  panels: { loadings: { title: "13 loadings (columns) of 3 components (rows)", x: [0, 13], y: [0, 3], width: 480, height: 160, axes: false } },
  numbers: ({ step }) => ({ penalty: penalties[step], zeros: path[step].flat().filter(x => !x).length }),
  words: { zeros: "zeros among 39 loadings" },
  draw({ loadings }, { step }) {
    loadings.picture(path[step], x => signed(1.4 * x));
    path[step].forEach((row, i) => row.forEach((x, j) => { if (!x) loadings.text([j + 0.5, 2.4 - i], "0", PURPLE, 0, 0, "middle"); }));
  },
});
