import { describe, expect, test } from "bun:test";
import * as fc from "fast-check";
import { CREDIT_SOURCES } from "../../src/domain/credit.ts";
import type { LimitPeriod } from "../../src/domain/period.ts";
import { FILTER_SCOPES_MAX, SCOPE_KINDS, SCOPES_MAX } from "../../src/domain/scope.ts";
import type { Balances, TransferKindName } from "../../src/ledger/records.ts";
import {
  HISTOGRAM_BOUNDS_MS,
  OTHER_SCOPES,
  type UsageDimension,
  type UsageReport,
} from "../../src/ledger/usage-records.ts";
import {
  decodeCreditTotal,
  decodeCreditTotalsQuery,
  encodeCreditTotal,
  encodeCreditTotalsQuery,
} from "../../src/ledger-grpc/codec/credit-totals.ts";
import {
  decodeRefundRequest,
  decodeTopUpRequest,
  encodeRefundRequest,
  encodeTopUpRequest,
} from "../../src/ledger-grpc/codec/credits.ts";
import {
  decodeFullLimitsQuery,
  decodeSpendLimit,
  decodeSpendLimitUsage,
  encodeFullLimitsQuery,
  encodeSpendLimit,
  encodeSpendLimitUsage,
} from "../../src/ledger-grpc/codec/limits.ts";
import {
  decodeBalancesResult,
  decodeChargeRequest,
  decodeChargeResult,
  decodeExtendRequest,
  decodeGrantResult,
  decodeHoldRequest,
  decodeHoldTimeout,
  decodePostingResult,
  decodeReleaseRequest,
  decodeSettlementResult,
  decodeSettleRequest,
  encodeBalancesResult,
  encodeChargeRequest,
  encodeChargeResult,
  encodeExtendRequest,
  encodeGrantResult,
  encodeHoldRequest,
  encodePostingResult,
  encodeReleaseRequest,
  encodeSettlementResult,
  encodeSettleRequest,
} from "../../src/ledger-grpc/codec/mutations.ts";
import {
  decodePage,
  decodeReceipt,
  decodeReceiptFilter,
  decodeRunningHold,
  decodeRunningTotals,
  encodePage,
  encodeReceipt,
  encodeReceiptFilter,
  encodeRunningHold,
  encodeRunningTotals,
} from "../../src/ledger-grpc/codec/receipts.ts";
import {
  decodeTransferTotal,
  decodeTransferTotalsQuery,
  encodeTransferTotal,
  encodeTransferTotalsQuery,
} from "../../src/ledger-grpc/codec/transfer-totals.ts";
import {
  decodeRollUps,
  decodeUsageQuery,
  decodeUsageReport,
  encodeRollUps,
  encodeUsageQuery,
  encodeUsageReport,
} from "../../src/ledger-grpc/codec/usage.ts";
import {
  decodeJournalTotals,
  decodeTransfer,
  decodeTransferRange,
  decodeWallet,
  decodeWalletStateRequest,
  encodeJournalTotals,
  encodeTransfer,
  encodeTransferRange,
  encodeWallet,
  encodeWalletStateRequest,
} from "../../src/ledger-grpc/codec/wallets.ts";
import { holdOf } from "../ledger/samples.ts";

import { roundTrip } from "./round-trip.ts";

const NANOS = fc.bigInt({ min: -(2n ** 63n), max: 2n ** 63n - 1n });
const TEXT = fc.string({ unit: "grapheme", maxLength: 40 });
const WORD = fc.string({ unit: "grapheme", minLength: 1, maxLength: 40 });
const COUNT = fc.maxSafeNat();
const MS = fc.integer({ min: -1_000_000, max: 2 ** 45 });
const TIME = fc.integer({ min: -62_135_596_800_000, max: 253_402_300_799_999 });
const ID_TIME = fc.integer({ min: 0, max: 253_402_300_799_999 });
const maybe = <T>(arbitrary: fc.Arbitrary<T>) => fc.option(arbitrary, { nil: undefined });

const BALANCES = fc.record({ posted: NANOS, held: NANOS, available: NANOS });
const PRICE = fc.record({
  input: NANOS,
  output: NANOS,
  cachedInput: NANOS,
  cacheWrite: NANOS,
  cacheWrite1h: NANOS,
});
const USAGE = fc.record({
  inputTokens: COUNT,
  cachedInputTokens: COUNT,
  cacheWriteTokens: COUNT,
  cacheWrite1hTokens: COUNT,
  outputTokens: COUNT,
});
const REQUEST_FACTS = fc.record({ surface: TEXT, model: TEXT });
const OUTCOME = fc.record({
  outcome: TEXT,
  source: fc.constantFrom("reported", "estimated", "expired", "none"),
  upstream: maybe(TEXT),
  upstreamModel: maybe(TEXT),
  price: maybe(PRICE),
  upstreamCost: maybe(NANOS),
  tier: maybe(TEXT),
  usage: maybe(USAGE),
  firstOutputMs: maybe(MS),
  totalMs: maybe(MS),
  attempts: fc.array(fc.record({ upstream: TEXT, status: fc.integer(), ms: MS }), { maxLength: 8 }),
});
// JSON has no -0.
const JSON_VALUE = fc
  .jsonValue({ noUnicodeString: false, maxDepth: 5 })
  .map((value) => JSON.parse(JSON.stringify(value)));
const METADATA = fc
  .dictionary(fc.string({ unit: "grapheme", maxLength: 10 }), JSON_VALUE, {
    maxKeys: 6,
    noNullPrototype: true,
  })
  .filter((object) => !hasProto(object));
const TTL_MS = fc.integer({ min: -(2 ** 40), max: 2 ** 40 });
const HOLD_STATE = fc.constantFrom("held", "settled", "released", "expired");
const SCOPE = fc.record({ kind: fc.constantFrom(...SCOPE_KINDS), id: TEXT });
/** One more than a hold may have: the ledger declines it. */
const SCOPES = fc.array(SCOPE, { minLength: 1, maxLength: SCOPES_MAX + 1 });
const TAKEN = fc.record({
  keyId: TEXT,
  scopes: maybe(SCOPES),
  granted: NANOS,
  ttlMs: fc.integer({ min: 0, max: 2 ** 40 }),
  facts: REQUEST_FACTS,
});
const PERIOD = fc.constantFrom<LimitPeriod>("total", "day", "week", "month", "1h", "5h", "168h");
const LIMIT = {
  walletId: TEXT,
  limitId: TEXT,
  keyId: maybe(WORD),
  scope: maybe(SCOPE),
  each: maybe(fc.constantFrom(...SCOPE_KINDS)),
  period: PERIOD,
  timeZone: maybe(TEXT),
  amount: NANOS,
};
const FILTER = {
  walletId: maybe(TEXT),
  fromMs: maybe(ID_TIME),
  toMs: maybe(ID_TIME),
  keyId: maybe(TEXT),
  surface: maybe(TEXT),
  model: maybe(TEXT),
  upstream: maybe(TEXT),
  state: maybe(HOLD_STATE),
  outcome: maybe(TEXT),
  metadata: maybe(fc.record({ name: TEXT, value: TEXT })),
  scopes: maybe(fc.array(SCOPE, { minLength: 1, maxLength: FILTER_SCOPES_MAX })),
};
const DIMENSIONS: readonly UsageDimension[] = [
  "hour",
  "day",
  "key",
  "surface",
  "model",
  "upstream",
  "outcome",
  "source",
  "wallet",
];
function creditOf({ posted, held, available }: Balances): bigint {
  return available - posted + held;
}
const GROUP_BY = fc.uniqueArray(fc.constantFrom(...DIMENSIONS), { maxLength: 4 });

describe("a message survives encoding and decoding:", () => {
  test("CreateHoldRequest", () =>
    survives(
      "CreateHoldRequest",
      fc.record({
        walletId: TEXT,
        holdId: TEXT,
        keyId: TEXT,
        scopes: maybe(SCOPES),
        amount: NANOS,
        minimum: NANOS,
        ttlMs: TTL_MS,
        facts: REQUEST_FACTS,
        metadata: maybe(METADATA),
      }),
      encodeHoldRequest,
      decodeHoldRequest,
    ));
  test("the timeout of CreateHoldRequest", () =>
    survives(
      "CreateHoldRequest",
      maybe(TTL_MS),
      (timeoutMs) => encodeHoldRequest(holdOf(1n), timeoutMs),
      decodeHoldTimeout,
    ));
  test("ExtendHoldRequest", () =>
    survives(
      "ExtendHoldRequest",
      fc.record({ walletId: TEXT, holdId: TEXT, accrued: NANOS, ttlMs: TTL_MS }),
      encodeExtendRequest,
      decodeExtendRequest,
    ));
  test("SettleHoldRequest", () =>
    survives(
      "SettleHoldRequest",
      fc.record({
        walletId: TEXT,
        holdId: TEXT,
        amount: NANOS,
        facts: OUTCOME,
        metadata: maybe(METADATA),
        taken: maybe(TAKEN),
      }),
      encodeSettleRequest,
      decodeSettleRequest,
    ));
  test("ReleaseHoldRequest", () =>
    survives(
      "ReleaseHoldRequest",
      fc.record({
        walletId: TEXT,
        holdId: TEXT,
        facts: OUTCOME,
        metadata: maybe(METADATA),
        taken: maybe(TAKEN),
      }),
      encodeReleaseRequest,
      decodeReleaseRequest,
    ));
  test("CreateTopUpRequest", () =>
    survives(
      "CreateTopUpRequest",
      fc.record({ walletId: TEXT, topUpId: TEXT, amount: NANOS }),
      encodeTopUpRequest,
      decodeTopUpRequest,
    ));
  test("CreateChargeRequest", () =>
    survives(
      "CreateChargeRequest",
      fc.record({
        walletId: TEXT,
        chargeId: TEXT,
        keyId: TEXT,
        scopes: maybe(SCOPES),
        amount: NANOS,
        facts: REQUEST_FACTS,
        outcome: OUTCOME,
        metadata: maybe(METADATA),
      }),
      encodeChargeRequest,
      decodeChargeRequest,
    ));
  test("CreateRefundRequest", () =>
    survives(
      "CreateRefundRequest",
      fc.record({ walletId: TEXT, refundId: TEXT, holdId: TEXT, amount: NANOS }),
      encodeRefundRequest,
      decodeRefundRequest,
    ));
  test("SetWalletStateRequest", () =>
    survives(
      "SetWalletStateRequest",
      fc.record({ walletId: TEXT, state: fc.constantFrom("active", "frozen") }),
      encodeWalletStateRequest,
      decodeWalletStateRequest,
    ));
  test("SpendLimit", () => survives("SpendLimit", fc.record(LIMIT), encodeSpendLimit, decodeSpendLimit));
  test("SpendLimitUsage", () =>
    survives(
      "SpendLimitUsage",
      fc.record({ ...LIMIT, subject: maybe(TEXT), used: NANOS, held: NANOS, resetsAtMs: maybe(TIME) }),
      encodeSpendLimitUsage,
      decodeSpendLimitUsage,
    ));
  test("Wallet", () =>
    survives(
      "Wallet",
      fc
        .record({
          walletId: TEXT,
          state: fc.constantFrom("active" as const, "frozen" as const),
          balances: BALANCES,
          createdAtMs: TIME,
        })
        .map((wallet) => ({ ...wallet, creditLimit: creditOf(wallet.balances) })),
      encodeWallet,
      decodeWallet,
    ));
  test("Hold", () =>
    survives(
      "Hold",
      fc.record({
        holdId: TEXT,
        walletId: TEXT,
        keyId: TEXT,
        scopes: fc.array(SCOPE, { maxLength: SCOPES_MAX }),
        state: HOLD_STATE,
        late: fc.boolean(),
        granted: NANOS,
        captured: NANOS,
        refunded: NANOS,
        createdAtMs: TIME,
        resolvedAtMs: maybe(TIME),
        request: REQUEST_FACTS,
        outcome: maybe(OUTCOME),
        metadata: maybe(METADATA),
      }),
      encodeReceipt,
      decodeReceipt,
    ));
  test("HoldFilter", () =>
    survives("HoldFilter", fc.record(FILTER), encodeReceiptFilter, decodeReceiptFilter));
  test("a page", () =>
    survives(
      "ListWalletsRequest",
      fc.record({ size: fc.integer({ min: -(2 ** 31) + 1, max: 2 ** 31 - 1 }), token: maybe(WORD) }),
      encodePage,
      decodePage,
    ));
  test("Transfer", () =>
    survives(
      "Transfer",
      fc
        .record({
          seq: COUNT,
          transferId: TEXT,
          kind: fc.constantFrom(
            "top_up",
            "settlement",
            "expiry_capture",
            "late_settlement",
            "refund",
            "charge",
          ),
          amount: NANOS,
          postedAfter: NANOS,
          holdId: maybe(TEXT),
          createdAtMs: TIME,
        })
        .map((line) =>
          line.kind === "top_up" && line.amount < 0n ? { ...line, kind: "correction" as const } : line,
        ),
      encodeTransfer,
      decodeTransfer,
    ));
  test("QueryUsageRequest", () =>
    survives(
      "QueryUsageRequest",
      fc.record({
        ...FILTER,
        groupBy: GROUP_BY,
        dearestMax: maybe(fc.integer({ min: 1, max: 10_000 })),
        isMoneyOnly: fc.boolean(),
        among: maybe(fc.array(TEXT, { minLength: 1, maxLength: 3 })),
        offsetHours: fc.integer({ min: -14, max: 14 }),
      }),
      encodeUsageQuery,
      decodeUsageQuery,
    ));
  test("a usage report", () => {
    const histogram = fc.array(COUNT, {
      minLength: HISTOGRAM_BOUNDS_MS.length + 1,
      maxLength: HISTOGRAM_BOUNDS_MS.length + 1,
    });
    const report = GROUP_BY.chain((groupBy) =>
      fc.record({
        rows: fc.array(
          fc.record({
            group: fc.record(Object.fromEntries(groupBy.map((each) => [each, fc.option(groupValue(each))]))),
            requests: COUNT,
            open: COUNT,
            ok: maybe(COUNT),
            settled: COUNT,
            released: COUNT,
            expired: COUNT,
            captured: NANOS,
            refunded: NANOS,
            upstreamCost: NANOS,
            costed: NANOS,
            usage: USAGE,
            firstOutputMs: histogram,
            totalMs: histogram,
          }),
          { maxLength: 3 },
        ),
        resolution: fc.constantFrom("hour" as const, "day" as const),
        offsetHours: fc.integer({ min: -14, max: 14 }),
      }),
    );
    survives(
      "QueryUsageResponse",
      // Safe because every dimension of a group has a value.
      report as fc.Arbitrary<UsageReport>,
      (each) => encodeUsageReport(each, Object.keys(each.rows[0]?.group ?? {}) as UsageDimension[]),
      decodeUsageReport,
    );
  });
  test("RunningHold", () =>
    survives(
      "RunningHold",
      fc.record({
        walletId: TEXT,
        holdId: TEXT,
        keyId: TEXT,
        model: TEXT,
        granted: NANOS,
        accrued: NANOS,
        createdAtMs: TIME,
        expiresAtMs: TIME,
      }),
      encodeRunningHold,
      decodeRunningHold,
    ));
  test("RunningTotals", () =>
    survives(
      "RunningTotals",
      fc.record({ walletId: TEXT, count: COUNT, granted: NANOS, oldestCreatedAtMs: TIME }),
      encodeRunningTotals,
      decodeRunningTotals,
    ));
  test("a range of transfers", () =>
    survives(
      "ListTransfersRequest",
      fc.record({
        fromMs: maybe(ID_TIME),
        toMs: maybe(ID_TIME),
        order: fc.constantFrom("newest_first" as const, "oldest_first" as const),
        kinds: fc.array(fc.constantFrom<TransferKindName>("top_up", "correction", "settlement", "charge")),
      }),
      encodeTransferRange,
      decodeTransferRange,
    ));
  test("JournalTotals", () =>
    survives(
      "SumTransfersResponse",
      fc.record({ toppedUp: NANOS, charged: NANOS, refunded: NANOS, expired: NANOS, transfers: COUNT }),
      encodeJournalTotals,
      decodeJournalTotals,
    ));
  test("a query of transfers by scope", () =>
    survives(
      "SumTransfersByScopeRequest",
      fc.record({
        fromMs: maybe(ID_TIME),
        toMs: maybe(ID_TIME),
        by: fc.constantFrom(...SCOPE_KINDS),
        tagKey: maybe(TEXT),
        splitsKeys: fc.boolean(),
      }),
      (query) => encodeTransferTotalsQuery("wallet", query),
      decodeTransferTotalsQuery,
    ));
  test("a query of full limits", () =>
    survives(
      "ListFullLimitsRequest",
      fc.record({ percent: fc.integer({ min: 1, max: 100 }), after: maybe(COUNT) }),
      (query) => encodeFullLimitsQuery("wallet", query),
      decodeFullLimitsQuery,
    ));
  test("TransferTotal", () =>
    survives(
      "TransferTotal",
      fc.record({
        kind: fc.constantFrom<TransferKindName>("top_up", "correction", "settlement", "charge"),
        scopeId: maybe(TEXT),
        keyId: maybe(TEXT),
        isDropped: fc.boolean(),
        amount: NANOS,
        transfers: COUNT,
      }),
      encodeTransferTotal,
      decodeTransferTotal,
    ));
  test("a query of credits", () =>
    survives(
      "SumCreditsRequest",
      fc.record({ walletId: maybe(TEXT), fromMs: maybe(ID_TIME), toMs: maybe(ID_TIME) }),
      encodeCreditTotalsQuery,
      decodeCreditTotalsQuery,
    ));
  test("CreditTotal", () =>
    survives(
      "CreditTotal",
      fc.record({
        source: fc.constantFrom(...CREDIT_SOURCES),
        granted: NANOS,
        grants: COUNT,
        expired: NANOS,
        ends: COUNT,
      }),
      encodeCreditTotal,
      decodeCreditTotal,
    ));
  test("RollUpState", () =>
    survives(
      "GetRollUpsResponse",
      fc
        .record({ closedFromMs: TIME, closedToMs: TIME, staleHours: COUNT, isBackfilling: fc.boolean() })
        .filter(({ closedFromMs, closedToMs }) => closedFromMs !== closedToMs),
      encodeRollUps,
      decodeRollUps,
    ));
  test("MutationResult of each kind", () => {
    const replayed = fc.boolean();
    survives("MutationResult", BALANCES, encodeBalancesResult, decodeBalancesResult);
    survives(
      "MutationResult",
      fc.record({ granted: NANOS, balances: BALANCES, replayed }),
      encodeGrantResult,
      decodeGrantResult,
    );
    survives(
      "MutationResult",
      fc.record({ state: HOLD_STATE, captured: NANOS, balances: BALANCES, replayed }),
      encodeSettlementResult,
      decodeSettlementResult,
    );
    survives(
      "MutationResult",
      fc.record({ balances: BALANCES, replayed }),
      encodePostingResult,
      decodePostingResult,
    );
    survives(
      "MutationResult",
      fc.record({ balances: BALANCES, replayed, receiptId: TEXT }),
      encodeChargeResult,
      decodeChargeResult,
    );
  });
});

function survives<Value, Wire extends object, Output>(
  name: string,
  values: fc.Arbitrary<Value>,
  encode: (value: Value) => Wire,
  decode: (wire: Output) => Value | undefined,
): void {
  void fc.assert(
    fc.property(values, (value) => {
      const decoded: unknown = decode(roundTrip(name, encode(value)));
      expect(decoded).toEqual(value);
    }),
    { numRuns: 200 },
  );
}

function groupValue(dimension: string): fc.Arbitrary<string | number> {
  return dimension === "hour" || dimension === "day" ? TIME : fc.oneof(TEXT, fc.constant(OTHER_SCOPES));
}

/** Whether a value has the name "__proto__", which is lost in an object. */
function hasProto(value: unknown): boolean {
  return JSON.stringify(value).includes('"__proto__"');
}
