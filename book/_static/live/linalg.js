// Dense linear algebra for the live figures, n up to about 150. A matrix is an array of rows;
// eigenvectors and singular vectors are columns, largest value first, signs as in the library.

export const zeros = (n, m) => Array.from({ length: n }, () => new Array(m).fill(0));
export const identity = n => zeros(n, n).map((row, i) => row.map((_, j) => +(i === j)));
export const transpose = A => A[0].map((_, j) => A.map(row => row[j]));
export const dot = (x, y) => { let s = 0; for (let i = 0; i < x.length; i++) s += x[i] * y[i]; return s; };
export const norm = x => Math.hypot(...x);
export const apply = (A, x) => A.map(row => dot(row, x));
export const times = (A, B) => { const columns = transpose(B); return A.map(row => columns.map(c => dot(row, c))); };
export const column = (A, j) => A.map(row => row[j]);
export const unit = angle => [Math.cos(angle * Math.PI / 180), Math.sin(angle * Math.PI / 180)];
export const turn = ([x, y]) => (Math.atan2(y, x) * 180 / Math.PI + 360) % 360; // in degrees
export const angleOf = v => turn(v) % 180; // of a line
export const sum = x => x.reduce((a, b) => a + b, 0);
export const mean = X => transpose(X).map(c => sum(c) / c.length);
export const centered = (X, m = mean(X)) => X.map(row => row.map((x, j) => x - m[j]));
export const covariance = X => { const C = transpose(centered(X)); return C.map(a => C.map(b => dot(a, b) / X.length)); };

// Make the entry of largest modulus of each column positive; the first one, among equals.
export function fixSigns(V) {
  const signs = transpose(V).map(v => {
    const top = Math.max(...v.map(Math.abs));
    return v.find(x => Math.abs(x) >= top * (1 - 1e-6)) < 0 ? -1 : 1;
  });
  return V.map(row => row.map((x, j) => x * signs[j]));
}

// Eigenvalues and eigenvectors of a symmetric matrix, by Jacobi's rotations.
export function eigh(A) {
  const n = A.length, B = A.map(row => Float64Array.from(row)), V = identity(n).map(row => Float64Array.from(row));
  const size = Math.sqrt(sum(B.map(row => dot(row, row)))) || 1;
  for (let sweep = 0, off = Infinity; sweep < 30 && off > 1e-15 * size; sweep++) {
    off = 0;
    for (let p = 0; p < n; p++) for (let q = p + 1; q < n; q++) {
      const b = B[p][q];
      if (Math.abs(b) < 1e-18 * size) continue;
      off = Math.max(off, Math.abs(b));
      const h = (B[q][q] - B[p][p]) / (2 * b), t = (h < 0 ? -1 : 1) / (Math.abs(h) + Math.hypot(h, 1));
      const c = 1 / Math.hypot(t, 1), s = t * c;
      for (let i = 0; i < n; i++) { const row = B[i], x = row[p]; row[p] = c * x - s * row[q]; row[q] = s * x + c * row[q]; }
      const bp = B[p], bq = B[q], vp = V[p], vq = V[q];
      for (let i = 0; i < n; i++) {
        let x = bp[i]; bp[i] = c * x - s * bq[i]; bq[i] = s * x + c * bq[i];
        x = vp[i]; vp[i] = c * x - s * vq[i]; vq[i] = s * x + c * vq[i];
      }
    }
  }
  const order = [...B.keys()].sort((i, j) => B[j][j] - B[i][i]);
  return { values: order.map(i => B[i][i]), vectors: fixSigns(transpose(order.map(i => Array.from(V[i])))) };
}

// Thin singular value decomposition, from the eigenvectors of the smaller of AᵀA and AAᵀ.
export function svd(A) {
  const wide = A.length < A[0].length, B = wide ? transpose(A) : A, Bt = transpose(B);
  const { values, vectors } = eigh(Bt.map(x => Bt.map(y => dot(x, y)))), r = values.filter(x => x > 1e-14 * values[0]).length;
  const s = values.slice(0, r).map(Math.sqrt), W = vectors.map(row => row.slice(0, r));
  const other = B.map(row => s.map((x, j) => dot(row, column(W, j)) / x));
  if (!wide) return { U: other, s, V: W };
  const V = fixSigns(other), flip = s.map((_, j) => (dot(column(V, j), column(other, j)) < 0 ? -1 : 1));
  return { U: W.map(row => row.map((x, j) => x * flip[j])), s, V };
}

// An orthonormal basis of the columns (Gram and Schmidt, twice).
export function orth(A) {
  const Q = [];
  for (let v of transpose(A)) {
    for (let twice = 0; twice < 2; twice++) for (const q of Q) { const c = dot(q, v); v = v.map((x, i) => x - c * q[i]); }
    const length = norm(v);
    Q.push(v.map(x => x / (length || 1)));
  }
  return transpose(Q);
}

// Random numbers that are the same in every browser (mulberry32; pairs of normals by Box and Muller).
export function random(seed) {
  let state = seed >>> 0;
  const uniform = () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let t = Math.imul(state ^ (state >>> 15), state | 1);
    t = (t + Math.imul(t ^ (t >>> 7), t | 61)) ^ t;
    return ((t ^ (t >>> 14)) >>> 0) / 4294967296;
  };
  const normal = () => Math.sqrt(-2 * Math.log(1 - uniform())) * Math.cos(2 * Math.PI * uniform());
  return { uniform, normal, normals: (n, d) => Array.from({ length: n }, () => Array.from({ length: d }, normal)) };
}

export const distance2 = (x, y) => { let s = 0; for (let i = 0; i < x.length; i++) s += (x[i] - y[i]) ** 2; return s; };
// Kernels by name; each is made from the state of a figure.
export const KERNELS = [["rbf", "Gaussian"], ["laplacian", "Laplacian"], ["polynomial", "polynomial"], ["linear", "linear"]];
export const kernelOf = ({ kernel = "rbf", sigma, degree }) => ({
  rbf: (x, y) => Math.exp(-distance2(x, y) / (2 * sigma * sigma)),
  laplacian: (x, y) => Math.exp(-Math.sqrt(distance2(x, y)) / sigma),
  polynomial: (x, y) => (dot(x, y) + 1) ** degree,
  linear: dot,
})[kernel];
export const gram = (X, kernel) => X.map(x => X.map(y => kernel(x, y)));
// JKJ: take the mean off the rows and the columns.
export function centerGram(K) {
  const rows = K.map(r => sum(r) / r.length), all = sum(rows) / rows.length;
  return K.map((r, i) => r.map((x, j) => x - rows[i] - rows[j] + all));
}
