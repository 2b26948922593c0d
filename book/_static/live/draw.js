// Panels to draw on: an SVG with a coordinate system, over a canvas for pictures and heat maps.
// Colours are the book's palette and follow the page's light or dark theme (book.css).

export const BLUE = "var(--live-blue)", ORANGE = "var(--live-orange)", GREEN = "var(--live-green)";
export const PURPLE = "var(--live-purple)", GREY = "var(--live-grey)", INK = "var(--live-ink)";

export function element(tag, attributes = {}, ...children) {
  const node = document.createElement(tag);
  for (const [key, value] of Object.entries(attributes)) {
    if (key in node && typeof value !== "string") node[key] = value;
    else node.setAttribute(key, value);
  }
  node.append(...children);
  return node;
}
export function shape(tag, attributes = {}, ...children) {
  const node = document.createElementNS("http://www.w3.org/2000/svg", tag);
  for (const [key, value] of Object.entries(attributes)) if (value !== undefined) node.setAttribute(key, value);
  node.append(...children);
  return node;
}

const nice = (low, high, count) => {
  const raw = (high - low) / count, power = 10 ** Math.floor(Math.log10(raw));
  const step = power * [1, 2, 5, 10].find(f => f * power >= raw), ticks = [];
  for (let t = Math.ceil(low / step - 1e-9) * step; t <= high + 1e-9 * step; t += step) ticks.push(Math.abs(t) < step / 1e6 ? 0 : t);
  return ticks;
};
export const short = x => (x !== 0 && (Math.abs(x) < 1e-3 || Math.abs(x) >= 1e5) ? x.toExponential(1) : String(+x.toPrecision(3))).replace("-", "−");

const power = x => (x === 1 ? "1" : "10" + String(Math.round(Math.log10(x))).replace("-", "⁻").replace(/\d/g, c => "⁰¹²³⁴⁵⁶⁷⁸⁹"[c]));
let clips = 0;

// spec: width, height (of the drawing, in pixels of a phone), x and y (ranges), log ("y"), title, xTicks
export class Panel {
  constructor({ width = 320, height = 300, x = [-1, 1], y = [-1, 1], log = "", title = "", xLabel = "", axes = true, xTicks }) {
    Object.assign(this, { width, height, x, y, log, xLabel, axes, xTicks });
    this.margin = axes ? { left: 36, right: 10, top: 10, bottom: xLabel ? 40 : 24 } : { left: 4, right: 4, top: 4, bottom: 4 };
    this.canvas = element("canvas", { "aria-hidden": "true" });
    const clip = `live-clip-${(clips += 1)}`, { left, right, top, bottom } = this.margin;
    this.back = shape("g");
    this.front = shape("g", { "clip-path": `url(#${clip})` });
    this.handles = shape("g");
    this.svg = shape("svg", { viewBox: `0 0 ${width} ${height}`, role: "group", "aria-label": title }, shape("clipPath", { id: clip }, shape("rect", { x: left, y: top, width: width - left - right, height: height - top - bottom })), this.back, this.front, this.handles);
    this.node = element("div", { class: "live-panel", style: `flex:${width} 1 ${width * 0.75}px;max-width:${width * 1.15}px` });
    if (title) this.node.append(element("div", { class: "live-title" }, title));
    this.node.append(element("div", { class: "live-stage" }, this.canvas, this.svg));
  }
  part(value, [low, high], log) {
    return log ? Math.log(Math.max(value, 1e-300) / low) / Math.log(high / low) : (value - low) / (high - low);
  }
  X(v) { const { left, right } = this.margin; return left + this.part(v, this.x) * (this.width - left - right); }
  Y(v) { const { top, bottom } = this.margin; return this.height - bottom - this.part(v, this.y, this.log) * (this.height - top - bottom); }
  at([u, v]) { // from pixels of the drawing back to coordinates
    const { left, right, top, bottom } = this.margin;
    const a = (u - left) / (this.width - left - right), b = (this.height - bottom - v) / (this.height - top - bottom);
    return [this.x[0] + a * (this.x[1] - this.x[0]), this.y[0] + b * (this.y[1] - this.y[0])];
  }
  clear(x = this.x, y = this.y) {
    Object.assign(this, { x, y });
    this.front.replaceChildren();
    this.back.replaceChildren();
    if (this.axes) this.grid();
  }
  grid() {
    const ticks = (range, log) => {
      if (!log) return nice(...range, 5);
      const low = Math.ceil(Math.log10(range[0]) - 1e-9), high = Math.floor(Math.log10(range[1]) + 1e-9), step = Math.ceil((high - low) / 5) || 1;
      return Array.from({ length: Math.floor((high - low) / step) + 1 }, (_, i) => 10 ** (low + i * step));
    };
    const name = t => (t < 1e-3 || t > 1e3 ? power(t) : short(t));
    const word = (x, y, text, more) => this.back.append(shape("text", { x, y, class: "live-tick", ...more }, text));
    const { left, right, top, bottom } = this.margin, floor = this.height - bottom, end = this.width - right;
    for (const t of this.xTicks ?? ticks(this.x)) {
      this.back.append(shape("path", { d: `M${this.X(t)} ${top}V${floor}`, class: "live-grid" }));
      word(this.X(t), floor + 14, short(t), { "text-anchor": "middle" });
    }
    for (const t of ticks(this.y, this.log)) {
      this.back.append(shape("path", { d: `M${left} ${this.Y(t)}H${end}`, class: "live-grid" }));
      word(left - 5, this.Y(t) + 4, this.log ? name(t) : short(t), { "text-anchor": "end" });
    }
    if (this.xLabel) word((left + end) / 2, this.height - 6, this.xLabel, { "text-anchor": "middle" });
  }
  add(tag, attributes, ...children) { this.front.append(shape(tag, attributes, ...children)); }
  line(points, { color = INK, width = 2, dash, close, opacity } = {}) {
    const d = points.map(([x, y], i) => `${i ? "L" : "M"}${this.X(x).toFixed(1)} ${this.Y(y).toFixed(1)}`).join("") + (close ? "Z" : "");
    this.add("path", { d, fill: "none", stroke: color, "stroke-width": width, "stroke-dasharray": dash, "stroke-linejoin": "round", opacity });
  }
  dots(points, { color = BLUE, r = 3.5, opacity = 0.85 } = {}) {
    for (const [x, y] of points) this.add("circle", { cx: this.X(x).toFixed(1), cy: this.Y(y).toFixed(1), r, opacity, fill: color });
  }
  ellipse(middle, a, b, style) { // by two vectors from its middle
    this.line(Array.from({ length: 73 }, (_, i) => [0, 1].map(j => middle[j] + a[j] * Math.cos(i * Math.PI / 36) + b[j] * Math.sin(i * Math.PI / 36))), style);
  }
  arrow(from, to, { color = INK, width = 2.5 } = {}) {
    const a = [this.X(from[0]), this.Y(from[1])], b = [this.X(to[0]), this.Y(to[1])], angle = Math.atan2(b[1] - a[1], b[0] - a[0]);
    const side = turn => `${(b[0] - 9 * Math.cos(angle + turn)).toFixed(1)} ${(b[1] - 9 * Math.sin(angle + turn)).toFixed(1)}`;
    this.line([from, to], { color, width });
    this.add("path", { d: `M${b.map(v => v.toFixed(1)).join(" ")}L${side(0.42)}L${side(-0.42)}Z`, fill: color });
  }
  bar(x0, x1, y, { color = BLUE, from = this.log ? this.y[0] : 0 } = {}) {
    const [a, b] = [this.Y(y), this.Y(from)].sort((p, q) => p - q);
    this.add("rect", { x: this.X(x0), width: Math.max(this.X(x1) - this.X(x0), 0.5), y: a, height: Math.max(b - a, 0.5), fill: color });
  }
  text([x, y], text, { color = INK, anchor = "start", dx = 0, dy = 0 } = {}) {
    this.add("text", { x: this.X(x) + dx, y: this.Y(y) + dy, fill: color, "text-anchor": anchor, class: "live-word" }, text);
  }
  // Fill the frame with a picture: values in rows, top row first, mapped to colours by paint(value) -> [r, g, b].
  picture(values, paint) {
    const { canvas } = this, { left, right, top, bottom } = this.margin, rows = values.length, columns = values[0].length;
    Object.assign(canvas, { width: columns, height: rows });
    const image = canvas.getContext("2d").createImageData(columns, rows);
    values.forEach((row, i) => row.forEach((v, j) => image.data.set([...paint(v), 255], 4 * (i * columns + j))));
    canvas.getContext("2d").putImageData(image, 0, 0);
    const share = (v, whole) => `${(100 * v) / whole}%`;
    Object.assign(canvas.style, { left: share(left, this.width), width: share(this.width - left - right, this.width), top: share(top, this.height), height: share(this.height - top - bottom, this.height) });
  }
  // The values of f on a grid over the frame, top row first.
  sample(f, size = 48) {
    return Array.from({ length: size }, (_, i) => Array.from({ length: size }, (_, j) =>
      f([this.x[0] + (j + 0.5) / size * (this.x[1] - this.x[0]), this.y[1] - (i + 0.5) / size * (this.y[1] - this.y[0])])));
  }
  // Lines where sampled values equal a level (marching squares).
  contour(values, level, style = {}) {
    const n = values.length, m = values[0].length, d = [];
    const place = (i, j) => [this.X(this.x[0] + (j + 0.5) / m * (this.x[1] - this.x[0])), this.Y(this.y[1] - (i + 0.5) / n * (this.y[1] - this.y[0]))];
    for (let i = 0; i + 1 < n; i++) for (let j = 0; j + 1 < m; j++) {
      const corners = [[i, j], [i, j + 1], [i + 1, j + 1], [i + 1, j]], cuts = [];
      corners.forEach(([a, b], e) => {
        const [c, g] = corners[(e + 1) % 4], u = values[a][b] - level, v = values[c][g] - level;
        if (u < 0 === v < 0) return;
        const p = place(a, b), q = place(c, g), t = u / (u - v);
        cuts.push(`${(p[0] + t * (q[0] - p[0])).toFixed(1)} ${(p[1] + t * (q[1] - p[1])).toFixed(1)}`);
      });
      for (let c = 0; c + 1 < cuts.length; c += 2) d.push(`M${cuts[c]}L${cuts[c + 1]}`);
    }
    this.add("path", { d: d.join(""), fill: "none", stroke: style.color ?? INK, "stroke-width": style.width ?? 1.2, "stroke-dasharray": style.dash });
  }
  // A function as colours and contour lines, zero in ink.
  landscape(f, size = 44) {
    this.canvas.style.imageRendering = "auto";
    const grid = this.sample(f, size), top = Math.max(...grid.flat().map(Math.abs)) || 1;
    this.picture(grid.map(row => row.map(v => v / top)), v => signed(v, PURPLES[+dark()]));
    for (let level = -4; level <= 4; level++) this.contour(grid, level * top / 5, level ? { color: GREY, width: 0.8 } : { width: 1.8 });
  }
}

const dark = () => document.documentElement.dataset.theme === "dark";
const PURPLES = [[94, 60, 153], [160, 125, 235]]; // on white, on dark paper
const mix = (a, b, t) => a.map((v, i) => Math.round(v + (b[i] - v) * t));
// Paints for pictures: grey from 0 to 1; orange over paper to blue (or another colour) for −1…0…1.
export const grey = v => { const g = Math.round(255 * Math.min(1, Math.max(0, v))); return [g, g, g]; };
export const signed = (v, up = [0, 114, 178]) => { const t = Math.min(1, Math.abs(v)), paper = dark() ? [34, 39, 46] : [255, 255, 255]; return mix(paper, v < 0 ? [213, 94, 0] : up, 0.85 * t); };
