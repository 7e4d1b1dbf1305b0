import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { createLedgerMetrics, createMetrics } from "../../src/telemetry/metrics.ts";
import { codesOf, readPage } from "../docs/pages.ts";
import { runPromtool } from "../support/prometheus.ts";
import type { TestGateway } from "../support/test-gateway.ts";
import { until } from "../support/until.ts";
import { failSignIn, scrapeMetrics, sendTraffic, startMonitoredGateway } from "./monitored-gateway.ts";
import { ALERTS_FILE, metricsIn, readAlerts, readDashboard } from "./monitoring-files.ts";

const PAGE = readPage("docs/metrics.md");
/** Files of promtool's cases. */
const CASES = ["alert-cases.yaml", "incident-cases.yaml"];
/** Labels that Prometheus adds to every series. */
const ADDED = ["instance", "job", "le"];

let gateway: TestGateway;
/** The metrics after some traffic. */
let scraped: string;
/** The labels of each metric, by the name of its samples. */
let labelsByName: ReadonlyMap<string, ReadonlySet<string>>;

beforeAll(async () => {
  gateway = await startMonitoredGateway();
  await sendTraffic(gateway);
  await failSignIn(gateway);
  // The roll-ups have no series before their first hour, an export none before its first line, and what is read for
  // too long none in that scrape.
  const background = [
    ...["usage_roll_up_lag_seconds", "export_lag_seconds", "ledger_open_holds", "plan_credits_waiting"],
    ...["mail", "webhook"].map((outbox) => `outbox_entries{outbox="${outbox}"}`),
  ];
  await until(async () => {
    scraped = await scrapeMetrics(gateway);
    return background.every((name) => scraped.includes(`\ntollgate_${name}`));
  });
  labelsByName = readLabels(scraped);
});
afterAll(() => gateway.stop());

function readLabels(text: string): ReadonlyMap<string, ReadonlySet<string>> {
  const found = new Map<string, Set<string>>();
  for (const [, name = "", labels = ""] of text.matchAll(/^(\w+)(?:\{(.*)\})? \S+$/gm)) {
    const known = found.get(name) ?? new Set<string>();
    found.set(name, known);
    for (const [, label = ""] of labels.matchAll(/(\w+)="(?:[^"\\]|\\.)*"/g)) known.add(label);
  }
  return found;
}

/** What a query names that the scrape does not have. */
function missingIn(expr: string): readonly string[] {
  const used = metricsIn(expr);
  const labelsOfAll = new Set(used.flatMap(({ name }) => [...(labelsByName.get(name) ?? [])]));
  return used.flatMap(({ name, labels }) => {
    if (!labelsByName.has(name)) return [name];
    return labels
      .filter((label) => !ADDED.includes(label) && !labelsOfAll.has(label))
      .map((label) => `${name}{${label}}`);
  });
}

describe("the dashboard", () => {
  const { panels, queries, variables } = readDashboard();

  test("names only metrics and labels that a gateway has after traffic", () => {
    const missing = queries.flatMap(({ panel, expr }) => missingIn(expr).map((each) => `${panel}: ${each}`));
    expect(missing).toEqual([]);
  });

  test("shows every metric of the metrics page but those of single keys", () => {
    const shown = queries.flatMap(({ expr }) => metricsIn(expr).map(({ name }) => name));
    const names = PAGE.table("metric").flatMap(([cell]) =>
      codesOf(cell).map((code) => code.replace(/\{.*/, "")),
    );
    const isShown = (name: string) => shown.some((each) => each === name || each === `${name}_bucket`);
    expect(names.filter((name) => !name.startsWith("tollgate_upstream_key_") && !isShown(name))).toEqual([]);
  });

  test("has variables whose metrics and labels exist", () => {
    const definitions = variables.flatMap(({ definition }) => (definition ? [definition] : []));
    const read = definitions.map((each) => /^label_values\((\w+), (\w+)\)$/.exec(each) ?? []);
    const missing = read.filter(([, name = "", label = ""]) => {
      const labels = labelsByName.get(name);
      return !labels || !(ADDED.includes(label) || labels.has(label));
    });
    expect([read.length, missing]).toEqual([3, []]);
  });

  test("describes every panel, and lets none cover another", () => {
    expect(
      panels.filter(({ description = "", targets = [] }) => description === "" || targets.length === 0),
    ).toEqual([]);
    const cells = panels.flatMap(({ gridPos: { x, y, w, h } }) =>
      Array.from({ length: w * h }, (_, index) => `${x + (index % w)} ${y + Math.floor(index / w)}`),
    );
    expect(new Set(cells).size).toBe(cells.length);
  });
});

describe("the alerts", () => {
  const alerts = readAlerts();

  test("name only metrics and labels that a gateway has after traffic", () => {
    const missing = alerts.flatMap(({ alert, expr }) => missingIn(expr).map((each) => `${alert}: ${each}`));
    expect(missing).toEqual([]);
  });

  test.each(CASES)("are tried in %s with series of a real scrape only", (file) => {
    const series = readFileSync(join(import.meta.dir, file), "utf8").matchAll(/^ +- series: (.+)$/gm);
    const missing = [...series].flatMap(([, each = ""]) => missingIn(each));
    expect(missing).toEqual([]);
  });

  test("have a severity, and a section of the metrics page each", () => {
    const sections = [...PAGE.text.matchAll(/^### (Tollgate\w+)$/gm)].map(([, name]) => name);
    expect(sections).toEqual(alerts.map(({ alert }) => alert));
    for (const { alert, labels, annotations } of alerts) {
      expect(["warning", "critical"]).toContain(labels.severity);
      expect(annotations.runbook_url).toBe(`docs/metrics.md#${alert.toLowerCase()}`);
    }
  });

  test("are rules that Prometheus accepts, and fire when they should", async () => {
    const checked = await runPromtool(["check", "rules", ALERTS_FILE]);
    expect(checked?.exitCode ?? 0, checked?.output).toBe(0);
    const config = join(ALERTS_FILE, "../prometheus.yaml");
    const configured = await runPromtool(["check", "config", config]);
    expect(configured?.exitCode ?? 0, configured?.output).toBe(0);
    const cases = CASES.map((name) => join(import.meta.dir, name));
    const played = await runPromtool(["test", "rules", ...cases]);
    expect(played?.exitCode ?? 0, played?.output).toBe(0);
  });
});

describe("the metrics page", () => {
  /** The names of the table, without their labels. */
  const documented = PAGE.table("metric").flatMap(([names]) =>
    codesOf(names).map((code) => code.replace(/\{.*/, "")),
  );

  test("has a row for every metric of a gateway and of a ledger process", async () => {
    const texts = [scraped, await createMetrics().print(), await createLedgerMetrics().print()];
    const names = texts.flatMap((text) => [...text.matchAll(/^# TYPE (\S+)/gm)].map(([, name = ""]) => name));
    const own = [...new Set(names)].filter((name) => !/^(process|nodejs)_/.test(name));
    expect([...documented].sort()).toEqual(own.sort());
  });

  test("names the labels of every metric", () => {
    const rows = PAGE.table("metric").flatMap(([names]) => codesOf(names));
    const wrong = rows.filter((row) => {
      const [name = "", labels = ""] = row.replace("}", "").split("{");
      const found = labelsByName.get(name) ?? labelsByName.get(`${name}_count`) ?? new Set<string>();
      return labels !== [...found].join(",");
    });
    expect(wrong).toEqual([]);
  });
});

test("a scrape of a gateway after traffic is text that promtool accepts", async () => {
  const checked = await runPromtool(["check", "metrics"], scraped);
  const lines = checked?.output.split("\n").filter((line) => line !== "") ?? [];
  // A count of hours, published under this name.
  expect(lines).toEqual(
    checked ? ['tollgate_usage_stale_hours use base unit "seconds" instead of "hours"'] : [],
  );
});
