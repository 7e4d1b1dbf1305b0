import { describe, expect, test } from "bun:test";
import type { Cause } from "../../src/errors.ts";
import { withRetryAfter } from "../../src/gateway/forward.ts";
import { failed } from "../../src/gateway/request.ts";
import { createCandidates, openCircuit, route } from "./candidates.ts";

/** Two candidates, and the `retry-after` of a request that failed at both. */
function createFailure() {
  const { candidates, healthOf, clock } = createCandidates([route("a", 1), route("b", 2)]);
  const retryAfterS = (cause: Cause) => {
    const outcome = withRetryAfter(failed(cause), { candidates, tokens: 100 });
    return outcome.kind === "failed" ? outcome.error.retryAfterS : undefined;
  };
  return { healthOf, clock, retryAfterS };
}

describe("the retry-after of a request that failed at every candidate", () => {
  test("is the shortest wait among the candidates", () => {
    const { healthOf, retryAfterS } = createFailure();
    healthOf("a").startCooldown("m", 20_000);
    healthOf("b").startCooldown("m", 7_001);
    expect(retryAfterS("upstream_unavailable")).toBe(8);
    expect(retryAfterS("upstream_timeout")).toBe(8);
  });

  test("is the later of the next probe of the circuit and the end of the cooldown", () => {
    const { healthOf, clock, retryAfterS } = createFailure();
    openCircuit(healthOf("a"));
    openCircuit(healthOf("b"));
    expect(retryAfterS("upstream_unavailable")).toBe(1);
    healthOf("a").startCooldown("m", 30_000);
    healthOf("b").startCooldown("m", 40_000);
    expect(retryAfterS("upstream_unavailable")).toBe(30);
    clock.step(29_999);
    expect(retryAfterS("upstream_unavailable")).toBe(1);
  });

  test("is at most one minute", () => {
    const { healthOf, retryAfterS } = createFailure();
    for (const name of ["a", "b"]) healthOf(name).startCooldown("m", 300_000);
    expect(retryAfterS("upstream_unavailable")).toBe(60);
  });

  test("is the pause of the circuit while another request's probe is running", () => {
    const { healthOf, clock, retryAfterS } = createFailure();
    openCircuit(healthOf("a"));
    openCircuit(healthOf("b"));
    clock.step(1_000);
    const probes = [healthOf("a").acquire(), healthOf("b").acquire()];
    expect(retryAfterS("upstream_unavailable")).toBe(1);
    for (const probe of probes) probe?.failed();
    expect(retryAfterS("upstream_unavailable")).toBe(2);
  });
});

describe("a failed request has no retry-after", () => {
  test("while one candidate may be asked at once", () => {
    const { healthOf, clock, retryAfterS } = createFailure();
    healthOf("a").startCooldown("m", 20_000);
    expect(retryAfterS("upstream_unavailable")).toBeUndefined();
    openCircuit(healthOf("b"));
    expect(retryAfterS("upstream_unavailable")).toBe(1);
    clock.step(1_000);
    expect(retryAfterS("upstream_unavailable")).toBeUndefined();
  });

  test.each<Cause>([
    "upstream_total_timeout",
    "answer_too_large",
    "rejected_by_upstream",
    "internal",
    "shutting_down",
  ])("after %s, which waiting does not cure", (cause) => {
    const { healthOf, retryAfterS } = createFailure();
    for (const name of ["a", "b"]) healthOf(name).startCooldown("m", 20_000);
    expect(retryAfterS(cause)).toBeUndefined();
  });
});
