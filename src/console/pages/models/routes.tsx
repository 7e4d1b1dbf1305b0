import { useQuery } from "@tanstack/react-query";
import { formatMs, localise, plural } from "../../format.ts";
import { type Column, DataTable } from "../../parts/data-table.tsx";
import { Empty, Skeleton } from "../../parts/loaded.tsx";
import { Panel } from "../../parts/panel.tsx";
import { AttemptBars, FirstOutputLine, formatSuccess } from "../../parts/sparkline.tsx";
import stack from "../../parts/stack.module.css";
import { type RouteHour, routeHoursQuery } from "../../queries/models.ts";
import type { ModelRow } from "../../queries/overview.ts";
import { unitText } from "./model-words.ts";

type Route = NonNullable<ModelRow["routes"]>[number];

interface Row extends Route {
  readonly unit: string | undefined;
  /** `undefined` while they are read. */
  readonly hours: readonly RouteHour[] | undefined;
}

interface RoutesProps {
  readonly model: string;
  readonly routes: readonly Route[];
  readonly unit?: string | undefined;
}

/** The routes of a model with what they cost and how they did, for operators. */
export function Routes({ model, routes, unit }: RoutesProps) {
  const { data } = useQuery(routeHoursQuery(model));
  const hoursOf = (route: Route) =>
    data?.items.find((each) => each.upstream === route.upstream && each.upstream_model === route.model)
      ?.hours;
  return (
    <Panel
      title="Routes"
      note="Attempts of the last 24 hours, of all accounts and gateways. Seen by operators only."
      isFlush
    >
      <DataTable
        caption="Routes of the model"
        columns={COLUMNS}
        rows={routes.map((route) => ({ ...route, unit, hours: hoursOf(route) }))}
        rowKey={({ upstream, model: name }) => `${upstream} ${name}`}
        empty={<Empty icon="model" title="No route" />}
      />
    </Panel>
  );
}

const COLUMNS: readonly Column<Row>[] = [
  {
    id: "route",
    header: "Route",
    cell: ({ upstream, model, priority, weight }) => (
      <span className={stack.named}>
        {upstream}
        <small>
          {model} · priority {priority}
          {weight !== 1 && ` · weight ${weight}`}
        </small>
      </span>
    ),
  },
  {
    id: "cost",
    header: "Cost",
    cell: (row) => (
      <span className={stack.named}>
        {printCost(row)}
        {row.cost && !row.unit_cost && <small>input · output, per million</small>}
      </span>
    ),
  },
  {
    id: "attempts",
    header: "Attempts by hour",
    card: "line",
    cell: ({ hours, day }) => (
      <span className={stack.named}>
        {hours ? <AttemptBars hours={hours} /> : <Skeleton />}
        <small>
          {formatSuccess(day)} of {plural(day.answered + day.failed, "attempt")} answered
        </small>
      </span>
    ),
  },
  {
    id: "first",
    header: "First output by hour",
    card: "line",
    cell: ({ hours, day: { first_output: times } }) => (
      <span className={stack.named}>
        {hours ? <FirstOutputLine hours={hours} /> : <Skeleton />}
        <small>
          median {formatMs(times?.p50 ?? null)} · p95 {formatMs(times?.p95 ?? null)}
        </small>
      </span>
    ),
  },
];

function printCost({ cost, unit_cost, unit }: Row): string {
  if (unit_cost) return localise(`$${unit_cost}${unit ? ` ${unitText(unit)}` : ""}`);
  return cost ? localise(`$${cost.input} · $${cost.output}`) : "unknown";
}
