import { chmod, mkdir, mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { costOf } from "../../src/domain/model.ts";
import { type Nanos, parsePrice, parseUsd } from "../../src/domain/money.ts";
import { NO_USAGE } from "../../src/domain/usage.ts";
import { freePort } from "../support/free-port.ts";
import { TOLLGATE } from "../support/tollgate-command.ts";
import { BURST_MODEL, FAST_MODEL, SLOW_MODEL, USAGE } from "./answers.ts";

/** A gateway as an operator runs it: a process, its command line, a SQLite file and a funded account. */
export interface BenchGateway {
  readonly url: string;
  readonly secret: string;
  readonly pid: number;
  readonly databaseUrl: string;
  /** Stops the process by SIGTERM. The wallet can be read afterwards. */
  stop(): Promise<void>;
  /** Starts another gateway on the same database, with a data folder of its own. */
  startReplica(): Promise<Replica>;
  wallet(): Promise<Wallet>;
  /** Whether `tollgate audit` finds no problem. */
  isAuditClean(): Promise<boolean>;
  remove(): Promise<void>;
}

export type Replica = Pick<BenchGateway, "url" | "pid" | "stop">;

interface Wallet {
  readonly posted: Nanos;
  readonly held: Nanos;
}

const ACCOUNT = "bench";
const START_MS_MAX = 15_000;
const PRICE = { input: "1.00", output: "2.00" };

export const TOP_UP: Nanos = parseUsd("1000000");

/** Cost of each answer, in nano-USD. */
export const COST: Nanos = costOf(
  { ...NO_USAGE, ...USAGE },
  {
    input: parsePrice(PRICE.input),
    output: parsePrice(PRICE.output),
    cachedInput: 0n,
    cacheWrite: 0n,
    cacheWrite1h: 0n,
  },
);

/** Entries of the configuration beside the models of the one upstream. */
export interface ExtraConfig {
  readonly upstreams: Readonly<Record<string, object>>;
  readonly models: Readonly<Record<string, object>>;
  /** Limits of every account, beside the wide ones. */
  readonly accountLimits?: Readonly<Record<string, number>>;
}

export const NO_EXTRA_CONFIG: ExtraConfig = { upstreams: {}, models: {} };

/** Starts a gateway. `special` adds environment variables, `offer` adds upstreams and models. */
export async function startGateway(
  upstreamUrl: string,
  special: Readonly<Record<string, string>> = {},
  offer: ExtraConfig = NO_EXTRA_CONFIG,
): Promise<BenchGateway> {
  const folder = await mkdtemp(join(tmpdir(), "tollgate-bench-"));
  await chmod(folder, 0o700);
  await Bun.write(join(folder, "tollgate.yaml"), printConfig(upstreamUrl, offer));
  const environment = { ...environmentOf(folder), ...special };

  async function run(...args: readonly string[]): Promise<unknown> {
    const child = Bun.spawn([...TOLLGATE, ...args, "--json"], {
      cwd: folder,
      env: environment,
      stderr: "inherit",
    });
    const text = await new Response(child.stdout).text();
    if ((await child.exited) !== 0) throw new Error(`tollgate ${args.slice(0, 2).join(" ")} failed`);
    return JSON.parse(text);
  }

  await run("account", "create", "--name", ACCOUNT);
  const secret = readText(
    await run("key", "create", "--account", ACCOUNT, "--name", "bench", ...WIDE_OPTIONS),
    "key",
  );
  await run("topup", "--account", ACCOUNT, "--amount", "1000000", "--id", "seed");

  const served = await serve(folder, environment);
  const replicas: Served[] = [];
  return {
    url: served.url,
    secret,
    pid: served.pid,
    databaseUrl: environment.DATABASE_URL,
    stop: served.stop,
    async startReplica() {
      const ownFolder = join(folder, `replica-${replicas.length}`);
      await mkdir(ownFolder);
      const replica = await serve(ownFolder, { ...environment, TOLLGATE_DATA: ownFolder });
      replicas.push(replica);
      return replica;
    },
    wallet: async () => readWallet(await run("account", "list")),
    isAuditClean: () =>
      run("audit").then(
        () => true,
        () => false,
      ),
    async remove() {
      await Promise.all([served, ...replicas].map((each) => each.kill()));
      await rm(folder, { recursive: true, force: true });
    },
  };
}

/** A running gateway process. */
interface Served extends Replica {
  kill(): Promise<void>;
}

/** Starts a gateway on a free port. Resolves when it is ready. */
async function serve(folder: string, environment: Readonly<Record<string, string>>): Promise<Served> {
  const port = freePort();
  const log = Bun.file(join(folder, "gateway.log"));
  const child = Bun.spawn([...TOLLGATE, "serve"], {
    cwd: folder,
    env: { ...environment, PORT: `${port}` },
    stdout: log,
    stderr: log,
  });
  const url = `http://127.0.0.1:${port}`;
  await untilReady(url, child).catch(async (error: Error) => {
    throw new Error(`${error.message}\n${await log.text()}`);
  });
  const end = async (signal: NodeJS.Signals) => {
    child.kill(signal);
    await child.exited;
  };
  return { url, pid: child.pid, stop: () => end("SIGTERM"), kill: () => end("SIGKILL") };
}

const WIDE = {
  requests_per_minute: 100_000_000,
  tokens_per_minute: 1_000_000_000_000,
  concurrent_requests: 100_000,
};

const WIDE_OPTIONS = Object.entries(WIDE).flatMap(([name, value]) => [
  `--${name.replaceAll("_", "-")}`,
  `${value}`,
]);

/** An upstream entry of the configuration. */
export function upstreamEntry(url: string): object {
  return { protocol: "openai", base_url: `${url}/v1`, api_key: "bench" };
}

/** A model entry of the configuration, with the prices of {@link COST}. */
export function modelEntry(routes: readonly object[]): object {
  return { routes, context_window: 128_000, max_output_tokens: 4096, price: PRICE };
}

/** Returns JSON, which is also YAML. */
function printConfig(upstreamUrl: string, { upstreams, models, accountLimits }: ExtraConfig): string {
  const own = [FAST_MODEL, BURST_MODEL, SLOW_MODEL].map((model) => [
    model,
    modelEntry([{ upstream: "bench", model }]),
  ]);
  return JSON.stringify({
    upstreams: { bench: upstreamEntry(upstreamUrl), ...upstreams },
    models: { ...Object.fromEntries(own), ...models },
    limits: WIDE,
    account_limits: { ...WIDE, ...accountLimits },
  });
}

/** Only the variables that a program needs. The gateway has defaults for all others. */
function environmentOf(folder: string) {
  const { PATH = "", HOME = "" } = process.env;
  return {
    PATH,
    HOME,
    HOST: "127.0.0.1",
    TOLLGATE_CONFIG: join(folder, "tollgate.yaml"),
    DATABASE_URL: `sqlite:${join(folder, "tollgate.db")}`,
    // Several gateways run at a time, and the benchmark uses neither port.
    LEDGER_LISTEN: "off",
    METRICS_LISTEN: "off",
  };
}

async function untilReady(url: string, child: Bun.Subprocess): Promise<void> {
  const endMs = performance.now() + START_MS_MAX;
  while (performance.now() < endMs && child.exitCode === null) {
    const answer = await fetch(`${url}/readyz`).catch(() => undefined);
    if (answer?.ok) return;
    await Bun.sleep(20);
  }
  throw new Error("The gateway does not get ready");
}

function readWallet(list: unknown): Wallet {
  const accounts = isRecord(list) && Array.isArray(list.accounts) ? list.accounts : [];
  const account: unknown = accounts.find((each: unknown) => isRecord(each) && each.name === ACCOUNT);
  return { posted: parseUsd(readText(account, "posted_usd")), held: parseUsd(readText(account, "held_usd")) };
}

function readText(value: unknown, name: string): string {
  const text = isRecord(value) ? value[name] : undefined;
  if (typeof text !== "string") throw new Error(`The command line printed no ${name}`);
  return text;
}

function isRecord(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === "object" && value !== null;
}
