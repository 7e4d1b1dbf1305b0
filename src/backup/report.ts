import { Database as SqliteFile } from "bun:sqlite";
import type { Database } from "../db/database.ts";
import { readInstance } from "../db/instance.ts";
import { chunksOf } from "../domain/chunks.ts";
import type { Nanos } from "../domain/money.ts";
import { findOutboxes } from "../settlement-outbox/folder.ts";

/** What an operator must know after a restore, read from the restored data before it is used. */
export interface RestoreReport {
  /** When the last transfer was booked; everything after it is missing. `undefined` without transfers. */
  readonly lastTransferAtMs: number | undefined;
  /** Requests that were running: each is charged what it had accrued, or what the outbox knows. */
  readonly openHolds: {
    readonly count: number;
    readonly granted: Nanos;
    readonly requestIds: readonly string[];
  };
  /** Entries in the settlement outbox. Those of unknown requests are charged for a day, and then declined. */
  readonly outbox: {
    readonly entries: number;
    readonly unknownRequestIds: readonly string[];
    readonly unknown: number;
  };
  /** Codes that can be redeemed, perhaps for the second time. */
  readonly codes: { readonly count: number; readonly amount: Nanos };
  /** Whether there were payments at Stripe, and the ids of those whose end is not known. */
  readonly hasCheckouts: boolean;
  readonly openCheckouts: readonly string[];
  /** Secrets that are valid, also when they were revoked since. */
  readonly valid: {
    readonly keys: number;
    readonly managementKeys: number;
    readonly sharedLinks: number;
    readonly invitations: number;
  };
  /** What is sent again if it was sent since. */
  readonly waiting: { readonly mails: number; readonly webhooks: number };
}

interface ReportParts {
  readonly dataFolder: string;
  readonly nowMs: number;
}

/** The most ids that a report lists. */
const IDS_MAX = 1_000;

type Row = Readonly<Record<string, unknown>>;
/** Runs a query of a database. */
type Ask = (sql: string) => Promise<readonly Row[]>;

/** Reads the report of a restored database and of the outbox in its data folder. */
export async function readRestoreReport(
  database: Database,
  { dataFolder, nowMs }: ReportParts,
): Promise<RestoreReport> {
  const ask = askerOf(database);
  const one = async (sql: string) => (await ask(sql))[0] ?? {};
  const count = async (rows: string) => Number((await one(`SELECT count(*) AS n FROM ${rows}`)).n);
  const last = await one("SELECT max(created_at_ms) AS at FROM transfers");
  const codes = await one(
    `SELECT count(*) AS n, coalesce(sum(amount), 0) AS amount FROM redeem_codes
      WHERE redeemed_at_ms IS NULL AND (expires_at_ms IS NULL OR expires_at_ms > ${nowMs})`,
  );
  const checkouts = await ask(
    `SELECT id FROM checkouts WHERE paid_at_ms IS NULL AND expired_at_ms IS NULL ORDER BY id LIMIT ${IDS_MAX}`,
  );
  const isValid = `revoked_at_ms IS NULL AND (expires_at_ms IS NULL OR expires_at_ms > ${nowMs})`;
  return {
    lastTransferAtMs: last.at === null || last.at === undefined ? undefined : Number(last.at),
    openHolds: await readOpenHolds(ask),
    outbox: await readOutbox(ask, dataFolder, (await readInstance(database)).id),
    codes: { count: Number(codes.n), amount: BigInt(String(codes.amount)) },
    hasCheckouts: (await count("checkouts")) > 0,
    openCheckouts: checkouts.map(({ id }) => String(id)),
    valid: {
      keys: await count(`api_keys WHERE ${isValid}`),
      managementKeys: await count(`management_keys WHERE ${isValid}`),
      sharedLinks: await count(`shared_links WHERE ${isValid}`),
      invitations: await count(`invitations WHERE accepted_at_ms IS NULL AND ${isValid}`),
    },
    waiting: {
      mails: await count("mails WHERE next_at_ms IS NOT NULL"),
      webhooks: await count("webhook_calls WHERE next_at_ms IS NOT NULL"),
    },
  };
}

/** Integers may be bigints; sums may be texts. */
function askerOf(database: Database): Ask {
  if (database.dialect === "postgres") return (sql) => database.postgres.client.unsafe(sql);
  const { client } = database.sqlite;
  return async (sql) => client.query<Row, []>(sql).safeIntegers(true).all();
}

async function readOpenHolds(ask: Ask): Promise<RestoreReport["openHolds"]> {
  const [sum] = await ask(
    "SELECT count(*) AS n, coalesce(sum(granted), 0) AS granted FROM holds WHERE state = 'held'",
  );
  const rows = await ask(
    `SELECT CAST(hold_id AS text) AS id FROM holds WHERE state = 'held' ORDER BY hold_id LIMIT ${IDS_MAX}`,
  );
  return {
    count: Number(sum?.n),
    granted: BigInt(String(sum?.granted ?? 0)),
    requestIds: rows.map(({ id }) => String(id)),
  };
}

/** The most ids of one query. */
const PER_QUERY = 500;
const HOLD_ID = /^[0-9a-f-]{36}$/;

/** Reads the entries of `original`, the instance that is restored, and those of files without an origin. */
async function readOutbox(ask: Ask, dataFolder: string, original: string): Promise<RestoreReport["outbox"]> {
  const paths = findOutboxes(dataFolder)
    .filter(({ isReadable, origin }) => isReadable && (origin === undefined || origin === original))
    .map(({ path }) => path);
  const holdIds = [...new Set(paths.flatMap(readHoldIds))].filter((id) => HOLD_ID.test(id));
  const unknown: string[] = [];
  for (const ids of chunksOf(holdIds, PER_QUERY)) {
    const list = ids.map((id) => `'${id}'`).join(", ");
    const rows = await ask(`SELECT CAST(hold_id AS text) AS id FROM holds WHERE hold_id IN (${list})`);
    const known = new Set(rows.map(({ id }) => String(id)));
    unknown.push(...ids.filter((id) => !known.has(id)));
  }
  return { entries: holdIds.length, unknown: unknown.length, unknownRequestIds: unknown.slice(0, IDS_MAX) };
}

function readHoldIds(path: string): readonly string[] {
  const client = new SqliteFile(path, { readonly: true });
  try {
    return client
      .query<{ id: string }, []>("SELECT hold_id AS id FROM entries")
      .all()
      .map(({ id }) => id);
  } finally {
    client.close();
  }
}
