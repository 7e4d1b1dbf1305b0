import { Suspense, useState } from "react";
import { lazyPart } from "../reachable.ts";
import styles from "./chart.module.css";
import { type ChartProps, type ChartSeries, fillOf, type Span } from "./chart-parts.ts";
import { classes } from "./classes.ts";
import { DataTable } from "./data-table.tsx";
import { Skeleton } from "./loaded.tsx";

// Loaded after the first paint: the page's figures come first.
const Drawing = lazyPart(() => import("./chart-drawing.tsx"), "ChartDrawing");

/**
 * Stacked bars or lines over time. Pointer and arrow keys move the reading, which stands above. A press leads to what
 * a bar consists of, and a drag to a range. The same values and links are in a table behind.
 */
export function Chart(props: ChartProps) {
  const [read, setRead] = useState<{ readonly of: string; readonly span: Span | undefined }>();
  // A reading belongs to the times that the chart had: with other times it is dropped.
  const of = [props.places.length, props.places[0]?.text, props.places.at(-1)?.text].join();
  const span = read?.of === of ? read.span : undefined;
  return (
    <figure className={styles.chart}>
      <Reading {...props} span={span} />
      <Suspense fallback={<Skeleton shape="block" />}>
        <Drawing {...props} span={span} onRead={(next) => setRead({ of, span: next })} />
      </Suspense>
      <Behind {...props} />
    </figure>
  );
}

function Reading(props: ChartProps & { readonly span: Span | undefined }) {
  const { places, series, format, kind, unit, span } = props;
  const { first, last } = span ?? { first: 0, last: places.length - 1 };
  const sumOf = ({ values }: ChartSeries) =>
    values.slice(first, last + 1).reduce((sum, value) => sum + value, 0);
  // A sum over time means nothing for lines, which may be percentiles.
  const hasValues = kind === "bars" || (span !== undefined && first === last);
  const summed = series.filter(({ look }) => look !== "outline");
  const total = summed.reduce((sum, each) => sum + sumOf(each), 0);
  return (
    <figcaption className={styles.reading} aria-live="polite">
      <span className={styles.when}>
        {span === undefined ? "In total" : nameOf(places, span)}
        {kind === "bars" && ` ${format(total)}${unit ? ` ${unit}` : ""}`}
      </span>
      {series.map((each, place) => (
        <span key={each.id} className={styles.series}>
          <span className={classes(styles.swatch, fillOf(each, place))} />
          {each.name}
          {hasValues && <span className={styles.value}>{format(sumOf(each))}</span>}
        </span>
      ))}
    </figcaption>
  );
}

function nameOf(places: ChartProps["places"], { first, last }: Span): string {
  const [from = "", to = ""] = [first, last].map((place) => places[place]?.text);
  return `${from === to ? from : `${from} – ${to}`}:`;
}

function Behind({ label, places, series, format, placeLink }: ChartProps) {
  const rows = places.map(({ text }, index) => ({ text, index }));
  const columns = [
    { id: "place", header: "Time", isNarrow: true, cell: (row: { text: string }) => row.text },
    ...series.map(({ id, name, values }) => ({
      id,
      header: name,
      align: "end" as const,
      cell: (row: { index: number }) => format(values[row.index] ?? 0),
    })),
  ];
  return (
    <details className={styles.table}>
      <summary>Show as a table</summary>
      <div className={styles.scroll}>
        <DataTable
          caption={label}
          columns={columns}
          rows={rows}
          rowKey={(row) => String(row.index)}
          rowLink={({ index }) => placeLink?.(index)}
          empty={null}
        />
      </div>
    </details>
  );
}
