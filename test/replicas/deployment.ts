import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { findOutboxes } from "../../src/settlement-outbox/folder.ts";
import { isReady } from "../crash/cluster-parts.ts";
import { createProgram, type Program, runCommand } from "../crash/program.ts";
import { freePort } from "../support/free-port.ts";
import { until } from "../support/until.ts";
import { type ReverseProxy, startProxy } from "./proxy.ts";

/** One gateway of a deployment. */
export interface Replica extends Program {
  readonly url: string;
  /** Starts the process, and resolves when the proxy sends requests to it. */
  start(): Promise<void>;
  /** Everything that its processes have printed. */
  output(): string;
  /** Resolves when the gateway is ready, and the proxy sends requests to it. */
  untilServing(): Promise<void>;
}

/** Three gateways behind HAProxy, on one database and one Redis, as docs/replicas.md sets them up. */
export interface Deployment {
  readonly proxy: ReverseProxy;
  readonly gateways: readonly Replica[];
  /** Runs a tollgate command and returns its stdout. Throws when it fails. */
  command(...args: readonly string[]): Promise<string>;
  /** Counts the settlements that wait in the outboxes of all gateways. */
  countQueued(): number;
  close(): Promise<void>;
}

export interface DeploymentOptions {
  readonly databaseUrl: string;
  readonly redisUrl: string;
  /** The text of tollgate.yaml. */
  readonly configuration: string;
}

const REPLICAS = 3;

/** Starts everything but the database and Redis. The first gateway starts first, and creates the schema. */
export async function openDeployment(options: DeploymentOptions): Promise<Deployment> {
  const folder = mkdtempSync(join(tmpdir(), "tollgate-replicas-"));
  const configuration = join(folder, "tollgate.yaml");
  writeFileSync(configuration, options.configuration);
  const shared = {
    DATABASE_URL: options.databaseUrl,
    REDIS_URL: options.redisUrl,
    TOLLGATE_CONFIG: configuration,
    LEDGER_LISTEN: "off",
    METRICS_LISTEN: "off",
    LOG_LEVEL: "info",
  };
  const programs = Array.from({ length: REPLICAS }, (_, index) => createGateway(folder, index, shared));
  const [first, ...others] = programs;
  await first?.start();
  await Promise.all(others.map((program) => program.start()));
  const proxy = await startProxy(programs.map(({ url }) => new URL(url).host));
  const dataFolders = programs.map(({ data }) => data);
  return {
    proxy,
    gateways: programs.map((program, index) => behindProxy(program, index + 1, proxy)),
    command: (...args) => runCommand(args, { folder, environment: shared }),
    countQueued: () =>
      dataFolders.flatMap((data) => [...findOutboxes(data)]).reduce((sum, { entries }) => sum + entries, 0),
    async close() {
      await Promise.all(programs.map((program) => program.stop()));
      await proxy.stop();
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

/** Each gateway has a data folder of its own, as on a machine of its own. */
function createGateway(folder: string, index: number, shared: Readonly<Record<string, string>>) {
  const port = freePort();
  const url = `http://127.0.0.1:${port}`;
  const data = join(folder, `data-${index + 1}`);
  const environment = { ...shared, PORT: `${port}`, TOLLGATE_DATA: data };
  const isServing = () => isReady(url);
  return { ...createProgram({ name: "serve", folder, environment, isServing }), url, data };
}

function behindProxy(program: Program & Pick<Replica, "url">, number: number, proxy: ReverseProxy): Replica {
  // HAProxy logs a return only for a gateway whose absence it has noticed.
  const isUp = () => proxy.changes(number, "UP") === proxy.changes(number, "DOWN");
  let earlier = "";
  const untilServing = () => until(async () => (await isReady(program.url)) && isUp());
  return {
    ...program,
    output: () => earlier + program.output(),
    untilServing,
    async start() {
      earlier += program.output();
      await program.start();
      await untilServing();
    },
  };
}
