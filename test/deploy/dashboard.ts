import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { stopServers } from "../support/guarded-process.ts";
import type { TestGateway } from "../support/test-gateway.ts";
import { failSignIn, sendTraffic, startMonitoredGateway } from "./monitored-gateway.ts";
import { readDashboard } from "./monitoring-files.ts";
import { type RunningPrometheus, type Series, startPrometheus } from "./running-prometheus.ts";

// `bun run dashboard [--seconds 40] [--keep]`: starts a real Prometheus beside a gateway under a short load, asks it
// every query of the Grafana dashboard, and prints the values. Exits with 1 when a panel shows none. `--keep` leaves
// both running until Ctrl-C, for a Grafana that reads from this Prometheus.
const { values } = parseArgs({
  options: { seconds: { type: "string", default: "40" }, keep: { type: "boolean", default: false } },
});
const PAUSE_MS = 250;
const SHOWN_MAX = 4;
/** What Grafana puts in for the variables: all gateways, models and upstreams, and a window of 20 scrapes. */
const VARIABLES: readonly (readonly [name: string, value: string])[] = [
  ["$__rate_interval", "20s"],
  ["$instance", ".*"],
  ["$model", ".*"],
  ["$upstream", ".*"],
];

const folder = mkdtempSync(join(tmpdir(), "tollgate-dashboard-"));
const gateway = await startMonitoredGateway();
const prometheus = await startPrometheus({ folder, target: gateway.tollgate.metricsAddress ?? "" });
let isLoaded = true;
const load = sendLoad(gateway);
try {
  await Bun.sleep(Number(values.seconds) * 1000);
  process.exitCode = (await printPanels(prometheus)) === 0 ? 0 : 1;
  await printAlerts(prometheus);
  if (values.keep) {
    console.log(`Prometheus runs at ${prometheus.url} until Ctrl-C`);
    await new Promise((resolve) => process.once("SIGINT", resolve));
  }
} finally {
  isLoaded = false;
  await load;
  await prometheus.stop();
  await gateway.stop();
  await stopServers();
  rmSync(folder, { recursive: true, force: true });
}
process.exit();

async function sendLoad(target: TestGateway): Promise<void> {
  while (isLoaded) {
    await sendTraffic(target);
    await failSignIn(target);
    await Bun.sleep(PAUSE_MS);
  }
}

/** Prints every panel with its values. Returns the number of panels without any. */
async function printPanels({ query }: RunningPrometheus): Promise<number> {
  const { panels } = readDashboard();
  let empty = 0;
  for (const { title, targets = [] } of panels) {
    const found = await Promise.all(targets.map(({ expr }) => query(fillIn(expr))));
    const series = found.flat().filter(({ value }) => !Number.isNaN(value));
    if (series.length === 0) empty += 1;
    console.log(`${title.padEnd(42)} ${series.length === 0 ? "NO VALUE" : describe(series)}`);
  }
  console.log(`\n${panels.length} panels, ${empty} of them without a value`);
  return empty;
}

function fillIn(expr: string): string {
  return VARIABLES.reduce((text, [name, value]) => text.replaceAll(name, value), expr);
}

function describe(series: readonly Series[]): string {
  const shown = series.slice(0, SHOWN_MAX).map(({ labels, value }) => {
    const own = Object.entries(labels).filter(([name]) => !["__name__", "instance", "job"].includes(name));
    const printed = own.map(([, text]) => text || '""').join(" ");
    return `${printed}${printed && " "}${Number(value.toPrecision(4))}`;
  });
  const more = series.length > SHOWN_MAX ? ` … ${series.length - SHOWN_MAX} more` : "";
  return shown.join(" | ") + more;
}

async function printAlerts({ alerts }: RunningPrometheus): Promise<void> {
  for (const { name, state, summary } of await alerts()) console.log(`${state} ${name}: ${summary}`);
}
