import { describe, expect, test } from "bun:test";
import { type Cause, GatewayError } from "../../src/errors.ts";
import { failed, type Outcome, unrepresentable } from "../../src/gateway/request.ts";
import { conclude } from "../../src/gateway/run-request.ts";
import { createRecordedReply } from "./gateway-parts.ts";
import { createMeteredRequest, type MeteredOptions } from "./held-request.ts";

const FINISHED: Outcome = { kind: "finished", ending: "the end" };
const EMPTY: Outcome = { kind: "empty" };
const DISCONNECTED: Outcome = { kind: "client_disconnected", isSent: true };
const REVOKED: Outcome = { kind: "revoked", error: new GatewayError("key_revoked"), isSent: true };
const BALANCES = { posted: 5n, held: 0n, available: 5n };

/** Concludes a request; `thrown` is the cause of its error. */
function concludeRequest(outcome: Outcome, charged: bigint, options: MeteredOptions = {}, balances = true) {
  const held = createMeteredRequest(options);
  const { reply, sent } = createRecordedReply();
  const answer = { outcome, attempts: [{ upstream: "up", status: 200, ms: 1 }] };
  let thrown: Cause | undefined;
  try {
    conclude(held, { answer, bill: { charged, balances: balances ? BALANCES : undefined } }, reply);
  } catch (error) {
    thrown = error instanceof GatewayError ? error.kind : undefined;
  }
  return { sent, thrown, record: held.call.record };
}

describe("conclude()", () => {
  test.each<[name: string, outcome: Outcome, end: string]>([
    ["a finished answer gets its withheld end", FINISHED, "the end"],
    ["a client that disconnected gets nothing more", DISCONNECTED, ""],
  ])("%s", (_name, outcome, end) => {
    const { sent, thrown } = concludeRequest(outcome, 1n);
    expect([sent.end, thrown]).toEqual([end, undefined]);
  });

  test.each<[name: string, outcome: Outcome, free: Cause, charged: Cause]>([
    ["an empty answer", EMPTY, "empty_released", "empty_charged"],
    ["a revoked key", REVOKED, "key_revoked", "key_revoked_charged"],
    ["a suspended account", failed("account_suspended"), "account_suspended", "account_suspended_charged"],
    ["a fault of the gateway", failed("internal"), "internal", "internal_charged"],
    ["a shutdown", failed("shutting_down"), "shutting_down", "shutting_down_charged"],
    ["an upstream failure", failed("upstream_unavailable"), "upstream_unavailable", "upstream_broke_charged"],
    ["an upstream timeout", failed("upstream_timeout"), "upstream_timeout", "upstream_timeout_charged"],
    [
      "a total timeout",
      failed("upstream_total_timeout"),
      "upstream_total_timeout",
      "upstream_total_timeout_charged",
    ],
    ["an upstream error 400", failed("rejected_by_upstream"), "rejected_by_upstream", "rejected_by_upstream"],
    [
      "an unrepresentable answer",
      unrepresentable("for a reason"),
      "upstream_unavailable",
      "upstream_broke_charged",
    ],
  ])("%s throws its error, and another error when it was charged", (_name, outcome, free, charged) => {
    expect(concludeRequest(outcome, 0n)).toMatchObject({ thrown: free, sent: { end: undefined } });
    expect(concludeRequest(outcome, 1n).thrown).toBe(charged);
  });

  test("the reply has the cost, and the balance unless the ledger was away", () => {
    expect(concludeRequest(FINISHED, 1_500n).sent.headers).toEqual({
      "x-tollgate-cost-usd": "0.0000015",
      "x-tollgate-balance-usd": "0.000000005",
    });
    expect(concludeRequest(FINISHED, 0n, {}, false).sent.headers).toEqual({ "x-tollgate-cost-usd": "0.00" });
  });

  test.each<[name: string, outcome: Outcome, options: MeteredOptions, balances: boolean, line: object]>([
    ["an answer", FINISHED, {}, true, { outcome: "ok" }],
    ["an empty answer", EMPTY, {}, true, { outcome: "empty_completion" }],
    ["a disconnect", DISCONNECTED, {}, true, { outcome: "client_closed" }],
    ["a failure", failed("upstream_timeout"), {}, true, { outcome: "upstream_timeout" }],
    [
      "a rejected usage",
      FINISHED,
      { usage: { inputTokens: -1 } },
      true,
      { outcome: "ok", disbelieved: true },
    ],
    ["a stored settlement", FINISHED, {}, false, { outcome: "ok", journaled: true }],
  ])("the log line of %s is complete", (_name, outcome, options, balances, line) => {
    const { record } = concludeRequest(outcome, 0n, options, balances);
    expect(record).toEqual({ model: "m", upstream: "up", attempts: 1, chargedUsd: "0.00", ...line });
  });
});
