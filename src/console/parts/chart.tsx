import { Suspense, useState } from "react";
import { lazyPart } from "../reachable.ts";
import styles from "./chart.module.css";
import { type ChartProps, type ChartSeries, fillOf } from "./chart-parts.ts";
import { classes } from "./classes.ts";
import { DataTable } from "./data-table.tsx";
import { Skeleton } from "./loaded.tsx";

// Loaded after the first paint: the page's figures come first.
const Drawing = lazyPart(() => import("./chart-drawing.tsx"), "ChartDrawing");

/**
 * Stacked bars or lines over time. Pointer and arrow keys move the reading, which stands above. The same
 * values are in a table behind.
 */
export function Chart(props: ChartProps) {
  const [index, setIndex] = useState<number>();
  return (
    <figure className={styles.chart}>
      <Reading {...props} index={index} />
      <Suspense fallback={<Skeleton shape="block" />}>
        <Drawing {...props} index={index} onRead={setIndex} />
      </Suspense>
      <Behind {...props} />
    </figure>
  );
}

function Reading({
  places,
  series,
  format,
  kind,
  index,
}: ChartProps & { readonly index: number | undefined }) {
  const valueAt = ({ values }: ChartSeries) =>
    index === undefined ? values.reduce((sum, value) => sum + value, 0) : (values[index] ?? 0);
  // A sum over time means nothing for lines, which may be percentiles.
  const hasValues = index !== undefined || kind === "bars";
  return (
    <figcaption className={styles.reading} aria-live="polite">
      <span className={styles.when}>{index === undefined ? "In total" : places[index]?.text}</span>
      {series.map((each, place) => (
        <span key={each.id} className={styles.series}>
          <span className={classes(styles.swatch, fillOf(each, place))} />
          {each.name}
          {hasValues && <span className={styles.value}>{format(valueAt(each))}</span>}
        </span>
      ))}
    </figcaption>
  );
}

function Behind({ label, places, series, format }: ChartProps) {
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
          empty={null}
        />
      </div>
    </details>
  );
}
