import { describe, expect, test } from "bun:test";
import { decodeTopUpRequest, encodeTopUpRequest } from "../../src/ledger-grpc/codec/credits.ts";
import { InvalidField } from "../../src/ledger-grpc/codec/fields.ts";
import { decodeSpendLimit } from "../../src/ledger-grpc/codec/limits.ts";
import { encodeStoredMetadata } from "../../src/ledger-grpc/codec/metadata.ts";
import {
  decodeChargeRequest,
  decodeExtendRequest,
  decodeHoldRequest,
  decodeReleaseRequest,
  decodeSettleRequest,
  encodeExtendRequest,
  encodeHoldRequest,
  encodeSettleRequest,
} from "../../src/ledger-grpc/codec/mutations.ts";
import {
  decodePage,
  decodeReceiptFilter,
  encodePage,
  encodeReceiptFilter,
} from "../../src/ledger-grpc/codec/receipts.ts";
import { decodeUsageQuery, encodeUsageQuery } from "../../src/ledger-grpc/codec/usage.ts";
import { decodeWalletStateRequest } from "../../src/ledger-grpc/codec/wallets.ts";
import { FACTS, holdOf } from "../ledger/samples.ts";

import { roundTrip } from "./round-trip.ts";

describe("a value that the wire cannot carry", () => {
  test.each([
    [2n ** 64n, 2n ** 63n - 1n],
    [-(2n ** 70n), -(2n ** 63n)],
  ])("such as the amount %p is clamped to int64", (amount, nearest) => {
    const wire = roundTrip("CreateTopUpRequest", encodeTopUpRequest({ walletId: "w", topUpId: "t", amount }));
    expect(decodeTopUpRequest(wire).amount).toBe(nearest);
  });

  test.each([
    ["NaN", Number.NaN, 0],
    ["infinite", Number.POSITIVE_INFINITY, 315_576_000_000_000],
    ["minus infinity", Number.NEGATIVE_INFINITY, -315_576_000_000_000],
    ["half a millisecond", 0.5, 0.5],
  ])("such as a time to live of %s stays out of range", (_, ttlMs, arrives) => {
    const wire = roundTrip(
      "ExtendHoldRequest",
      encodeExtendRequest({ walletId: "w", holdId: "h", accrued: 0n, ttlMs }),
    );
    expect(decodeExtendRequest(wire).ttlMs).toBe(arrives);
  });

  test.each([
    ["is not well-formed", "\uD800"],
    ["is too long", "x".repeat(2_000)],
  ])("such as an id that %s becomes empty", (_, walletId) => {
    const wire = roundTrip("CreateTopUpRequest", encodeTopUpRequest({ walletId, topUpId: "t", amount: 1n }));
    expect(decodeTopUpRequest(wire).walletId).toBe("");
  });

  test.each([
    ["is too deep", nestedTo(31)],
    ["has a bigint", { a: 1n }],
    ["is too long", { a: "x".repeat(70_000) }],
  ])("such as metadata that %s becomes longer than 4 KiB", (_, metadata) => {
    const wire = roundTrip("CreateHoldRequest", encodeHoldRequest(holdOf(1n, { metadata })));
    expect(JSON.stringify(decodeHoldRequest(wire).metadata).length).toBeGreaterThan(4_096);
  });

  test("excludes metadata at depth 30, and metadata below that throws RangeError", () => {
    const metadata = nestedTo(30);
    const wire = roundTrip("CreateHoldRequest", encodeHoldRequest(holdOf(1n, { metadata })));
    expect(decodeHoldRequest(wire).metadata).toEqual(metadata);
    expect(() => encodeStoredMetadata(nestedTo(31))).toThrow(RangeError);
  });

  test("such as a word outside an enum is rejected by the server", () => {
    const filter = encodeReceiptFilter({ walletId: "w", state: "lost" as never });
    expect(() => decodeReceiptFilter(roundTrip("HoldFilter", filter))).toThrow(
      expect.objectContaining({ field: "filter.state", fault: "invalid_query" }),
    );
    const query = encodeUsageQuery({ walletId: "w", groupBy: ["__proto__" as never] });
    expect(() => decodeUsageQuery(roundTrip("QueryUsageRequest", query))).toThrow(
      expect.objectContaining({ field: "group_by", fault: "invalid_query" }),
    );
  });

  test("such as an empty page token does not become the first page", () => {
    const page = roundTrip("ListWalletsRequest", encodePage({ size: 1, token: "" }));
    expect(decodePage(page)).toEqual({ size: 1, token: "\0" });
  });

  test("such as a count or duration stays out of range", () => {
    const usage = { ...FACTS.usage, inputTokens: -5, outputTokens: 1.5 } as NonNullable<typeof FACTS.usage>;
    const facts = { ...FACTS, usage, totalMs: Number.POSITIVE_INFINITY };
    const wire = roundTrip(
      "SettleHoldRequest",
      encodeSettleRequest({ walletId: "w", holdId: "h", amount: 0n, facts }),
    );
    const { facts: arrived } = decodeSettleRequest(wire);
    expect(arrived.usage).toMatchObject({ inputTokens: -1, outputTokens: -1 });
    expect(Number.isSafeInteger(arrived.totalMs)).toBe(false);
  });
});

describe("a message with missing fields", () => {
  test("of a hold gets the amount as minimum and grpc as surface", () => {
    const wire = roundTrip("CreateHoldRequest", {
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

  test("gets the outcome ok for a settlement and client_closed for a release", () => {
    const settled = decodeSettleRequest(roundTrip("SettleHoldRequest", { amountNanos: 0 }));
    expect(settled).toMatchObject({ amount: 0n, facts: { outcome: "ok", source: "reported", attempts: [] } });
    const released = decodeReleaseRequest(roundTrip("ReleaseHoldRequest", {}));
    expect(released.facts).toEqual({ outcome: "client_closed", source: "none", attempts: [] });
  });

  test.each([
    [
      "a settlement without an amount",
      "amount_nanos",
      "invalid_amount",
      () => decodeSettleRequest(roundTrip("SettleHoldRequest", {})),
    ],
    [
      "a charge without an amount",
      "amount_nanos",
      "invalid_amount",
      () => decodeChargeRequest(roundTrip("CreateChargeRequest", {})),
    ],
    [
      "a hold without a ttl",
      "ttl",
      "invalid_amount",
      () => decodeHoldRequest(roundTrip("CreateHoldRequest", {})),
    ],
    ["a missing limit", "limit", "invalid_request", () => decodeSpendLimit(null)],
    [
      "a limit without a period",
      "limit.period",
      "invalid_request",
      () => decodeSpendLimit(roundTrip("SpendLimit", {})),
    ],
    [
      "a wallet without a state",
      "state",
      "invalid_request",
      () => decodeWalletStateRequest(roundTrip("SetWalletStateRequest", {})),
    ],
    ["a list without a filter", "filter", "invalid_query", () => decodeReceiptFilter(null)],
    [
      "an enum value unknown to this version",
      "state",
      "invalid_request",
      () => decodeWalletStateRequest(roundTrip("SetWalletStateRequest", { state: 99 })),
    ],
    [
      "a time beyond the year 9999",
      "filter.start_time",
      "invalid_query",
      () => decodeReceiptFilter(roundTrip("HoldFilter", { startTime: { seconds: 2 ** 50, nanos: 0 } })),
    ],
    [
      "a second of two billion nanoseconds",
      "ttl",
      "invalid_amount",
      () =>
        decodeExtendRequest(roundTrip("ExtendHoldRequest", { ttl: { seconds: 1, nanos: 2_000_000_000 } })),
    ],
    [
      "seconds and nanoseconds of different signs",
      "ttl",
      "invalid_amount",
      () => decodeExtendRequest(roundTrip("ExtendHoldRequest", { ttl: { seconds: 1, nanos: -1 } })),
    ],
    [
      "a NaN in metadata",
      "metadata",
      "invalid_metadata",
      () =>
        decodeReleaseRequest(
          roundTrip("ReleaseHoldRequest", { metadata: { fields: { a: { numberValue: Number.NaN } } } }),
        ),
    ],
  ] as const)("is rejected: %s", (_, field, fault, decode) => {
    expect(decode).toThrow(InvalidField);
    expect(decode).toThrow(expect.objectContaining({ field, fault }));
  });
});

describe("metadata", () => {
  test("keeps the order of its names", () => {
    const metadata = { b: 1, a: { d: null, c: true } };
    const wire = roundTrip("CreateHoldRequest", encodeHoldRequest(holdOf(1n, { metadata })));
    expect(JSON.stringify(decodeHoldRequest(wire).metadata)).toBe('{"b":1,"a":{"d":null,"c":true}}');
  });
});

function nestedTo(depth: number): Record<string, unknown> {
  return depth === 1 ? {} : { a: nestedTo(depth - 1) };
}
