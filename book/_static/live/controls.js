// Puts a live figure where its still picture stands: panels to look at, things to move, numbers to
// read. The still picture stays for print. A figure is an object with params, actions, panels, handles,
// click, numbers, words and draw. CONTRIBUTING.md says what each of them is.
import { Panel, element, shape, short } from "./draw.js";

const rounded = v => (typeof v === "number" ? +v.toPrecision(6) : Array.isArray(v) ? v.map(rounded) : v);

// A number in words: significant digits (3), decimals ("f2"), per cent ("%"), degrees ("°") or a power of ten ("e").
export function word(x, form) {
  if (!Number.isFinite(x)) return "—";
  const text = { f: d => x.toFixed(d), "%": () => `${(100 * x).toFixed(1)} %`, "°": () => `${x.toFixed(1)}°`, e: () => x.toExponential(1) }[String(form)[0]]?.(String(form)[1]) ?? String(+x.toPrecision(form));
  return text.replace("-", "−");
}
const places = name => document.querySelectorAll(`.live-figure[data-live-figure="${name}"]`);
export const wanted = name => places(name).length > 0;
export const load = async file => (await fetch(new URL(file, import.meta.url))).json();
export function live(name, figure) {
  for (const root of places(name)) mount(root, name, figure);
}

function mount(root, name, figure) {
  const first = Object.fromEntries(Object.entries(figure.params).map(([key, p]) => [key, p.value]));
  const state = { ...structuredClone(first), ...fromAddress(name, figure.params) };
  const panels = Object.fromEntries(Object.entries(figure.panels).map(([key, spec]) => [key, new Panel(spec)]));
  const fields = {}, shown = {};
  const controls = element("div", { class: "live-controls" }), readings = element("dl", { class: "live-numbers" });

  let waiting = 0;
  const change = (changes, now = false) => {
    Object.assign(state, changes);
    if (now) return draw();
    waiting ||= requestAnimationFrame(() => { waiting = 0; draw(); });
  };

  for (const [key, p] of Object.entries(figure.params)) if (p.label) {
    const id = `${name}-${key}`, label = element("label", { for: id }, p.label);
    let input;
    if (p.options) input = element("select", { id }, ...p.options.map(([value, text]) => element("option", { value: String(value) }, text)));
    else if (typeof p.value === "boolean") input = element("input", { id, type: "checkbox" });
    else input = element("input", { id, type: "range", min: String(p.min), max: String(p.max), step: String(p.step) });
    const reading = element("output", { for: id });
    input.addEventListener("input", () => change({ [key]: p.options ? p.options.find(([v]) => String(v) === input.value)[0] : input.type === "checkbox" ? input.checked : +input.value }));
    fields[key] = { input, reading, p };
    controls.append(element("div", { class: `live-control live-${input.type}` }, label, input, ...(input.type === "range" ? [reading] : [])));
  }
  const buttons = element("div", { class: "live-buttons" });
  for (const [key, action] of Object.entries(figure.actions ?? {})) {
    const button = element("button", { type: "button", "data-action": key }, action.label);
    button.addEventListener("click", () => change(action.run(state), true));
    buttons.append(button);
  }
  const reset = element("button", { type: "button", "data-action": "reset" }, "Reset");
  reset.addEventListener("click", () => change(structuredClone(first), true));
  const share = element("button", { type: "button", "data-action": "share", title: "Put this state into the page's address" }, "Link");
  share.addEventListener("click", () => {
    history.replaceState(null, "", toAddress(name, figure.params, state, first));
    navigator.clipboard?.writeText(location.href).catch(() => {});
    share.textContent = "Linked";
    setTimeout(() => { share.textContent = "Link"; }, 1500);
  });
  buttons.append(reset, share);
  controls.append(buttons);
  for (const [key, [label]] of Object.entries(figure.words ?? {})) {
    shown[key] = element("dd", { "data-number": key });
    readings.append(element("div", {}, element("dt", {}, label), shown[key]));
  }

  const grips = [];
  function handles() {
    const wanted = figure.handles?.(state) ?? [];
    while (grips.length > wanted.length) grips.pop().remove();
    wanted.forEach((handle, i) => {
      const panel = panels[handle.panel];
      if (!grips[i]) grips.push(grip(i, panel));
      if (grips[i].parentNode !== panel.handles) panel.handles.append(grips[i]);
      const [x, y] = handle.at;
      grips[i].setAttribute("transform", `translate(${panel.X(x)} ${panel.Y(y)})`);
      for (const [key, value] of Object.entries({ label: handle.label, valuenow: short(x).replace("−", "-"), valuetext: `${short(x)}, ${short(y)}` })) grips[i].setAttribute(`aria-${key}`, value);
    });
  }
  function grip(i) {
    const node = shape("g", { class: "live-handle", tabindex: 0, role: "slider" }, shape("circle", { r: 20, class: "live-reach" }), shape("circle", { r: 6 }));
    const move = point => { const handle = figure.handles(state)[i]; if (handle) change(handle.move(state, point)); };
    node.addEventListener("pointerdown", event => { node.setPointerCapture(event.pointerId); node.focus({ preventScroll: true }); event.stopPropagation(); });
    node.addEventListener("touchstart", event => event.preventDefault(), { passive: false }); // or the page scrolls
    node.addEventListener("pointermove", event => {
      if (node.hasPointerCapture(event.pointerId)) move(where(panels[figure.handles(state)[i].panel], event));
    });
    node.addEventListener("keydown", event => {
      const step = { ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, 1], ArrowDown: [0, -1] }[event.key];
      if (!step) return;
      event.preventDefault();
      const handle = figure.handles(state)[i], panel = panels[handle.panel], far = event.shiftKey ? 0.1 : 0.02;
      move([handle.at[0] + step[0] * far * (panel.x[1] - panel.x[0]), handle.at[1] + step[1] * far * (panel.y[1] - panel.y[0])]);
    });
    return node;
  }
  if (figure.click) {
    const { panel, run, paint } = figure.click, { svg } = panels[panel];
    const mark = event => { if (!event.target.closest(".live-handle")) change(run(state, where(panels[panel], event)), paint); };
    svg.addEventListener(paint ? "pointerdown" : "click", mark);
    if (paint) {
      svg.style.touchAction = "none";
      svg.addEventListener("pointermove", event => { if (event.buttons) mark(event); });
    }
  }

  function draw() {
    const numbers = figure.numbers(state);
    for (const [key, { input, reading, p }] of Object.entries(fields)) {
      if (input.type === "checkbox") input.checked = state[key];
      else input.value = String(state[key]);
      input.disabled = p.when ? !p.when(state) : false;
      reading.textContent = p.format ? p.format(state[key]) : short(+state[key]);
    }
    for (const panel of Object.values(panels)) panel.clear();
    figure.draw(panels, state, numbers);
    handles();
    for (const [key, [, form = 3]] of Object.entries(figure.words ?? {})) {
      const value = numbers[key];
      shown[key].textContent = typeof form === "function" ? form(value, state) : word(value, form);
    }
    root.numbers = numbers; // what the tests read
    root.state = state;
  }

  const still = root.querySelector("img"), box = element("div", { class: "live-box", id: name }, element("div", { class: "live-panels" }, ...Object.values(panels).map(p => p.node)), controls, readings);
  still.before(box);
  still.classList.add("live-still");
  draw();
  new MutationObserver(draw).observe(document.documentElement, { attributeFilter: ["data-theme"] });
  addEventListener("hashchange", () => change(fromAddress(name, figure.params), true));
  if (location.hash.startsWith(`#${name}?`)) addEventListener("load", () => box.scrollIntoView());
}

function where(panel, event) {
  const box = panel.svg.getBoundingClientRect();
  return panel.at([(event.clientX - box.left) * panel.width / box.width, (event.clientY - box.top) * panel.height / box.height]);
}

// The state in the address: #name?sigma=0.3&points=[[0,1]], only what differs from the start.
function toAddress(name, params, state, first) {
  const parts = Object.keys(params).map(key => [key, JSON.stringify(rounded(state[key]))]).filter(([key, value]) => value !== JSON.stringify(rounded(first[key])));
  return `#${name}?${parts.map(([key, value]) => `${key}=${encodeURIComponent(value.replace(/^"|"$/g, ""))}`).join("&")}`;
}
function fromAddress(name, params) {
  if (!location.hash.startsWith(`#${name}?`)) return {};
  const found = {};
  for (const part of location.hash.slice(name.length + 2).split("&")) {
    const [key, text = ""] = part.split("=").map(decodeURIComponent), p = params[key];
    if (!p) continue;
    let value = text;
    try { value = JSON.parse(text.replace(/^(-?)\./, "$10.")); } catch { /* a word */ }
    if (p.options ? p.options.some(([v]) => v === value) : typeof value === typeof p.value && (typeof value !== "number" || (value >= (p.min ?? -Infinity) && value <= (p.max ?? Infinity)))) found[key] = value;
  }
  return found;
}
