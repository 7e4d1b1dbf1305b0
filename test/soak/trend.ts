/** How a quantity moves on the whole. */
export interface Trend {
  readonly mean: number;
  /** By least squares, per unit of `x`. */
  readonly slope: number;
  /** How far chance alone may have moved the slope, one standard deviation. */
  readonly slopeError: number;
}

/** Fits a line. Throws for fewer than three points. */
export function trendOf(points: readonly { readonly x: number; readonly y: number }[]): Trend {
  const count = points.length;
  if (count < 3) throw new Error("A trend takes three points");
  const meanOf = (values: readonly number[]) => values.reduce((sum, value) => sum + value, 0) / count;
  const meanX = meanOf(points.map(({ x }) => x));
  const mean = meanOf(points.map(({ y }) => y));
  const spread = points.reduce((sum, { x }) => sum + (x - meanX) ** 2, 0);
  const slope = points.reduce((sum, { x, y }) => sum + (x - meanX) * (y - mean), 0) / spread;
  const residue = points.reduce((sum, { x, y }) => sum + (y - mean - slope * (x - meanX)) ** 2, 0);
  return { mean, slope, slopeError: Math.sqrt(residue / (count - 2) / spread) };
}
