import { mkdirSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { issueKey } from "../../../src/accounts/keys/keys.ts";
import { connectDatabase, type Database } from "../../../src/db/database.ts";
import { openPostgres } from "../../../src/db/postgres/database.ts";
import type { LocalLedger } from "../../../src/ledger/engine/local.ts";
import { createPostgresLedger } from "../../../src/ledger/postgres/ledger.ts";
import { createSqliteLedger } from "../../../src/ledger/sqlite/ledger.ts";
import { printPlan } from "../../../src/plans/plan-text.ts";
import { type SignedIn, signIn } from "../../browser/world/signed-in.ts";
import { runTollgate } from "../../cli/run-tollgate.ts";
import { PRO } from "../../plans/samples.ts";
import { startPostgresServer } from "../../support/postgres-server.ts";
import { startServedProcess } from "../../support/served-process.ts";
import { fillSqliteFile } from "../usage/fill-sqlite.ts";
import {
  BIG_WALLET,
  FILLED_RECEIPTS,
  type Fill,
  POSTGRES_FILL,
  RARE_KEY,
  receiptStatement,
  settlementStatements,
  walletStatements,
} from "../usage/fill-usage.ts";

const HOUR_MS = 3_600_000;
const DAYS = 90;
const ACCOUNTS = 5_000;
const KEYS = 300;
const CODES = 100_000;
const CREDITS = 900;
const NOTICES = 45_000;
const OPERATOR = "ops@example.com";
const PASSWORD = "correct horse battery";
const ROWS_OF_INSERT = 500;
const TIMES = 5;
const BOUND_MS = 300;

/** A filled database, and how a gateway finds it. */
interface Filled {
  readonly environment: Readonly<Record<string, string>>;
  readonly end: () => Promise<void>;
}

/**
 * `bun run bench console [--receipts N] [--store sqlite|postgres]`: times each list of the console through HTTP, with
 * 300 keys, 5,000 accounts and people, and by default 2,000,000 receipts. Ends with 1 when a median is above 300 ms.
 */
export async function benchConsole(args: readonly string[]): Promise<void> {
  const option = (name: string) => args[args.indexOf(name) + 1];
  const count = args.includes("--receipts") ? Number(option("--receipts")) : 2_000_000;
  const stores = args.includes("--store") ? [option("--store")] : ["sqlite", "postgres"];
  const fill: Fill = { count, days: DAYS, endMs: Math.floor(Date.now() / HOUR_MS) * HOUR_MS };
  for (const store of stores) {
    const folder = mkdtempSync(join(tmpdir(), "tollgate-console-"));
    mkdirSync(join(folder, "data"));
    const filled = store === "postgres" ? await fillPostgres(fill) : await fillSqlite(folder, fill);
    try {
      console.log(`\n${store}, ${count.toLocaleString("en")} receipts`);
      await measureServed(folder, filled.environment);
    } finally {
      await filled.end();
      rmSync(folder, { recursive: true });
    }
  }
}

async function measureServed(folder: string, environment: Filled["environment"]): Promise<void> {
  const command = ["operator", "create", "--email", OPERATOR, "--json"];
  const created = await runTollgate(folder, command, environment);
  const served = await startServedProcess({ folder, environment });
  try {
    const password = String(created.json().one_time_password);
    const operator = await signIn(served.url, { email: OPERATOR, password, newPassword: PASSWORD });
    await operator.call("POST", `/operator/accounts/${BIG_WALLET}/act`, { reason: "measuring" });
    for (const path of PATHS) await measure(operator, path);
  } finally {
    served.signal("SIGTERM");
    await served.exitCode;
  }
}

const IN = `/accounts/${BIG_WALLET}`;
const at = (days: number) => new Date(Date.now() - days * 24 * HOUR_MS).toISOString();
const PATHS = [
  "/operator/accounts",
  "/operator/accounts?sort=name",
  "/operator/accounts?sort=-available",
  "/operator/accounts?sort=-spent",
  "/operator/accounts?sort=-requests",
  "/operator/accounts?q=account%204999",
  "/operator/people",
  "/operator/people?sort=-name",
  "/operator/people?q=person%2049",
  "/operator/codes",
  "/operator/codes?sort=-amount",
  "/operator/codes?sort=expires",
  "/operator/codes?q=account%2049",
  "/operator/codes?state=expired",
  "/operator/subscriptions?live=true",
  "/operator/subscriptions?sort=account",
  "/operator/subscriptions?sort=-plan",
  "/operator/subscriptions?sort=next",
  "/operator/subscriptions?q=account%2049",
  "/operator/figures",
  "/operator/audit-trail",
  "/operator/now",
  `/operator/usage?from=${at(30)}`,
  "/find?q=account%2049",
  IN,
  `${IN}/keys?size=50`,
  `${IN}/keys?size=50&sort=name`,
  `${IN}/keys?size=50&sort=-spent`,
  `${IN}/keys?size=50&sort=-used`,
  `${IN}/keys?size=50&q=key%2029`,
  `${IN}/key-names`,
  `${IN}/requests`,
  `${IN}/requests?sort=-charged`,
  `${IN}/requests?sort=-duration&model=model-3`,
  `${IN}/requests?key=key-3`,
  `${IN}/requests?key=${RARE_KEY}`,
  `${IN}/requests?model=model-3&outcome=upstream_timeout`,
  `${IN}/requests?metadata=team:t3`,
  `${IN}/requests?metadata=team:none`,
  `${IN}/requests?from=${at(40)}&to=${at(39)}`,
  `${IN}/refusals`,
  `${IN}/wallet`,
  `${IN}/wallet/transfers`,
  `${IN}/usage?from=${at(30)}&group=model&by=day`,
  `${IN}/usage?from=${at(89)}&group=key&by=day`,
  `${IN}/wallet/credits`,
  `${IN}/wallet/credits?sort=-left`,
  `${IN}/wallet/credits?q=top-4`,
  `${IN}/notices`,
  `${IN}/notices?of=account`,
  `${IN}/notices?q=none%20has%20this`,
  `${IN}/notices?state=unread`,
  `${IN}/audit-trail`,
] as const;

async function measure(operator: SignedIn, path: string): Promise<void> {
  const took: number[] = [];
  for (let turn = 0; turn < TIMES; turn++) {
    const beganAtMs = performance.now();
    await operator.call("GET", path);
    took.push(performance.now() - beganAtMs);
  }
  const [first = 0] = took;
  const median = took.toSorted((a, b) => a - b)[Math.floor(TIMES / 2)] ?? 0;
  if (median > BOUND_MS) process.exitCode = 1;
  const mark = median > BOUND_MS ? "  ABOVE 300 ms" : "";
  console.log(
    `${median.toFixed(0).padStart(6)} ms  first ${first.toFixed(0).padStart(5)} ms  ${path}${mark}`,
  );
}

async function fillSqlite(folder: string, fill: Fill): Promise<Filled> {
  const path = join(folder, "data", "tollgate.db");
  fillSqliteFile(path, fill);
  const database = await connectDatabase({ dialect: "sqlite", path });
  if (database.dialect !== "sqlite") throw new Error("The file is of SQLite");
  const ledger = createSqliteLedger({ database: database.sqlite });
  while (await ledger.rollUp());
  await fillConsole(database, ledger);
  await ledger.close();
  await database.close();
  return { environment: {}, end: () => Promise.resolve() };
}

async function fillPostgres(fill: Fill): Promise<Filled> {
  const server = await startPostgresServer();
  const opened = await openPostgres(server.url);
  const client = opened.connect({ max: 1, session: { statement_timeout: 0, synchronous_commit: "off" } });
  for (const statement of walletStatements(fill)) await client.unsafe(statement);
  for (let from = 0; from < fill.count; from += FILLED_RECEIPTS) {
    const to = Math.min(fill.count, from + FILLED_RECEIPTS);
    await client.unsafe(receiptStatement(POSTGRES_FILL, fill, from, to));
  }
  for (const statement of settlementStatements()) await client.unsafe(statement);
  const ledger = createPostgresLedger({ database: opened });
  while (await ledger.rollUp());
  const database = await connectDatabase({ dialect: "postgres", url: server.url });
  await fillConsole(database, ledger);
  await client.unsafe("VACUUM ANALYZE");
  await ledger.close();
  await client.close();
  await database.close();
  await opened.close();
  return { environment: { DATABASE_URL: server.url }, end: () => server.stop() };
}

type FilledLedger = Parameters<typeof issueKey>[0]["ledger"] & Pick<LocalLedger, "createWallet" | "topUp">;

/** Adds accounts, their wallets, people and the keys of the big account. */
async function fillConsole(database: Database, ledger: FilledLedger): Promise<void> {
  const { accounts, people } = database.tables;
  const createdAtMs = Date.now() - DAYS * 24 * HOUR_MS;
  const benched = Array.from({ length: 40 }, (_, n) => `bench-${`${n}`.padStart(2, "0")}`);
  const others = Array.from({ length: ACCOUNTS - benched.length }, () =>
    Bun.randomUUIDv7("hex", createdAtMs),
  );
  const rows = [...benched, ...others].map((id, n) => ({
    id,
    name: `account ${n}`,
    state: "active" as const,
    createdAtMs,
  }));
  const persons = rows.map(({ name }, n) => {
    const moment = new Date(createdAtMs);
    const named = { name: name.replace("account", "person"), email: `person-${n}@example.com` };
    return { id: Bun.randomUUIDv7("hex", createdAtMs), ...named, createdAt: moment, updatedAt: moment };
  });
  for (let from = 0; from < ACCOUNTS; from += ROWS_OF_INSERT) {
    await database.db.insert(accounts).values(rows.slice(from, from + ROWS_OF_INSERT));
    await database.db.insert(people).values(persons.slice(from, from + ROWS_OF_INSERT));
  }
  for (const walletId of others) await ledger.createWallet(walletId);
  await fillOperatorLists(database, rows);
  const parts = { database, ledger, now: Date.now };
  for (let n = 0; n < CREDITS; n++) {
    const expiresAtMs = n % 2 ? Date.now() + (n + 1) * HOUR_MS : undefined;
    await ledger.topUp({ walletId: BIG_WALLET, topUpId: `top-${n}`, amount: 1_000_000_000n, expiresAtMs });
  }
  for (let n = 0; n < KEYS; n++) await issueKey(parts, { accountId: BIG_WALLET, name: `key ${n}` });
}

/** Adds codes, a subscription of each account, and what one rule raised for subjects in 90 days. */
async function fillOperatorLists(
  database: Database,
  owners: readonly { readonly id: string; readonly createdAtMs: number }[],
): Promise<void> {
  const { notices, redeemCodes, subscriptions } = database.tables;
  const nowMs = Date.now();
  const idAt = (n: number) => Bun.randomUUIDv7("hex", nowMs - n);
  const insert = async (
    table: typeof notices | typeof redeemCodes | typeof subscriptions,
    rows: object[],
  ) => {
    for (let from = 0; from < rows.length; from += ROWS_OF_INSERT)
      await database.db.insert(table).values(rows.slice(from, from + ROWS_OF_INSERT) as never);
  };
  const numbers = (count: number) => Array.from({ length: count }, (_, n) => n);
  await insert(
    redeemCodes,
    numbers(CODES).map((n) => ({
      ...{ id: idAt(n), digest: `digest ${n}`, hint: `C${n}`.slice(0, 5), createdBy: "operator" },
      ...{ amount: BigInt(n % 100) * 1_000_000_000n, note: `event ${n % 50}`, createdAtMs: nowMs - n },
      expiresAtMs: n % 3 ? nowMs + (n % 200) * HOUR_MS : null,
      ...(n % 2 && {
        redeemedAtMs: nowMs - n,
        accountId: owners[n % owners.length]?.id,
        creditedAtMs: nowMs,
      }),
    })),
  );
  await insert(
    subscriptions,
    owners.map(({ id: accountId, createdAtMs }, n) => ({
      ...{ id: idAt(n), accountId, state: "active", timeZone: "UTC", anchorMs: createdAtMs, anchorPeriod: 0 },
      plan: printPlan({ ...PRO, name: `Plan ${n % 7}` }),
      ...{
        nextPeriod: 3,
        periodGrant: PRO.grant,
        nextAtMs: nowMs + n * 60_000,
        createdAtMs,
        createdBy: "operator",
      },
      ...{ version: 1, appliedVersion: 1 },
    })),
  );
  await insert(
    notices,
    numbers(NOTICES).map((n) => {
      const data = {
        kind: "subject_limit",
        text: `User ${n} has used 80% of its limit`,
        threshold: "80",
        value: "81",
      };
      const times = { raisedAtMs: nowMs - n, endedAtMs: nowMs - n, readAtMs: n % 2 ? nowMs : null };
      const subject = { ruleId: "rule", subject: `user-${n}`, ofSubject: n % 20_000 !== 19_999 };
      return { id: idAt(n), accountId: BIG_WALLET, ...subject, data: JSON.stringify(data), ...times };
    }),
  );
}
