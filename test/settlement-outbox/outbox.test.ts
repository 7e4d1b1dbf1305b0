import { afterEach, beforeEach, describe, expect, test } from "bun:test";
import { statSync } from "node:fs";
import { join } from "node:path";
import { LedgerError } from "../../src/ledger/ledger.ts";
import { isRetryable, type OutboxEntry } from "../../src/settlement-outbox/entry.ts";
import { findOutboxes } from "../../src/settlement-outbox/folder.ts";
import { FACTS, holdIdOf, holdOf, WALLET } from "../ledger/samples.ts";
import { until } from "../support/until.ts";
import { FUNDS, type OutboxFixture, openOutboxFixture, settlementOf } from "./fixture.ts";

let env: OutboxFixture;
beforeEach(async () => {
  env = await openOutboxFixture();
});
afterEach(() => env.close());

const releaseIfHeldOf = (name: string): OutboxEntry => ({
  kind: "release_if_held",
  request: {
    walletId: WALLET,
    holdId: holdIdOf(name),
    facts: { outcome: "internal_error", source: "none", attempts: [] },
  },
});

test("an outbox that rests without entries replays a new entry after the usual pause", async () => {
  const adoptEveryMs = 600_000;
  const outbox = env.outbox({ everyMs: 5, adoptEveryMs });
  // Its first passes are over, and the next look for files is far.
  await Bun.sleep(40);
  await outbox.append(await env.heldEntry("a", 40n));
  await until(() => outbox.pending() === 0);
  expect(await env.storage.ledger.balances(WALLET)).toMatchObject({ posted: FUNDS - 40n, held: 0n });
});

describe("while the ledger is unavailable", () => {
  test("an appended entry is on disk, and is settled once when the ledger is back", async () => {
    const outbox = env.outbox();
    env.ledger.mode = "away";
    await outbox.append(await env.heldEntry("a", 40n));
    expect(findOutboxes(env.folder)).toMatchObject([{ entries: 1, isReadable: true }]);
    expect(outbox.pending()).toBe(1);
    expect(await env.storage.ledger.balances(WALLET)).toMatchObject({ posted: FUNDS, held: 40n });

    env.ledger.mode = "here";
    await outbox.drain(60_000);
    expect(await env.storage.ledger.balances(WALLET)).toMatchObject({ posted: FUNDS - 40n, held: 0n });
    expect(await env.storage.ledger.receipt(WALLET, holdIdOf("a"))).toMatchObject({
      state: "settled",
      outcome: FACTS,
    });
    expect(findOutboxes(env.folder)).toEqual([]);
  });

  test("the time of the oldest entry is known until it is settled", async () => {
    const outbox = env.outbox();
    expect(outbox.oldestAtMs()).toBeUndefined();
    env.ledger.mode = "away";
    const firstAtMs = env.storage.clock.nowMs;
    await outbox.append(await env.heldEntry("a", 40n));
    env.storage.clock.nowMs += 1_000;
    await outbox.append(await env.heldEntry("b", 40n));
    expect(outbox.oldestAtMs()).toBe(firstAtMs);
    env.ledger.mode = "here";
    await outbox.drain(60_000);
    expect(outbox.oldestAtMs()).toBeUndefined();
  });

  test("the suspension and the resumption of the replay are logged once each", async () => {
    const outbox = env.outbox();
    env.ledger.mode = "away";
    await outbox.append(await env.heldEntry("a"));
    await until(() => env.ledger.calls > 4);
    env.ledger.mode = "here";
    await outbox.drain(60_000);
    const events = env.log
      .text()
      .split("\n")
      .map((line) => JSON.parse(line).event);
    expect(events).toEqual(["settlement replay suspended", "settlement replay resumed"]);
  });

  test("each pass submits one entry as a probe", async () => {
    const outbox = env.outbox({ everyMs: 20 });
    env.ledger.mode = "away";
    await Promise.all(["a", "b", "c", "d"].map(async (name) => outbox.append(await env.heldEntry(name))));
    await until(() => env.log.text() !== "");
    const asked = env.ledger.calls;
    await until(() => env.ledger.calls >= asked + 3);
    expect(env.ledger.calls).toBe(asked + 3);
  });

  test("1,000 appended entries are all settled afterwards", async () => {
    const outbox = env.outbox();
    env.ledger.mode = "away";
    const names = Array.from({ length: 1_000 }, (_, index) => `many-${index}`);
    const entries = await Promise.all(names.map((name) => env.heldEntry(name, 3n)));
    await Promise.all(entries.map((entry) => outbox.append(entry)));
    env.ledger.mode = "here";
    await outbox.drain(60_000);
    expect(await env.storage.ledger.balances(WALLET)).toMatchObject({ posted: FUNDS - 3_000n, held: 0n });
  });
});

test.each([
  ["unavailable", true],
  ["queue_full", true],
  ["deadline_exceeded", true],
  ["conflict", false],
  ["hold_released", false],
] as const)("a ledger error of %s is retryable: %p", (code, isExpected) => {
  expect(isRetryable(new LedgerError(code))).toBe(isExpected);
});

describe("a replay", () => {
  test("of an entry that the ledger settled before settles nothing twice", async () => {
    const outbox = env.outbox();
    const entry = await env.heldEntry("a", 40n);
    if (entry.kind === "settle") await env.storage.ledger.settle(entry.request);
    await outbox.append(entry);
    await outbox.drain(60_000);
    expect(outbox.pending()).toBe(0);
    expect(await env.storage.ledger.balances(WALLET)).toMatchObject({ posted: FUNDS - 40n });
    expect(env.log.text()).toBe("");
  });

  test("after the hold's expiry settles only the rest of the cost", async () => {
    const outbox = env.outbox();
    const { ledger } = env.storage;
    const entry = await env.heldEntry("a", 50n);
    await ledger.extend({ walletId: WALLET, holdId: holdIdOf("a"), accrued: 30n, ttlMs: 60_000 });
    env.ledger.mode = "away";
    await outbox.append(entry);
    env.storage.clock.nowMs += 61_000;
    await ledger.sweep();
    expect(await ledger.balances(WALLET)).toMatchObject({ posted: FUNDS - 30n, held: 0n });

    env.ledger.mode = "here";
    await outbox.drain(60_000);
    const { items } = await ledger.transfers(WALLET, { size: 2 });
    expect(items).toMatchObject([
      { kind: "late_settlement", amount: -20n },
      { kind: "expiry_capture", amount: -30n },
    ]);
    expect(await ledger.receipt(WALLET, holdIdOf("a"))).toMatchObject({
      state: "settled",
      late: true,
      captured: 50n,
    });
  });

  test("releases the hold of a release entry", async () => {
    const outbox = env.outbox();
    const { request } = await env.heldEntry("a");
    const { walletId, holdId, facts } = request;
    await outbox.append({ kind: "release", request: { walletId, holdId, facts } });
    await outbox.drain(60_000);
    expect(await env.storage.ledger.receipt(WALLET, holdId)).toMatchObject({
      state: "released",
      captured: 0n,
    });
  });

  test("books a settlement whose hold the ledger has lost, once", async () => {
    const outbox = env.outbox();
    const { facts, ttlMs } = holdOf(40n);
    const taken = { keyId: "k1", granted: 40n, ttlMs, facts };
    const { request } = settlementOf("lost", 30n);
    const entry: OutboxEntry = { kind: "settle", request: { ...request, amount: 30n, taken } };
    await outbox.append(entry);
    await outbox.append(entry);
    await outbox.drain(60_000);
    expect(await env.storage.ledger.balances(WALLET)).toMatchObject({ posted: FUNDS - 30n, held: 0n });
    expect(await env.storage.ledger.receipt(WALLET, holdIdOf("lost"))).toMatchObject({
      state: "settled",
      granted: 40n,
      captured: 30n,
    });
    expect(env.log.text()).toBe("");
  });

  test("counts a lost hold against the limits of the scopes that it was taken with", async () => {
    const outbox = env.outbox();
    const { ledger } = env.storage;
    const scope = { kind: "project", id: "p1" } as const;
    const bound = { walletId: WALLET, keyId: undefined, period: "total", amount: 50n } as const;
    await ledger.setSpendLimit({ ...bound, limitId: "project", scope });
    await ledger.setSpendLimit({ ...bound, limitId: "each", each: "project" });
    const { facts, ttlMs } = holdOf(40n);
    const taken = { keyId: "k1", scopes: [scope], granted: 40n, ttlMs, facts };
    const { request } = settlementOf("lost", 30n);
    await outbox.append({ kind: "settle", request: { ...request, amount: 30n, taken } });
    await outbox.drain(60_000);
    expect(await ledger.receipt(WALLET, holdIdOf("lost"))).toMatchObject({ captured: 30n, scopes: [scope] });
    expect(await ledger.spendLimits(WALLET, "k1", [scope])).toMatchObject([
      { limitId: "each", subject: "p1", used: 30n },
      { limitId: "project", used: 30n },
    ]);
  });

  test("of release_if_held releases the hold, and completes when there is no hold", async () => {
    const outbox = env.outbox();
    await env.heldEntry("taken");
    await Promise.all(["taken", "never"].map((name) => outbox.append(releaseIfHeldOf(name))));
    await outbox.drain(60_000);
    expect(outbox.pending()).toBe(0);
    expect(await env.storage.ledger.balances(WALLET)).toMatchObject({ posted: FUNDS, held: 0n });
    expect(env.log.text()).toBe("");
  });

  test("continues after entries that always fail, and keeps them", async () => {
    const outbox = env.outbox();
    const names = Array.from({ length: 300 }, (_, index) => `bad-${index}`);
    for (const name of names) env.ledger.broken.add(holdIdOf(name));
    await Promise.all(names.map((name) => outbox.append(settlementOf(name, 1n))));
    await outbox.append(await env.heldEntry("good", 40n));
    await until(() => outbox.pending() === 300);
    expect(await env.storage.ledger.balances(WALLET)).toMatchObject({ posted: FUNDS - 40n });
  });
});

describe("an entry that the ledger declines for good", () => {
  test("is kept, logged with its amount, and never submitted again by any process", async () => {
    const outbox = env.outbox();
    await outbox.append(settlementOf("unknown", 2_500_000_000n));
    await until(() => outbox.pending() === 0);
    expect(findOutboxes(env.folder)).toMatchObject([{ entries: 1 }]);
    const [line = ""] = env.log.text().split("\n");
    expect(JSON.parse(line)).toEqual({
      level: "error",
      request: holdIdOf("unknown"),
      wallet: WALLET,
      does: "settle",
      amountUsd: "2.50",
      refusal: "hold_not_found",
      event: "settlement declined for good",
    });
    await outbox.close();

    const asked = env.ledger.calls;
    const next = env.outbox();
    await next.append(await env.heldEntry("a"));
    await next.drain(60_000);
    await Bun.sleep(50);
    expect(env.ledger.calls).toBe(asked + 1);
    expect(findOutboxes(env.folder)).toMatchObject([{ entries: 1 }]);
  });

  test.each([
    ["conflict", 41n],
    ["hold_released", 40n],
  ] as const)("is one declined with %s", async (code, amount) => {
    const outbox = env.outbox();
    const { request } = await env.heldEntry("a", 40n);
    const { walletId, holdId, facts } = request;
    if (code === "conflict") await env.storage.ledger.settle({ ...request, amount: 40n });
    else await env.storage.ledger.release({ walletId, holdId, facts });
    await outbox.append(settlementOf("a", amount));
    await until(() => outbox.pending() === 0);
    expect(env.log.text()).toContain(`"refusal":"${code}"`);
    expect(findOutboxes(env.folder)).toMatchObject([{ entries: 1 }]);
  });
});

describe("an outbox rejects an entry", () => {
  test("above entriesMax, and accepts entries again after a replay", async () => {
    const outbox = env.outbox({ entriesMax: 2 });
    env.ledger.mode = "away";
    const [a, b, c] = await Promise.all(["a", "b", "c"].map((name) => env.heldEntry(name)));
    if (!a || !b || !c) throw new Error("three holds were taken");
    const taken = await Promise.allSettled([outbox.append(a), outbox.append(b), outbox.append(c)]);
    expect(taken.map(({ status }) => status)).toEqual(["fulfilled", "fulfilled", "rejected"]);
    await expect(outbox.append(c)).rejects.toThrow(
      "Cannot keep a settlement in the outbox: too many entries are waiting",
    );
    env.ledger.mode = "here";
    await outbox.drain(60_000);
    await outbox.append(c);
  });

  test("of release_if_held when 1/100 of entriesMax is used up", async () => {
    const outbox = env.outbox({ entriesMax: 200 });
    env.ledger.mode = "away";
    await outbox.append(releaseIfHeldOf("a"));
    await outbox.append(releaseIfHeldOf("b"));
    await expect(outbox.append(releaseIfHeldOf("c"))).rejects.toThrow("too many entries");
    await outbox.append(settlementOf("d", 1n));
  });

  test("above 64 KiB", async () => {
    const outbox = env.outbox();
    const { request } = settlementOf("a", 1n);
    const metadata = { text: "x".repeat(64 * 1024) };
    await expect(outbox.append({ kind: "release", request: { ...request, metadata } })).rejects.toThrow(
      "too large",
    );
  });

  test("after close()", async () => {
    const outbox = env.outbox();
    await outbox.close();
    await expect(outbox.append(settlementOf("a", 1n))).rejects.toThrow("closed");
  });
});

describe("close()", () => {
  test("drains the outbox and deletes its file", async () => {
    const outbox = env.outbox({ everyMs: 60_000, closeMs: 60_000 });
    env.ledger.mode = "away";
    await outbox.append(await env.heldEntry("a", 40n));
    env.ledger.mode = "here";
    await outbox.close();
    expect(await env.storage.ledger.balances(WALLET)).toMatchObject({ posted: FUNDS - 40n });
    expect(env.files()).toEqual([]);
  });

  test.each(["away", "silent"] as const)(
    "leaves the rest on disk within closeMs when the ledger is %s, and logs the count",
    async (state) => {
      const outbox = env.outbox({ closeMs: 100 });
      env.ledger.mode = state;
      await outbox.append(await env.heldEntry("a", 40n));
      const closingAt = performance.now();
      await outbox.close();
      expect(performance.now() - closingAt).toBeLessThan(60_000);
      expect(env.log.text()).toContain('"entries":1');
      expect(findOutboxes(env.folder)).toMatchObject([{ entries: 1 }]);

      env.ledger.mode = "here";
      const next = env.outbox();
      await until(() => findOutboxes(env.folder).length === 0);
      expect(next.pending()).toBe(0);
      expect(await env.storage.ledger.balances(WALLET)).toMatchObject({ posted: FUNDS - 40n, held: 0n });
    },
  );
});

test("the files of an outbox are readable by their owner alone", async () => {
  env.ledger.mode = "away";
  const outbox = env.outbox();
  await outbox.append(await env.heldEntry("a"));
  expect(statSync(join(env.folder, "journal")).mode & 0o777).toBe(0o700);
  expect(env.files()).toHaveLength(4);
  const modes = env.files().map((name) => statSync(join(env.folder, "journal", name)).mode & 0o777);
  expect(new Set(modes)).toEqual(new Set([0o600]));
});
