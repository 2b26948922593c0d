// Panels to draw on: an SVG with coordinates, over a canvas for pictures.
// Colours are the book's palette and follow the page's light or dark theme (book.css).
import { abs, largest, list, max, min, plus, scaled, turn } from "./linalg.js";

export const [BLUE, ORANGE, GREEN, PURPLE, GREY, INK] = ["blue", "orange", "green", "purple", "grey", "ink"].map(c => `var(--live-${c})`);

export function set(node, attributes = {}, ...children) {
  for (const [key, value] of Object.entries(attributes)) if (value != null) node.setAttribute(key, value);
  node.append(...children);
  return node;
}
export const element = (tag, attributes, ...children) => set(document.createElement(tag), attributes, ...children);
export const shape = (tag, attributes, ...children) => set(document.createElementNS("http://www.w3.org/2000/svg", tag), attributes, ...children);
export const div = (name, ...children) => element("div", { class: `live-${name}` }, ...children);

const round = ([low, high]) => { // some five round numbers
  const raw = (high - low) / 5, power = 10 ** Math.floor(Math.log10(raw));
  const step = power * [1, 2, 5, 10].find(f => f * power >= raw), first = Math.ceil(low / step - 1e-9);
  return list(Math.floor(high / step + 1e-9) - first + 1, i => (first + i) * step);
};
export const power = x => (x ? "10" + String(x).replace("-", "⁻").replace(/\d/g, c => "⁰¹²³⁴⁵⁶⁷⁸⁹"[c]) : "1");
export const short = (x, digits = 3) => (x && (abs(x) < 1e-3 || abs(x) >= 1e5) ? x.toExponential(1) : String(+x.toPrecision(digits))).replace("-", "−");
const tenth = x => Math.round(10 * x) / 10, between = (low, x, high) => max(low, min(high, x));
let clips = 0;

// width, height (without height x and y have the same scale), ranges of x and y, log (of y), xTicks (numbers, or [number, word])
export class Panel {
  constructor({ width, height, x = [-1, 1], y = x, log, title, xLabel, axes = true, xTicks }) {
    const [left, right, top, bottom] = axes ? [36, 10, 10, xLabel ? 40 : 24] : [4, 4, 4, 4], wide = width - left - right, clip = `live-clip-${(clips += 1)}`;
    height ??= top + bottom + wide * (y[1] - y[0]) / (x[1] - x[0]);
    Object.assign(this, { width, height, x, y, log, xLabel, axes, xTicks, left, top, wide, high: height - top - bottom });
    const share = (v, whole) => `${(100 * v) / whole}%`;
    this.canvas = element("canvas", { style: `left:${share(left, width)};width:${share(wide, width)};top:${share(top, height)};height:${share(this.high, height)}` });
    this.back = shape("g");
    this.front = shape("g", { "clip-path": `url(#${clip})` });
    this.handles = shape("g");
    const frame = shape("clipPath", { id: clip }, shape("rect", { x: left, y: top, width: wide, height: this.high }));
    this.svg = shape("svg", { viewBox: `0 0 ${width} ${height}`, role: "group", "aria-label": title }, frame, this.back, this.front, this.handles);
    this.node = set(div("panel", div("title", title), div("stage", this.canvas, this.svg)), { style: `flex:${width} 1 ${width * 0.75}px;max-width:${width * 1.15}px` });
  }
  X(v) { return this.left + this.wide * (v - this.x[0]) / (this.x[1] - this.x[0]); }
  Y(v) {
    const [low, high] = this.y, part = this.log ? Math.log(max(v, 1e-300) / low) / Math.log(high / low) : (v - low) / (high - low);
    return this.top + this.high * (1 - part);
  }
  pixel([x, y]) { return [tenth(this.X(x)), tenth(this.Y(y))]; }
  at([u, v]) { // from pixels of the drawing back to coordinates
    const [[a, b], [c, d]] = [this.x, this.y];
    return [a + (b - a) * (u - this.left) / this.wide, d - (d - c) * (v - this.top) / this.high];
  }
  place(event) {
    const { left, top, width } = this.svg.getBoundingClientRect();
    return this.at([event.clientX - left, event.clientY - top].map(v => v * this.width / width));
  }
  inside(point) { return [this.x, this.y].map(([low, high], j) => between(low, point[j], high)); }
  clear(x = this.x, y = this.y) {
    Object.assign(this, { x, y });
    this.front.replaceChildren();
    this.back.replaceChildren();
    if (this.axes) this.grid();
  }
  grid() {
    const { left, top } = this, floor = top + this.high, end = left + this.wide;
    const word = (x, y, text, anchor = "middle") => this.back.append(shape("text", { x, y, class: "live-tick", "text-anchor": anchor }, text));
    let rules = "";
    for (const tick of this.xTicks ?? round(this.x)) {
      const [t, name = short(t)] = [tick].flat();
      rules += `M${this.X(t)} ${top}V${floor}`;
      word(this.X(t), floor + 14, name);
    }
    for (const t of round(this.log ? this.y.map(Math.log10) : this.y)) {
      const y = this.Y(this.log ? 10 ** t : t);
      rules += `M${left} ${y}H${end}`;
      word(left - 5, y + 4, this.log ? power(t) : short(t), "end");
    }
    if (this.xLabel) word((left + end) / 2, this.height - 6, this.xLabel);
    this.back.prepend(shape("path", { d: rules, class: "live-grid" }));
  }
  add(tag, attributes, ...children) { this.front.append(shape(tag, attributes, ...children)); }
  path(d, stroke = INK, width = 2, dash, opacity) {
    this.add("path", { d, fill: "none", stroke, "stroke-width": width, "stroke-dasharray": dash, "stroke-linejoin": "round", opacity });
  }
  line(points, ...style) { this.path(points.map((p, i) => `${i ? "L" : "M"}${this.pixel(p)}`).join(""), ...style); }
  dots(points, color = BLUE, r = 3.5, opacity = 0.85) {
    this.add("path", { d: points.map(p => `M${this.pixel(p)}h0`).join(""), stroke: color, "stroke-width": 2 * r, "stroke-linecap": "round", opacity });
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
    this.add("path", { d: `M${this.pixel([x0, from])}V${this.Y(y)}H${this.X(x1)}V${this.Y(from)}`, fill: color });
  }
  bars(values, color) { values.forEach((y, i) => this.bar(i + 0.6, i + 1.4, y, color(i, y))); } // at 1, 2, …
  text([x, y], text, color = INK, dx = 9, dy = -7, anchor = "start") { // inside the frame
    const size = 8 * text.length, left = this.left + { start: 0, middle: size / 2, end: size }[anchor], top = this.top + 12;
    const at = { x: between(left, this.X(x) + dx, left + this.wide - size), y: between(top, this.Y(y) + dy, top + this.high - 16) };
    this.add("text", { ...at, fill: color, "text-anchor": anchor, class: "live-word" }, text);
  }
  // Fill the frame with a picture: values in rows, top row first, mapped to colours by paint(value) -> [r, g, b, opacity].
  picture(values, paint) {
    const { canvas } = this, rows = values.length, columns = values[0].length;
    Object.assign(canvas, { width: columns, height: rows });
    const context = canvas.getContext("2d"), image = context.createImageData(columns, rows);
    values.flat().forEach((v, i) => image.data.set(paint(v), 4 * i));
    context.putImageData(image, 0, 0);
  }
  // A function as colours and contour lines, zero in ink.
  landscape(f, size = 40) {
    const cell = (i, j) => [this.left + (j + 0.5) / size * this.wide, this.top + (i + 0.5) / size * this.high];
    const values = list(size, i => list(size, j => f(this.at(cell(i, j))))), most = largest(values.flat()) || 1;
    this.canvas.style.imageRendering = "auto";
    this.picture(values, v => signed(v / most, [125, 90, 215]));
    const lines = list(9, () => ""), step = most / 5, around = [[0, 0], [0, 1], [1, 1], [1, 0], [0, 0]];
    for (let i = 0; i + 1 < size; i++) for (let j = 0; j + 1 < size; j++) { // marching squares
      const v = around.map(([a, b]) => values[i + a][j + b]), high = max(...v);
      for (let k = max(-4, Math.ceil(min(...v) / step)); k <= 4 && k * step <= high; k++) {
        const cuts = [];
        for (let e = 0; e < 4; e++) if (v[e] < k * step !== v[e + 1] < k * step) {
          const t = (k * step - v[e]) / (v[e + 1] - v[e]), along = plus(scaled(around[e], 1 - t), around[e + 1], t);
          cuts.push(cell(i + along[0], j + along[1]).map(tenth));
        }
        lines[k + 4] += cuts.map((at, c) => (c % 2 ? "L" : "M") + at).join("");
      }
    }
    lines.forEach((d, k) => this.path(d, ...(k === 4 ? [INK, 1.8] : [GREY, 0.8])));
  }
}

// Paints: grey from 0 to 1; for −1…0…1 orange, paper (light or dark), blue or another colour.
export const grey = v => [255 * v, 255 * v, 255 * v, 255];
export const signed = (v, up = [30, 135, 215]) => [...(v < 0 ? [230, 115, 30] : up), 230 * min(1, abs(v))];
