import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import type { SQL } from "bun";
import { openPostgres, type PostgresDatabase } from "../../src/db/postgres/database.ts";
import { createPostgresReads } from "../../src/ledger/postgres/ledger.ts";
import { SCANNED_MAX } from "../../src/ledger/queries/transfers.ts";
import type { LedgerReads, TransferKindName, TransferRange } from "../../src/ledger/records.ts";
import { createSqliteReads, type SqliteReads } from "../../src/ledger/sqlite/reads.ts";
import { createTestDatabase, type TestDatabase } from "../support/test-database.ts";
import { NOON_MS, type OpenLedger, openLedger, WALLET } from "./samples.ts";

const ROWS = 120_000;
/** Sequence numbers. Every other transfer is a settlement. */
const EXPIRED = 7;
const LATE = 60_000;
const TOP_UPS = [1, 500, 119_999];
const CORRECTION = 501;
const MINUTE_MS = 60_000;

let open: OpenLedger;
let sqlite: SqliteReads;
let server: TestDatabase;
let database: PostgresDatabase;
let stores: Readonly<Record<"sqlite" | "postgres", LedgerReads>>;

beforeAll(async () => {
  open = await openLedger(0n);
  sqlite = createSqliteReads({ client: open.database.client, path: open.database.path, now: Date.now });
  server = await createTestDatabase();
  database = await openPostgres(server.url);
  const numbers = `WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < ${ROWS}) SELECT`;
  open.database.client.run(insert(numbers));
  await (database.client as SQL).unsafe(insert(numbers));
  stores = { sqlite, postgres: createPostgresReads({ client: database.client, now: Date.now }) };
});

afterAll(async () => {
  sqlite.close();
  await database.close();
  await server.drop();
  await open.close();
});

/** A transfer a minute, so that a page of some kinds cannot find its own without reading the others. */
function insert(numbers: string): string {
  const isIn = `i IN (${TOP_UPS})`;
  const kind = `CASE WHEN ${isIn} OR i = ${CORRECTION} THEN 1 WHEN i = ${EXPIRED} THEN 3 WHEN i = ${LATE} THEN 4 ELSE 2 END`;
  const debit = `CASE WHEN ${isIn} THEN 3 ELSE 1 END`;
  const credit = `CASE WHEN ${isIn} THEN 1 WHEN i = ${CORRECTION} THEN 3 ELSE 2 END`;
  return `INSERT INTO transfers (wallet_id, seq, transfer_id, kind, debit_account, credit_account, amount,
      posted_after, hold_id, created_at_ms)
    ${numbers} '${WALLET}', i, 'id' || i, ${kind}, ${debit}, ${credit}, 1, 0, NULL, ${NOON_MS} + CAST(i AS bigint) * ${MINUTE_MS} FROM n`;
}

describe.each(["sqlite", "postgres"] as const)("the journal of 120,000 transfers in %s, by kind", (store) => {
  /** The numbers on each page. */
  async function pagesOf(kinds: readonly TransferKindName[], range: TransferRange = {}, size = 25) {
    const pages: (readonly number[])[] = [];
    for (let token: string | undefined; ; ) {
      const page = await stores[store].transfers(WALLET, { size, token }, { ...range, kinds });
      pages.push(page.items.map(({ seq }) => seq));
      token = page.nextToken;
      if (token === undefined) return pages;
    }
  }

  test("finds top-ups, corrections and refunds in one page, however far apart they are", async () => {
    expect(await pagesOf(["top_up"])).toEqual([[119_999, 500, 1]]);
    expect(await pagesOf(["top_up"], {}, 2)).toEqual([[119_999, 500], [1]]);
    expect(await pagesOf(["correction"])).toEqual([[501]]);
    expect(await pagesOf(["refund"])).toEqual([[]]);
    expect(await pagesOf(["correction", "top_up"], { order: "oldest_first" }, 3)).toEqual([
      [1, 500, 501],
      [119_999],
    ]);
    expect(await pagesOf(["top_up"], { toMs: NOON_MS + 500 * MINUTE_MS })).toEqual([[1]]);
  });

  test("reads a bounded number of transfers for a page of a rare kind, and searches on", async () => {
    expect(SCANNED_MAX).toBe(50_000);
    expect(await pagesOf(["expiry_capture"])).toEqual([[], [], [7]]);
    expect(await pagesOf(["late_settlement", "expiry_capture"])).toEqual([[], [60_000], [7]]);
    const oldest = { order: "oldest_first" } as const;
    expect(await pagesOf(["late_settlement"], oldest)).toEqual([[], [60_000], []]);
    expect(await pagesOf(["top_up", "charge"], oldest)).toEqual([[1, 500], [], [119_999]]);
  });

  test("searches no further than the range of time", async () => {
    const lateMs = NOON_MS + LATE * MINUTE_MS;
    const hour = { fromMs: lateMs - 60 * MINUTE_MS, toMs: lateMs + 60 * MINUTE_MS };
    expect(await pagesOf(["late_settlement"], hour)).toEqual([[60_000]]);
    expect(await pagesOf(["expiry_capture"], hour)).toEqual([[]]);
  });

  test("fills a page of a frequent kind", async () => {
    const { items } = await stores[store].transfers(WALLET, { size: 3 }, { kinds: ["settlement"] });
    expect(items.map(({ seq }) => seq)).toEqual([120_000, 119_998, 119_997]);
  });
});
