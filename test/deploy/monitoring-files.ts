import { readFileSync } from "node:fs";
import { join } from "node:path";
import { parse } from "yaml";
import { REPOSITORY } from "../docs/pages.ts";

export const ALERTS_FILE = join(REPOSITORY, "deploy/prometheus/alerts.yaml");
const DASHBOARD_FILE = join(REPOSITORY, "deploy/grafana/tollgate.json");

interface AlertRule {
  readonly alert: string;
  readonly expr: string;
  readonly labels: { readonly severity: string };
  readonly annotations: { readonly summary: string; readonly runbook_url: string };
}

/** Every alert rule, in the order of the file. */
export function readAlerts(): readonly AlertRule[] {
  // Safe because promtool and the tests check the file.
  const { groups } = parse(readFileSync(ALERTS_FILE, "utf8")) as { groups: { rules: AlertRule[] }[] };
  return groups.flatMap(({ rules }) => rules);
}

/** One query of a panel. */
export interface PanelQuery {
  readonly panel: string;
  readonly expr: string;
}

interface Panel {
  readonly title: string;
  readonly type: string;
  readonly description?: string;
  readonly gridPos: { readonly h: number; readonly w: number; readonly x: number; readonly y: number };
  readonly targets?: readonly { readonly expr: string }[];
}

interface Variable {
  readonly name: string;
  readonly type: string;
  readonly definition?: string;
}

/** The dashboard of Grafana. Rows have no queries. */
export function readDashboard() {
  // Safe because the tests check what they read.
  const dashboard = JSON.parse(readFileSync(DASHBOARD_FILE, "utf8")) as {
    readonly panels: readonly Panel[];
    readonly templating: { readonly list: readonly Variable[] };
  };
  const panels = dashboard.panels.filter(({ type }) => type !== "row");
  const queries = panels.flatMap(({ title, targets = [] }): PanelQuery[] =>
    targets.map(({ expr }) => ({ panel: title, expr })),
  );
  return { panels, queries, variables: dashboard.templating.list };
}

/** A metric in a query, with the labels that the query names for it. */
interface UsedMetric {
  readonly name: string;
  readonly labels: readonly string[];
}

/** Names that begin like a metric and are one: labels of the semantic conventions begin with `gen_ai_` too. */
const METRIC = /(?<![\w$])((?:tollgate|gen_ai|process|nodejs)_\w+)(?:\{([^}]*)\})?/g;
const GROUPING = /\b(?:by|without|on|group_left|ignoring) \(([^)]*)\)/g;

/** Lists the metrics of a query, each with its own labels and those that the query groups by. */
export function metricsIn(expr: string): readonly UsedMetric[] {
  const grouped = [...expr.matchAll(GROUPING)].flatMap(([, names = ""]) => names.split(/, */));
  const ungrouped = expr.replaceAll(GROUPING, "");
  return [...ungrouped.matchAll(METRIC)].map(([, name = "", matchers = ""]) => ({
    name,
    labels: [...grouped, ...[...matchers.matchAll(/(\w+)(?:!=|=~|!~|=)"/g)].map(([, label = ""]) => label)],
  }));
}
