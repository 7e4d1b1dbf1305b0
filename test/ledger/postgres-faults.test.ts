import { afterEach, beforeEach, describe, expect, test } from "bun:test";
import { SQL } from "bun";
import { openPostgres } from "../../src/db/postgres/database.ts";
import { auditPostgres } from "../../src/ledger/audit/audit.ts";
import type { LocalLedger } from "../../src/ledger/engine/local.ts";
import { createPostgresLedger } from "../../src/ledger/postgres/ledger.ts";
import { createDueRead, createPostgresStore } from "../../src/ledger/postgres/store.ts";
import { openTcpProxy } from "../ledger-grpc/tcp-proxy.ts";
import { startPostgresServer } from "../support/postgres-server.ts";
import { until } from "../support/until.ts";
import { type CuttingProxy, startCuttingProxy } from "./cutting-proxy.ts";
import { openPostgresEnv, type PostgresEnv } from "./postgres-env.ts";
import { errorCodeOf, FACTS, holdIdOf, holdOf, NOON_MS, WALLET } from "./samples.ts";

const BALANCES = { posted: 93n, held: 4n, available: 89n };

/** The commands of one batch, each depending on the one before. */
function batch(ledger: LocalLedger): Promise<unknown>[] {
  const [walletId, holdId] = [WALLET, holdIdOf("h1")];
  return [
    ledger.hold(holdOf(10n)),
    ledger.extend({ walletId, holdId, accrued: 3n, ttlMs: 60_000 }),
    ledger.settle({ walletId, holdId, amount: 8n, facts: FACTS }),
    ledger.topUp({ walletId, topUpId: "t1", amount: 1n }),
    errorCodeOf(ledger.settle({ walletId, holdId, amount: 9n, facts: FACTS })),
    ledger.hold(holdOf(4n, { holdId: holdIdOf("h2") })),
  ];
}

const RESULTS = [
  { granted: 10n, replayed: false },
  undefined,
  { state: "settled", captured: 8n, replayed: false },
  { replayed: false, balances: { posted: 93n } },
  "conflict",
  { granted: 4n, replayed: false, balances: BALANCES },
];

describe("a connection that is cut", () => {
  let env: PostgresEnv;
  let proxy: CuttingProxy;
  let ledger: LocalLedger;

  beforeEach(async () => {
    env = await openPostgresEnv(100n);
    proxy = await startCuttingProxy(env.url);
    ledger = await env.openAnother({ url: proxy.url });
  });

  /** Opens a ledger that gives up soon. */
  const openImpatient = () => env.openAnother({ url: proxy.url, busyMaxMs: 1_000 });

  afterEach(async () => {
    const findings = await env.audit();
    await env.close();
    await proxy.close();
    expect(findings).toEqual([]);
  });

  test.each(["before commit", "after commit"] as const)(
    "%s does not change any result, and none is a replay",
    async (cut) => {
      const isCut = proxy.cutNext(cut);
      const given = batch(ledger);
      await isCut;
      expect(await Promise.all(given)).toMatchObject(RESULTS);
      expect(await ledger.balances(WALLET)).toEqual(BALANCES);
    },
  );

  test("between two batches fails no command", async () => {
    await ledger.hold(holdOf(1n));
    await env.client.unsafe(
      "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = current_database() AND pid <> pg_backend_pid()",
    );
    expect(await ledger.hold(holdOf(1n, { holdId: holdIdOf("h2") }))).toMatchObject({ replayed: false });
  });

  test("permanently fails commands as unavailable, at once until it can be reopened", async () => {
    const impatient = await openImpatient();
    proxy.shut();
    expect(await errorCodeOf(impatient.hold(holdOf(1n)))).toBe("unavailable");
    const next = errorCodeOf(impatient.hold(holdOf(1n)));
    const nextTurn = new Promise<string>((resolve) => setImmediate(resolve, "waits"));
    expect(await Promise.race([next, nextTurn])).toBe("unavailable");
    expect(await errorCodeOf(impatient.ping())).toBe("unavailable");
    await until(isIdleForHalfASecond);
    proxy.open();
    await untilTaken(() => impatient.hold(holdOf(1n)));
    expect(await env.ledger.balances(WALLET)).toMatchObject({ held: 1n });
  });

  test("permanently during a commit fails its command as unavailable, and the command can be repeated", async () => {
    const impatient = await openImpatient();
    const isCut = proxy.cutNext("after commit").then(proxy.shut);
    const failed = errorCodeOf(impatient.hold(holdOf(7n)));
    await isCut;
    expect(await failed).toBe("unavailable");
    proxy.open();
    await untilTaken(() => impatient.hold(holdOf(7n)));
    expect(await impatient.hold(holdOf(7n))).toMatchObject({ granted: 7n, replayed: true });
    expect(await env.ledger.balances(WALLET)).toMatchObject({ held: 7n });
  });

  // Regression: the locks of a frozen gateway outlasted the time for which the others try again.
  test("in no direction, but frozen with its wallet locked, fails no command of another gateway", async () => {
    const isFrozen = proxy.cutNext("frozen");
    const late = ledger.hold(holdOf(1n));
    await isFrozen;
    let failures = 0;
    const observer = { committed() {}, synced() {}, failed: () => void failures++ };
    const other = await env.openAnother({ isImpatient: true, observer });
    expect(await other.hold(holdOf(2n, { holdId: holdIdOf("h2") }))).toMatchObject({ granted: 2n });
    // Each waits a second for the lock, and the others try again for two.
    expect(failures).toBeLessThan(2);
    expect(await late).toMatchObject({ granted: 1n });
  });

  test("does not prevent closing the ledger", async () => {
    const impatient = await openImpatient();
    proxy.shut();
    expect(await errorCodeOf(impatient.hold(holdOf(1n)))).toBe("unavailable");
    await impatient.close();
  });
});

test("the commit status of a transaction of another server is unknown", async () => {
  const env = await openPostgresEnv(0n);
  const database = await openPostgres(env.url);
  const store = createPostgresStore({ database, now: undefined });
  const [row] = await database.client.unsafe("SELECT pg_current_xact_id()::text AS id");
  expect(await store.commitStatusOf?.(`${row.id} 7000000000000000000 00000001`)).toBe("unknown");
  await store.close();
  await database.close();
  await env.close();
});

test("a search for due holds fails when the server vanished, and the next one succeeds", async () => {
  const env = await openPostgresEnv(10n);
  await env.ledger.hold(holdOf(1n, { ttlMs: 1_000 }));
  const url = new URL(env.url);
  const proxy = await openTcpProxy(Number(url.port));
  url.port = proxy.address.replace(/^.*:/, "");
  const database = await openPostgres(url.href);
  const due = createDueRead(database, () => NOON_MS + 2_000, 5_000);
  const found = [{ walletId: WALLET, holdId: holdIdOf("h1") }];
  expect(await due.find(10)).toEqual(found);

  proxy.swallow("both");
  await expect(due.find(10)).rejects.toThrow();
  proxy.heal();
  expect(await Promise.all([due.find(10), due.find(10)])).toEqual([found, found]);

  await due.close();
  await database.close();
  await proxy.close();
  await env.close();
});

test("a server killed under load loses no acknowledged hold, and the ledger recovers with it", async () => {
  const server = await startPostgresServer();
  const database = await openPostgres(server.url);
  const ledger = createPostgresLedger({ database, busyMaxMs: 500 });
  await ledger.createWallet(WALLET);
  await ledger.topUp({ walletId: WALLET, topUpId: "funds", amount: 1_000_000_000n });
  const load = startLoad(ledger);
  for (let round = 0; round < 3; round++) {
    await load.untilMore(200);
    await server.kill();
    await load.untilFailed();
    await server.start();
  }
  await load.untilMore(200);
  await load.stop();
  expect(load.unexpected).toEqual([]);

  const client = new SQL(server.url, { max: 1 });
  const stored: { hold_id: string }[] = await client.unsafe("SELECT hold_id::text FROM holds");
  const ids = new Set(stored.map(({ hold_id }) => hold_id));
  expect(load.taken.filter((holdId) => !ids.has(holdId))).toEqual([]);
  expect((await auditPostgres(database, Date.now())).findings).toEqual([]);
  await client.close();
  await ledger.close();
  await database.close();
  await server.stop();
});

/** 64 callers that take holds in a loop and continue after errors. */
function startLoad(ledger: LocalLedger) {
  const taken: string[] = [];
  const unexpected: unknown[] = [];
  let failed = 0;
  let isStopped = false;
  const call = async () => {
    while (!isStopped) {
      const holdId = Bun.randomUUIDv7();
      try {
        await ledger.hold(holdOf(1n, { holdId }));
        taken.push(holdId);
      } catch (error) {
        failed++;
        if (!(error instanceof Error && error.message === "unavailable")) unexpected.push(error);
        await Bun.sleep(5);
      }
    }
  };
  const callers = Array.from({ length: 64 }, call);
  return {
    taken,
    unexpected,
    untilMore(count: number) {
      const wanted = taken.length + count;
      return until(() => taken.length >= wanted);
    },
    untilFailed() {
      const wanted = failed + 1;
      return until(() => failed >= wanted);
    },
    async stop() {
      isStopped = true;
      await Promise.all(callers);
    },
  };
}

async function isIdleForHalfASecond(): Promise<boolean> {
  const cpu = process.cpuUsage();
  await Bun.sleep(500);
  return process.cpuUsage(cpu).user / 1_000 < 250;
}

async function untilTaken(give: () => Promise<unknown>): Promise<void> {
  for (;;) {
    try {
      await give();
      return;
    } catch {
      await Bun.sleep(10);
    }
  }
}
