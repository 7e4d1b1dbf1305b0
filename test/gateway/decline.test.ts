import { expect, test } from "bun:test";
import type { Caller } from "../../src/accounts/keys/key.ts";
import { messageOfLimit } from "../../src/errors.ts";
import { boundBy, causeOf, createDeclineMemory, type Decline } from "../../src/gateway/decline.ts";

function memoryAt(): { memory: ReturnType<typeof createDeclineMemory>; at(ms: number): void } {
  let now = 0;
  return {
    memory: createDeclineMemory(() => now),
    at: (ms) => {
      now = ms;
    },
  };
}

/** A hold that counts for its key alone. */
const K = { accountId: "a", keyId: "k", scopes: undefined };

const OF_WALLET: Decline = {
  reason: "insufficient_balance",
  shortfall: { needed: 10n, available: 4n, unheld: 8n },
};
const OF_LIMIT: Decline = { ...OF_WALLET, reason: "spending_limit_exceeded" };

function remembering(decline: Decline) {
  const { memory } = memoryAt();
  for (let times = 0; times < 3; times += 1) memory.note(K, decline);
  return memory;
}

test("two declines within a second are not remembered, the third is remembered for one second", () => {
  const { memory, at } = memoryAt();
  memory.note(K, OF_WALLET);
  memory.note(K, OF_WALLET);
  expect(memory.recall(K, 10n)).toBeUndefined();
  at(999);
  memory.note(K, OF_LIMIT);
  expect(memory.recall(K, 10n)).toEqual(OF_LIMIT);
  at(1998);
  expect(memory.recall(K, 10n)).toEqual(OF_LIMIT);
  at(1999);
  expect(memory.recall(K, 10n)).toBeUndefined();
});

test("a remembered decline has the amount that each request needs, and does not apply to a request that fits", () => {
  const memory = remembering(OF_WALLET);
  expect(memory.recall(K, 9n)).toMatchObject({ shortfall: { needed: 9n, available: 4n } });
  expect(memory.recall(K, 5n)?.shortfall?.needed).toBe(5n);
  expect(memory.recall(K, 4n)).toBeUndefined();
});

test("a remembered decline of the wallet distinguishes money on hold from missing money", () => {
  const memory = remembering(OF_WALLET);
  const cause = (needed: bigint) => causeOf(memory.recall(K, needed) ?? OF_LIMIT);
  expect(cause(9n)).toBe("wallet_empty");
  expect(cause(8n)).toBe("wallet_on_hold");
});

test("a request that needs more of the wallet than the declined one goes to the ledger", () => {
  expect(remembering(OF_WALLET).recall(K, 11n)).toBeUndefined();
  expect(remembering(OF_LIMIT).recall(K, 11n)).toMatchObject({ shortfall: { needed: 11n } });
});

test("a frozen wallet declines every request, and a decline without amounts is not remembered", () => {
  const frozen: Decline = { reason: "wallet_frozen", shortfall: undefined };
  expect(remembering(frozen).recall(K, 0n)).toEqual(frozen);
  expect(remembering({ ...OF_WALLET, shortfall: undefined }).recall(K, 100n)).toBeUndefined();
});

test("the error of a spending limit distinguishes used up, too small and on hold", () => {
  const cause = (unheld: bigint) =>
    causeOf({ ...OF_LIMIT, shortfall: { needed: 10n, available: 0n, unheld } });
  expect([cause(0n), cause(1n), cause(9n), cause(10n)]).toEqual([
    "spending_limit",
    "spending_limit_short",
    "spending_limit_short",
    "spending_limit_on_hold",
  ]);
  expect(causeOf({ ...OF_LIMIT, shortfall: undefined })).toBe("spending_limit");
  expect(causeOf({ reason: "balance_on_hold", shortfall: undefined })).toBe("wallet_on_hold");
});

test.each([
  [undefined, "account", "The spending limit of this account is used up."],
  [{ kind: "key", id: "k" }, "key", "The spending limit of this key is used up."],
  [{ kind: "key", id: "root" }, "parent_key", "The spending limit of the parent key is used up."],
  [{ kind: "end_user", id: "alice" }, "end_user", "The spending limit of this end user is used up."],
] as const)("the message of a limit on %p names what it binds, %s", (scope, bound, message) => {
  // Safe because only the id of the key is read.
  const caller = { key: { id: "k" } } as Caller;
  expect(boundBy({ limitId: "l", scope }, caller)).toBe(bound);
  expect(messageOfLimit("spending_limit", bound)).toBe(message);
});

test.each(["spending_limit", "spending_limit_short", "spending_limit_on_hold"] as const)(
  "the message of %s says whose limit it is",
  (cause) => expect(messageOfLimit(cause, "project")).toContain("this project"),
);

test("declines that are more than a second apart are not added up", () => {
  const { memory, at } = memoryAt();
  for (const ms of [0, 600, 1100, 1800]) {
    at(ms);
    memory.note(K, OF_WALLET);
  }
  expect(memory.recall(K, 10n)).toBeUndefined();
});

test("the declines of one key do not affect another key", () =>
  expect(remembering(OF_WALLET).recall({ ...K, keyId: "other" }, 10n)).toBeUndefined());

test("the memory stays bounded after 100,000 keys with one decline each", () => {
  const { memory } = memoryAt();
  const before = process.memoryUsage().heapUsed;
  for (let i = 0; i < 100_000; i += 1) memory.note({ ...K, keyId: `key-${i}` }, OF_WALLET);
  Bun.gc(true);
  expect(process.memoryUsage().heapUsed - before).toBeLessThan(20 * 1024 * 1024);
});

test("an account that is declined for many end users does not push the declines of another out", () => {
  const memory = remembering(OF_WALLET);
  const scope = (id: number) => ({ kind: "end_user" as const, id: String(id) });
  for (let id = 0; id < 20_000; id += 1) {
    const limit = { limitId: "users", scope: scope(id) };
    memory.note({ accountId: "b", keyId: "other", scopes: [scope(id)] }, { ...OF_LIMIT, limit });
  }
  expect(memory.recall(K, 10n)).toEqual(OF_WALLET);
});
