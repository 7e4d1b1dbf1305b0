import { afterEach, beforeEach, describe, expect, test } from "bun:test";
import { statSync } from "node:fs";
import { join } from "node:path";
import { LedgerError } from "../../src/ledger/ledger.ts";
import { isRetryable, type OutboxEntry } from "../../src/settlement-outbox/entry.ts";
import { findOutboxes } from "../../src/settlement-outbox/folder.ts";
import { FACTS, holdIdOf, WALLET } from "../ledger/samples.ts";
import { FUNDS, type OutboxFixture, openOutboxFixture, settlementOf, until } from "./fixture.ts";

let books: OutboxFixture;
beforeEach(async () => {
  books = await openOutboxFixture();
});
afterEach(() => books.close());

const abandonOf = (name: string): OutboxEntry => ({
  kind: "release_if_held",
  request: {
    walletId: WALLET,
    holdId: holdIdOf(name),
    facts: { outcome: "internal_error", source: "none", attempts: [] },
  },
});

describe("while the ledger is away", () => {
  test("an entry is on disk when it is taken, and booked once when the ledger is back", async () => {
    const journal = books.journal();
    books.ledger.is = "away";
    await journal.append(await books.heldFor("a", 40n));
    expect(findOutboxes(books.folder)).toMatchObject([{ entries: 1, isReadable: true }]);
    expect(journal.pending()).toBe(1);
    expect(await books.open.ledger.balances(WALLET)).toMatchObject({ posted: FUNDS, held: 40n });

    books.ledger.is = "here";
    await journal.drain(60_000);
    expect(await books.open.ledger.balances(WALLET)).toMatchObject({ posted: FUNDS - 40n, held: 0n });
    expect(await books.open.ledger.receipt(WALLET, holdIdOf("a"))).toMatchObject({
      state: "settled",
      outcome: FACTS,
    });
    expect(findOutboxes(books.folder)).toEqual([]);
  });

  test("it is said once that it is, and once that it is back", async () => {
    const journal = books.journal();
    books.ledger.is = "away";
    await journal.append(await books.heldFor("a"));
    await until(() => books.ledger.asked > 4);
    books.ledger.is = "here";
    await journal.drain(60_000);
    const events = books.log
      .text()
      .split("\n")
      .map((line) => JSON.parse(line).event);
    expect(events).toEqual(["settlement replay suspended", "settlement replay resumed"]);
  });

  test("one entry a round is enough to see whether it still is", async () => {
    const journal = books.journal({ everyMs: 20 });
    books.ledger.is = "away";
    await Promise.all(["a", "b", "c", "d"].map(async (name) => journal.append(await books.heldFor(name))));
    await until(() => books.log.text() !== "");
    const asked = books.ledger.asked;
    await until(() => books.ledger.asked >= asked + 3);
    expect(books.ledger.asked).toBe(asked + 3);
  });

  test("a thousand entries of many turns are all booked afterwards", async () => {
    const journal = books.journal();
    books.ledger.is = "away";
    const names = Array.from({ length: 1_000 }, (_, index) => `many-${index}`);
    const entries = await Promise.all(names.map((name) => books.heldFor(name, 3n)));
    await Promise.all(entries.map((entry) => journal.append(entry)));
    books.ledger.is = "here";
    await journal.drain(60_000);
    expect(await books.open.ledger.balances(WALLET)).toMatchObject({ posted: FUNDS - 3_000n, held: 0n });
  });
});

test.each([
  ["unavailable", true],
  ["queue_full", true],
  ["deadline_exceeded", true],
  ["conflict", false],
  ["hold_released", false],
] as const)("a ledger that refuses as %s may take it later: %p", (refusal, mayPass) => {
  expect(isRetryable(new LedgerError(refusal))).toBe(mayPass);
});

describe("a replay", () => {
  test("of what the ledger has booked all the same books nothing twice", async () => {
    const journal = books.journal();
    const entry = await books.heldFor("a", 40n);
    if (entry.kind === "settle") await books.open.ledger.settle(entry.request);
    await journal.append(entry);
    await journal.drain(60_000);
    expect(journal.pending()).toBe(0);
    expect(await books.open.ledger.balances(WALLET)).toMatchObject({ posted: FUNDS - 40n });
    expect(books.log.text()).toBe("");
  });

  test("that comes after the hold's expiry books only what that had not", async () => {
    const journal = books.journal();
    const { ledger } = books.open;
    const entry = await books.heldFor("a", 50n);
    await ledger.extend({ walletId: WALLET, holdId: holdIdOf("a"), accrued: 30n, ttlMs: 60_000 });
    books.ledger.is = "away";
    await journal.append(entry);
    books.open.clock.nowMs += 61_000;
    await ledger.sweep();
    expect(await ledger.balances(WALLET)).toMatchObject({ posted: FUNDS - 30n, held: 0n });

    books.ledger.is = "here";
    await journal.drain(60_000);
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

  test("releases what is to be released", async () => {
    const journal = books.journal();
    const { request } = await books.heldFor("a");
    const { walletId, holdId, facts } = request;
    await journal.append({ kind: "release", request: { walletId, holdId, facts } });
    await journal.drain(60_000);
    expect(await books.open.ledger.receipt(WALLET, holdId)).toMatchObject({
      state: "released",
      captured: 0n,
    });
  });

  test("frees an abandoned hold, and is content when there is none", async () => {
    const journal = books.journal();
    await books.heldFor("taken");
    await Promise.all(["taken", "never"].map((name) => journal.append(abandonOf(name))));
    await journal.drain(60_000);
    expect(journal.pending()).toBe(0);
    expect(await books.open.ledger.balances(WALLET)).toMatchObject({ posted: FUNDS, held: 0n });
    expect(books.log.text()).toBe("");
  });

  test("goes on behind entries that always fail, and keeps those", async () => {
    const journal = books.journal();
    const names = Array.from({ length: 300 }, (_, index) => `bad-${index}`);
    for (const name of names) books.ledger.broken.add(holdIdOf(name));
    await Promise.all(names.map((name) => journal.append(settlementOf(name, 1n))));
    await journal.append(await books.heldFor("good", 40n));
    await until(() => journal.pending() === 300);
    expect(await books.open.ledger.balances(WALLET)).toMatchObject({ posted: FUNDS - 40n });
  });
});

describe("an entry that the ledger refuses for good", () => {
  test("is kept apart, logged with its amount, and not tried again, not by the next process either", async () => {
    const journal = books.journal();
    await journal.append(settlementOf("unknown", 2_500_000_000n));
    await until(() => journal.pending() === 0);
    expect(findOutboxes(books.folder)).toMatchObject([{ entries: 1 }]);
    const [line = ""] = books.log.text().split("\n");
    expect(JSON.parse(line)).toEqual({
      level: "error",
      request: holdIdOf("unknown"),
      wallet: WALLET,
      does: "settle",
      amountUsd: "2.50",
      refusal: "hold_not_found",
      event: "settlement declined for good",
    });
    await journal.close();

    const asked = books.ledger.asked;
    const next = books.journal();
    await next.append(await books.heldFor("a"));
    await next.drain(60_000);
    await Bun.sleep(50);
    expect(books.ledger.asked).toBe(asked + 1);
    expect(findOutboxes(books.folder)).toMatchObject([{ entries: 1 }]);
  });

  test.each([
    ["conflict", 41n],
    ["hold_released", 40n],
  ] as const)("%s is one", async (refusal, amount) => {
    const journal = books.journal();
    const { request } = await books.heldFor("a", 40n);
    const { walletId, holdId, facts } = request;
    if (refusal === "conflict") await books.open.ledger.settle({ ...request, amount: 40n });
    else await books.open.ledger.release({ walletId, holdId, facts });
    await journal.append(settlementOf("a", amount));
    await until(() => journal.pending() === 0);
    expect(books.log.text()).toContain(`"refusal":"${refusal}"`);
    expect(findOutboxes(books.folder)).toMatchObject([{ entries: 1 }]);
  });
});

describe("a journal takes no entry", () => {
  test("above its bound, and takes entries again when it is replayed", async () => {
    const journal = books.journal({ entriesMax: 2 });
    books.ledger.is = "away";
    const [a, b, c] = await Promise.all(["a", "b", "c"].map((name) => books.heldFor(name)));
    if (!a || !b || !c) throw new Error("three holds were taken");
    const taken = await Promise.allSettled([journal.append(a), journal.append(b), journal.append(c)]);
    expect(taken.map(({ status }) => status)).toEqual(["fulfilled", "fulfilled", "rejected"]);
    await expect(journal.append(c)).rejects.toThrow(
      "Cannot journal the end of a hold: too many entries wait already",
    );
    books.ledger.is = "here";
    await journal.drain(60_000);
    await journal.append(c);
  });

  test("of an abandoned hold when a hundredth of its room is used up", async () => {
    const journal = books.journal({ entriesMax: 200 });
    books.ledger.is = "away";
    await journal.append(abandonOf("a"));
    await journal.append(abandonOf("b"));
    await expect(journal.append(abandonOf("c"))).rejects.toThrow("too many entries");
    await journal.append(settlementOf("d", 1n));
  });

  test("that is monstrous", async () => {
    const journal = books.journal();
    const { request } = settlementOf("a", 1n);
    const metadata = { text: "x".repeat(64 * 1024) };
    await expect(journal.append({ kind: "release", request: { ...request, metadata } })).rejects.toThrow(
      "too large",
    );
  });

  test("after it was closed", async () => {
    const journal = books.journal();
    await journal.close();
    await expect(journal.append(settlementOf("a", 1n))).rejects.toThrow("closed");
  });
});

describe("close()", () => {
  test("gives the ledger what is left, and removes the file", async () => {
    const journal = books.journal({ everyMs: 60_000, closeMs: 2_000 });
    books.ledger.is = "away";
    await journal.append(await books.heldFor("a", 40n));
    books.ledger.is = "here";
    await journal.close();
    expect(await books.open.ledger.balances(WALLET)).toMatchObject({ posted: FUNDS - 40n });
    expect(books.files()).toEqual([]);
  });

  test.each(["away", "silent"] as const)(
    "leaves the rest on disk within its time when the ledger is %s, and says how much",
    async (state) => {
      const journal = books.journal({ closeMs: 100 });
      books.ledger.is = state;
      await journal.append(await books.heldFor("a", 40n));
      const closingAt = performance.now();
      await journal.close();
      expect(performance.now() - closingAt).toBeLessThan(60_000);
      expect(books.log.text()).toContain('"entries":1');
      expect(findOutboxes(books.folder)).toMatchObject([{ entries: 1 }]);

      books.ledger.is = "here";
      const next = books.journal();
      await until(() => findOutboxes(books.folder).length === 0);
      expect(next.pending()).toBe(0);
      expect(await books.open.ledger.balances(WALLET)).toMatchObject({ posted: FUNDS - 40n, held: 0n });
    },
  );
});

test("what is in a journal is for this user alone", async () => {
  books.ledger.is = "away";
  const journal = books.journal();
  await journal.append(await books.heldFor("a"));
  expect(statSync(join(books.folder, "journal")).mode & 0o777).toBe(0o700);
  expect(books.files()).toHaveLength(4);
  const modes = books.files().map((name) => statSync(join(books.folder, "journal", name)).mode & 0o777);
  expect(new Set(modes)).toEqual(new Set([0o600]));
});
