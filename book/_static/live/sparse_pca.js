// Chapter 10: the pit props, m loadings by four methods; and a penalty that first turns, then cuts.
import { live, load, wanted, word } from "./controls.js";
import { BLUE, GREEN, GREY, ORANGE, PURPLE, signed } from "./draw.js";
import { apply, dot } from "./linalg.js";

let known;
const props = () => known ??= load("pitprops.json"); // C, names, and what the library found for each m and each penalty
const KINDS = [["exact", "exact", BLUE], ["threshold", "thresholding", ORANGE], ["spca", "SPCA", GREY], ["refitted", "SPCA refitted", GREEN]];
function propNumbers({ m }, { C, found }) {
  const shares = KINDS.map(([kind]) => { const b = found[kind][m - 1]; return [kind, dot(b, apply(C, b)) / dot(b, b)]; });
  return { ...Object.fromEntries(shares), support: found.exact[m - 1].flatMap((b, i) => (b ? [i] : [])) };
}
const pathNumbers = ({ step }, { path, penalties }) => ({ penalty: penalties[step], zeros: path[step].flat().filter(x => !x).length });
export const numbers = { "sparse-props": async s => propNumbers(s, await props()), "sparse-path": async s => pathNumbers(s, await props()) };

if (wanted("sparse-props")) {
  const data = await props(), share = (x, { m }) => word(x / propNumbers({ m }, data).exact, "%");
  live("sparse-props", {
    params: { m: { label: "loadings m", value: 5, min: 1, max: 13, step: 1 } },
    panels: Object.fromEntries(KINDS.map(([kind, title]) => [kind, { title, x: [0, 13], y: [-0.3, 1], width: 300, height: 170 }])),
    numbers: state => propNumbers(state, data),
    words: {
      threshold: ["of the exact variance: thresholding", share], spca: ["SPCA", share], refitted: ["SPCA refitted", share],
      support: ["exact support", list => list.map(i => data.names[i]).join(", ")],
    },
    draw(panels, { m }) {
      for (const [kind, , color] of KINDS) data.found[kind][m - 1].forEach((b, i) => panels[kind].bar(i + 0.1, i + 0.9, b, { color }));
    },
  });
}
if (wanted("sparse-path")) {
  const data = await props();
  live("sparse-path", {
    params: { step: { label: "penalty ℓ", value: 0, min: 0, max: data.penalties.length - 1, step: 1, format: i => data.penalties[i].toPrecision(2) } },
    panels: { loadings: { title: "loadings of three components", x: [0, 13], y: [0, 3], width: 480, height: 160, axes: false } },
    numbers: state => pathNumbers(state, data),
    words: { zeros: ["zeros among 39 loadings", 3] },
    draw({ loadings }, { step }) {
      loadings.picture(data.path[step].map(row => row.map(x => 1.4 * x)), signed);
      data.path[step].forEach((row, i) => row.forEach((x, j) => { if (!x) loadings.text([j + 0.5, 2.4 - i], "0", { anchor: "middle", color: PURPLE }); }));
    },
  });
}
