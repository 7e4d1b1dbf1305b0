import { describe, expect, test } from "bun:test";
import type { OutcomeFacts } from "../../src/ledger/records.ts";
import {
  AFTER_EXPIRY,
  command,
  create,
  expire,
  extend,
  fund,
  hold,
  lastDecision,
  release,
  settle,
} from "./given.ts";
import { emptyWallet } from "./memory-wallet.ts";
import { FACTS, holdIdOf, WALLET } from "./samples.ts";

const [walletId, holdId] = [WALLET, holdIdOf("h1")];
const held = [create, fund(10n), hold(10n, { metadata: { team: "a" } })];
const USAGE = FACTS.usage ?? {};
const PRICE = FACTS.price ?? {};

/** Metadata of exactly `bytes` as JSON text. */
function metadataOf(bytes: number) {
  return { a: "x".repeat(bytes - '{"a":""}'.length) };
}

/** Metadata of nested lists, `depth` levels deep. */
function metadataOfDepth(depth: number) {
  return { a: JSON.parse("[".repeat(depth - 1) + "]".repeat(depth - 1)) };
}

function cycle(): object {
  const object: Record<string, unknown> = {};
  object.itself = object;
  return object;
}

describe("the resolution of a hold", () => {
  test("has the settlement's metadata beside the hold's own", () => {
    const stored = emptyWallet();
    lastDecision([...held, settle(5n, { metadata: { team: "b", tokens: 7 } })], stored);
    expect(stored.holds.get(holdId)?.metadata).toBe('{"team":"a"}');
    expect(stored.resolutions.get(holdId)).toEqual({ facts: FACTS, metadata: '{"team":"b","tokens":7}' });
  });

  test("has the release's metadata", () => {
    const stored = emptyWallet();
    lastDecision(
      [...held, command("release", { walletId, holdId, facts: FACTS, metadata: { why: "failed" } })],
      stored,
    );
    expect(stored.resolutions.get(holdId)?.metadata).toBe('{"why":"failed"}');
  });

  test("is replaced by a settlement after an expiry", () => {
    const stored = emptyWallet();
    lastDecision([...held, extend(2n), AFTER_EXPIRY, expire], stored);
    expect(stored.resolutions.get(holdId)?.facts).toMatchObject({ source: "expired", totalMs: AFTER_EXPIRY });
    lastDecision([settle(5n, { metadata: { late: true } })], stored);
    expect(stored.resolutions.get(holdId)).toEqual({ facts: FACTS, metadata: '{"late":true}' });
  });

  test("is not replaced by a repeated settlement, which is compared by its amount alone", () => {
    const stored = emptyWallet();
    lastDecision([...held, settle(5n, { metadata: { try: 1 } })], stored);
    expect(lastDecision([settle(5n, { metadata: { try: 2 } })], stored)).toMatchObject({ replayed: true });
    expect(stored.resolutions.get(holdId)?.metadata).toBe('{"try":1}');
  });
});

describe("metadata", () => {
  test.each<[string, object]>([
    ["of 4 KiB", metadataOf(4096)],
    ["without members", {}],
    ["nested thirty levels deep", metadataOfDepth(30)],
    [
      "with brackets and quotes in its strings",
      { a: `\\"${"[{".repeat(40)}`, b: "__proto__", '"__proto__': 1 },
    ],
    ["with a lone surrogate and a NUL, which JSON escapes", { a: "\ud800\u0000" }],
  ])("%s is accepted by a hold and by its settlement", (_, metadata) => {
    expect(lastDecision([create, hold(0n, { metadata })])).toMatchObject({ granted: 0n });
    expect(lastDecision([...held, settle(1n, { metadata })])).toMatchObject({ captured: 1n });
  });

  test.each<[string, unknown]>([
    ["above 4 KiB", metadataOf(4097)],
    ["above 4 KiB in UTF-8 only", { a: "é".repeat(2048) }],
    ["nested thirty-one levels deep", metadataOfDepth(31)],
    ["with the name __proto__", JSON.parse('{"a":{"__proto__":1}}')],
    ["that is a list", [1]],
    ["that is a string", "text"],
    ["that is null", null],
    ["with a cycle", cycle()],
    ["with a bigint", { a: 1n }],
  ])("%s is declined by hold, settlement and release", (_, metadata) => {
    expect(lastDecision([create, hold(0n, { metadata })])).toBe("invalid_metadata");
    expect(lastDecision([...held, settle(1n, { metadata })])).toBe("invalid_metadata");
    const ended = { walletId, holdId, facts: FACTS, metadata: metadata as Record<string, unknown> };
    expect(lastDecision([...held, command("release", ended)])).toBe("invalid_metadata");
  });
});

describe("the facts of an outcome", () => {
  test.each<[string, Partial<OutcomeFacts>]>([
    ["only the outcome", { upstream: undefined, upstreamModel: undefined, totalMs: undefined }],
    ["without usage and price", { usage: undefined, price: undefined, firstOutputMs: undefined }],
    ["texts of 256 characters", { outcome: "x".repeat(256), upstreamModel: "😀".repeat(128) }],
    ["fractions of milliseconds", { firstOutputMs: 0.4, totalMs: 1.5 }],
    [
      "an invalid attempt too old to be stored",
      {
        attempts: [
          { upstream: "\u0000", status: 0, ms: 0 },
          ...Array(8).fill({ upstream: "u", status: 502, ms: 1 }),
        ],
      },
    ],
  ])("may be: %s", (_, change) => {
    const facts = { ...FACTS, ...change };
    expect(lastDecision([...held, settle(1n, { facts })])).toMatchObject({ captured: 1n });
  });

  test.each<[string, Partial<OutcomeFacts>]>([
    ["a text of 257 characters", { outcome: "x".repeat(257) }],
    ["a NUL in an upstream's name", { upstream: "a\u0000" }],
    ["a lone surrogate", { upstreamModel: "\udc00" }],
    ["negative tokens", { usage: { ...USAGE, outputTokens: -1 } as OutcomeFacts["usage"] }],
    ["a fraction of a token", { usage: { ...USAGE, inputTokens: 0.5 } as OutcomeFacts["usage"] }],
    ["a token count of NaN", { usage: { ...USAGE, cachedInputTokens: Number.NaN } as OutcomeFacts["usage"] }],
    ["a negative price", { price: { ...PRICE, output: -1n } as OutcomeFacts["price"] }],
    ["a price above the maximum", { price: { ...PRICE, input: 2n ** 63n } as OutcomeFacts["price"] }],
    ["a duration of NaN", { totalMs: Number.NaN }],
    ["an infinite duration", { firstOutputMs: Number.POSITIVE_INFINITY }],
    ["an attempt with the status NaN", { attempts: [{ upstream: "u", status: Number.NaN, ms: 1 }] }],
    ["an attempt with the duration NaN", { attempts: [{ upstream: "u", status: 200, ms: Number.NaN }] }],
  ])("may not be: %s", (_, change) => {
    const facts = { ...FACTS, ...change };
    expect(lastDecision([...held, settle(1n, { facts })])).toBe("invalid_facts");
    expect(lastDecision([...held, command("release", { walletId, holdId, facts })])).toBe("invalid_facts");
  });
});

test("a release frees a hold whatever was accrued", () =>
  expect(lastDecision([...held, extend(9n), release])).toMatchObject({ state: "released", captured: 0n }));
