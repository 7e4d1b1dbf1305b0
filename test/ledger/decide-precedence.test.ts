import { describe, expect, test } from "bun:test";
import type { CommandKind, RequestOf } from "../../src/ledger/core/command.ts";
import {
  AFTER_EXPIRY,
  charge,
  create,
  DAY_MS,
  expire,
  freeze,
  fund,
  give,
  hold,
  lastOf,
  limit,
  MOST,
  RECEIPT,
  refund,
  release,
  settle,
  type Told,
} from "./given.ts";
import { FACTS, holdIdOf, holdOf, WALLET } from "./samples.ts";

const [walletId, holdId] = [WALLET, holdIdOf("h1")];
const other = { holdId: holdIdOf("other") };
const BAD_ID = { walletId: "" };
const BAD_AMOUNT = { amount: -1n };
const BAD_OUTCOME = { ...FACTS, outcome: "no\u0000" };
const BAD_METADATA = { metadata: { note: "x".repeat(4096) } };
const held = [create, fund(10n), hold(10n)];
const sunk = [create, hold(0n, other), settle(MOST, other)];

interface Order<Kind extends CommandKind> {
  /** A command with nothing wrong in itself. */
  readonly request: RequestOf<Kind>;
  /** What can be wrong with the command, the first reason first. It is given with this and all that follows. */
  readonly faults: readonly (readonly [refusal: string, change: Partial<RequestOf<Kind>>])[];
  /** What can be wrong with the wallet, the first reason first, by what happened to it. */
  readonly worlds: readonly (readonly [refusal: string, told: readonly Told[]])[];
}

const ORDERS: { readonly [Kind in Exclude<CommandKind, "expire">]: Order<Kind> } = {
  create_wallet: { request: { walletId }, faults: [["invalid_id", BAD_ID]], worlds: [] },
  set_wallet_state: {
    request: { walletId, state: "frozen" },
    faults: [["invalid_id", BAD_ID]],
    worlds: [["wallet_not_found", []]],
  },
  hold: {
    request: holdOf(10n),
    faults: [
      ["invalid_id", { keyId: "" }],
      ["invalid_amount", { ttlMs: 0.5 }],
      ["invalid_facts", { facts: { surface: "chat", model: "\ud800" } }],
      ["invalid_metadata", BAD_METADATA],
    ],
    worlds: [
      ["wallet_not_found", []],
      ["conflict", [create, hold(0n), freeze, 3 * DAY_MS]],
      ["invalid_id", [create, limit(5n), freeze, 3 * DAY_MS]],
      ["wallet_frozen", [create, limit(5n), freeze]],
      ["spending_limit_exceeded", [create, fund(10n), hold(5n, other), limit(5n)]],
      ["spending_limit_exceeded", [create, limit(5n)]],
      ["balance_on_hold", [create, fund(10n), hold(1n, other)]],
      ["insufficient_balance", [create, fund(9n)]],
    ],
  },
  extend: {
    request: { walletId, holdId, accrued: 1n, ttlMs: 1 },
    faults: [
      ["invalid_id", { holdId: "h1" }],
      ["invalid_amount", { accrued: -1n }],
    ],
    worlds: [
      ["wallet_not_found", []],
      ["hold_not_found", [create]],
      ["hold_settled", [...held, settle(1n)]],
      ["hold_released", [...held, release]],
      ["hold_expired", [...held, AFTER_EXPIRY, expire]],
      ["hold_settled", [create, charge(1n, { receiptId: holdId })]],
    ],
  },
  settle: {
    request: { walletId, holdId, amount: 5n, facts: FACTS },
    faults: [
      ["invalid_id", { holdId: holdId.toUpperCase() }],
      ["invalid_amount", BAD_AMOUNT],
      ["invalid_facts", { facts: BAD_OUTCOME }],
      ["invalid_metadata", BAD_METADATA],
    ],
    worlds: [
      ["wallet_not_found", []],
      ["hold_not_found", [create]],
      ["hold_released", [...held, release]],
      ["conflict", [...held, settle(4n)]],
      ["conflict", [create, charge(4n, { receiptId: holdId })]],
      ["balance_overflow", [create, hold(0n), ...sunk]],
    ],
  },
  release: {
    request: { walletId, holdId, facts: FACTS },
    faults: [
      ["invalid_id", { holdId: `${holdId} ` }],
      ["invalid_facts", { facts: BAD_OUTCOME }],
      ["invalid_metadata", BAD_METADATA],
    ],
    worlds: [
      ["wallet_not_found", []],
      ["hold_not_found", [create]],
      ["hold_settled", [...held, settle(0n)]],
    ],
  },
  top_up: {
    request: { walletId, topUpId: "t1", amount: 5n },
    faults: [
      ["invalid_id", { topUpId: "" }],
      ["invalid_amount", { amount: 0n }],
    ],
    worlds: [
      ["wallet_not_found", []],
      ["conflict", [create, fund(MOST)]],
      ["balance_overflow", [create, give("top_up", { walletId, topUpId: "t2", amount: MOST })]],
    ],
  },
  charge: {
    request: { ...charge(5n).request, walletId } as RequestOf<"charge">,
    faults: [
      ["invalid_id", { keyId: "" }],
      ["invalid_amount", { amount: 0n }],
      ["invalid_facts", { outcome: BAD_OUTCOME }],
      ["invalid_metadata", BAD_METADATA],
    ],
    worlds: [
      ["wallet_not_found", []],
      ["conflict", [create, charge(MOST)]],
      [
        "conflict",
        [create, charge(5n, { keyId: "k2" }), charge(MOST, { chargeId: "c2", receiptId: holdId })],
      ],
      ["balance_overflow", sunk],
      ["balance_overflow", [create, fund(MOST), limit(1n), charge(MOST, { chargeId: "c2" })]],
    ],
  },
  refund: {
    request: { walletId, refundId: "r1", holdId, amount: 5n },
    faults: [
      ["invalid_id", { holdId: "h1" }],
      ["invalid_amount", { amount: 0n }],
    ],
    worlds: [
      ["wallet_not_found", []],
      ["conflict", [...held, settle(5n), refund(4n), refund(1n, "r2")]],
      ["conflict", [create, charge(9n), refund(5n, "r1", RECEIPT)]],
      ["hold_not_found", [create]],
      [
        "refund_exceeds_charge",
        [...held, settle(4n), give("top_up", { walletId, topUpId: "t2", amount: MOST - 6n })],
      ],
      [
        "balance_overflow",
        [...held, settle(5n), give("top_up", { walletId, topUpId: "t2", amount: MOST - 6n })],
      ],
    ],
  },
  set_spend_limit: {
    request: { walletId, limitId: "l1", keyId: "k1", period: "day", amount: 5n },
    faults: [
      ["invalid_id", { keyId: "" }],
      ["invalid_amount", { amount: MOST + 1n }],
      ["invalid_time_zone", { timeZone: "+02:00" }],
    ],
    worlds: [
      ["wallet_not_found", []],
      ["conflict", [create, limit(5n, { keyId: undefined })]],
    ],
  },
  delete_spend_limit: {
    request: { walletId, limitId: "l1" },
    faults: [["invalid_id", { limitId: "" }]],
    worlds: [["wallet_not_found", []]],
  },
};

describe.each(Object.entries(ORDERS))("%s", (kind, { request, faults, worlds }) => {
  test.each(faults.map(([refusal], index) => [refusal, index] as const))(
    "is refused as %s before anything that comes later",
    (refusal, index) => {
      const changes = faults.slice(index).map(([, change]) => change);
      const broken = Object.assign({}, request, ...changes.toReversed());
      expect(lastOf([give(kind as CommandKind, broken)])).toBe(refusal);
    },
  );

  test.each(worlds.map(([refusal, told]) => [refusal, told] as const))(
    "is refused as %s when nothing is wrong with the command",
    (refusal, told) => {
      expect(lastOf([...told, give(kind as CommandKind, request)])).toBe(refusal);
    },
  );
});
