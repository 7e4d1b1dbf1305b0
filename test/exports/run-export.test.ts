import { afterEach, beforeEach, expect, test } from "bun:test";
import { type Batch, type Sink, SinkError } from "../../src/exports/line.ts";
import { type ExportEvent, type ExportParts, startExport } from "../../src/exports/run-export.ts";
import { until } from "../support/until.ts";
import { type ExportEnv, openExportEnv } from "./export-env.ts";

let env: ExportEnv;
let events: ExportEvent[];
let running: { close(): Promise<void> }[];
/** Batches that the sink was given, each as the names in its ids. */
let tried: string[][];

beforeEach(async () => {
  env = await openExportEnv("sqlite");
  [events, running, tried] = [[], [], []];
  const { id: walletId } = await env.newAccount("acme");
  for (const topUpId of ["a", "b", "c", "d"]) await env.ledger.topUp({ walletId, topUpId, amount: 5n });
});
afterEach(async () => {
  for (const { close } of running) await close();
  await env.close();
});

function start(deliver: Sink["deliver"], changes: Partial<ExportParts> = {}): void {
  const sink = {
    deliver(batch: Batch, signal: AbortSignal) {
      tried.push(batch.lines.map(({ id }) => id.split("/").at(-1) ?? ""));
      return deliver(batch, signal);
    },
    close: () => undefined,
  };
  const config = { name: "warehouse", start: "beginning", batchLines: 3 } as const;
  const parts = {
    connection: env.connection,
    config,
    sink,
    takeLease: async () => true,
    report: (event: ExportEvent) => void events.push(event),
    pollMs: 5,
    backoffMs: 1,
  };
  running.push(startExport({ ...parts, ...changes }));
}

const linesDelivered = () =>
  events.reduce((sum, event) => sum + (event.kind === "delivered" ? event.lines : 0), 0);

test("a batch that a receiver refuses is tried again until it is taken, and none overtakes it", async () => {
  let tries = 0;
  start(async () => {
    tries += 1;
    if (tries < 4) throw new SinkError("status 500");
    return 0;
  });
  await until(() => linesDelivered() === 4);
  expect(tried.slice(0, 4)).toEqual([
    ["a", "b", "c"],
    ["a", "b", "c"],
    ["a", "b", "c"],
    ["a", "b", "c"],
  ]);
  expect(tried.slice(4)).toEqual([["d"]]);
  expect(events.slice(0, 3)).toMatchObject([
    { kind: "failed", problem: "status 500", failures: 1 },
    { kind: "failed", failures: 2 },
    { kind: "failed", failures: 3 },
  ]);
});

test("batches become smaller while a receiver finds them too large", async () => {
  start(async ({ lines }) => {
    if (lines.length > 1) throw new SinkError("status 413", { isTooLarge: true });
    return 0;
  });
  await until(() => linesDelivered() === 4);
  expect(tried[0]).toEqual(["a", "b", "c"]);
  expect(tried.filter(({ length }) => length === 1).flat()).toEqual(["a", "b", "c", "d"]);
});

test("a batch has at most its bytes, and at least one line", async () => {
  const config = { name: "warehouse", start: "beginning", batchLines: 3, batchBytes: 10 } as const;
  start(async () => 0, { config });
  await until(() => linesDelivered() === 4);
  expect(tried).toEqual([["a"], ["b"], ["c"], ["d"]]);
});

test("a stop ends a try that hangs, and the next process begins with its batch", async () => {
  start(
    (_, signal) =>
      new Promise((_resolve, reject) => signal.addEventListener("abort", () => reject(signal.reason))),
  );
  await until(() => tried.length === 1);
  await running.pop()?.close();
  start(async () => 0);
  await until(() => linesDelivered() === 4);
  expect(tried[1]).toEqual(["a", "b", "c"]);
});

test("a process without the lease delivers nothing", async () => {
  let asked = 0;
  const takeLease = async () => {
    asked += 1;
    return false;
  };
  start(async () => 0, { takeLease });
  await until(() => asked > 0);
  await running.pop()?.close();
  expect(tried).toEqual([]);
});

test("a fault of the database is reported without its text", async () => {
  start(async () => {
    throw Object.assign(new Error("secret value"), { code: "SQLITE_FULL" });
  });
  await until(() => events.length > 0);
  expect(events[0]).toMatchObject({ kind: "failed", problem: "database: SQLITE_FULL" });
});

test("a busy export lets the network of every other one run, long before it has caught up", async () => {
  const { id: walletId } = await env.newAccount("busy");
  const backlog = 2_000;
  const ids = Array.from({ length: backlog }, (_, index) => `line-${index}`);
  await Promise.all(ids.map((topUpId) => env.ledger.topUp({ walletId, topUpId, amount: 1n })));
  await using receiver = Bun.serve({ port: 0, fetch: () => new Response("taken") });
  let delivered = 0;
  let deliveredBefore: number | undefined;
  const posts = {
    async deliver() {
      await (await fetch(receiver.url)).text();
      deliveredBefore ??= delivered;
      return 0;
    },
    close: () => undefined,
  };
  start(
    async () => {
      delivered += 1;
      return 0;
    },
    { config: { name: "busy", start: "beginning", batchLines: 1 } },
  );
  start(async () => 0, { sink: posts, config: { name: "posted", start: "beginning", batchLines: 1 } });
  await until(() => deliveredBefore !== undefined);
  expect(deliveredBefore).toBeLessThan(backlog);
});

test("a batch is delivered once what was read of it is on disk", async () => {
  let isDiskFull = true;
  const sync = async () => {
    await env.connection.sync();
    if (isDiskFull) throw new Error("ENOSPC");
  };
  start(async () => 0, { connection: { ...env.connection, sync } });
  await until(() => events.length > 2);
  expect(tried).toEqual([]);
  isDiskFull = false;
  await until(() => linesDelivered() === 4);
});

test("a batch cut by its bytes is followed by the next one at once", async () => {
  const config = { name: "warehouse", start: "beginning", batchLines: 9, batchBytes: 1 } as const;
  start(async () => 0, { config, pollMs: 60_000 });
  await until(() => linesDelivered() === 4);
  expect(tried).toEqual([["a"], ["b"], ["c"], ["d"]]);
});

test("receipts that ended without a charge follow each other at once, however many there are", async () => {
  const { id: walletId } = await env.newAccount("free");
  await env.ledger.topUp({ walletId, topUpId: "funds", amount: 5n });
  await env.open("warehouse");
  for (let count = 0; count < 40; count += 1) await env.spend(walletId, undefined);
  const config = { name: "warehouse", start: "beginning", batchLines: 4 } as const;
  start(async () => 0, { config, pollMs: 60_000 });
  await until(() => linesDelivered() === 45);
});

test("the search for older receipts goes on at once from hour to hour", async () => {
  const { id: walletId } = await env.newAccount("old");
  await env.ledger.topUp({ walletId, topUpId: "funds", amount: 5n });
  for (let hour = 0; hour < 4; hour += 1) {
    await env.spend(walletId, undefined);
    env.clock.nowMs += 3_600_000;
  }
  await env.open("warehouse");
  const config = { name: "warehouse", start: "beginning", batchLines: 100 } as const;
  start(async () => 0, { config, pollMs: 60_000 });
  await until(() => linesDelivered() === 9);
});
