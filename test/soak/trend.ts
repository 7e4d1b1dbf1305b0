/** A line fitted to points. */
export interface Trend {
  readonly mean: number;
  /** The least-squares slope per unit of `x`. */
  readonly slope: number;
  /** The standard error of the slope. */
  readonly slopeError: number;
}

/** Fits a line by least squares. Throws for fewer than three points. */
export function trendOf(points: readonly { readonly x: number; readonly y: number }[]): Trend {
  const count = points.length;
  if (count < 3) throw new Error("A trend needs three points");
  const meanOf = (values: readonly number[]) => values.reduce((sum, value) => sum + value, 0) / count;
  const meanX = meanOf(points.map(({ x }) => x));
  const mean = meanOf(points.map(({ y }) => y));
  const spread = points.reduce((sum, { x }) => sum + (x - meanX) ** 2, 0);
  const slope = points.reduce((sum, { x, y }) => sum + (x - meanX) * (y - mean), 0) / spread;
  const residue = points.reduce((sum, { x, y }) => sum + (y - mean - slope * (x - meanX)) ** 2, 0);
  return { mean, slope, slopeError: Math.sqrt(residue / (count - 2) / spread) };
}
