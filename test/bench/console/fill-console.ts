import { join } from "node:path";
import { issueKey } from "../../../src/accounts/keys/keys.ts";
import { connectDatabase, type Database } from "../../../src/db/database.ts";
import { openPostgres } from "../../../src/db/postgres/database.ts";
import type { LocalLedger } from "../../../src/ledger/engine/local.ts";
import { createPostgresLedger } from "../../../src/ledger/postgres/ledger.ts";
import { createSqliteLedger } from "../../../src/ledger/sqlite/ledger.ts";
import { printPlan } from "../../../src/plans/plan-text.ts";
import { PRO } from "../../plans/samples.ts";
import { startPostgresServer } from "../../support/postgres-server.ts";
import { fillSqliteFile } from "../usage/fill-sqlite.ts";
import {
  BIG_WALLET,
  FILLED_RECEIPTS,
  type Fill,
  POSTGRES_FILL,
  receiptStatement,
  settlementStatements,
  walletStatements,
} from "../usage/fill-usage.ts";

const MINUTE_MS = 60_000;
const HOUR_MS = 3_600_000;
const ACCOUNTS = 5_000;
const KEYS = 300;
const CODES = 100_000;
const CREDITS = 900;
const NOTICES = 45_000;
const AUDIT_ENTRIES = 200_000;
const REFUSALS = 100_000;
const ROWS_OF_INSERT = 500;
const COMMANDS_OF_BATCH = 256;

/** A filled database, and how a gateway finds it. */
export interface Filled {
  readonly environment: Readonly<Record<string, string>>;
  readonly end: () => Promise<void>;
}

/** Fills a SQLite file below `folder`. */
export async function fillSqlite(folder: string, fill: Fill): Promise<Filled> {
  const path = join(folder, "data", "tollgate.db");
  fillSqliteFile(path, fill);
  const database = await connectDatabase({ dialect: "sqlite", path });
  if (database.dialect !== "sqlite") throw new Error("The file is of SQLite");
  const ledger = createSqliteLedger({ database: database.sqlite });
  while (await ledger.rollUp());
  await fillConsole(database, ledger, fill);
  await ledger.close();
  await database.close();
  return { environment: {}, end: () => Promise.resolve() };
}

/** The fill alone needs these: the lists are read with the defaults of PostgreSQL, after a vacuum. */
const FILL_SETTINGS = { max_wal_size: "16GB", checkpoint_timeout: "1h" };
const FILL_SESSION = {
  ...{ statement_timeout: 0, synchronous_commit: "off" },
  ...{ work_mem: "1GB", maintenance_work_mem: "1GB" },
};

/** Starts a server of its own and fills it. */
export async function fillPostgres(fill: Fill): Promise<Filled> {
  const server = await startPostgresServer({ settings: FILL_SETTINGS });
  const opened = await openPostgres(server.url);
  const client = opened.connect({ max: 1, session: FILL_SESSION });
  for (const statement of walletStatements(fill)) await client.unsafe(statement);
  for (let from = 0; from < fill.count; from += FILLED_RECEIPTS) {
    const to = Math.min(fill.count, from + FILLED_RECEIPTS);
    await client.unsafe(receiptStatement(POSTGRES_FILL, fill, from, to));
  }
  for (const statement of settlementStatements()) await client.unsafe(statement);
  // Sums up the index of times, without which each hour would be found by reading its whole partition.
  await client.unsafe("VACUUM ANALYZE");
  const ledger = createPostgresLedger({ database: opened });
  while (await ledger.rollUp());
  const database = await connectDatabase({ dialect: "postgres", url: server.url });
  await fillConsole(database, ledger, fill);
  await client.unsafe("VACUUM ANALYZE");
  await ledger.close();
  await client.close();
  await database.close();
  await opened.close();
  return { environment: { DATABASE_URL: server.url }, end: () => server.stop() };
}

type FilledLedger = Parameters<typeof issueKey>[0]["ledger"] & Pick<LocalLedger, "createWallet" | "topUp">;

/** Adds accounts, their wallets, people and the keys of the big account. */
async function fillConsole(database: Database, ledger: FilledLedger, { days }: Fill): Promise<void> {
  const { accounts, people } = database.tables;
  const createdAtMs = Date.now() - days * 24 * HOUR_MS;
  const benched = Array.from({ length: 40 }, (_, n) => `bench-${`${n}`.padStart(2, "0")}`);
  const others = numbers(ACCOUNTS - benched.length).map(() => Bun.randomUUIDv7("hex", createdAtMs));
  const rows = [...benched, ...others].map((id, n) => {
    return { id, name: `account ${n}`, state: "active" as const, createdAtMs };
  });
  const persons = rows.map(({ name }, n) => {
    const moment = new Date(createdAtMs);
    const named = { name: name.replace("account", "person"), email: `person-${n}@example.com` };
    return { id: Bun.randomUUIDv7("hex", createdAtMs), ...named, createdAt: moment, updatedAt: moment };
  });
  const insert = createInsert(database);
  await insert(accounts, rows);
  await insert(people, persons);
  await inBatches(others, (walletId) => ledger.createWallet(walletId));
  await inBatches(numbers(CREDITS), (n) => {
    const expiresAtMs = n % 2 ? Date.now() + (n + 1) * HOUR_MS : undefined;
    return ledger.topUp({ walletId: BIG_WALLET, topUpId: `top-${n}`, amount: 1_000_000_000n, expiresAtMs });
  });
  await fillOperatorLists(database, insert, rows);
  await fillAccountLists(database, insert);
  const parts = { database, ledger, now: Date.now };
  for (const n of numbers(KEYS)) await issueKey(parts, { accountId: BIG_WALLET, name: `key ${n}` });
}

/** Commands that are given at once are committed at once. */
async function inBatches<Item>(
  items: readonly Item[],
  command: (item: Item) => Promise<unknown>,
): Promise<void> {
  for (let from = 0; from < items.length; from += COMMANDS_OF_BATCH)
    await Promise.all(items.slice(from, from + COMMANDS_OF_BATCH).map(command));
}

type FilledTable = Database["tables"][
  | "accounts"
  | "auditEntries"
  | "notices"
  | "people"
  | "redeemCodes"
  | "refusedRequests"
  | "subscriptions"];
type Insert = (table: FilledTable, rows: readonly object[]) => Promise<void>;

function createInsert({ transact }: Database): Insert {
  return (table, rows) =>
    transact(async (tx) => {
      for (let from = 0; from < rows.length; from += ROWS_OF_INSERT)
        await tx.insert(table).values(rows.slice(from, from + ROWS_OF_INSERT) as never);
    });
}

function numbers(count: number): readonly number[] {
  return Array.from({ length: count }, (_, n) => n);
}

interface Owner {
  readonly id: string;
  readonly createdAtMs: number;
}

/** Adds codes, a subscription of each account, and what was changed in the accounts. */
async function fillOperatorLists(
  database: Database,
  insert: Insert,
  owners: readonly Owner[],
): Promise<void> {
  const { auditEntries, redeemCodes, subscriptions } = database.tables;
  const nowMs = Date.now();
  const idAt = (n: number) => Bun.randomUUIDv7("hex", nowMs - n);
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
        nextAtMs: nowMs + n * MINUTE_MS,
        createdAtMs,
        createdBy: "operator",
      },
      ...{ version: 1, appliedVersion: 1 },
    })),
  );
  await insert(
    auditEntries,
    numbers(AUDIT_ENTRIES).map((n) => {
      const accountId = n % 2 ? BIG_WALLET : owners[n % owners.length]?.id;
      const actor = { actorKind: "person", actorId: `actor-${n % 40}`, actorName: `person ${n % 40}` };
      const change = { action: n % 3 ? "key.updated" : "member.added", target: `target-${n}` };
      return {
        id: idAt(n * 30_000),
        accountId,
        ...actor,
        isActing: false,
        ...change,
        atMs: nowMs - n * 30_000,
      };
    }),
  );
}

/** Adds what one rule raised for subjects of the big account, and the requests of 7 days that were refused there. */
async function fillAccountLists(database: Database, insert: Insert): Promise<void> {
  const { notices, refusedRequests } = database.tables;
  const nowMs = Date.now();
  const idAt = (n: number) => Bun.randomUUIDv7("hex", nowMs - n);
  await insert(
    notices,
    numbers(NOTICES).map((n) => {
      const text = `User ${n} has used 80% of its limit`;
      const data = { kind: "subject_limit", text, threshold: "80", value: "81" };
      const times = { raisedAtMs: nowMs - n, endedAtMs: nowMs - n, readAtMs: n % 2 ? nowMs : null };
      const subject = { ruleId: "rule", subject: `user-${n}`, ofSubject: n % 20_000 !== 19_999 };
      return { id: idAt(n), accountId: BIG_WALLET, ...subject, data: JSON.stringify(data), ...times };
    }),
  );
  await insert(
    refusedRequests,
    numbers(REFUSALS).map((n) => {
      const minuteMs = Math.floor(nowMs / MINUTE_MS - n / 10) * MINUTE_MS;
      const lastRequestId = Bun.randomUUIDv7("hex", minuteMs + 1);
      const refused = { keyId: `key-${n % 10}`, cause: "rate_limited", model: "", gatewayId: "gateway" };
      const facts = JSON.stringify([{ id: lastRequestId, atMs: minuteMs + 1, surface: "chat" }]);
      return { accountId: BIG_WALLET, minuteMs, ...refused, count: 3, lastRequestId, facts };
    }),
  );
}
