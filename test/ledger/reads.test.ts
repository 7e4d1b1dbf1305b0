// One file of more than 300 lines on purpose: every test reads the same two databases, which take seconds to
// fill.
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { openPostgres, type PostgresDatabase } from "../../src/db/postgres/database.ts";
import { createPostgresReads } from "../../src/ledger/postgres/ledger.ts";
import {
  type LedgerReads,
  type Page,
  type PageRequest,
  pagesOf,
  type UsageQuery,
} from "../../src/ledger/records.ts";
import { createSqliteReads, type SqliteReads } from "../../src/ledger/sqlite/reads.ts";
import { createTestDatabase, type TestDatabase } from "../support/test-database.ts";
import { copyLedger } from "./copy-ledger.ts";
import {
  errorCodeOf,
  FACTS,
  holdIdOf,
  holdOf,
  NOON_MS,
  type OpenLedger,
  openLedger,
  WALLET,
} from "./samples.ts";

const walletId = WALLET;
const HOUR_MS = 3_600_000;
/** Sorted by bytes. A dictionary would sort "Zed" after "acme" and "_" first. */
const WALLETS = ["Zed", "_", "acme", "zoë", "😀"];

let open: OpenLedger;
let sqlite: SqliteReads;
let server: TestDatabase;
let database: PostgresDatabase;
let stores: Readonly<Record<"sqlite" | "postgres", LedgerReads>>;

beforeAll(async () => {
  open = await openLedger(1_000_000n);
  await fill(open);
  const now = () => open.clock.nowMs;
  sqlite = createSqliteReads({ client: open.database.client, path: open.database.path, now });
  server = await createTestDatabase();
  database = await openPostgres(server.url);
  await copyLedger(open.database.client, database.client);
  stores = { sqlite, postgres: createPostgresReads({ client: database.client, now }) };
});

afterAll(async () => {
  sqlite.close();
  await database.close();
  await server.drop();
  await open.close();
});

/** Thirty requests of two keys over three hours, each resolved in one of five ways, a charge and refunds. */
async function fill({ ledger, clock }: OpenLedger): Promise<void> {
  for (const other of WALLETS) await ledger.createWallet(other);
  const utc = { walletId, limitId: "b", keyId: "k1", period: "day", amount: 500n } as const;
  await ledger.setSpendLimit(utc);
  await ledger.setSpendLimit({ ...utc, limitId: "a", keyId: undefined, period: "total", amount: 900_000n });
  await ledger.setSpendLimit({
    ...utc,
    limitId: "c",
    keyId: "k0",
    period: "month",
    timeZone: "Asia/Kolkata",
  });
  await ledger.setSpendLimit({ ...utc, limitId: "gone" });
  await ledger.deleteSpendLimit({ walletId, limitId: "gone" });
  for (let n = 0; n < 30; n++) await request(ledger, n, NOON_MS + n * (HOUR_MS / 10));
  clock.nowMs = NOON_MS + 4 * HOUR_MS;
  await ledger.sweep();
  const late = { walletId, holdId: idOf(3), amount: 9n, facts: FACTS };
  await ledger.settle(late);
  await ledger.charge({
    walletId,
    chargeId: "c1",
    keyId: "k1",
    amount: 70n,
    facts: { surface: "batch", model: "late" },
    outcome: { outcome: "ok", source: "estimated", attempts: [] },
  });
  await ledger.setWalletState({ walletId: "Zed", state: "frozen" });
}

function idOf(n: number): string {
  return holdIdOf(`h${n}`, NOON_MS + n * (HOUR_MS / 10));
}

async function request(ledger: OpenLedger["ledger"], n: number, atMs: number): Promise<void> {
  const holdId = holdIdOf(`h${n}`, atMs);
  open.clock.nowMs = atMs;
  const facts = { surface: n % 2 ? "chat" : "messages", model: n % 3 ? "small" : "große" };
  const metadata = { n, team: "Zürich 😀", constructor: null };
  await ledger.hold(holdOf(20n, { holdId, keyId: `k${n % 2}`, facts, ttlMs: HOUR_MS / 2, metadata }));
  switch (n % 5) {
    case 0:
      await ledger.settle({
        walletId,
        holdId,
        amount: 7n,
        facts: FACTS,
        metadata: { n: "later", more: [1] },
      });
      break;
    case 1:
      await ledger.settle({
        walletId,
        holdId,
        amount: 31n,
        facts: { outcome: "ok", source: "estimated", attempts: [] },
      });
      await ledger.refund({ walletId, refundId: `r${n}`, holdId, amount: 5n });
      break;
    case 2:
      await ledger.release({
        walletId,
        holdId,
        facts: { ...FACTS, outcome: "upstream_timeout", source: "none" },
      });
      break;
    case 3:
      await ledger.extend({ walletId, holdId, accrued: 4n, ttlMs: 1_000 });
  }
}

/** Runs a read on both stores and expects equal results. */
async function same<Result>(read: (reads: LedgerReads) => Promise<Result>): Promise<Result> {
  const result = await read(stores.sqlite);
  expect(await read(stores.postgres)).toEqual(result);
  return result;
}

async function sameErrorCode(read: (reads: LedgerReads) => Promise<unknown>): Promise<string> {
  return same((reads) => errorCodeOf(read(reads)));
}

/** Reads every item of a list, in pages of `size`. */
async function walk<Item>(size: number, list: (page: PageRequest) => Promise<Page<Item>>): Promise<Item[]> {
  const found: Item[] = [];
  for await (const { items } of pagesOf((token) => list({ size, token }))) {
    expect(items.length).toBeLessThanOrEqual(size);
    found.push(...items);
  }
  return found;
}

describe("the wallet reads", () => {
  test("list every wallet once, sorted by the bytes of its id", async () => {
    const wallets = await same((reads) => walk(2, (page) => reads.wallets(page)));
    expect(wallets.map((wallet) => wallet.walletId)).toEqual(WALLETS);
    expect(wallets[0]).toEqual({
      walletId: "Zed",
      state: "frozen",
      balances: { posted: 0n, held: 0n, available: 0n },
      creditLimit: 0n,
      createdAtMs: NOON_MS,
    });
  });

  test("return one wallet, and nothing for unknown ids", async () => {
    expect(await same((reads) => reads.wallet(walletId))).toMatchObject({ walletId, state: "active" });
    for (const unknown of ["", "acmE", "a\0b", "\ud800", "x".repeat(5_000)]) {
      expect(await same((reads) => reads.wallet(unknown))).toBeUndefined();
      expect(await sameErrorCode((reads) => reads.balances(unknown))).toBe("wallet_not_found");
      expect(await same((reads) => reads.spendLimits(unknown))).toEqual([]);
      expect(await same((reads) => reads.receipt(unknown, idOf(1)))).toBeUndefined();
    }
  });

  test("return the current balances", async () =>
    expect(await same((reads) => reads.balances(walletId))).toEqual(await open.ledger.balances(walletId)));
});

describe("the spending limit reads", () => {
  test("return the limits in force for a key, each in its own period", async () => {
    const limits = await same((reads) => reads.spendLimits(walletId, "k1"));
    expect(limits).toMatchObject([
      { limitId: "a", keyId: undefined, timeZone: undefined, resetsAtMs: undefined },
      { limitId: "b", keyId: "k1", resetsAtMs: Date.UTC(2026, 0, 15) },
    ]);
    // "k1 " is another key: only the wallet's limit binds it.
    expect(await same((reads) => reads.spendLimits(walletId, "k1 "))).toHaveLength(1);
  });

  test("return every limit without a key", async () => {
    const limits = await same((reads) => reads.spendLimits(walletId));
    expect(limits.map(({ limitId }) => limitId)).toEqual(["a", "b", "c"]);
    expect(limits[2]).toMatchObject({
      timeZone: "Asia/Kolkata",
      resetsAtMs: Date.UTC(2026, 0, 31, 18, 30),
    });
    const receipts = await walk(100, (page) => stores.sqlite.receipts({ walletId }, page));
    const spent = receipts.reduce((sum, { captured, refunded }) => sum + captured - refunded, 0n);
    expect(limits[0]?.used).toBe(spent);
    expect((limits[1]?.used ?? 0n) + (limits[2]?.used ?? 0n)).toBe(spent);
  });
});

describe("the receipt reads", () => {
  test("return the facts of the hold and of the settlement", async () => {
    const receipt = await same((reads) => reads.receipt(walletId, idOf(0)));
    expect(receipt).toMatchObject({
      holdId: idOf(0),
      state: "settled",
      granted: 20n,
      captured: 7n,
      createdAtMs: NOON_MS,
      request: { surface: "messages", model: "große" },
      outcome: FACTS,
    });
    expect(JSON.stringify(receipt?.metadata)).toBe(
      '{"n":"later","team":"Zürich 😀","constructor":null,"more":[1]}',
    );
  });

  test("return nothing for an unknown or invalid id", async () => {
    for (const holdId of ["", "h1", idOf(0).toUpperCase(), `${idOf(0)}\0`, holdIdOf("unknown")]) {
      expect(await same((reads) => reads.receipt(walletId, holdId))).toBeUndefined();
    }
    expect(await same((reads) => reads.receipt("Zed", idOf(0)))).toBeUndefined();
  });

  test("list each receipt once, newest first, for any page size", async () => {
    const all = await same((reads) => walk(1_000, (page) => reads.receipts({ walletId }, page)));
    expect(all).toHaveLength(31);
    const ids = all.map(({ holdId }) => holdId);
    expect(ids).toEqual(ids.toSorted().reverse());
    for (const size of [1, 7, 31]) {
      expect(await same((reads) => walk(size, (page) => reads.receipts({ walletId }, page)))).toEqual(all);
    }
    expect(all).toContainEqual((await stores.sqlite.receipt(walletId, idOf(3))) as never);
  });

  test.each([
    ["keyId", { keyId: "k1" }],
    ["surface", { surface: "chat" }],
    ["model", { model: "große" }],
    ["upstream", { upstream: "anthropic" }],
    ["state", { state: "expired" }],
    ["outcome", { outcome: "upstream_timeout" }],
    ["time", { fromMs: NOON_MS + HOUR_MS, toMs: NOON_MS + 2 * HOUR_MS }],
    [
      "several conditions",
      { keyId: "k1", surface: "chat", state: "settled", outcome: "ok", fromMs: NOON_MS + 1 },
    ],
  ] as const)("filter by %s", async (_, filter) => {
    const all = await walk(1_000, (page) => stores.sqlite.receipts({ walletId }, page));
    const { keyId, surface, model, upstream, state, outcome, fromMs, toMs } = { ...UNFILTERED, ...filter };
    const expected = all.filter((receipt) => {
      const idMs = Number.parseInt(receipt.holdId.replaceAll("-", "").slice(0, 12), 16);
      return [
        keyId === undefined || receipt.keyId === keyId,
        surface === undefined || receipt.request.surface === surface,
        model === undefined || receipt.request.model === model,
        upstream === undefined || receipt.outcome?.upstream === upstream,
        state === undefined || receipt.state === state,
        outcome === undefined || receipt.outcome?.outcome === outcome,
        idMs >= (fromMs ?? 0) && idMs < (toMs ?? Number.POSITIVE_INFINITY),
      ].every(Boolean);
    });
    expect(expected.length).toBeGreaterThan(0);
    expect(expected.length).toBeLessThan(all.length);
    expect(await same((reads) => walk(4, (page) => reads.receipts({ walletId, ...filter }, page)))).toEqual(
      expected,
    );
  });

  test("filter a time range to the millisecond, its start inclusive and its end exclusive", async () => {
    const atMs = NOON_MS + 3 * (HOUR_MS / 10);
    const count = async (fromMs: number, toMs: number) =>
      (await same((reads) => reads.receipts({ walletId, fromMs, toMs }, { size: 10 }))).items.length;
    expect(await count(atMs, atMs + 1)).toBe(1);
    expect(await count(atMs - 1, atMs)).toBe(0);
    expect(await count(atMs + 1, atMs + 2)).toBe(0);
    expect(await count(atMs + 1, atMs)).toBe(0);
    expect(await count(0, 2 ** 48 - 1)).toBe(10);
  });
});

const UNFILTERED = {
  keyId: undefined,
  surface: undefined,
  model: undefined,
  upstream: undefined,
  state: undefined,
  outcome: undefined,
  fromMs: undefined,
  toMs: undefined,
};

describe("the journal reads", () => {
  test("list every transfer once, newest first, each continuing from the balance before", async () => {
    const lines = await same((reads) => walk(7, (page) => reads.transfers(walletId, page)));
    expect(lines.map(({ seq }) => seq)).toEqual(lines.map((_, index) => lines.length - index));
    expect(new Set(lines.map(({ kind }) => kind))).toEqual(
      new Set(["top_up", "settlement", "expiry_capture", "late_settlement", "refund", "charge"]),
    );
    for (const [index, line] of lines.entries()) {
      expect(line.postedAfter - line.amount).toBe(lines[index + 1]?.postedAfter ?? 0n);
    }
    expect(lines.at(-1)).toEqual({
      seq: 1,
      transferId: "funds",
      kind: "top_up",
      amount: 1_000_000n,
      postedAfter: 1_000_000n,
      holdId: undefined,
      createdAtMs: NOON_MS,
    });
    expect(lines[0]).toMatchObject({ kind: "charge", transferId: "c1", amount: -70n });
  });

  test("return an empty page for a wallet without transfers", async () => {
    expect(await same((reads) => reads.transfers("Zed", { size: 1 }))).toEqual({
      items: [],
      nextToken: undefined,
    });
  });
});

describe("the usage reads", () => {
  const usage = (query: Partial<UsageQuery> = {}) =>
    same(async (reads) => (await reads.usage({ walletId, groupBy: [], ...query })).rows);

  test("return one row for everything without dimensions", async () => {
    const [row, ...more] = await usage();
    expect(more).toEqual([]);
    expect(row).toMatchObject({
      group: {},
      requests: 31,
      captured: 6n * 7n + 6n * 31n + 5n * 4n + 9n + 70n,
      refunded: 30n,
      usage: {
        // Six settlements, six releases and one late settlement have a usage.
        inputTokens: 13 * 11,
        cachedInputTokens: 13 * 7,
        cacheWriteTokens: 13 * 5,
        cacheWrite1hTokens: 13 * 3,
        outputTokens: 13 * 2,
      },
    });
    expect(await usage({ walletId: "Zed" })).toMatchObject([
      { requests: 0, captured: 0n, usage: { inputTokens: 0 } },
    ]);
  });

  test("group by several dimensions, sorted in their order with null first", async () => {
    const rows = await usage({ groupBy: ["upstream", "key"] });
    expect(rows.map(({ group }) => group)).toEqual([
      { upstream: null, key: "k0" },
      { upstream: null, key: "k1" },
      { upstream: "anthropic", key: "k0" },
      { upstream: "anthropic", key: "k1" },
    ]);
    expect(rows.reduce((sum, { requests }) => sum + requests, 0)).toBe(31);
  });

  test.each(["surface", "model", "outcome", "source", "key", "upstream"] as const)(
    "group by %s",
    async (dimension) => {
      const rows = await usage({ groupBy: [dimension] });
      expect(rows.length).toBeGreaterThan(1);
      expect(rows.reduce((sum, { requests }) => sum + requests, 0)).toBe(31);
    },
  );

  test("group by the UTC hour and day of the id", async () => {
    const filter = { toMs: NOON_MS + 3 * HOUR_MS };
    const hours = await usage({ ...filter, groupBy: ["hour"] });
    expect(hours.map(({ group, requests }) => [group.hour, requests])).toEqual([
      [NOON_MS, 10],
      [NOON_MS + HOUR_MS, 10],
      [NOON_MS + 2 * HOUR_MS, 10],
    ]);
    expect(await usage({ ...filter, groupBy: ["day"] })).toMatchObject([
      { group: { day: Date.UTC(2026, 0, 14) }, requests: 30 },
    ]);
  });

  test("take the filters of the receipt list", async () => {
    const filter = { keyId: "k1", state: "settled", fromMs: NOON_MS + HOUR_MS } as const;
    const receipts = await walk(100, (page) => stores.sqlite.receipts({ walletId, ...filter }, page));
    const captured = receipts.reduce((sum, receipt) => sum + receipt.captured, 0n);
    expect(await usage(filter)).toMatchObject([{ requests: receipts.length, captured }]);
  });
});

describe("an invalid query", () => {
  const page = { size: 10 };

  test.each([
    ["a size of 0", { size: 0 }],
    ["a fractional size", { size: 1.5 }],
    ["a size above 1,000", { size: 1_001 }],
    ["a size of NaN", { size: Number.NaN }],
    ["an empty token", { size: 1, token: "" }],
    ["an invented token", { size: 1, token: "YWNtZQ" }],
    ["a token of megabytes", { size: 1, token: "A".repeat(2_000_000) }],
  ])("is rejected: %s", async (_, bad) => {
    expect(await sameErrorCode((reads) => reads.wallets(bad))).toBe("invalid_query");
    expect(await sameErrorCode((reads) => reads.receipts({ walletId }, bad))).toBe("invalid_query");
    expect(await sameErrorCode((reads) => reads.transfers(walletId, bad))).toBe("invalid_query");
  });

  test("is rejected: a token of another list, wallet or filter, or a modified token", async () => {
    const { nextToken = "" } = await same((reads) => reads.receipts({ walletId }, { size: 1 }));
    const { nextToken: other = "" } = await same((reads) => reads.transfers(walletId, { size: 1 }));
    const bad = (token: string) => ({ size: 1, token });
    const errorCodes = [
      sameErrorCode((reads) => reads.transfers(walletId, bad(nextToken))),
      sameErrorCode((reads) => reads.receipts({ walletId }, bad(other))),
      sameErrorCode((reads) => reads.receipts({ walletId: "Zed" }, bad(nextToken))),
      sameErrorCode((reads) => reads.receipts({ walletId, keyId: "k1" }, bad(nextToken))),
      sameErrorCode((reads) => reads.receipts({ walletId }, bad(`${nextToken}=`))),
      sameErrorCode((reads) => reads.receipts({ walletId }, bad(nextToken.slice(0, -3)))),
      sameErrorCode((reads) =>
        reads.receipts({ walletId }, bad(forge(nextToken, "'; DROP TABLE holds; --"))),
      ),
      sameErrorCode((reads) => reads.transfers(walletId, bad(forge(other, "-1")))),
      sameErrorCode((reads) => reads.transfers(walletId, bad(forge(other, "1e9")))),
      sameErrorCode((reads) => reads.transfers(walletId, bad(forge(other, "99999999999999999999")))),
    ];
    expect(new Set(await Promise.all(errorCodes))).toEqual(new Set(["invalid_query"]));
  });

  test.each([
    ["a wallet id with NUL", { walletId: "a\0" }],
    ["a key id with a lone surrogate", { walletId, keyId: "\udc00" }],
    ["a model with NUL", { walletId, model: "\0" }],
    ["an unknown state", { walletId, state: "open" as never }],
    ["a negative time", { walletId, fromMs: -1 }],
    ["a fractional millisecond", { walletId, fromMs: 0.5 }],
    ["a time above 48 bits", { walletId, toMs: 2 ** 48 }],
    ["a time of NaN", { walletId, toMs: Number.NaN }],
  ])("is rejected: %s", async (_, filter) => {
    expect(await sameErrorCode((reads) => reads.receipts(filter, page))).toBe("invalid_query");
    expect(await sameErrorCode((reads) => reads.usage({ ...filter, groupBy: [] }))).toBe("invalid_query");
  });

  test.each([
    ["a dimension twice", ["key", "key"]],
    ["five dimensions", ["key", "model", "surface", "hour", "day"]],
    ["an unknown dimension", ["metadata"]],
    ["the dimension constructor", ["constructor"]],
    ["a dimension with SQL in it", ["1; DROP TABLE holds"]],
  ])("is rejected: %s", async (_, groupBy) => {
    expect(await sameErrorCode((reads) => reads.usage({ walletId, groupBy: groupBy as never }))).toBe(
      "invalid_query",
    );
  });

  test("does not run SQL in a filter's text", async () => {
    const injected = "k1' OR '1'='1";
    expect((await same((reads) => reads.receipts({ walletId, keyId: injected }, page))).items).toEqual([]);
  });
});

/** Returns a token with another position. */
function forge(token: string, position: string): string {
  const [mark] = Buffer.from(token, "base64url").toString().split(" ");
  return Buffer.from(`${mark} ${position}`).toString("base64url");
}

describe("the limits of the usage read", () => {
  const largest = 4_000_000_000_000_000_000n;

  test("sums are exact above 64 bits", async () => {
    const { ledger, database, clock, close } = await openLedger(0n);
    for (let n = 0; n < 4; n++) {
      await ledger.topUp({ walletId, topUpId: `t${n}`, amount: largest });
      const outcome = { outcome: "ok", source: "reported", attempts: [] } as const;
      const facts = { surface: "chat", model: "dear" };
      await ledger.charge({ walletId, chargeId: `c${n}`, keyId: "k1", amount: largest - 1n, facts, outcome });
      if (n < 3)
        await ledger.charge({ walletId, chargeId: `one${n}`, keyId: "k1", amount: 1n, facts, outcome });
    }
    const reads = createSqliteReads({ client: database.client, path: database.path, now: () => clock.nowMs });
    expect((await reads.usage({ walletId, groupBy: [] })).rows).toMatchObject([
      { captured: 4n * largest - 1n },
    ]);
    reads.close();
    await close();
  });

  test("10,000 groups are returned, and more are rejected", async () => {
    const { database, close } = await openLedger(0n);
    const reads = createSqliteReads({ client: database.client, path: database.path, now: () => NOON_MS });
    database.client.run(`WITH RECURSIVE n(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM n WHERE n < 10000)
      INSERT INTO holds (wallet_id, hold_id, key_id, state, late, requested, minimum, granted, accrued, captured,
        refunded, ttl_ms, created_at_ms, expires_at_ms, surface, model)
      SELECT '${walletId}', printf('%08d-0000-7000-8000-000000000000', n), 'k' || n, 'released', 0, 0, 0, 0, 0, 0, 0,
        1, 0, 0, 'chat', 'demo' FROM n`);
    expect((await reads.usage({ walletId, groupBy: ["key"] })).rows).toHaveLength(10_000);
    database.client.run("UPDATE holds SET surface = 'messages' WHERE key_id = 'k1'");
    database.client.run("INSERT INTO holds SELECT * FROM holds WHERE 0");
    database.client.run(
      `UPDATE holds SET hold_id = '99999999-0000-7000-8000-000000000000' WHERE key_id = 'k1'`,
    );
    database.client.run(`INSERT INTO holds (wallet_id, hold_id, key_id, state, late, requested, minimum, granted, accrued,
        captured, refunded, ttl_ms, created_at_ms, expires_at_ms, surface, model)
      VALUES ('${walletId}', '${holdIdOf("one more")}', 'k0', 'released', 0, 0, 0, 0, 0, 0, 0, 1, 0, 0, 'chat', 'demo')`);
    expect(await errorCodeOf(reads.usage({ walletId, groupBy: ["key"] }))).toBe("invalid_query");
    reads.close();
    await close();
  });
});

describe("reads of a PostgreSQL database that is away", () => {
  test("fail as unavailable, and succeed over a new connection", async () => {
    const lost = await openPostgres(server.url);
    const reads = createPostgresReads({ client: lost.client, now: () => NOON_MS });
    expect(await reads.wallet(walletId)).toBeDefined();
    await database.client.unsafe(
      "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = current_database() AND pid <> pg_backend_pid()",
    );
    expect(await reads.wallet(walletId)).toBeDefined();
    await lost.client.close();
    expect(await errorCodeOf(reads.wallet(walletId))).toBe("unavailable");
  });
});
