import { Database } from "bun:sqlite";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, spyOn, test } from "bun:test";
import { join } from "node:path";
import { openDatabase } from "../../src/db/sqlite/database.ts";
import { auditSqlite } from "../../src/ledger/audit/audit.ts";
import { type Ledger, LedgerError } from "../../src/ledger/ledger.ts";
import { connectLedger } from "../../src/ledger-grpc/client/client.ts";
import { LedgerLinkError } from "../../src/ledger-grpc/client/link-error.ts";
import { platform } from "../../src/platform.ts";
import { errorCodeOf, FACTS, holdOf, temporaryFolder } from "../ledger/samples.ts";
import { freePort } from "../support/free-port.ts";
import { until } from "../support/until.ts";
import { TOKEN } from "./served.ts";
import { type ServedProcess, serveProcess } from "./served-process.ts";
import { openTcpProxy, type TcpProxy } from "./tcp-proxy.ts";

/** Long enough for a busy machine. */
const BOUNDS = { answerMaxMs: 60_000, outageMaxMs: 30_000, connectMaxMs: 5_000 };
/** For a ledger that is to be found away. */
const SHORT = { answerMaxMs: 1_500, outageMaxMs: 600, connectMaxMs: 2_000 };

const folder = temporaryFolder();
const file = join(folder.path, "ledger.db");
let server: ServedProcess;
let network: TcpProxy;
let ledger: Ledger;
/** Each test has a wallet of its own. */
let walletId: string;
let wallets = 0;

beforeAll(async () => {
  // Reserved, so that it stays free while the server is down.
  server = await serveProcess(file, freePort());
});

beforeEach(async () => {
  walletId = `wallet-${++wallets}`;
  network = await openTcpProxy(server.port);
  ledger = connectLedger({ address: network.address, tokens: () => [TOKEN], ...BOUNDS });
  // On a busy machine the first connection may take longer than an outage does here.
  await untilDone(() => ledger.createWallet(walletId));
});

afterEach(async () => {
  await ledger.close();
  await network.close();
  const database = openDatabase(file);
  try {
    expect(await auditSqlite(database, Date.now())).toMatchObject({ findings: [] });
  } finally {
    database.close();
  }
});

afterAll(async () => {
  await server.kill();
  folder.remove();
});

async function reconnect(bounds: typeof BOUNDS): Promise<void> {
  await ledger.close();
  ledger = connectLedger({ address: network.address, tokens: () => [TOKEN], ...bounds });
}

function topUp(id: string | number): Promise<unknown> {
  return ledger.topUp({ walletId, topUpId: `t${id}`, amount: 1n });
}

/** Returns the error code of a mutation, or "done". */
function outcomeOf(mutation: Promise<unknown>): Promise<string> {
  return mutation.then(
    () => "done",
    (error) => (error instanceof LedgerError ? error.code : `stray: ${error}`),
  );
}

/** More that run at once would exceed the bound of an answer on a busy machine. */
const RUNNING_MAX = 400;

/** Tops up by one nano, 20 times in every 5 ms, until `isEnough`. Returns the outcome of each. */
function topUpUntil(isEnough: () => boolean): Promise<readonly string[]> {
  const outcomes: Promise<string>[] = [];
  const finished = Promise.withResolvers<void>();
  let running = 0;
  const topUpNext = () => {
    running += 1;
    outcomes.push(outcomeOf(topUp(outcomes.length)).finally(() => (running -= 1)));
  };
  const more = () => {
    for (let turn = 0; turn < 20 && running < RUNNING_MAX; turn += 1) topUpNext();
    if (isEnough() || outcomes.length > 50_000) finished.resolve();
    else setTimeout(more, 5);
  };
  more();
  return finished.promise.then(() => Promise.all(outcomes));
}

/** Waits until a query of one parameter finds a row in the file of the server. */
async function untilStored(query: string, parameter: string): Promise<void> {
  using database = new Database(file, { readonly: true });
  await until(() => database.query(query).get(parameter) !== null);
}

async function postedOf(): Promise<bigint> {
  return (await ledger.balances(walletId)).posted;
}

/** Returns the link fault behind an `unavailable`. */
async function faultOf(promise: Promise<unknown>): Promise<string> {
  const error: unknown = await promise.then(
    () => undefined,
    (reason) => reason,
  );
  if (!(error instanceof LedgerError) || !(error.cause instanceof LedgerLinkError)) throw error;
  return error.cause.code;
}

describe("a ledger in another process", () => {
  test("applies the commands of one event-loop turn in their order", async () => {
    const holdId = Bun.randomUUIDv7();
    const all = Promise.all([
      ledger.createWallet("other"),
      ledger.topUp({ walletId: "other", topUpId: "t", amount: 100n }),
      ledger.hold(holdOf(60n, { walletId: "other", holdId })),
      ledger.settle({ walletId: "other", holdId, amount: 50n, facts: FACTS }),
      ledger.refund({ walletId: "other", refundId: "r", holdId, amount: 20n }),
    ]);
    const [, , held, settled, refunded] = await all;
    expect(held).toEqual({
      granted: 60n,
      balances: { posted: 100n, held: 60n, available: 40n },
      replayed: false,
    });
    expect(settled).toMatchObject({ state: "settled", captured: 50n });
    expect(refunded.balances).toEqual({ posted: 70n, held: 0n, available: 70n });
  });

  test("applies 1,000 concurrent mutations once each", async () => {
    const ids = Array.from({ length: 1_000 }, (_, id) => id);
    await Promise.all(ids.map(topUp));
    expect(await postedOf()).toBe(1_000n);
    const again = await Promise.all(ids.map(topUp));
    expect(again.every((each) => (each as { replayed: boolean }).replayed)).toBe(true);
    expect(await postedOf()).toBe(1_000n);
  });

  test("returns the receipt id that the server gave to a charge", async () => {
    const { receiptId } = await ledger.charge({
      walletId,
      chargeId: "c1",
      keyId: "k1",
      amount: 2n ** 53n + 1n,
      facts: { surface: "chat", model: "demo" },
      outcome: FACTS,
    });
    expect(await ledger.receipt(walletId, receiptId)).toMatchObject({
      captured: 2n ** 53n + 1n,
      outcome: FACTS,
    });
  });

  test("declines a hold past its deadline, and accepts one before it", async () => {
    const holdId = Bun.randomUUIDv7();
    const hold = holdOf(0n, { walletId, holdId });
    expect(await errorCodeOf(ledger.hold(hold, { deadlineMs: Date.now() - 1 }))).toBe("deadline_exceeded");
    expect(await ledger.hold(hold, { deadlineMs: Date.now() + 60_000 })).toMatchObject({ replayed: false });
  });
});

describe("a connection that breaks", () => {
  test("repeatedly loses no mutation and repeats none", async () => {
    const isEnough = () => network.connections > 5;
    let pieces = 0;
    network.onData = () => {
      pieces += 1;
      if (pieces % 10 === 0 && !isEnough()) network.cut();
    };
    const outcomes = await topUpUntil(isEnough);
    expect(isEnough()).toBe(true);
    expect(outcomes.filter((each) => each !== "done")).toEqual([]);
    expect(await postedOf()).toBe(BigInt(outcomes.length));
  });

  test("between the commit and its answer has one effect, answered as replayed", async () => {
    network.swallow("answers");
    const toppedUp = topUp("lost");
    await untilStored("SELECT 1 FROM transfers WHERE transfer_id = ?", "tlost");
    network.heal();
    network.cut();
    expect(await toppedUp).toMatchObject({ replayed: true, balances: { posted: 1n } });
  });

  test("during a read causes a retry", async () => {
    network.swallow("answers");
    const balances = ledger.balances(walletId);
    await new Promise<void>((resolve) => {
      network.onData = (direction) => direction === "answers" && resolve();
    });
    network.heal();
    network.cut();
    expect(await balances).toMatchObject({ posted: 0n });
  });

  test("for long gives unavailable after outageMaxMs, later at once, and recovers by itself", async () => {
    const outageMaxMs = 3_000;
    await reconnect({ ...BOUNDS, outageMaxMs });
    await ledger.ping();
    network.refuse();
    const startedMs = performance.now();
    expect(await faultOf(topUp(1))).toBe("lost");
    expect(performance.now() - startedMs).toBeGreaterThan(outageMaxMs / 2);
    for (const call of [() => topUp(2), () => ledger.balances(walletId), () => ledger.ping()]) {
      const turn = new Promise<string>((resolve) => setTimeout(resolve, 0, "waits"));
      expect(await Promise.race([faultOf(call()), turn])).toBe("lost");
    }

    network.heal();
    await untilDone(() => topUp(1));
    expect(await postedOf()).toBe(1n);
  });

  test("never sends a hold whose deadline passes while it waits", async () => {
    network.refuse();
    const { connections } = network;
    await until(() => network.connections !== connections);
    const holdId = Bun.randomUUIDv7();
    const held = errorCodeOf(ledger.hold(holdOf(0n, { walletId, holdId }), { deadlineMs: Date.now() + 50 }));
    await Bun.sleep(60);
    network.heal();
    expect(await held).toBe("deadline_exceeded");
    expect(await ledger.receipt(walletId, holdId)).toBeUndefined();
  });

  test("gives unavailable for a hold that was sent before its deadline", async () => {
    network.swallow("answers");
    const hold = holdOf(0n, { walletId, holdId: Bun.randomUUIDv7() });
    const deadlineMs = Date.now() + 60_000;
    const held = errorCodeOf(ledger.hold(hold, { deadlineMs }));
    await untilStored("SELECT 1 FROM holds WHERE hold_id = ?", hold.holdId);
    const clock = spyOn(platform, "now").mockReturnValue(deadlineMs + 1);
    network.heal();
    network.cut();
    const outcome = await held;
    clock.mockRestore();
    expect(outcome).toBe("unavailable");
    await untilDone(() => ledger.ping());
    expect(await ledger.receipt(walletId, hold.holdId)).toMatchObject({ state: "held" });
  });
});

describe("a server", () => {
  test("that is killed under load and restarted loses no acknowledged mutation", async () => {
    await reconnect(SHORT);
    let isBack = false;
    const all = topUpUntil(() => isBack);
    await untilDone(async () => expect(await postedOf()).toBeGreaterThan(100n));
    await server.kill();
    server = await serveProcess(file, server.port);
    isBack = true;
    const outcomes = await all;
    await reconnect(BOUNDS);
    const acknowledged = outcomes.filter((each) => each === "done").length;
    expect(outcomes.filter((each) => each !== "done" && each !== "unavailable")).toEqual([]);
    await untilDone(() => ledger.ping());
    expect(Number(await postedOf())).toBeWithin(acknowledged, outcomes.length + 1);
    // The result of a failed mutation is unknown; repeating its id applies it once.
    await Promise.all(outcomes.map((_, id) => untilDone(() => topUp(id))));
    expect(await postedOf()).toBe(BigInt(outcomes.length));
  });

  test("that answers nothing is unavailable in time, and works when it is back", async () => {
    await reconnect(SHORT);
    await untilDone(() => ledger.ping());
    network.swallow("both");
    const startedMs = performance.now();
    const asked = faultOf(ledger.ping());
    expect(await faultOf(topUp(1))).toBe("silent");
    expect(["silent", "lost"]).toContain(await asked);
    expect(performance.now() - startedMs).toBeWithin(1_000, 60_000);
    network.heal();
    await untilDone(() => topUp(2));
  });

  test("that is stopped by a signal is unavailable in time, and works when it continues", async () => {
    await reconnect(SHORT);
    await untilDone(() => ledger.ping());
    server.signal("SIGSTOP");
    try {
      expect(await faultOf(topUp(1))).toBe("silent");
    } finally {
      server.signal("SIGCONT");
    }
    await untilDone(() => topUp(1));
    expect(await postedOf()).toBe(1n);
  });

  test("that denies the token is unavailable at once, with the fault denied", async () => {
    const denied = connectLedger({ address: network.address, tokens: () => ["wrong"], ...BOUNDS });
    const startedMs = performance.now();
    expect(await faultOf(denied.ping())).toBe("denied");
    expect(await faultOf(denied.createWallet("x"))).toBe("denied");
    expect(performance.now() - startedMs).toBeLessThan(25_000);
    await denied.close();
  });
});

describe("close()", () => {
  test("waits for running mutations, and accepts no more", async () => {
    const all = Array.from({ length: 500 }, (_, id) => outcomeOf(topUp(id)));
    const closed = ledger.close();
    expect(await errorCodeOf(topUp("late"))).toBe("unavailable");
    expect(new Set(await Promise.all(all))).toEqual(new Set(["done"]));
    await closed;
  });

  test("ends when the ledger is away", async () => {
    await reconnect(SHORT);
    await untilDone(() => ledger.ping());
    network.refuse();
    const lost = errorCodeOf(topUp(1));
    await ledger.close();
    expect(await lost).toBe("unavailable");
  });
});

/** Retries until the attempt succeeds. Throws the last error after 120 s. */
async function untilDone(attempt: () => Promise<unknown>): Promise<void> {
  const lateMs = performance.now() + 120_000;
  for (;;) {
    try {
      await attempt();
      return;
    } catch (error) {
      if (performance.now() > lateMs) throw error;
    }
    await Bun.sleep(20);
  }
}
