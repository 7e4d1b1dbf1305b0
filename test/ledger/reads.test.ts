import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { openPostgres, type PostgresDatabase } from "../../src/db/postgres/database.ts";
import type { LedgerReads, Page, PageRequest, UsageQuery } from "../../src/ledger/ledger.ts";
import { createPostgresReads } from "../../src/ledger/postgres/reads.ts";
import { createReader } from "../../src/ledger/sqlite/reader.ts";
import { createSqliteReads, type SqliteReads } from "../../src/ledger/sqlite/reads.ts";
import { createTestDatabase, type TestDatabase } from "../support/postgres-server.ts";
import { copyBooks } from "./copy-books.ts";
import {
  FACTS,
  holdIdOf,
  holdOf,
  NOON_MS,
  type OpenLedger,
  openLedger,
  refusalOf,
  temporaryFolder,
  WALLET,
} from "./samples.ts";

const walletId = WALLET;
const HOUR_MS = 3_600_000;
/** Sorted by bytes; a dictionary would sort "Zed" after "acme" and "_" before all. */
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
  await copyBooks(open.database.client, database.client);
  stores = { sqlite, postgres: createPostgresReads({ client: database.client, now }) };
});

afterAll(async () => {
  sqlite.close();
  await database.close();
  await server.drop();
  await open.close();
});

/** Thirty requests of two keys over three hours, each ended in one of five ways; a charge; refunds. */
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

/** Asks both stores and expects them to say the same. */
async function same<Answer>(ask: (reads: LedgerReads) => Promise<Answer>): Promise<Answer> {
  const answer = await ask(stores.sqlite);
  expect(await ask(stores.postgres)).toEqual(answer);
  return answer;
}

async function sameRefusal(ask: (reads: LedgerReads) => Promise<unknown>): Promise<string> {
  return same((reads) => refusalOf(ask(reads)));
}

/** Every item of a list, in pages of a few. */
async function walk<Item>(size: number, list: (page: PageRequest) => Promise<Page<Item>>): Promise<Item[]> {
  const items: Item[] = [];
  let token: string | undefined;
  do {
    const page = await list({ size, token });
    expect(page.items.length).toBeLessThanOrEqual(size);
    items.push(...page.items);
    token = page.nextToken;
  } while (token !== undefined);
  return items;
}

describe("reads of wallets", () => {
  test("list every wallet once, by the bytes of its id", async () => {
    const wallets = await same((reads) => walk(2, (page) => reads.wallets(page)));
    expect(wallets.map((wallet) => wallet.walletId)).toEqual(WALLETS);
    expect(wallets[0]).toEqual({
      walletId: "Zed",
      state: "frozen",
      balances: { posted: 0n, held: 0n, available: 0n },
      createdAtMs: NOON_MS,
    });
  });

  test("know one wallet, and no other", async () => {
    expect(await same((reads) => reads.wallet(walletId))).toMatchObject({ walletId, state: "active" });
    for (const unknown of ["", "acmE", "a\0b", "\ud800", "x".repeat(5_000)]) {
      expect(await same((reads) => reads.wallet(unknown))).toBeUndefined();
      expect(await sameRefusal((reads) => reads.balances(unknown))).toBe("wallet_not_found");
      expect(await same((reads) => reads.spendLimits(unknown))).toEqual([]);
      expect(await same((reads) => reads.receipt(unknown, idOf(1)))).toBeUndefined();
    }
  });

  test("say the balances of now", async () => {
    expect(await same((reads) => reads.balances(walletId))).toEqual(await open.ledger.balances(walletId));
  });
});

describe("reads of spending limits", () => {
  test("give those in force that bind a key, each in its own period", async () => {
    const limits = await same((reads) => reads.spendLimits(walletId, "k1"));
    expect(limits).toMatchObject([
      { limitId: "a", keyId: undefined, timeZone: undefined, resetsAtMs: undefined },
      { limitId: "b", keyId: "k1", resetsAtMs: Date.UTC(2026, 0, 15) },
    ]);
    // A limit that a key's request took no part in counts nothing.
    expect(await same((reads) => reads.spendLimits(walletId, "k1 "))).toHaveLength(1);
  });

  test("give every limit when no key is named", async () => {
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

describe("reads of receipts", () => {
  test("give all that was said when it was held and when it was settled", async () => {
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

  test("know no receipt by an id that is none", async () => {
    for (const holdId of ["", "h1", idOf(0).toUpperCase(), `${idOf(0)}\0`, holdIdOf("nobody")]) {
      expect(await same((reads) => reads.receipt(walletId, holdId))).toBeUndefined();
    }
    expect(await same((reads) => reads.receipt("Zed", idOf(0)))).toBeUndefined();
  });

  test("list each once and the newest first, whatever the size of a page", async () => {
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
    ["all of them", { keyId: "k1", surface: "chat", state: "settled", outcome: "ok", fromMs: NOON_MS + 1 }],
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

  test("take a range of time to the millisecond, its start in and its end out", async () => {
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

describe("reads of the journal", () => {
  test("list every line once, the newest first, each carrying on from the one before", async () => {
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

  test("are empty for a wallet without any", async () => {
    expect(await same((reads) => reads.transfers("Zed", { size: 1 }))).toEqual({
      items: [],
      nextToken: undefined,
    });
  });
});

describe("reads of usage", () => {
  const usage = (query: Partial<UsageQuery> = {}) =>
    same((reads) => reads.usage({ walletId, groupBy: [], ...query }));

  test("give one row of everything when no group is asked for", async () => {
    const [row, ...more] = await usage();
    expect(more).toEqual([]);
    expect(row).toEqual({
      group: {},
      requests: 31,
      captured: 6n * 7n + 6n * 31n + 5n * 4n + 9n + 70n,
      refunded: 30n,
      usage: {
        // Six settlements, six releases and one late settlement say their tokens.
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

  test("group by several things, in their order, with what is not known first", async () => {
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

  test("group by the hour and day of the id, in UTC", async () => {
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

  test("take the same filters as the list", async () => {
    const filter = { keyId: "k1", state: "settled", fromMs: NOON_MS + HOUR_MS } as const;
    const receipts = await walk(100, (page) => stores.sqlite.receipts({ walletId, ...filter }, page));
    const captured = receipts.reduce((sum, receipt) => sum + receipt.captured, 0n);
    expect(await usage(filter)).toMatchObject([{ requests: receipts.length, captured }]);
  });
});

describe("a query that cannot be answered", () => {
  const page = { size: 10 };

  test.each([
    ["no size", { size: 0 }],
    ["a broken size", { size: 1.5 }],
    ["too large a size", { size: 1_001 }],
    ["no number", { size: Number.NaN }],
    ["an empty token", { size: 1, token: "" }],
    ["a made-up token", { size: 1, token: "YWNtZQ" }],
    ["a token of megabytes", { size: 1, token: "A".repeat(2_000_000) }],
  ])("is refused: %s", async (_, bad) => {
    expect(await sameRefusal((reads) => reads.wallets(bad))).toBe("invalid_query");
    expect(await sameRefusal((reads) => reads.receipts({ walletId }, bad))).toBe("invalid_query");
    expect(await sameRefusal((reads) => reads.transfers(walletId, bad))).toBe("invalid_query");
  });

  test("is refused: a token of another list, wallet or filter, or one that was changed", async () => {
    const { nextToken = "" } = await same((reads) => reads.receipts({ walletId }, { size: 1 }));
    const { nextToken: other = "" } = await same((reads) => reads.transfers(walletId, { size: 1 }));
    const bad = (token: string) => ({ size: 1, token });
    const refusals = [
      sameRefusal((reads) => reads.transfers(walletId, bad(nextToken))),
      sameRefusal((reads) => reads.receipts({ walletId }, bad(other))),
      sameRefusal((reads) => reads.receipts({ walletId: "Zed" }, bad(nextToken))),
      sameRefusal((reads) => reads.receipts({ walletId, keyId: "k1" }, bad(nextToken))),
      sameRefusal((reads) => reads.receipts({ walletId }, bad(`${nextToken}=`))),
      sameRefusal((reads) => reads.receipts({ walletId }, bad(nextToken.slice(0, -3)))),
      sameRefusal((reads) => reads.receipts({ walletId }, bad(forge(nextToken, "'; DROP TABLE holds; --")))),
      sameRefusal((reads) => reads.transfers(walletId, bad(forge(other, "-1")))),
      sameRefusal((reads) => reads.transfers(walletId, bad(forge(other, "1e9")))),
      sameRefusal((reads) => reads.transfers(walletId, bad(forge(other, "99999999999999999999")))),
    ];
    expect(new Set(await Promise.all(refusals))).toEqual(new Set(["invalid_query"]));
  });

  test.each([
    ["a wallet that no store could keep", { walletId: "a\0" }],
    ["a key of half a character", { walletId, keyId: "\udc00" }],
    ["a model with NUL", { walletId, model: "\0" }],
    ["a state that there is none of", { walletId, state: "open" as never }],
    ["a time before time", { walletId, fromMs: -1 }],
    ["a time between milliseconds", { walletId, fromMs: 0.5 }],
    ["a time after all ids", { walletId, toMs: 2 ** 48 }],
    ["no time", { walletId, toMs: Number.NaN }],
  ])("is refused: %s", async (_, filter) => {
    expect(await sameRefusal((reads) => reads.receipts(filter, page))).toBe("invalid_query");
    expect(await sameRefusal((reads) => reads.usage({ ...filter, groupBy: [] }))).toBe("invalid_query");
  });

  test.each([
    ["a dimension twice", ["key", "key"]],
    ["five dimensions", ["key", "model", "surface", "hour", "day"]],
    ["a dimension that there is not", ["metadata"]],
    ["a dimension of every object", ["constructor"]],
    ["a dimension with SQL in it", ["1; DROP TABLE holds"]],
  ])("is refused: %s", async (_, groupBy) => {
    expect(await sameRefusal((reads) => reads.usage({ walletId, groupBy: groupBy as never }))).toBe(
      "invalid_query",
    );
  });

  test("takes a text with SQL in it for a text", async () => {
    const injected = "k1' OR '1'='1";
    expect((await same((reads) => reads.receipts({ walletId, keyId: injected }, page))).items).toEqual([]);
  });
});

/** The same token with another position. */
function forge(token: string, position: string): string {
  const [mark] = Buffer.from(token, "base64url").toString().split(" ");
  return Buffer.from(`${mark} ${position}`).toString("base64url");
}

describe("large sums and many groups", () => {
  const largest = 4_000_000_000_000_000_000n;

  test("come out exactly where they are beyond 64 bits", async () => {
    const { ledger, database: books, clock, close } = await openLedger(0n);
    for (let n = 0; n < 4; n++) {
      await ledger.topUp({ walletId, topUpId: `t${n}`, amount: largest });
      const outcome = { outcome: "ok", source: "reported", attempts: [] } as const;
      const facts = { surface: "chat", model: "dear" };
      await ledger.charge({ walletId, chargeId: `c${n}`, keyId: "k1", amount: largest - 1n, facts, outcome });
      if (n < 3)
        await ledger.charge({ walletId, chargeId: `one${n}`, keyId: "k1", amount: 1n, facts, outcome });
    }
    const reads = createSqliteReads({ client: books.client, path: books.path, now: () => clock.nowMs });
    expect(await reads.usage({ walletId, groupBy: [] })).toMatchObject([{ captured: 4n * largest - 1n }]);
    reads.close();
    await close();
  });

  test("are refused above 10,000 groups, and given up to that", async () => {
    const { database: books, close } = await openLedger(0n);
    const reads = createSqliteReads({ client: books.client, path: books.path, now: () => NOON_MS });
    books.client.run(`WITH RECURSIVE n(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM n WHERE n < 10000)
      INSERT INTO holds (wallet_id, hold_id, key_id, state, late, requested, minimum, granted, accrued, captured,
        refunded, ttl_ms, created_at_ms, expires_at_ms, surface, model)
      SELECT '${walletId}', printf('%08d-0000-7000-8000-000000000000', n), 'k' || n, 'released', 0, 0, 0, 0, 0, 0, 0,
        1, 0, 0, 'chat', 'demo' FROM n`);
    expect(await reads.usage({ walletId, groupBy: ["key"] })).toHaveLength(10_000);
    books.client.run("UPDATE holds SET surface = 'messages' WHERE key_id = 'k1'");
    books.client.run("INSERT INTO holds SELECT * FROM holds WHERE 0");
    books.client.run(`UPDATE holds SET hold_id = '99999999-0000-7000-8000-000000000000' WHERE key_id = 'k1'`);
    books.client.run(`INSERT INTO holds (wallet_id, hold_id, key_id, state, late, requested, minimum, granted, accrued,
        captured, refunded, ttl_ms, created_at_ms, expires_at_ms, surface, model)
      VALUES ('${walletId}', '${holdIdOf("one more")}', 'k0', 'released', 0, 0, 0, 0, 0, 0, 0, 1, 0, 0, 'chat', 'demo')`);
    expect(await refusalOf(reads.usage({ walletId, groupBy: ["key"] }))).toBe("invalid_query");
    reads.close();
    await close();
  });
});

describe("the reading worker", () => {
  const countTo = (n: number) => ({
    sql: "WITH RECURSIVE n(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM n WHERE n < ?1) SELECT max(n) AS n FROM n",
    values: [n],
  });

  test("leaves the event loop free while it reads", async () => {
    const reader = createReader({ path: open.database.path });
    await reader.ask(countTo(1));
    let turns = 0;
    const counting = setInterval(() => turns++, 1);
    const [row] = await reader.ask(countTo(2_000_000));
    clearInterval(counting);
    expect(row).toEqual({ n: 2_000_000n });
    expect(turns).toBeGreaterThan(5);
    reader.close();
  });

  test("refuses what is not answered in time, and what waits behind it", async () => {
    const reader = createReader({ path: open.database.path, answerMsMax: 500 });
    const asked = [reader.ask(countTo(15_000_000)), reader.ask(countTo(1))];
    expect(await Promise.all(asked.map(refusalOf))).toEqual(["unavailable", "unavailable"]);
    reader.close();
  });

  test("does not keep a process alive that has its answer", async () => {
    const child = Bun.spawn(
      [process.execPath, join(import.meta.dir, "reader-child.ts"), open.database.path],
      {
        stdout: "pipe",
        stderr: "inherit",
      },
    );
    expect(await child.exited).toBe(0);
    expect(await new Response(child.stdout).text()).toBe("5 wallets\n");
  });

  test("is replaced when it dies", async () => {
    const folder = temporaryFolder();
    const script = join(folder.path, "dying.ts");
    const source = `
      import { existsSync, writeFileSync } from "node:fs";
      import { parentPort } from "node:worker_threads";
      const mark = ${JSON.stringify(join(folder.path, "died"))};
      parentPort.on("message", ({ number }) => {
        if (existsSync(mark)) return parentPort.postMessage({ number, rows: [{ alive: true }] });
        writeFileSync(mark, "");
        process.exit(1);
      });`;
    writeFileSync(script, source);
    const reader = createReader({ path: "unused", script: pathToFileURL(script) });
    expect(await refusalOf(reader.ask(countTo(1)))).toBe("unavailable");
    expect(await reader.ask(countTo(1))).toEqual([{ alive: true }]);
    reader.close();
    folder.remove();
  });

  test("refuses when the books cannot be read", async () => {
    const folder = temporaryFolder();
    const missing = createReader({ path: join(folder.path, "missing.db") });
    expect(await refusalOf(missing.ask(countTo(1)))).toBe("unavailable");
    missing.close();
    const text = join(folder.path, "text.db");
    writeFileSync(text, "this is no database, and is long enough to be read as the head of one".repeat(20));
    const broken = createReader({ path: text });
    expect(await refusalOf(broken.ask({ sql: "SELECT * FROM wallets", values: [] }))).toBe("unavailable");
    broken.close();
    folder.remove();
  });

  test("answers nothing after its end, and nobody waits for it in vain", async () => {
    const reader = createReader({ path: open.database.path });
    const asked = refusalOf(reader.ask(countTo(5_000_000)));
    reader.close();
    expect(await asked).toBe("unavailable");
    expect(await refusalOf(reader.ask(countTo(1)))).toBe("unavailable");
  });
});

describe("reads of a database that is away", () => {
  test("are refused as unavailable, and answered when it is back", async () => {
    const lost = await openPostgres(server.url);
    const reads = createPostgresReads({ client: lost.client, now: () => NOON_MS });
    expect(await reads.wallet(walletId)).toBeDefined();
    await database.client.unsafe(
      "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = current_database() AND pid <> pg_backend_pid()",
    );
    expect(await reads.wallet(walletId)).toBeDefined();
    await lost.client.close();
    expect(await refusalOf(reads.wallet(walletId))).toBe("unavailable");
  });
});
