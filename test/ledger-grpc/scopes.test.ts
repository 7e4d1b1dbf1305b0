import { describe, expect, test } from "bun:test";
import type { Scope } from "../../src/domain/scope.ts";
import type { DecliningLimit } from "../../src/ledger/ledger.ts";
import type { SpendLimit } from "../../src/ledger/records.ts";
import { connectLedger } from "../../src/ledger-grpc/client/client.ts";
import { InvalidField } from "../../src/ledger-grpc/codec/fields.ts";
import { decodeSpendLimit, encodeSpendLimit } from "../../src/ledger-grpc/codec/limits.ts";
import {
  decodeChargeRequest,
  decodeHoldRequest,
  decodeReleaseRequest,
  decodeSettleRequest,
  encodeHoldRequest,
} from "../../src/ledger-grpc/codec/mutations.ts";
import {
  decodeReceipt,
  decodeReceiptFilter,
  encodeReceiptFilter,
} from "../../src/ledger-grpc/codec/receipts.ts";
import { decodeDecliningLimit, encodeScopes } from "../../src/ledger-grpc/codec/scopes.ts";
import { decodeError, encodeError } from "../../src/ledger-grpc/codec/status.ts";
import { messageType } from "../../src/ledger-grpc/service.ts";
import { errorCodeOf, holdOf } from "../ledger/samples.ts";
import { roundTrip } from "./round-trip.ts";
import { serve, stubLedger, TOKEN } from "./served.ts";

const PROJECT = { kind: "project", id: "p1" } as const;
/** The number of a kind that a newer version may have. */
const NEWER_KIND = 99;
const tagOf = (id: string): Scope => ({ kind: "tag", id });
const LIMIT: SpendLimit = { walletId: "w", limitId: "l", keyId: undefined, period: "day", amount: 1n };

describe("the scopes of a filter", () => {
  test("are one in the field that earlier versions know, and others beside it", () => {
    const [first, second]: readonly [Scope, Scope] = [PROJECT, tagOf("team=blue")];
    const wallet = { walletId: "w1" };
    expect(encodeReceiptFilter({ ...wallet, scopes: [first] }).moreScopes).toBeUndefined();
    for (const scopes of [[first], [first, second]]) {
      const wire = roundTrip("HoldFilter", encodeReceiptFilter({ ...wallet, scopes }));
      expect(decodeReceiptFilter(wire).scopes).toEqual(scopes);
    }
    const newer = roundTrip("HoldFilter", { walletId: "w1", moreScopes: [{ kind: NEWER_KIND, id: "x" }] });
    expect(() => decodeReceiptFilter(newer)).toThrow();
  });
});

describe("a scope", () => {
  test("of a kind unknown to this version is rejected in every command, and never left out", () => {
    const scopes = [
      { kind: "SCOPE_KIND_TAG", id: "team=blue" },
      { kind: NEWER_KIND, id: "x" },
    ];
    const ttl = { seconds: 1 };
    const rejected = [
      [() => decodeHoldRequest(roundTrip("CreateHoldRequest", { ttl, scopes })), "scopes[1].kind"],
      [
        () => decodeChargeRequest(roundTrip("CreateChargeRequest", { amountNanos: 1, scopes })),
        "scopes[1].kind",
      ],
      [
        () => decodeSettleRequest(roundTrip("SettleHoldRequest", { amountNanos: 1, taken: { ttl, scopes } })),
        "taken.scopes[1].kind",
      ],
      [
        () => decodeReleaseRequest(roundTrip("ReleaseHoldRequest", { taken: { ttl, scopes } })),
        "taken.scopes[1].kind",
      ],
      [
        () => decodeSpendLimit(roundTrip("SpendLimit", { period: 1, scope: { kind: NEWER_KIND, id: "x" } })),
        "limit.scope.kind",
      ],
      [() => decodeSpendLimit(roundTrip("SpendLimit", { period: 1, each: NEWER_KIND })), "limit.each"],
    ] as const;
    for (const [decode, field] of rejected) {
      expect(decode).toThrow(InvalidField);
      expect(decode).toThrow(expect.objectContaining({ field, fault: "invalid_scope" }));
    }
  });

  test("without a kind is rejected", () => {
    const wire = roundTrip("CreateHoldRequest", { ttl: { seconds: 1 }, scopes: [{ id: "x" }] });
    expect(() => decodeHoldRequest(wire)).toThrow(expect.objectContaining({ fault: "invalid_scope" }));
  });

  test("of a kind outside the union is encoded as one that the server rejects", () => {
    const scopes = [{ kind: "team" as never, id: "x" }];
    const wire = roundTrip("CreateHoldRequest", encodeHoldRequest(holdOf(1n, { scopes })));
    expect(() => decodeHoldRequest(wire)).toThrow(expect.objectContaining({ fault: "invalid_scope" }));
  });

  test("with an id that the wire cannot carry gets an empty one, which is declined", () => {
    const ids = ["\uD800", "x".repeat(2_000), undefined as never];
    expect(encodeScopes(ids.map((id) => ({ kind: "run" as const, id })))).toEqual(
      ids.map(() => ({ kind: "SCOPE_KIND_RUN", id: "" })),
    );
  });

  test("is encoded at most 17 times in a command, of which a ledger accepts 16", () => {
    const many = Array.from({ length: 10_000 }, (_, i) => ({ kind: "tag" as const, id: `n=${i}` }));
    expect(encodeScopes(many)).toHaveLength(17);
    const wire = roundTrip("CreateHoldRequest", {
      ttl: { seconds: 1 },
      scopes: many.map(({ id }) => ({ kind: "SCOPE_KIND_TAG", id })),
    });
    expect(decodeHoldRequest(wire).scopes).toEqual(many.slice(0, 17));
  });

  test("fits 16 times, at its longest, in each of 1,000 holds of a message of 32 MiB", () => {
    const scopes = Array.from({ length: 16 }, (_, index) => tagOf(`${"€".repeat(254)}${index + 10}`));
    const metadata = Object.fromEntries(Array.from({ length: 450 }, (_, index) => [index + 100, 10]));
    expect(JSON.stringify(metadata).length).toBeWithin(4_000, 4_097);
    const request = holdOf(1n, {
      scopes,
      metadata,
      facts: { surface: "€".repeat(256), model: "€".repeat(256) },
    });
    const { length } = messageType("tollgate.ledger.v1.Mutation").serialize({
      createHold: encodeHoldRequest(request),
    });
    expect(length).toBeWithin(20_000, (32 * 1024 * 1024) / 1_000 - 10);
  });

  test("of a receipt is left out when its kind is unknown to this version", () => {
    const wire = roundTrip("Hold", {
      state: "HOLD_STATE_HELD",
      createTime: { seconds: 1 },
      scopes: [
        { kind: NEWER_KIND, id: "x" },
        { kind: "SCOPE_KIND_PROJECT", id: "p1" },
      ],
    });
    expect(decodeReceipt(wire).scopes).toEqual([PROJECT]);
  });
});

describe("a message of an older version", () => {
  test("has no scopes", () => {
    const wire = roundTrip("CreateHoldRequest", { ttl: { seconds: 1 } });
    expect(decodeHoldRequest(wire).scopes).toBeUndefined();
    const hold = roundTrip("Hold", { state: "HOLD_STATE_HELD", createTime: { seconds: 1 } });
    expect(decodeReceipt(hold).scopes).toEqual([]);
  });

  test("and a hold without scopes have equal bytes", () => {
    const wire = encodeHoldRequest(holdOf(1n));
    expect(encodeHoldRequest(holdOf(1n, { scopes: [] }))).toEqual(wire);
    expect(roundTrip("CreateHoldRequest", wire).scopes).toEqual([]);
  });

  test("of a limit binds the key or the wallet, as before", () => {
    const wire = { walletId: "w", limitId: "l", period: "SPEND_LIMIT_PERIOD_DAY", amountNanos: 1 };
    expect(decodeSpendLimit(roundTrip("SpendLimit", wire))).toEqual(LIMIT);
    const ofKey = roundTrip("SpendLimit", { ...wire, keyId: "k1" });
    expect(decodeSpendLimit(ofKey)).toEqual({ ...LIMIT, keyId: "k1" });
    expect(decodeSpendLimit(roundTrip("SpendLimit", { ...wire, keyId: "" })).keyId).toBe("");
  });
});

test("an older ledger, which sums up by no key, gives no sums by key", async () => {
  const total = { kind: "settlement", scopeId: "p1", isDropped: false, amount: -1n, transfers: 1 } as const;
  await using served = await serve({ ledger: stubLedger({ transferTotals: async () => [total] }) });
  const ledger = connectLedger({ address: served.server.address, tokens: () => [TOKEN] });
  expect(await ledger.transferTotals("w", { by: "project" })).toHaveLength(1);
  const read = ledger.transferTotals("w", { by: "project", splitsKeys: true });
  expect(await errorCodeOf(read)).toBe("unavailable");
  await ledger.close();
});

describe("a limit of a scope and a template", () => {
  test("have an empty key on the wire, which an older server declines as an invalid id", () => {
    expect(encodeSpendLimit({ ...LIMIT, scope: PROJECT }).keyId).toBe("");
    expect(encodeSpendLimit({ ...LIMIT, each: "end_user" }).keyId).toBe("");
    expect(encodeSpendLimit(LIMIT).keyId).toBeUndefined();
  });

  test("with an invalid key keep it invalid", () => {
    for (const keyId of ["", "\uD800", "x".repeat(2_000)]) {
      const wire = roundTrip("SpendLimit", encodeSpendLimit({ ...LIMIT, keyId, each: "end_user" }));
      expect(decodeSpendLimit(wire).keyId).toBe("\0");
    }
  });
});

describe("a window", () => {
  test.each([
    ["without hours", { period: "SPEND_LIMIT_PERIOD_WINDOW" }],
    ["of 169 hours", { period: "SPEND_LIMIT_PERIOD_WINDOW", windowHours: 169 }],
    ["of 2^32 - 1 hours", { period: "SPEND_LIMIT_PERIOD_WINDOW", windowHours: 2 ** 32 - 1 }],
    ["beside a calendar period", { period: "SPEND_LIMIT_PERIOD_DAY", windowHours: 5 }],
  ])("%s is rejected", (_, wire) =>
    expect(() => decodeSpendLimit(roundTrip("SpendLimit", wire))).toThrow(
      expect.objectContaining({ field: "limit.window_hours", fault: "invalid_amount" }),
    ),
  );

  test.each(["0h", "169h", "5.5h", "-1h", "hour"])("of the period %s is rejected", (period) => {
    const wire = roundTrip("SpendLimit", encodeSpendLimit({ ...LIMIT, period: period as never }));
    expect(() => decodeSpendLimit(wire)).toThrow(InvalidField);
  });
});

describe("the limit that declined a hold", () => {
  test.each<DecliningLimit>([
    { limitId: "l1", scope: undefined },
    { limitId: "l1", scope: PROJECT },
    { limitId: "l1", scope: { kind: "end_user", id: "Zoë \u{1F600}" } },
    { limitId: "l1", scope: { kind: "tag", id: "x".repeat(256) } },
  ])("survives a result: %j", (limit) => {
    const shortfall = { needed: 3n, available: 1n, unheld: 2n };
    const status = roundTrip(
      "google.rpc.Status",
      encodeError("spending_limit_exceeded", { shortfall, limit }),
    );
    expect(decodeError(status)).toMatchObject({ code: "spending_limit_exceeded", shortfall, limit });
  });

  test.each([
    {},
    { limit_scope_kind: "SCOPE_KIND_RUN", limit_scope_id: "r1" },
    { limit_id: "l1", limit_scope_kind: "SCOPE_KIND_RUN" },
    { limit_id: "l1", limit_scope_id: "r1" },
    { limit_id: "l1", limit_scope_kind: "SCOPE_KIND_UNSPECIFIED", limit_scope_id: "r1" },
    { limit_id: "l1", limit_scope_kind: "SCOPE_KIND_GALAXY", limit_scope_id: "r1" },
  ])("is unknown when its name is incomplete: %j", (metadata) =>
    expect(decodeDecliningLimit(metadata)).toBeUndefined(),
  );
});
