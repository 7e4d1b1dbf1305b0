import { describe, expect, test } from "bun:test";
import type { CommandKind, RequestOf } from "../../src/ledger/core/command.ts";
import {
  AFTER_EXPIRY,
  charge,
  command,
  create,
  DAY_MS,
  expire,
  freeze,
  fund,
  type Given,
  hold,
  lastDecision,
  limit,
  MOST,
  RECEIPT,
  refund,
  release,
  settle,
} from "./given.ts";
import { FACTS, holdIdOf, holdOf, WALLET } from "./samples.ts";

const [walletId, holdId] = [WALLET, holdIdOf("h1")];
const other = { holdId: holdIdOf("other") };
const BAD_ID = { walletId: "" };
const BAD_AMOUNT = { amount: -1n };
const BAD_OUTCOME = { ...FACTS, outcome: "no\u0000" };
const BAD_METADATA = { metadata: { note: "x".repeat(4096) } };
const held = [create, fund(10n), hold(10n)];
const overdrawn = [create, hold(0n, other), settle(MOST, other)];

interface Order<Kind extends CommandKind> {
  /** A valid command. */
  readonly request: RequestOf<Kind>;
  /** Invalid parts of the command in order of precedence. Each case has its own and all later changes. */
  readonly invalid: readonly (readonly [declined: string, change: Partial<RequestOf<Kind>>])[];
  /** States of the wallet that decline the valid command, in order of precedence, by the commands before. */
  readonly states: readonly (readonly [declined: string, given: readonly Given[]])[];
}

const ORDERS: { readonly [Kind in Exclude<CommandKind, "expire" | "expire_credits">]: Order<Kind> } = {
  create_wallet: { request: { walletId }, invalid: [["invalid_id", BAD_ID]], states: [] },
  set_wallet_state: {
    request: { walletId, state: "frozen" },
    invalid: [["invalid_id", BAD_ID]],
    states: [["wallet_not_found", []]],
  },
  hold: {
    request: holdOf(10n),
    invalid: [
      ["invalid_id", { keyId: "" }],
      ["invalid_amount", { ttlMs: 0.5 }],
      ["invalid_facts", { facts: { surface: "chat", model: "\ud800" } }],
      ["invalid_metadata", BAD_METADATA],
    ],
    states: [
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
    invalid: [
      ["invalid_id", { holdId: "h1" }],
      ["invalid_amount", { accrued: -1n }],
    ],
    states: [
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
    invalid: [
      ["invalid_id", { holdId: holdId.toUpperCase() }],
      ["invalid_amount", BAD_AMOUNT],
      ["invalid_facts", { facts: BAD_OUTCOME }],
      ["invalid_metadata", BAD_METADATA],
    ],
    states: [
      ["wallet_not_found", []],
      ["hold_not_found", [create]],
      ["hold_released", [...held, release]],
      ["conflict", [...held, settle(4n)]],
      ["conflict", [create, charge(4n, { receiptId: holdId })]],
      ["balance_overflow", [create, hold(0n), ...overdrawn]],
    ],
  },
  release: {
    request: { walletId, holdId, facts: FACTS },
    invalid: [
      ["invalid_id", { holdId: `${holdId} ` }],
      ["invalid_facts", { facts: BAD_OUTCOME }],
      ["invalid_metadata", BAD_METADATA],
    ],
    states: [
      ["wallet_not_found", []],
      ["hold_not_found", [create]],
      ["hold_settled", [...held, settle(0n)]],
    ],
  },
  top_up: {
    request: { walletId, topUpId: "t1", amount: 5n },
    invalid: [
      ["invalid_id", { topUpId: "" }],
      ["invalid_amount", { amount: 0n }],
    ],
    states: [
      ["wallet_not_found", []],
      ["conflict", [create, fund(MOST)]],
      ["balance_overflow", [create, command("top_up", { walletId, topUpId: "t2", amount: MOST })]],
    ],
  },
  charge: {
    request: { ...charge(5n).request, walletId } as RequestOf<"charge">,
    invalid: [
      ["invalid_id", { keyId: "" }],
      ["invalid_amount", { amount: 0n }],
      ["invalid_facts", { outcome: BAD_OUTCOME }],
      ["invalid_metadata", BAD_METADATA],
    ],
    states: [
      ["wallet_not_found", []],
      ["conflict", [create, charge(MOST)]],
      [
        "conflict",
        [create, charge(5n, { keyId: "k2" }), charge(MOST, { chargeId: "c2", receiptId: holdId })],
      ],
      ["balance_overflow", overdrawn],
      ["balance_overflow", [create, fund(MOST), limit(1n), charge(MOST, { chargeId: "c2" })]],
    ],
  },
  refund: {
    request: { walletId, refundId: "r1", holdId, amount: 5n },
    invalid: [
      ["invalid_id", { holdId: "h1" }],
      ["invalid_amount", { amount: 0n }],
    ],
    states: [
      ["wallet_not_found", []],
      ["conflict", [...held, settle(5n), refund(4n), refund(1n, "r2")]],
      ["conflict", [create, charge(9n), refund(5n, "r1", RECEIPT)]],
      ["hold_not_found", [create]],
      [
        "refund_exceeds_charge",
        [...held, settle(4n), command("top_up", { walletId, topUpId: "t2", amount: MOST - 6n })],
      ],
      [
        "balance_overflow",
        [...held, settle(5n), command("top_up", { walletId, topUpId: "t2", amount: MOST - 6n })],
      ],
    ],
  },
  set_spend_limit: {
    request: { walletId, limitId: "l1", keyId: "k1", period: "day", amount: 5n },
    invalid: [
      ["invalid_id", { keyId: "" }],
      ["invalid_amount", { amount: MOST + 1n }],
      ["invalid_time_zone", { timeZone: "+02:00" }],
    ],
    states: [
      ["wallet_not_found", []],
      ["conflict", [create, limit(5n, { keyId: undefined })]],
    ],
  },
  delete_spend_limit: {
    request: { walletId, limitId: "l1" },
    invalid: [["invalid_id", { limitId: "" }]],
    states: [["wallet_not_found", []]],
  },
};

describe.each(Object.entries(ORDERS))("the command %s", (kind, { request, invalid, states }) => {
  test.each(invalid.map(([declined], index) => [declined, index] as const))(
    "is declined with %s before any later code",
    (declined, index) => {
      const changes = invalid.slice(index).map(([, change]) => change);
      const changed = Object.assign({}, request, ...changes.toReversed());
      expect(lastDecision([command(kind as CommandKind, changed)])).toBe(declined);
    },
  );

  test.each(states.map(([declined, given]) => [declined, given] as const))(
    "is declined with %s by the state of the wallet",
    (declined, given) => {
      expect(lastDecision([...given, command(kind as CommandKind, request)])).toBe(declined);
    },
  );
});
