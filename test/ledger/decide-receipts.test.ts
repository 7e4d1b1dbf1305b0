import { describe, expect, test } from "bun:test";
import type { OutcomeFacts } from "../../src/ledger/ledger.ts";
import { AFTER_EXPIRY, create, expire, extend, fund, give, hold, lastOf, release, settle } from "./given.ts";
import { emptyWallet } from "./memory-wallet.ts";
import { FACTS, holdIdOf, WALLET } from "./samples.ts";

const [walletId, holdId] = [WALLET, holdIdOf("h1")];
const held = [create, fund(10n), hold(10n, { metadata: { team: "a" } })];
const USAGE = FACTS.usage ?? {};
const PRICE = FACTS.price ?? {};

/** Metadata of exactly so many bytes in print. */
function metadataOf(bytes: number) {
  return { a: "x".repeat(bytes - '{"a":""}'.length) };
}

/** Lists within each other, in an object: so deep in all. */
function metadataOfDepth(depth: number) {
  return { a: JSON.parse("[".repeat(depth - 1) + "]".repeat(depth - 1)) };
}

function circle(): object {
  const around: Record<string, unknown> = {};
  around.itself = around;
  return around;
}

describe("what a settlement says", () => {
  test("is kept beside what the hold said", () => {
    const stored = emptyWallet();
    lastOf([...held, settle(5n, { metadata: { team: "b", tokens: 7 } })], stored);
    expect(stored.holds.get(holdId)?.metadata).toBe('{"team":"a"}');
    expect(stored.resolutions.get(holdId)).toEqual({ facts: FACTS, metadata: '{"team":"b","tokens":7}' });
  });

  test("of a released hold is kept as well", () => {
    const stored = emptyWallet();
    lastOf(
      [...held, give("release", { walletId, holdId, facts: FACTS, metadata: { why: "failed" } })],
      stored,
    );
    expect(stored.resolutions.get(holdId)?.metadata).toBe('{"why":"failed"}');
  });

  test("after an expiry takes the place of what the expiry said", () => {
    const stored = emptyWallet();
    lastOf([...held, extend(2n), AFTER_EXPIRY, expire], stored);
    expect(stored.resolutions.get(holdId)?.facts).toMatchObject({ source: "expired", totalMs: AFTER_EXPIRY });
    lastOf([settle(5n, { metadata: { late: true } })], stored);
    expect(stored.resolutions.get(holdId)).toEqual({ facts: FACTS, metadata: '{"late":true}' });
  });

  test("a second time is not heard: the amount alone makes it the same", () => {
    const stored = emptyWallet();
    lastOf([...held, settle(5n, { metadata: { try: 1 } })], stored);
    expect(lastOf([settle(5n, { metadata: { try: 2 } })], stored)).toMatchObject({ replayed: true });
    expect(stored.resolutions.get(holdId)?.metadata).toBe('{"try":1}');
  });
});

describe("metadata", () => {
  test.each<[string, object]>([
    ["of 4 KiB", metadataOf(4096)],
    ["without anything in it", {}],
    ["of thirty things within each other", metadataOfDepth(30)],
    [
      "with brackets and quotes in its texts",
      { a: `\\"${"[{".repeat(40)}`, b: "__proto__", '"__proto__': 1 },
    ],
    ["with half a character and a NUL, which JSON writes as escapes", { a: "\ud800\u0000" }],
  ])("%s is kept, by a hold and by its settlement", (_, metadata) => {
    expect(lastOf([create, hold(0n, { metadata })])).toMatchObject({ granted: 0n });
    expect(lastOf([...held, settle(1n, { metadata })])).toMatchObject({ captured: 1n });
  });

  test.each<[string, unknown]>([
    ["above 4 KiB", metadataOf(4097)],
    ["above 4 KiB in UTF-8 only", { a: "é".repeat(2048) }],
    ["of thirty-one things within each other", metadataOfDepth(31)],
    ["with a name that objects keep to themselves", JSON.parse('{"a":{"__proto__":1}}')],
    ["that is a list", [1]],
    ["that is a text", "text"],
    ["that is null", null],
    ["that goes round in circles", circle()],
    ["with what JSON cannot say", { a: 1n }],
  ])("%s is refused everywhere", (_, metadata) => {
    expect(lastOf([create, hold(0n, { metadata })])).toBe("invalid_metadata");
    expect(lastOf([...held, settle(1n, { metadata })])).toBe("invalid_metadata");
    const ended = { walletId, holdId, facts: FACTS, metadata: metadata as Record<string, unknown> };
    expect(lastOf([...held, give("release", ended)])).toBe("invalid_metadata");
  });
});

describe("the facts of an outcome", () => {
  test.each<[string, Partial<OutcomeFacts>]>([
    ["nothing but how it ended", { upstream: undefined, upstreamModel: undefined, totalMs: undefined }],
    ["no usage and no price", { usage: undefined, price: undefined, firstOutputMs: undefined }],
    ["texts of 256 characters", { outcome: "x".repeat(256), upstreamModel: "😀".repeat(128) }],
    ["part of a millisecond", { firstOutputMs: 0.4, totalMs: 1.5 }],
    [
      "a bad attempt that is too old to be kept",
      {
        attempts: [
          { upstream: "\u0000", status: 0, ms: 0 },
          ...Array(8).fill({ upstream: "u", status: 502, ms: 1 }),
        ],
      },
    ],
  ])("may be %s", (_, change) => {
    const facts = { ...FACTS, ...change };
    expect(lastOf([...held, settle(1n, { facts })])).toMatchObject({ captured: 1n });
  });

  test.each<[string, Partial<OutcomeFacts>]>([
    ["a text of 257 characters", { outcome: "x".repeat(257) }],
    ["a NUL in an upstream's name", { upstream: "a\u0000" }],
    ["half a character", { upstreamModel: "\udc00" }],
    ["negative tokens", { usage: { ...USAGE, outputTokens: -1 } as OutcomeFacts["usage"] }],
    ["parts of tokens", { usage: { ...USAGE, inputTokens: 0.5 } as OutcomeFacts["usage"] }],
    [
      "tokens that are no number",
      { usage: { ...USAGE, cachedInputTokens: Number.NaN } as OutcomeFacts["usage"] },
    ],
    ["a negative price", { price: { ...PRICE, output: -1n } as OutcomeFacts["price"] }],
    ["a price that no store holds", { price: { ...PRICE, input: 2n ** 63n } as OutcomeFacts["price"] }],
    ["a time that is no number", { totalMs: Number.NaN }],
    ["an endless wait", { firstOutputMs: Number.POSITIVE_INFINITY }],
    ["an attempt without a status", { attempts: [{ upstream: "u", status: Number.NaN, ms: 1 }] }],
    ["an attempt that took no time at all", { attempts: [{ upstream: "u", status: 200, ms: Number.NaN }] }],
  ])("may not be %s", (_, change) => {
    const facts = { ...FACTS, ...change };
    expect(lastOf([...held, settle(1n, { facts })])).toBe("invalid_facts");
    expect(lastOf([...held, give("release", { walletId, holdId, facts })])).toBe("invalid_facts");
  });
});

test("a release frees a hold whatever the other side of it said", () => {
  expect(lastOf([...held, extend(9n), release])).toMatchObject({ state: "released", captured: 0n });
});
