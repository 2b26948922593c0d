// Puts a live figure before its still picture, which is for print. CONTRIBUTING.md tells its parts.
import { Panel, div, element, set, shape, short } from "./draw.js";
export * from "./draw.js";
export * from "./linalg.js";

export const load = async file => (await fetch(new URL(file, import.meta.url))).json();
// Parts of many figures.
export const slider = (label, value, min, max, step = 1, more) => ({ label, value, min, max, step, ...more });
const KERNELS = [["rbf", "Gaussian"], ["laplacian", "Laplacian"], ["polynomial"], ["linear"]];
export const kernelChoice = (sigma, widest) => ({
  kernel: { label: "kernel", value: "rbf", options: KERNELS },
  sigma: slider("width σ", sigma, 0.05, widest, 0.02, { log: true, when: ({ kernel }) => /rbf|laplacian/.test(kernel) }),
  degree: slider("degree", 2, 1, 6, 1, { when: ({ kernel }) => kernel === "polynomial" }),
});
export const mapped = (table, f) => Object.fromEntries(Object.entries(table).map(([key, value]) => [key, f(value, key)]));
export const again = label => ({ label, run: ({ seed }) => ({ seed: seed + 1 }) });
export const adding = { panel: "plane", label: "add a point", run: ({ points }, at) => ({ points: [...points, at].slice(0, 60) }) };
export const handle = (state, key, panel, label) => ({ panel, label, at: state[key], move: (_, to) => ({ [key]: to }) });
export const pointHandle = (panel, label, points, i) => ({ panel, label, at: points[i], move: (_, to) => ({ points: points.with(i, to) }) });

// A number in words: significant digits (3), decimals ("f2") or per cent ("%").
export function word(x, form = 3) {
  if (!Number.isFinite(x)) return "—";
  if (form === "%") return `${(100 * x).toFixed(1)} %`;
  return form[0] === "f" ? x.toFixed(form[1]).replace("-", "−") : short(x, form);
}
const numbers = {};
export function live(name, figure) {
  numbers[name] = figure.numbers;
  for (const root of document.querySelectorAll(`.live-figure[data-live-figure="${name}"]`)) mount(root, name, figure);
  return numbers;
}

const on = (node, kind, run, options) => node.addEventListener(kind, run, options);
function mount(root, name, figure) {
  const { params, actions = {}, handles = () => [], click, words } = figure;
  const first = mapped(params, p => p.value ?? p), state = structuredClone(first);
  const room = root.clientWidth - 28, updates = []; // no panel is shrunk, or its words could not be read
  const panels = mapped(figure.panels, spec => new Panel({ ...spec, width: Math.min(spec.width ?? 320, room) }));
  const controls = div("controls"), buttons = div("buttons"), readings = element("dl", { class: "live-numbers" });

  let waiting = 0;
  const change = (changes, now) => {
    Object.assign(state, changes);
    if (now) return draw();
    waiting ||= requestAnimationFrame(() => { waiting = 0; draw(); });
  };

  for (const [key, p] of Object.entries(params)) if (p.label) {
    const id = `${name}-${key}`, [show, read] = p.log ? [Math.log10, x => +(10 ** x).toPrecision(2)] : [Number, Number];
    const kind = p.options ? "select" : typeof p.value === "boolean" ? "checkbox" : "range";
    const input = element(p.options ? kind : "input", { id, type: p.options ? null : kind }), reading = element("output", { for: id });
    input.append(...(p.options ?? []).map(([value, text = value]) => element("option", { value }, text)));
    if (kind === "range") Object.assign(input, { min: show(p.min), max: show(p.max), step: p.step });
    on(input, "input", () => change({ [key]: { select: input.value, checkbox: input.checked, range: read(input.value) }[kind] }));
    controls.append(div(`control live-${kind}`, element("label", { for: id }, p.label), input, reading));
    updates.push(() => {
      if (kind === "checkbox") input.checked = state[key];
      else input.value = kind === "range" ? show(state[key]) : state[key];
      input.disabled = p.when?.(state) === false;
      if (kind !== "range") return;
      reading.textContent = p.format?.(state[key]) ?? short(state[key]);
      set(input, { "aria-valuetext": reading.textContent });
    });
  }
  const button = (key, label, run) => {
    const node = element("button", { type: "button", "data-action": key }, label);
    on(node, "click", () => run(node));
    buttons.append(node);
  };
  mapped(actions, ({ label, run }, key) => button(key, label, () => change(run(state), true)));
  button("reset", "Reset", () => change(structuredClone(first), true));
  button("share", "Link", node => {
    history.replaceState(null, "", toAddress(name, state, first));
    navigator.clipboard?.writeText(location.href).catch(() => {});
    node.textContent = "Linked";
    setTimeout(() => { node.textContent = "Link"; }, 1500);
  });
  controls.append(buttons);
  mapped(words, (what, key) => {
    const [label, form] = [what].flat(), node = element("dd", { "data-number": key });
    readings.append(element("div", {}, element("dt", {}, label), node));
    updates.push(found => { node.textContent = typeof form === "function" ? form(found[key], state, found) : word(found[key], form); });
  });

  // What can be grabbed: a pen, which does by keys what a click does, and the figure's handles.
  const grips = [], pen = click && { ...click, label: `Enter: ${click.label}`, at: click.start ?? [0, 0], move: (_, to) => { pen.at = to; } };
  const grabbed = () => [...(pen ? [pen] : []), ...handles(state)];
  function place() {
    const all = grabbed();
    while (grips.length > all.length) grips.pop().remove();
    all.forEach(({ panel: name, label, at: [x, y], run }, i) => {
      const panel = panels[name], node = grips[i] ??= grip(i, label, run), [u, v] = panel.inside([x, y]);
      if (node.parentNode !== panel.handles) panel.handles.append(node);
      set(node, { transform: `translate(${panel.X(u)} ${panel.Y(v)})`, "aria-label": label, "aria-valuenow": x, "aria-valuetext": `${short(x)}, ${short(y)}` });
    });
  }
  function grip(i, label, run) {
    const node = shape("g", { class: run ? "live-pen" : "live-handle", tabindex: 0, role: "slider" }, shape("circle", { r: 20, class: "live-reach" }), shape("circle", { r: 6 }));
    if (run) node.append(shape("text", { y: 36, "text-anchor": "middle" }, label));
    const panel = () => panels[grabbed()[i].panel], move = to => change(grabbed()[i].move(state, panel().inside(to)));
    on(node, "pointerdown", event => { node.setPointerCapture(event.pointerId); node.focus({ preventScroll: true }); event.stopPropagation(); });
    on(node, "touchstart", event => event.preventDefault(), { passive: false }); // or the page scrolls
    on(node, "pointermove", event => { if (node.hasPointerCapture(event.pointerId)) move(panel().place(event)); });
    on(node, "keydown", event => {
      const step = { ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, 1], ArrowDown: [0, -1] }[event.key], { at } = grabbed()[i];
      if (!step && !(run && /^( |Enter)$/.test(event.key))) return;
      event.preventDefault();
      if (!step) return change(run(state, at));
      const { x, y } = panel(), far = (run ? 0.05 : 0.02) * (event.shiftKey ? 5 : 1);
      move([at[0] + far * step[0] * (x[1] - x[0]), at[1] + far * step[1] * (y[1] - y[0])]);
    });
    return node;
  }
  if (click) {
    const panel = panels[click.panel], { svg } = panel, { paint } = click;
    const mark = event => { if (!event.target.closest(".live-handle")) change(click.run(state, panel.place(event))); };
    on(svg, paint ? "pointerdown" : "click", mark);
    if (paint) {
      svg.style.touchAction = "none";
      on(svg, "pointermove", event => { if (event.buttons) mark(event); });
    }
  }

  function draw() {
    const found = figure.numbers(state);
    mapped(panels, panel => panel.clear());
    figure.draw(panels, state, found);
    place();
    updates.forEach(update => update(found));
    Object.assign(root, { numbers: found, state }); // what the tests read
  }

  const still = root.querySelector("img"), box = div("box", div("panels", ...Object.values(panels).map(p => p.node)), controls, readings);
  box.id = name;
  still.before(box);
  still.classList.add("live-still");
  const open = () => {
    try { change(fromAddress(name, params, first), true); } catch { change(structuredClone(first), true); } // an address may hold anything
    if (location.hash.startsWith(`#${name}?`)) box.scrollIntoView();
  };
  open();
  addEventListener("hashchange", open);
  addEventListener("load", open); // when the page has its length
}

// The state in the address: #name?sigma=0.3&points=[[0,1]], only what differs from the start.
function toAddress(name, state, first) {
  const text = value => JSON.stringify(value, (_, v) => (v.toPrecision ? +v.toPrecision(6) : v)).replace(/^"|"$/g, "");
  const now = Object.keys(first).map(key => [key, text(state[key])]);
  return `#${name}?${new URLSearchParams(now.filter(([key, value]) => value !== text(first[key])))}`;
}
function fromAddress(name, params, first) {
  const [figure, query] = location.hash.split("?"), found = {};
  for (const [key, text] of new URLSearchParams(figure === `#${name}` ? query : "")) if (params[key]) {
    const { options, min, max } = params[key], value = options ? text : JSON.parse(text.replace(/^(-?)\./, "$10."));
    if (options ? options.some(([v]) => v === value) : typeof value === typeof first[key] && !(value < min || value > max)) found[key] = value;
  }
  return found;
}
