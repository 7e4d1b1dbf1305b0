import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createAccount } from "../../src/accounts/accounts.ts";
import { type IssuedKey, issueKey, type NewKey } from "../../src/accounts/keys/keys.ts";
import { type RunningGateway, startGateway } from "../../src/app/gateway-process.ts";
import type { Config } from "../../src/config/config.ts";
import { connectDatabase } from "../../src/db/database.ts";
import type { DatabaseLocation } from "../../src/db/location.ts";
import type { SqliteDatabase } from "../../src/db/sqlite/database.ts";
import type { Model } from "../../src/domain/model.ts";
import { parseUsd } from "../../src/domain/money.ts";
import { auditDatabase, type Finding } from "../../src/ledger/audit/audit.ts";
import { LedgerError } from "../../src/ledger/ledger.ts";
import type { Balances, Receipt } from "../../src/ledger/records.ts";
import type { Limits } from "../../src/limiter/limiter.ts";
import type { UpstreamConfig } from "../../src/upstream/upstream.ts";
import { type CapturedLog, createCapturedLog } from "./captured-log.ts";
import { type ScriptedUpstream, startScriptedUpstream } from "./scripted-upstream.ts";
import { writeSqliteFile } from "./sqlite-file.ts";
import { scriptedModel, scriptedUpstreams } from "./test-catalog.ts";
import { testConfig } from "./test-config.ts";
import { until } from "./until.ts";

/** A real gateway on a free port, with a scripted upstream and a database of its own. */
export interface TestGateway {
  /** "http://127.0.0.1:PORT", without a path. */
  readonly url: string;
  readonly upstream: ScriptedUpstream;
  readonly tollgate: RunningGateway;
  /** The SQLite database. Throws when the gateway uses another one. */
  readonly sqlite: SqliteDatabase;
  readonly log: CapturedLog;
  readonly accountId: string;
  /** The secret of a key without limits. */
  readonly secret: string;
  newKey(options?: Partial<NewKey>): Promise<IssuedKey>;
  /** Issues a key of a new account with this balance. */
  newPayer(usd: string, options?: Partial<NewKey>): Promise<IssuedKey>;
  balances(accountId?: string): Promise<Balances>;
  /** Returns the receipt of a response, by its request id. Throws when there is none. */
  receiptOf(response: Response | string, accountId?: string): Promise<Receipt>;
  /** Resolves when the account has no hold. Throws after two minutes. */
  nothingIsHeld(accountId?: string): Promise<void>;
  /** Stops the gateway. Throws when the audit of its ledger finds a problem. */
  stop(): Promise<void>;
}

/** How a gateway differs from the default one. */
export interface TestGatewayOptions {
  readonly models?: readonly Model[];
  readonly upstreams?: (scripted: ScriptedUpstream) => readonly UpstreamConfig[];
  readonly limits?: Limits;
  readonly accountLimits?: Limits;
  /** Balance of the first account in USD. */
  readonly topUp?: string;
  /** Default: a new SQLite file. */
  readonly database?: DatabaseLocation;
  /** Default: a log that captures every line. */
  readonly log?: CapturedLog;
  readonly config?: Partial<Config>;
}

/** Starts a gateway. By default the model `chat` has an OpenAI upstream and `claude` an Anthropic one. */
export async function startTestGateway(options: TestGatewayOptions = {}): Promise<TestGateway> {
  const folder = mkdtempSync(join(tmpdir(), "tollgate-test-"));
  const upstream = await startScriptedUpstream();
  const log = options.log ?? createCapturedLog();
  const config = configOf(options, { folder, upstream });
  if (config.database.dialect === "sqlite") writeSqliteFile(config.database.path);
  const tollgate = await startGateway(config, log);
  const { ledger, database } = tollgate;

  const newPayer = async (usd: string, more: Partial<NewKey> = {}) => {
    const name = `account-${Bun.randomUUIDv7()}`;
    const { id: accountId } = await createAccount({ database, ledger }, { name });
    const amount = parseUsd(usd);
    if (amount > 0n)
      await untilAvailable(() => ledger.topUp({ walletId: accountId, topUpId: "seed", amount }));
    return issueKey({ database, ledger }, { name: "test", ...more, accountId });
  };
  const first = await newPayer(options.topUp ?? "1000");
  const { accountId } = first.key;

  return {
    url: tollgate.url,
    upstream,
    tollgate,
    get sqlite() {
      if (database.dialect !== "sqlite") throw new Error("The gateway does not run on SQLite");
      return database.sqlite;
    },
    log,
    accountId,
    secret: first.secret,
    newKey: (more = {}) => issueKey({ database, ledger }, { accountId, name: "test", ...more }),
    newPayer,
    balances: (id = accountId) => ledger.balances(id),
    async receiptOf(response, id = accountId) {
      const holdId = typeof response === "string" ? response : (response.headers.get("x-request-id") ?? "");
      // A ledger that was held up for 3 s settles later, from the outbox.
      const isInOutbox = log.about(holdId).some(({ journaled }) => journaled === true);
      if (isInOutbox) await until(async () => (await ledger.receipt(id, holdId))?.state !== "held");
      const receipt = await ledger.receipt(id, holdId);
      if (!receipt) throw new Error(`There is no receipt of ${holdId}`);
      return receipt;
    },
    nothingIsHeld: (id = accountId) => until(async () => (await ledger.balances(id)).held === 0n),
    async stop() {
      await tollgate.stop();
      await upstream.stop();
      const findings = await audit(config.database);
      rmSync(folder, { recursive: true, force: true });
      if (findings.length > 0)
        throw new Error(`The ledger audit found problems: ${JSON.stringify(findings)}`);
    },
  };
}

/** Repeats a command: on a busy machine, its ledger may connect to the database later than a command waits. */
async function untilAvailable(command: () => Promise<unknown>): Promise<void> {
  await until(() =>
    command().then(
      () => true,
      (error: unknown) => {
        if (error instanceof LedgerError && error.code === "unavailable") return false;
        throw error;
      },
    ),
  );
}

async function audit(location: DatabaseLocation): Promise<readonly Finding[]> {
  const database = await connectDatabase(location);
  try {
    return (await auditDatabase(database, Date.now())).findings;
  } finally {
    await database.close();
  }
}

function configOf(
  { models, upstreams = scriptedUpstreams, limits, accountLimits, database, config }: TestGatewayOptions,
  { folder, upstream }: { folder: string; upstream: ScriptedUpstream },
): Config {
  return testConfig(folder, {
    ...(database && { database }),
    upstreams: upstreams(upstream),
    models: models ?? [scriptedModel("chat", "openai"), scriptedModel("claude", "anthropic")],
    keyLimits: limits ?? {},
    accountLimits: accountLimits ?? {},
    ...config,
  });
}
