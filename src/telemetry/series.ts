// Series in the text format of Prometheus. prom-client prints a histogram ten times slower, on the event loop.
import type { Histogram } from "./histogram.ts";

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
