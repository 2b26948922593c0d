// Dense linear algebra for the live figures, n up to about 150. A matrix is an array of rows;
// eigenvectors and singular vectors are columns, largest value first, signs as in the library.

export const list = (n, f) => Array.from({ length: n }, (_, i) => f(i));
export const transpose = A => A[0].map((_, j) => A.map(row => row[j]));
export const column = (A, j) => A.map(row => row[j]);
export const dot = (x, y) => { let s = 0; for (let i = 0; i < x.length; i++) s += x[i] * y[i]; return s; };
export const norm = x => Math.hypot(...x);
export const plus = (x, y, c = 1) => x.map((a, i) => a + c * y[i]); // x + cy
export const scaled = (x, c) => x.map(a => c * a);
export const sum = x => x.reduce((a, b) => a + b, 0);
export const root = x => Math.sqrt(Math.max(x, 0));
export const largest = x => Math.max(...x.map(Math.abs));
export const average = x => sum(x) / x.length;
export const apply = (A, x) => A.map(row => dot(row, x));
export const times = (A, B) => { const columns = transpose(B); return A.map(row => apply(columns, row)); };
export const unit = angle => [Math.cos(angle * Math.PI / 180), Math.sin(angle * Math.PI / 180)];
export const turn = ([x, y]) => (Math.atan2(y, x) * 180 / Math.PI + 360) % 360; // in degrees
export const angleOf = v => turn(v) % 180; // of a line
export const mean = X => transpose(X).map(average);
export const centered = (X, m = mean(X)) => X.map(row => plus(row, m, -1));
export const covariance = X => { const C = transpose(centered(X)); return C.map(a => C.map(b => dot(a, b) / X.length)); };

// With a positive entry of largest modulus; the first one, among equals.
function oriented(v) {
  const top = largest(v), entry = v.find(x => Math.abs(x) >= top * (1 - 1e-6));
  return Array.from(entry < 0 ? scaled(v, -1) : v);
}
// Eigenvalues and eigenvectors of a symmetric matrix, by Jacobi's rotations.
export function eigh(A) {
  const n = A.length, B = A.map(row => Float64Array.from(row)), V = B.map((_, i) => new Float64Array(n).fill(1, i, i + 1));
  const size = Math.sqrt(sum(B.map(row => dot(row, row)))) || 1;
  for (let sweep = 0, off = Infinity; sweep < 30 && off > 1e-15 * size; sweep++) {
    off = 0;
    for (let p = 0; p < n; p++) for (let q = p + 1; q < n; q++) {
      const b = B[p][q];
      if (Math.abs(b) < 1e-18 * size) continue;
      off = Math.max(off, Math.abs(b));
      const h = (B[q][q] - B[p][p]) / (2 * b), t = (h < 0 ? -1 : 1) / (Math.abs(h) + Math.hypot(h, 1));
      const c = 1 / Math.hypot(t, 1), s = t * c;
      const rotate = (x, y, i, j) => { const a = x[i]; x[i] = c * a - s * y[j]; y[j] = s * a + c * y[j]; };
      for (let i = 0; i < n; i++) rotate(B[i], B[i], p, q);
      for (let i = 0; i < n; i++) { rotate(B[p], B[q], i, i); rotate(V[p], V[q], i, i); }
    }
  }
  const order = [...B.keys()].sort((i, j) => B[j][j] - B[i][i]);
  return { values: order.map(i => B[i][i]), vectors: transpose(order.map(i => oriented(V[i]))) };
}

// Thin singular value decomposition, from the eigenvectors of AᵀA, or of AAᵀ if that is smaller.
export function svd(A) {
  const At = transpose(A);
  if (At.length > A.length) { const { U, s, V } = svd(At); return { U: V, s, V: U }; }
  const { values, vectors } = eigh(At.map(x => apply(At, x))), s = values.filter(x => x > 1e-14 * values[0]).map(Math.sqrt);
  return { U: A.map(row => s.map((x, j) => dot(row, column(vectors, j)) / x)), s, V: vectors.map(row => row.slice(0, s.length)) };
}

// An orthonormal basis of the columns (Gram and Schmidt, twice).
export function orth(A) {
  const Q = [];
  for (let v of transpose(A)) {
    for (let twice = 0; twice < 2; twice++) for (const q of Q) v = plus(v, q, -dot(q, v));
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
  const normal = () => Math.sqrt(-2 * Math.log(1 - uniform())) * Math.cos(2 * Math.PI * uniform());
  return { normal, normals: (n, d) => list(n, () => list(d, normal)) };
}

export const distance2 = (x, y) => { let s = 0; for (let i = 0; i < x.length; i++) { const d = x[i] - y[i]; s += d * d; } return s; };
// Kernels by name; each is made from the state of a figure.
export const kernelOf = ({ kernel = "rbf", sigma, degree }) => ({
  rbf: (x, y) => Math.exp(-distance2(x, y) / (2 * sigma * sigma)),
  laplacian: (x, y) => Math.exp(-Math.sqrt(distance2(x, y)) / sigma),
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
  const { values, vectors } = eigh(center ? centerGram(K) : K), lam = values.map(x => Math.max(x, 0)), total = sum(lam);
  const alpha = j => column(vectors, j).map(a => (lam[j] > 1e-9 * total ? a / Math.sqrt(lam[j]) : 0));
  const seen = t => points.map(x => kernel(x, t));
  const scores = j => { const a = alpha(j), shift = center ? dot(a, means) : 0; return t => dot(a, seen(t)) - shift; };
  return { means, lam, total, alpha, seen, scores };
}
