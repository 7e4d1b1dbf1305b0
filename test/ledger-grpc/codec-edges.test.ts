import { describe, expect, test } from "bun:test";
import { InvalidField } from "../../src/ledger-grpc/codec/fields.ts";
import {
  decodeExtendRequest,
  decodeHoldRequest,
  decodeReleaseRequest,
  decodeSettleRequest,
  encodeExtendRequest,
  encodeHoldRequest,
  encodeSettleRequest,
} from "../../src/ledger-grpc/codec/holds.ts";
import { encodeKeptMetadata } from "../../src/ledger-grpc/codec/metadata.ts";
import {
  decodeChargeRequest,
  decodeTopUpRequest,
  encodeTopUpRequest,
} from "../../src/ledger-grpc/codec/postings.ts";
import { decodeReceiptFilter } from "../../src/ledger-grpc/codec/receipts.ts";
import { decodeSpendLimit, decodeWalletStateRequest } from "../../src/ledger-grpc/codec/wallets.ts";
import { FACTS, holdOf } from "../ledger/samples.ts";

import { through } from "./through.ts";

describe("what cannot travel is refused as it would be at home", () => {
  test.each([
    [2n ** 64n, 2n ** 63n - 1n],
    [-(2n ** 70n), -(2n ** 63n)],
  ])("the amount %p becomes the nearest that can", (amount, nearest) => {
    const wire = through("CreateTopUpRequest", encodeTopUpRequest({ walletId: "w", topUpId: "t", amount }));
    expect(decodeTopUpRequest(wire).amount).toBe(nearest);
  });

  test.each([
    ["no number", Number.NaN, 0],
    ["endless", Number.POSITIVE_INFINITY, 315_576_000_000_000],
    ["before all time", Number.NEGATIVE_INFINITY, -315_576_000_000_000],
    ["half a millisecond", 0.5, 0.5],
  ])("a time to live that is %s", (_, ttlMs, arrives) => {
    const wire = through(
      "ExtendHoldRequest",
      encodeExtendRequest({ walletId: "w", holdId: "h", accrued: 0n, ttlMs }),
    );
    expect(decodeExtendRequest(wire).ttlMs).toBe(arrives);
  });

  test.each([
    ["is no Unicode", "\uD800"],
    ["is far too long", "x".repeat(2_000)],
  ])("an id that %s names nothing", (_, walletId) => {
    const wire = through("CreateTopUpRequest", encodeTopUpRequest({ walletId, topUpId: "t", amount: 1n }));
    expect(decodeTopUpRequest(wire).walletId).toBe("");
  });

  test.each([
    ["is too deep", nestedTo(31)],
    ["has a bigint", { a: 1n }],
    ["is far too long", { a: "x".repeat(70_000) }],
  ])("metadata that %s is longer than any ledger keeps", (_, metadata) => {
    const wire = through("CreateHoldRequest", encodeHoldRequest(holdOf(1n, { metadata })));
    expect(JSON.stringify(decodeHoldRequest(wire).metadata).length).toBeGreaterThan(4_096);
  });

  test("metadata at the deepest level travels, and deeper is not read out of the books", () => {
    const metadata = nestedTo(30);
    const wire = through("CreateHoldRequest", encodeHoldRequest(holdOf(1n, { metadata })));
    expect(decodeHoldRequest(wire).metadata).toEqual(metadata);
    expect(() => encodeKeptMetadata(nestedTo(31))).toThrow(RangeError);
  });

  test("counts and times of facts stay out of range", () => {
    const usage = { ...FACTS.usage, inputTokens: -5, outputTokens: 1.5 } as NonNullable<typeof FACTS.usage>;
    const facts = { ...FACTS, usage, totalMs: Number.POSITIVE_INFINITY };
    const wire = through(
      "SettleHoldRequest",
      encodeSettleRequest({ walletId: "w", holdId: "h", amount: 0n, facts }),
    );
    const { facts: arrived } = decodeSettleRequest(wire);
    expect(arrived.usage).toMatchObject({ inputTokens: -1, outputTokens: -1 });
    expect(Number.isSafeInteger(arrived.totalMs)).toBe(false);
  });
});

describe("what a caller leaves out", () => {
  test("of a hold: the minimum is the amount, and the facts say gRPC", () => {
    const wire = through("CreateHoldRequest", {
      walletId: "w",
      holdId: "h",
      keyId: "k",
      amountNanos: 7,
      ttl: { seconds: 1 },
    });
    expect(decodeHoldRequest(wire)).toEqual({
      walletId: "w",
      holdId: "h",
      keyId: "k",
      amount: 7n,
      minimum: 7n,
      ttlMs: 1_000,
      facts: { surface: "grpc", model: "" },
      metadata: undefined,
    });
  });

  test("of an ending: a settlement went well, a release was given up", () => {
    const settled = decodeSettleRequest(through("SettleHoldRequest", { amountNanos: 0 }));
    expect(settled).toMatchObject({ amount: 0n, facts: { outcome: "ok", source: "reported", attempts: [] } });
    const released = decodeReleaseRequest(through("ReleaseHoldRequest", {}));
    expect(released.facts).toEqual({ outcome: "client_closed", source: "none", attempts: [] });
  });

  test.each([
    [
      "the amount of a settlement",
      "amount_nanos",
      "invalid_amount",
      () => decodeSettleRequest(through("SettleHoldRequest", {})),
    ],
    [
      "the amount of a charge",
      "amount_nanos",
      "invalid_amount",
      () => decodeChargeRequest(through("CreateChargeRequest", {})),
    ],
    [
      "the time a hold lives",
      "ttl",
      "invalid_amount",
      () => decodeHoldRequest(through("CreateHoldRequest", {})),
    ],
    ["the limit to set", "limit", "invalid_request", () => decodeSpendLimit(null)],
    [
      "the period of a limit",
      "limit.period",
      "invalid_request",
      () => decodeSpendLimit(through("SpendLimit", {})),
    ],
    [
      "the state of a wallet",
      "state",
      "invalid_request",
      () => decodeWalletStateRequest(through("SetWalletStateRequest", {})),
    ],
    ["the filter of a list", "filter", "invalid_query", () => decodeReceiptFilter(null)],
    [
      "the word for a number that this version does not know",
      "state",
      "invalid_request",
      () => decodeWalletStateRequest(through("SetWalletStateRequest", { state: 99 })),
    ],
    [
      "a time on Earth",
      "filter.start_time",
      "invalid_query",
      () => decodeReceiptFilter(through("HoldFilter", { startTime: { seconds: 2 ** 50, nanos: 0 } })),
    ],
    [
      "a second that has a billion nanoseconds at most",
      "ttl",
      "invalid_amount",
      () => decodeExtendRequest(through("ExtendHoldRequest", { ttl: { seconds: 1, nanos: 2_000_000_000 } })),
    ],
    [
      "one sign for seconds and nanoseconds",
      "ttl",
      "invalid_amount",
      () => decodeExtendRequest(through("ExtendHoldRequest", { ttl: { seconds: 1, nanos: -1 } })),
    ],
    [
      "a number that JSON can say",
      "metadata",
      "invalid_metadata",
      () =>
        decodeReleaseRequest(
          through("ReleaseHoldRequest", { metadata: { fields: { a: { numberValue: Number.NaN } } } }),
        ),
    ],
  ] as const)("must not be %s", (_, field, fault, decode) => {
    expect(decode).toThrow(InvalidField);
    expect(decode).toThrow(expect.objectContaining({ field, fault }));
  });
});

describe("metadata", () => {
  test("names keep their order", () => {
    const metadata = { b: 1, a: { d: null, c: true } };
    const wire = through("CreateHoldRequest", encodeHoldRequest(holdOf(1n, { metadata })));
    expect(JSON.stringify(decodeHoldRequest(wire).metadata)).toBe('{"b":1,"a":{"d":null,"c":true}}');
  });
});

function nestedTo(depth: number): Record<string, unknown> {
  return depth === 1 ? {} : { a: nestedTo(depth - 1) };
}
