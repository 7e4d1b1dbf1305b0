import { chmodSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { createAccount } from "../../src/accounts/accounts.ts";
import { issueKey } from "../../src/accounts/keys/keys.ts";
import { connectDatabase } from "../../src/db/database.ts";
import { parseUsd } from "../../src/domain/money.ts";
import { createSqliteLedger } from "../../src/ledger/sqlite/ledger.ts";
import { type Finished, runTollgate } from "../cli/run-tollgate.ts";
import { startServedProcess } from "../support/served-process.ts";
import { tempFolder } from "../support/temp-folder.ts";
import type { Target } from "./call.ts";
import { MODELS, OUTPUT_TOKENS_MAX, UPSTREAMS, type UpstreamName } from "./plan.ts";

/** A gateway as an operator runs it: a process, a configuration file, a SQLite file and paying keys. */
export interface StormGateway {
  readonly pid: number;
  /** Returns the key for a number from 0 to 1. */
  payer(lot: number): Target;
  /** Concurrency slots and money in use, over all keys. */
  held(): Promise<{ readonly slots: number; readonly usd: readonly string[] }>;
  /** The printed lines. */
  log(): readonly string[];
  audit(): Promise<Finished>;
  /** Stops the process by SIGTERM. Its files stay. */
  stop(): Promise<number>;
  readonly databasePath: string;
  remove(): Promise<void>;
}

/** Balance of each account at the start, in nano-USD. */
export const TOP_UP = parseUsd("1000000");

/** USD per million tokens. The price identifies the upstream that was paid. */
export const PRICES = {
  a: { input: "1.00", output: "2.00" },
  b: { input: "1.10", output: "1.70" },
  c: { input: "0.90", output: "1.30" },
} as const;

const TIMEOUTS = { connect_ms: 1_000, first_output_ms: 600, idle_ms: 800, total_ms: 1_500 };
const WIDE = { requests_per_minute: 1e9, tokens_per_minute: 1e15, concurrent_requests: 1e6 };
const ACCOUNTS = 3;
const KEYS_PER_ACCOUNT = 2;

export async function startStormGateway(
  upstreamUrl: (name: UpstreamName) => string,
  environment: Readonly<Record<string, string>> = {},
): Promise<StormGateway> {
  const folder = tempFolder();
  writeFileSync(join(folder, "tollgate.yaml"), printConfig(upstreamUrl));
  const databasePath = join(folder, "data", "tollgate.db");
  const secrets = await createPayers(databasePath);
  chmodSync(join(folder, "data"), 0o700);
  const served = await startServedProcess({ folder, environment });
  const payers = secrets.map((secret) => ({ url: served.url, secret }));
  return {
    pid: served.pid,
    payer: (lot) => payers[Math.floor(lot * payers.length)] ?? { url: served.url, secret: "" },
    async held() {
      const keys = await Promise.all(payers.map(readKey));
      return {
        slots: keys.reduce((sum, key) => sum + key.concurrent_requests.used, 0),
        usd: keys.map(({ wallet }) => wallet.on_hold_usd).filter((usd) => usd !== "0.00"),
      };
    },
    log: () => served.stdout().trimEnd().split("\n"),
    audit: () => runTollgate(folder, ["audit", "--json"]),
    async stop() {
      served.signal("SIGTERM");
      return served.exitCode;
    },
    databasePath,
    async remove() {
      served.signal("SIGKILL");
      await served.exitCode;
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

/** Number of open sockets, files and pipes of a process (Linux). */
export function countDescriptors(pid: number): number {
  return readdirSync(`/proc/${pid}/fd`).length;
}

interface KeyBody {
  readonly concurrent_requests: { readonly used: number };
  readonly wallet: { readonly on_hold_usd: string };
}

async function readKey({ url, secret }: Target): Promise<KeyBody> {
  const response = await fetch(`${url}/v1/key`, { headers: { "x-api-key": secret } });
  // Safe because a body of another shape fails where it is used.
  return (await response.json()) as KeyBody;
}

async function createPayers(path: string): Promise<readonly string[]> {
  const database = await connectDatabase({ dialect: "sqlite", path });
  if (database.dialect !== "sqlite") throw new Error("The storm runs on SQLite");
  const ledger = createSqliteLedger({ database: database.sqlite });
  const secrets: string[] = [];
  for (let account = 1; account <= ACCOUNTS; account++) {
    const { id: accountId } = await createAccount({ database, ledger }, { name: `account-${account}` });
    await ledger.topUp({ walletId: accountId, topUpId: "seed", amount: TOP_UP });
    for (let key = 1; key <= KEYS_PER_ACCOUNT; key++) {
      const { secret } = await issueKey({ database, ledger }, { accountId, name: `key-${key}` });
      secrets.push(secret);
    }
  }
  await ledger.close();
  await database.close();
  return secrets;
}

/** Returns JSON, which is also YAML. Each flaky upstream has one entry per protocol. */
function printConfig(upstreamUrl: (name: UpstreamName) => string): string {
  const upstreams = UPSTREAMS.flatMap((name) => {
    const common = { api_key: "provider-secret", timeouts: TIMEOUTS };
    return [
      [`${name}-chat`, { protocol: "openai", base_url: `${upstreamUrl(name)}/v1`, ...common }],
      [`${name}-messages`, { protocol: "anthropic", base_url: upstreamUrl(name), ...common }],
    ];
  });
  const models = Object.entries(MODELS).map(([model, routes]) => [
    model,
    {
      routes: routes.flatMap(({ upstream, ...rank }) =>
        ["chat", "messages"].map((surface) => ({
          upstream: `${upstream}-${surface}`,
          model,
          price: PRICES[upstream],
          ...rank,
        })),
      ),
      context_window: 2 * OUTPUT_TOKENS_MAX,
      max_output_tokens: OUTPUT_TOKENS_MAX,
      price: PRICES.a,
    },
  ]);
  return JSON.stringify({
    upstreams: Object.fromEntries(upstreams),
    models: Object.fromEntries(models),
    limits: WIDE,
    account_limits: WIDE,
  });
}
