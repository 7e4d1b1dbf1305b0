import { formatMs } from "./format.ts";
import type { ChartPlace, ChartSeries } from "./parts/chart-parts.ts";
import type { UsageAnswer, UsageRow } from "./queries/usage.ts";
import { costSeries, type Stacked, stack } from "./series.ts";
import type { UsageQuery } from "./usage-view.ts";

// Series of the page of usage alone. They stand apart, so that the first view loads none of them.

/** The token classes of a row, which have no token in common. */
const CLASSES = {
  input_tokens: "Input",
  cached_input_tokens: "Input from the cache",
  cache_write_tokens: "Input written to the cache",
  output_tokens: "Output",
} as const;
type TokenClass = keyof typeof CLASSES;
/** Each class has its colour in every range. */
const CLASS_ORDER: readonly TokenClass[] = [
  "input_tokens",
  "cached_input_tokens",
  "cache_write_tokens",
  "output_tokens",
];

/** Requests over time by group, or answered and failed; refused ones are outlined on top. */
export function requestSeries(usage: UsageAnswer, query: UsageQuery): Stacked {
  const { rows } = usage;
  const refused = stack(usage, query, {
    rows: asGroup(rows, "refused", "Refused"),
    value: (row) => row.refused,
  });
  const known =
    query.group === "none"
      ? splitErrors(usage, query)
      : orderLike(costSeries(usage, query), stack(usage, query, { rows, value: (row) => row.requests }));
  const outlines = refused.series
    .filter(({ values }) => values.some((value) => value > 0))
    .map((each): ChartSeries => ({ ...each, look: "outline" }));
  return { times: known.times, series: [...known.series.filter(isSeen), ...outlines] };
}

/** A group has one colour in all charts: that of its place by cost. */
function orderLike({ series: model }: Stacked, { times, series }: Stacked): Stacked {
  const placeOf = ({ id }: ChartSeries) => {
    const place = model.findIndex((each) => each.id === id);
    return place < 0 ? model.length : place;
  };
  return { times, series: series.toSorted((one, other) => placeOf(one) - placeOf(other)) };
}

function splitErrors(usage: UsageAnswer, query: UsageQuery): Stacked {
  const { rows } = usage;
  const answered = stack(usage, query, {
    rows: asGroup(rows, "ok", "Answered"),
    value: (row) => row.requests - row.errors,
  });
  const failed = stack(usage, query, {
    rows: asGroup(rows, "errors", "With an error"),
    value: (row) => row.errors,
  });
  return { times: answered.times, series: [...answered.series, ...failed.series] };
}

/** Tokens over time by class. Classes without tokens are left out. */
export function tokenSeries(usage: UsageAnswer, query: UsageQuery): Stacked {
  const all = CLASS_ORDER.map((name) =>
    stack(usage, query, { rows: asGroup(usage.rows, name, CLASSES[name]), value: (row) => row[name] }),
  );
  return { times: all[0]?.times ?? [], series: all.flatMap(({ series }) => series.filter(isSeen)) };
}

/** Requests by how long they took, in the buckets of the roll-ups. */
export function histogramSeries(
  bounds: readonly number[],
  counts: readonly number[],
): { readonly places: readonly ChartPlace[]; readonly series: readonly ChartSeries[] } {
  const last = bounds.at(-1) ?? 0;
  const texts = [...bounds.map((bound) => `< ${shortMs(bound)}`), `≥ ${shortMs(last)}`];
  const places = texts.map((text) => ({ text, foot: text }));
  return { places, series: [{ id: "requests", name: "Requests", values: counts }] };
}

function asGroup(rows: readonly UsageRow[], group: string, name: string): readonly UsageRow[] {
  return rows.map((row) => ({ ...row, group, group_name: name }));
}

function isSeen({ values }: ChartSeries): boolean {
  return values.some((value) => value > 0);
}

function shortMs(ms: number): string {
  return ms < 1_000 ? formatMs(ms) : `${ms / 1_000} s`;
}
