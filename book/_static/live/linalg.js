// Dense linear algebra for the live figures, n up to about 150. A matrix is an array of rows;
// eigenvectors are columns, largest value first, signs as in the library.

export const { PI, abs, cos, exp, max, min, sin, sqrt } = Math;
export const list = (n, f) => Array.from({ length: n }, (_, i) => f(i));
export const transpose = A => A[0].map((_, j) => A.map(row => row[j]));
export const column = (A, j) => A.map(row => row[j]);
export const dot = (x, y) => { let s = 0; for (let i = 0; i < x.length; i++) s += x[i] * y[i]; return s; };
export const norm = x => Math.hypot(...x);
export const plus = (x, y, c = 1) => x.map((a, i) => a + c * y[i]); // x + cy
export const scaled = (x, c) => x.map(a => c * a);
export const sum = x => x.reduce((a, b) => a + b, 0);
export const root = x => sqrt(max(x, 0));
export const largest = x => max(...x.map(abs));
export const average = x => sum(x) / x.length;
export const apply = (A, x) => A.map(row => dot(row, x));
export const times = (A, B) => { const columns = transpose(B); return A.map(row => apply(columns, row)); };
export const unit = angle => [cos(angle * PI / 180), sin(angle * PI / 180)];
export const turn = ([x, y]) => (Math.atan2(y, x) * 180 / PI + 360) % 360; // in degrees
export const angleOf = v => turn(v) % 180; // of a line
export const mean = X => transpose(X).map(average);
export const centered = (X, m = mean(X)) => X.map(row => plus(row, m, -1));
export const covariance = X => { const C = transpose(centered(X)); return C.map(a => C.map(b => dot(a, b) / X.length)); };

// With a positive entry of largest modulus; the first one, among equals.
function oriented(v) {
  const top = largest(v), entry = v.find(x => abs(x) >= top * (1 - 1e-6));
  return Array.from(entry < 0 ? scaled(v, -1) : v);
}
const add = (x, y, c) => { for (let i = 0; i < y.length; i++) x[i] += c * y[i]; };
// Eigenvalues and eigenvectors of a symmetric matrix: reflections make it tridiagonal, then rotations (QL) diagonal.
export function eigh(A) {
  const n = A.length, size = sqrt(sum(A.map(row => dot(row, row))));
  const M = A.map((row, i) => Float64Array.from([...row, ...list(n, j => +(i === j))])); // beside it, the vectors
  for (let k = 0; k + 2 < n; k++) {
    const v = M[k].slice(0, n).fill(0, 0, k + 1), length = sqrt(dot(v, v));
    if (!length) continue;
    v[k + 1] += v[k + 1] < 0 ? -length : length;
    const scale = 2 / dot(v, v), w = new Float64Array(2 * n);
    M.forEach((row, i) => add(w, row, scale * v[i]));
    M.forEach((row, i) => { add(row, w, -v[i]); add(row, v, -scale * dot(v, row)); });
  }
  const d = M.map((row, i) => row[i]), e = M.map((row, i) => (i + 1 < n ? row[i + 1] : 0)), V = M.map(row => row.subarray(n));
  for (let first = 0, last; first < n; first++) for (;;) {
    for (last = first; abs(e[last]) > 1e-15 * size; ) last++;
    if (last === first) break;
    const h = (d[first + 1] - d[first]) / (2 * e[first]);
    let g = d[last] - d[first] + e[first] / (h + (h < 0 ? -1 : 1) * sqrt(h * h + 1)), s = 1, c = 1, p = 0;
    for (let i = last - 1; i >= first; i--) {
      const f = s * e[i], b = c * e[i], r = sqrt(f * f + g * g) || 1e-300, x = V[i], y = V[i + 1], old = d[i + 1] - p;
      s = f / r;
      c = g / r;
      g = (d[i] - old) * s + 2 * c * b;
      p = s * g;
      d[i + 1] = old + p;
      e[i + 1] = r;
      g = c * g - b;
      for (let j = 0; j < n; j++) { const z = y[j]; y[j] = s * x[j] + c * z; x[j] = c * x[j] - s * z; }
    }
    d[first] -= p;
    e[first] = g;
    e[last] = 0;
  }
  const order = [...d.keys()].sort((i, j) => d[j] - d[i]);
  return { values: order.map(i => d[i]), vectors: transpose(order.map(i => oriented(V[i]))) };
}

// An orthonormal basis of the columns (Gram and Schmidt, twice).
export function orth(A) {
  const Q = [];
  for (const v of transpose(A)) {
    for (let twice = 0; twice < 2; twice++) for (const q of Q) add(v, q, -dot(q, v));
    Q.push(scaled(v, 1 / (norm(v) || 1)));
  }
  return transpose(Q);
}

// Random numbers, the same in every browser (mulberry32; normals by Box and Muller).
export function random(seed) {
  let state = seed >>> 0;
  const uniform = () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let t = Math.imul(state ^ (state >>> 15), state | 1);
    t = (t + Math.imul(t ^ (t >>> 7), t | 61)) ^ t;
    return ((t ^ (t >>> 14)) >>> 0) / 4294967296;
  };
  const normal = () => sqrt(-2 * Math.log(1 - uniform())) * cos(2 * PI * uniform());
  return { normal, normals: (n, d) => list(n, () => list(d, normal)) };
}

export const distance2 = (x, y) => { let s = 0; for (let i = 0; i < x.length; i++) { const d = x[i] - y[i]; s += d * d; } return s; };
// Kernels by name; each is made from the state of a figure.
export const kernelOf = ({ kernel = "rbf", sigma, degree }) => ({
  rbf: (x, y) => exp(-distance2(x, y) / (2 * sigma * sigma)),
  laplacian: (x, y) => exp(-sqrt(distance2(x, y)) / sigma),
  polynomial: (x, y) => (dot(x, y) + 1) ** degree,
  linear: dot,
})[kernel];
export const gram = (X, kernel) => X.map(x => X.map(y => kernel(x, y)));
// JKJ: take the mean off the rows and the columns.
export function centerGram(K) {
  const rows = K.map(average), all = average(rows);
  return K.map((r, i) => r.map((x, j) => x - rows[i] - rows[j] + all));
}
// Kernel PCA: variances, and for j = 0, 1, … coefficients α (zero if the variance is) and scores anywhere.
export function kernelPCA({ points, ...state }, center = true) {
  const kernel = kernelOf(state), K = gram(points, kernel), means = K.map(average);
  const { values, vectors } = eigh(center ? centerGram(K) : K), lam = values.map(x => max(x, 0)), total = sum(lam);
  const alpha = j => column(vectors, j).map(a => (lam[j] > 1e-9 * total ? a / sqrt(lam[j]) : 0));
  const seen = t => points.map(x => kernel(x, t));
  const scores = j => { const a = alpha(j), shift = center ? dot(a, means) : 0; return t => dot(a, seen(t)) - shift; };
  return { means, lam, total, alpha, seen, scores };
}
