import { join } from "node:path";
import { freePort } from "../support/free-port.ts";
import { requirePrometheus } from "../support/prometheus.ts";
import { until } from "../support/until.ts";
import { ALERTS_FILE } from "./monitoring-files.ts";

/** One series of an answer, with its latest value. */
export interface Series {
  readonly labels: Readonly<Record<string, string>>;
  readonly value: number;
}

interface Alert {
  readonly name: string;
  /** `pending` or `firing`. */
  readonly state: string;
  readonly summary: string;
}

/** A Prometheus that scrapes one gateway every second, with the alert rules. */
export interface RunningPrometheus {
  readonly url: string;
  /** Evaluates a query now. Throws when Prometheus rejects it. */
  query(expr: string): Promise<readonly Series[]>;
  alerts(): Promise<readonly Alert[]>;
  stop(): Promise<void>;
}

/** Starts Prometheus on a free port, and installs it where permitted. Its data goes into the folder. */
export async function startPrometheus({
  folder,
  target,
}: {
  readonly folder: string;
  readonly target: string;
}): Promise<RunningPrometheus> {
  const program = await requirePrometheus("prometheus");
  const config = join(folder, "prometheus.yaml");
  await Bun.write(config, configOf(target));
  const address = `127.0.0.1:${freePort()}`;
  const options = [`--config.file=${config}`, `--storage.tsdb.path=${folder}/data`];
  const child = Bun.spawn([program, ...options, `--web.listen-address=${address}`], {
    stdout: "ignore",
    stderr: Bun.file(join(folder, "prometheus.log")),
  });
  const url = `http://${address}`;
  const isReady = () =>
    fetch(`${url}/-/ready`).then(
      ({ ok }) => ok,
      () => false,
    );
  await until(isReady);
  return {
    url,
    async query(expr) {
      const { result } = await read<{ result: Vector[] }>(
        `${url}/api/v1/query?${new URLSearchParams({ query: expr })}`,
      );
      return result.map(({ metric, value: [, value] }) => ({ labels: metric, value: Number(value) }));
    },
    async alerts() {
      const { alerts } = await read<{ alerts: FoundAlert[] }>(`${url}/api/v1/alerts`);
      return alerts.map(({ labels, annotations, state }) => ({
        name: labels.alertname ?? "",
        state,
        summary: annotations.summary ?? "",
      }));
    },
    async stop() {
      child.kill("SIGTERM");
      await child.exited;
    },
  };
}

function configOf(target: string): string {
  return `global: { scrape_interval: 1s, evaluation_interval: 1s }
rule_files: [${JSON.stringify(ALERTS_FILE)}]
scrape_configs: [{ job_name: tollgate, static_configs: [{ targets: [${JSON.stringify(target)}] }] }]
`;
}

interface Vector {
  readonly metric: Readonly<Record<string, string>>;
  readonly value: readonly [atS: number, value: string];
}

interface FoundAlert {
  readonly labels: Readonly<Record<string, string>>;
  readonly annotations: Readonly<Record<string, string>>;
  readonly state: string;
}

/** @see https://prometheus.io/docs/prometheus/latest/querying/api/ */
async function read<Data>(url: string): Promise<Data> {
  // Safe because this is the form of every answer of the API.
  const answer = (await (await fetch(url)).json()) as { status: string; error?: string; data: Data };
  if (answer.status !== "success") throw new Error(`Prometheus rejected ${url}: ${answer.error}`);
  return answer.data;
}
