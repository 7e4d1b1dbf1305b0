import { describe, expect, test } from "bun:test";
import { REASONS } from "../../src/ledger-grpc/codec/reasons.ts";
import {
  decodeCallError,
  decodeError,
  decodeShortfall,
  encodeCallError,
  encodeError,
} from "../../src/ledger-grpc/codec/status.ts";

import { through } from "./through.ts";

describe("refusals", () => {
  const refusals = Object.keys(REASONS).filter(
    (reason) => !["invalid_request", "unauthenticated", "internal"].includes(reason),
  );

  test.each(refusals)("%s comes back as itself, from a result and from a call", (refusal) => {
    const reason = refusal as keyof typeof REASONS;
    const status = through("google.rpc.Status", encodeError(reason, { field: "f", resource: "wallets/w" }));
    expect(decodeError(status)?.refusal).toBe(reason as never);
    expect(decodeCallError(encodeCallError(reason).metadata)?.refusal).toBe(reason as never);
  });

  test("the amounts of a declined hold come back as they were", () => {
    const shortfall = { needed: 4n * 10n ** 18n, available: 0n, unheld: 1n };
    const status = through("google.rpc.Status", encodeError("insufficient_balance", { shortfall }));
    expect(decodeError(status)).toMatchObject({ refusal: "insufficient_balance", shortfall });
  });

  test.each([
    {},
    { needed_nanos: "1", available_nanos: "0" },
    { needed_nanos: "1", available_nanos: "-1", unheld_nanos: "0" },
    { needed_nanos: "1.5", available_nanos: "0", unheld_nanos: "0" },
    { needed_nanos: "9".repeat(19), available_nanos: "0", unheld_nanos: "0" },
    { needed_nanos: "9".repeat(100_000), available_nanos: "0", unheld_nanos: "0" },
  ])("amounts that cannot be amounts leave the refusal without any", (metadata) => {
    expect(decodeShortfall(metadata)).toBeUndefined();
  });

  test("what the ledger could not do for another reason is unavailable", () => {
    expect(decodeError(through("google.rpc.Status", encodeError("internal")))?.refusal).toBe("unavailable");
  });

  test("a detail that cannot be read is none of the ledger's", () => {
    const details = [{ type_url: "type.googleapis.com/google.rpc.ErrorInfo", value: Buffer.from([0xff]) }];
    expect(decodeError(through("google.rpc.Status", { code: 9, details }))).toBeUndefined();
  });

  test("a status of somebody else is none of the ledger's", () => {
    expect(decodeError(through("google.rpc.Status", { code: 14, message: "gone" }))).toBeUndefined();
  });
});
