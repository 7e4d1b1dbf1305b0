// Series in the text format of Prometheus. prom-client prints a histogram ten times slower, on the event loop.
/** The labels of one series. Their values are bounded by the configuration, never by clients. */
export type Labels = Readonly<Record<string, string>>;

/** A metric with all of its series, read when it is printed. */
export interface Family {
  print(): string;
}

type Rows<Value> = () => Iterable<readonly [labels: Labels, value: Value]>;

export function counter(name: string, help: string, rows: Rows<number>): Family {
  return familyOf({ name, help, type: "counter" }, () => valueLines(name, rows()));
}

export function gauge(name: string, help: string, rows: Rows<number>): Family {
  return familyOf({ name, help, type: "gauge" }, () => valueLines(name, rows()));
}

/** A histogram without observations has no series. */
export function histogram(name: string, help: string, rows: Rows<Histogram>): Family {
  return familyOf({ name, help, type: "histogram" }, () =>
    [...rows()].flatMap(([labels, each]) => (each.count > 0 ? bucketLines(name, labels, each) : [])),
  );
}

/** @see https://prometheus.io/docs/instrumenting/exposition_formats/ */
function familyOf(
  { name, help, type }: { readonly name: string; readonly help: string; readonly type: string },
  lines: () => readonly string[],
): Family {
  const head = [`# HELP ${name} ${help}`, `# TYPE ${name} ${type}`];
  return { print: () => [...head, ...lines(), ""].join("\n") };
}

function valueLines(name: string, rows: Iterable<readonly [Labels, number]>): string[] {
  return [...rows].map(([labels, value]) => `${name}${inBraces(printLabels(labels))} ${value}`);
}

function bucketLines(name: string, labels: Labels, { bounds, counts, count, sum }: Histogram): string[] {
  const printed = printLabels(labels);
  const before = printed === "" ? "" : `${printed},`;
  const lines: string[] = [];
  let below = 0;
  for (const [index, each] of counts.entries()) {
    below += each;
    lines.push(`${name}_bucket{${before}le="${bounds[index] ?? "+Inf"}"} ${below}`);
  }
  lines.push(`${name}_sum${inBraces(printed)} ${sum}`, `${name}_count${inBraces(printed)} ${count}`);
  return lines;
}

function inBraces(labels: string): string {
  return labels === "" ? "" : `{${labels}}`;
}

function printLabels(labels: Labels): string {
  return Object.entries(labels)
    .map(([name, value]) => `${name}="${escapeLabel(value)}"`)
    .join(",");
}

function escapeLabel(value: string): string {
  return value.replaceAll("\\", "\\\\").replaceAll('"', '\\"').replaceAll("\n", "\\n");
}

/** Counts observations in buckets, in plain numbers. An observation takes some 20 ns and allocates nothing. */
export class Histogram {
  readonly bounds: readonly number[];
  /** Observations of each bucket alone; the last one counts those above every bound. */
  readonly counts: Float64Array;
  count = 0;
  sum = 0;

  /** `bounds` are the upper bounds of the buckets, ascending. */
  constructor(bounds: readonly number[]) {
    this.bounds = bounds;
    this.counts = new Float64Array(bounds.length + 1);
  }

  observe(value: number): void {
    const { bounds, counts } = this;
    let bucket = 0;
    while (bucket < bounds.length && value > (bounds[bucket] ?? Infinity)) bucket += 1;
    counts[bucket] = (counts[bucket] ?? 0) + 1;
    this.count += 1;
    this.sum += value;
  }
}

/** Bounds in seconds, from half a millisecond to 8 s. */
export const SHORT_SECONDS = doubled(0.0005, 15);
/**
 * Bounds of the semantic conventions, and three more for the longest answers.
 *
 * @see https://opentelemetry.io/docs/specs/semconv/gen-ai/gen-ai-metrics/
 */
export const REQUEST_SECONDS = doubled(0.01, 17);
/** Bounds of the semantic conventions, and three more. */
export const FIRST_TOKEN_SECONDS = [
  0.001, 0.005, 0.01, 0.02, 0.04, 0.06, 0.08, 0.1, 0.25, 0.5, 0.75, 1, 2.5, 5, 7.5, 10, 30, 60, 120,
];
/** Bounds of the semantic conventions. */
export const TOKEN_COUNTS = Array.from({ length: 14 }, (_, index) => 4 ** index);

/** Each bound is twice the one before it, without the noise of binary fractions. */
function doubled(first: number, count: number): number[] {
  return Array.from({ length: count }, (_, index) => Number((first * 2 ** index).toPrecision(9)));
}
