import { useQuery } from "@tanstack/react-query";
import { formatCount } from "../../format.ts";
import type { Column } from "../../parts/data-table.tsx";
import { ListTable } from "../../parts/list-table.tsx";
import { Empty } from "../../parts/loaded.tsx";
import { Panel } from "../../parts/panel.tsx";
import { AttemptBars, FirstOutputLine, formatSuccess } from "../../parts/sparkline.tsx";
import styles from "../../parts/stack.module.css";
import { type RouteHours, routeHoursQuery } from "../../queries/models.ts";

/** The routes in use with 24 hours of each, the one that fails most first. */
export function RouteHealth() {
  const query = useQuery(routeHoursQuery());
  return (
    <Panel
      title="Routes in use"
      note="Attempts of the last 24 hours by the hour, as all gateways of this database have counted them."
      isFlush
    >
      <ListTable
        name="routes"
        caption="Routes in use"
        columns={COLUMNS}
        rows={query.data?.items.toSorted((one, other) => failedShare(other) - failedShare(one))}
        rowKey={({ model, upstream, upstream_model }) => `${model} ${upstream} ${upstream_model}`}
        empty={<Empty title="No attempt in 24 hours" />}
        query={query}
        skeletonRows={3}
      />
    </Panel>
  );
}

function sumOf({ hours }: RouteHours) {
  return hours.reduce(
    (sum, { answered, failed }) => ({ answered: sum.answered + answered, failed: sum.failed + failed }),
    { answered: 0, failed: 0 },
  );
}

function failedShare(route: RouteHours): number {
  const { answered, failed } = sumOf(route);
  return failed / Math.max(answered + failed, 1);
}

const COLUMNS: readonly Column<RouteHours>[] = [
  {
    id: "route",
    order: ({ model, upstream }) => `${model} ${upstream}`,
    header: "Route",
    cell: ({ model, upstream, upstream_model }) => (
      <span className={styles.named}>
        {model}
        <small>{model === upstream_model ? upstream : `${upstream} · ${upstream_model}`}</small>
      </span>
    ),
  },
  {
    id: "attempts",
    header: "Attempts by hour",
    cell: ({ hours }) => <AttemptBars hours={hours} />,
  },
  {
    id: "answered",
    order: (route) => 1 - failedShare(route),
    header: "Answered",
    align: "end",
    cell: (route) => formatSuccess(sumOf(route)),
  },
  {
    id: "failed",
    order: (route) => sumOf(route).failed,
    header: "Failed",
    align: "end",
    cell: (route) => formatCount(sumOf(route).failed),
  },
  {
    id: "first",
    header: "First output by hour",
    cell: ({ hours }) => <FirstOutputLine hours={hours} />,
  },
];
