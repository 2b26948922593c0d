// Panels to draw on: an SVG with coordinates, over a canvas for pictures.
// Colours are the book's palette and follow the page's light or dark theme (book.css).
import { largest, list, plus, turn } from "./linalg.js";

export const [BLUE, ORANGE, GREEN, PURPLE, GREY, INK] = ["blue", "orange", "green", "purple", "grey", "ink"].map(c => `var(--live-${c})`);

export function set(node, attributes, ...children) {
  for (const [key, value] of Object.entries(attributes)) if (value != null) node.setAttribute(key, value);
  node.append(...children);
  return node;
}
export const element = (tag, attributes, ...children) => set(document.createElement(tag), attributes, ...children);
export const shape = (tag, attributes, ...children) => set(document.createElementNS("http://www.w3.org/2000/svg", tag), attributes, ...children);

const round = ([low, high]) => { // some five round numbers
  const raw = (high - low) / 5, power = 10 ** Math.floor(Math.log10(raw));
  const step = power * [1, 2, 5, 10].find(f => f * power >= raw), first = Math.ceil(low / step - 1e-9);
  return list(Math.floor(high / step + 1e-9) - first + 1, i => (first + i) * step);
};
export const short = x => (x !== 0 && (Math.abs(x) < 1e-3 || Math.abs(x) >= 1e5) ? x.toExponential(1) : String(+x.toPrecision(3))).replace("-", "−");
const power = x => (x ? "10" + String(x).replace("-", "⁻").replace(/\d/g, c => "⁰¹²³⁴⁵⁶⁷⁸⁹"[c]) : "1");
const tenth = x => Math.round(10 * x) / 10;
let clips = 0;

// width, height (in pixels of a phone; without height x and y have the same scale), ranges of x and y, log (of y)
export class Panel {
  constructor({ width = 320, height, x = [-1, 1], y = x, log, title, xLabel, axes = true, xTicks }) {
    const [left, right, top, bottom] = axes ? [36, 10, 10, xLabel ? 40 : 24] : [4, 4, 4, 4], wide = width - left - right, clip = `live-clip-${(clips += 1)}`;
    height ??= top + bottom + wide * (y[1] - y[0]) / (x[1] - x[0]);
    Object.assign(this, { width, height, x, y, log, xLabel, axes, xTicks, left, top, wide, high: height - top - bottom });
    const share = (v, whole) => `${(100 * v) / whole}%`;
    this.canvas = element("canvas", { "aria-hidden": "true", style: `left:${share(left, width)};width:${share(this.wide, width)};top:${share(top, height)};height:${share(this.high, height)}` });
    this.back = shape("g", {});
    this.front = shape("g", { "clip-path": `url(#${clip})` });
    this.handles = shape("g", {});
    const frame = shape("clipPath", { id: clip }, shape("rect", { x: left, y: top, width: this.wide, height: this.high }));
    this.svg = shape("svg", { viewBox: `0 0 ${width} ${height}`, role: "group", "aria-label": title }, frame, this.back, this.front, this.handles);
    this.node = element("div", { class: "live-panel", style: `flex:${width} 1 ${width * 0.75}px;max-width:${width * 1.15}px` },
      element("div", { class: "live-title" }, title), element("div", { class: "live-stage" }, this.canvas, this.svg));
  }
  X(v) { return this.left + this.wide * (v - this.x[0]) / (this.x[1] - this.x[0]); }
  Y(v) {
    const [low, high] = this.y, part = this.log ? Math.log(Math.max(v, 1e-300) / low) / Math.log(high / low) : (v - low) / (high - low);
    return this.top + this.high * (1 - part);
  }
  pixel([x, y]) { return [tenth(this.X(x)), tenth(this.Y(y))]; }
  at([u, v]) { // from pixels of the drawing back to coordinates
    const [[a, b], [c, d]] = [this.x, this.y];
    return [a + (b - a) * (u - this.left) / this.wide, d - (d - c) * (v - this.top) / this.high];
  }
  place(event) { // of a mouse or a finger
    const box = this.svg.getBoundingClientRect(), zoom = this.width / box.width;
    return this.at([(event.clientX - box.left) * zoom, (event.clientY - box.top) * zoom]);
  }
  inside(point) { return [this.x, this.y].map(([low, high], j) => Math.min(high, Math.max(low, point[j]))); }
  clear(x = this.x, y = this.y) {
    Object.assign(this, { x, y });
    this.front.replaceChildren();
    this.back.replaceChildren();
    if (this.axes) this.grid();
  }
  grid() {
    const { left, top } = this, floor = top + this.high, end = left + this.wide;
    const word = (x, y, text, anchor = "middle") => this.back.append(shape("text", { x, y, class: "live-tick", "text-anchor": anchor }, text));
    const rule = d => this.back.append(shape("path", { d, class: "live-grid" }));
    for (const t of this.xTicks ?? round(this.x)) {
      rule(`M${this.X(t)} ${top}V${floor}`);
      word(this.X(t), floor + 14, short(t));
    }
    for (const t of round(this.log ? this.y.map(Math.log10) : this.y)) {
      const y = this.Y(this.log ? 10 ** t : t);
      rule(`M${left} ${y}H${end}`);
      word(left - 5, y + 4, this.log ? power(t) : short(t), "end");
    }
    if (this.xLabel) word((left + end) / 2, this.height - 6, this.xLabel);
  }
  add(tag, attributes, ...children) { this.front.append(shape(tag, attributes, ...children)); }
  path(d, stroke = INK, width = 2, dash = null, opacity = null) {
    this.add("path", { d, fill: "none", stroke, "stroke-width": width, "stroke-dasharray": dash, "stroke-linejoin": "round", opacity });
  }
  line(points, ...style) { this.path(points.map((p, i) => `${i ? "L" : "M"}${this.pixel(p)}`).join(""), ...style); }
  dots(points, color = BLUE, r = 3.5, opacity = 0.85) {
    for (const [cx, cy] of points.map(p => this.pixel(p))) this.add("circle", { cx, cy, r, opacity, fill: color });
  }
  ellipse(middle, a, b, ...style) { // by two vectors from its middle
    const place = t => [0, 1].map(j => middle[j] + a[j] * Math.cos(t) + b[j] * Math.sin(t));
    this.line(list(73, i => place(i * Math.PI / 36)), ...style);
  }
  arrow(from, to, color) {
    const [a, b] = [from, to].map(place => this.pixel(place));
    this.line([from, to], color, 2.5);
    this.add("path", { d: "M1 0L-8 4V-4Z", fill: color, transform: `translate(${b}) rotate(${turn(plus(b, a, -1))})` });
  }
  bar(x0, x1, y, color = BLUE, from = this.log ? this.y[0] : 0) {
    const [a, b] = [this.Y(y), this.Y(from)].sort((p, q) => p - q);
    this.add("rect", { x: this.X(x0), width: this.X(x1) - this.X(x0), y: a, height: Math.max(b - a, 0.5), fill: color });
  }
  bars(values, color) { values.forEach((y, i) => this.bar(i + 0.1, i + 0.9, y, color(i, y))); }
  text([x, y], text, color = INK, dx = 9, dy = -7, anchor = "start") {
    this.add("text", { x: this.X(x) + dx, y: this.Y(y) + dy, fill: color, "text-anchor": anchor, class: "live-word" }, text);
  }
  // Fill the frame with a picture: values in rows, top row first, mapped to colours by paint(value) -> [r, g, b].
  picture(values, paint) {
    const { canvas } = this, rows = values.length, columns = values[0].length;
    Object.assign(canvas, { width: columns, height: rows });
    const context = canvas.getContext("2d"), image = context.createImageData(columns, rows);
    values.forEach((row, i) => row.forEach((v, j) => image.data.set([...paint(v), 255], 4 * (i * columns + j))));
    context.putImageData(image, 0, 0);
  }
  // A function as colours and contour lines, zero in ink.
  landscape(f, size = 36) {
    const cell = (i, j) => [this.left + (j + 0.5) / size * this.wide, this.top + (i + 0.5) / size * this.high];
    const values = list(size, i => list(size, j => f(this.at(cell(i, j))))), most = largest(values.flat()) || 1;
    this.canvas.style.imageRendering = "auto";
    this.picture(values, v => signed(v / most, PURPLES[+dark()]));
    const lines = list(9, () => ""), levels = lines.map((_, k) => (k - 4) * most / 5);
    for (let i = 0; i + 1 < size; i++) for (let j = 0; j + 1 < size; j++) { // marching squares
      const corners = [[i, j], [i, j + 1], [i + 1, j + 1], [i + 1, j]], v = corners.map(([a, b]) => values[a][b]);
      levels.forEach((level, k) => {
        if (v.every(x => x < level === v[0] < level)) return;
        const cuts = corners.flatMap((p, e) => {
          const f = (e + 1) % 4, q = corners[f], t = (level - v[e]) / (v[f] - v[e]);
          return v[e] < level === v[f] < level ? [] : [cell(...plus(p, plus(q, p, -1), t)).map(tenth)];
        });
        for (let c = 0; c + 1 < cuts.length; c += 2) lines[k] += `M${cuts[c]}L${cuts[c + 1]}`;
      });
    }
    lines.forEach((d, k) => this.path(d, ...(k === 4 ? [INK, 1.8] : [GREY, 0.8])));
  }
}

const dark = () => document.documentElement.dataset.theme === "dark";
const PURPLES = [[94, 60, 153], [160, 125, 235]]; // on white, on dark paper
// Paints: grey from 0 to 1; orange over paper to blue (or another colour) for −1…0…1.
export const grey = v => new Array(3).fill(Math.round(255 * Math.min(1, Math.max(0, v))));
export const signed = (v, up = [0, 114, 178]) => {
  const paper = dark() ? [34, 39, 46] : [255, 255, 255], ink = v < 0 ? [213, 94, 0] : up, t = 0.85 * Math.min(1, Math.abs(v));
  return paper.map((p, i) => Math.round(p + (ink[i] - p) * t));
};
