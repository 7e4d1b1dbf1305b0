import { describe, expect, test } from "bun:test";
import { REASONS } from "../../src/ledger-grpc/codec/reasons.ts";
import {
  decodeCallError,
  decodeError,
  decodeShortfall,
  encodeCallError,
  encodeError,
} from "../../src/ledger-grpc/codec/status.ts";

import { roundTrip } from "./round-trip.ts";

describe("errors of the ledger", () => {
  const reasons = Object.keys(REASONS).filter(
    (reason) => !["invalid_request", "unauthenticated", "internal"].includes(reason),
  );

  test.each(reasons)("%s survives a result and a call", (each) => {
    const reason = each as keyof typeof REASONS;
    const status = roundTrip("google.rpc.Status", encodeError(reason, { field: "f", resource: "wallets/w" }));
    expect(decodeError(status)?.code).toBe(reason as never);
    expect(decodeCallError(encodeCallError(reason).metadata)?.code).toBe(reason as never);
  });

  test("the amounts of a declined hold survive a result", () => {
    const shortfall = { needed: 4n * 10n ** 18n, available: 0n, unheld: 1n };
    const status = roundTrip("google.rpc.Status", encodeError("insufficient_balance", { shortfall }));
    expect(decodeError(status)).toMatchObject({ code: "insufficient_balance", shortfall });
  });

  test.each([
    {},
    { needed_nanos: "1", available_nanos: "0" },
    { needed_nanos: "1", available_nanos: "-1", unheld_nanos: "0" },
    { needed_nanos: "1.5", available_nanos: "0", unheld_nanos: "0" },
    { needed_nanos: "9".repeat(19), available_nanos: "0", unheld_nanos: "0" },
    { needed_nanos: "9".repeat(100_000), available_nanos: "0", unheld_nanos: "0" },
  ])("the amounts %j are ignored", (metadata) => expect(decodeShortfall(metadata)).toBeUndefined());

  test("a reason that is not the ledger's becomes unavailable", () =>
    expect(decodeError(roundTrip("google.rpc.Status", encodeError("internal")))?.code).toBe("unavailable"));

  test("an undecodable detail is not an error of the ledger", () => {
    const details = [{ type_url: "type.googleapis.com/google.rpc.ErrorInfo", value: Buffer.from([0xff]) }];
    expect(decodeError(roundTrip("google.rpc.Status", { code: 9, details }))).toBeUndefined();
  });

  test("a status without details is not an error of the ledger", () =>
    expect(decodeError(roundTrip("google.rpc.Status", { code: 14, message: "gone" }))).toBeUndefined());
});
