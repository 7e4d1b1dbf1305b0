import { describe, expect, test } from "bun:test";
import type { Cause } from "../../src/errors.ts";
import { failed } from "../../src/gateway/outcome.ts";
import { withRetryAfter } from "../../src/gateway/retry-after.ts";
import type { Health } from "../../src/upstream/cooldown.ts";
import { route, upstreamsOf } from "./routes.ts";

const routes = [route("a", 1), route("b", 2)];

function openCircuit(health: Health): void {
  for (let left = 5; left > 0; left--) health.acquire()?.failed();
}

function world() {
  const { upstreams, healthOf, clock } = upstreamsOf(routes);
  const adviceFor = (cause: Cause) => {
    const outcome = withRetryAfter(failed(cause), routes, upstreams);
    return outcome.kind === "failed" ? outcome.error.retryAfterS : undefined;
  };
  return { healthOf, clock, adviceFor };
}

describe("a request that failed everywhere is told when to come again", () => {
  test("after the shortest wait of its routes", () => {
    const { healthOf, adviceFor } = world();
    healthOf("a").startCooldown("m", 20_000);
    healthOf("b").startCooldown("m", 7_001);
    expect(adviceFor("upstream_unavailable")).toBe(8);
    expect(adviceFor("upstream_timeout")).toBe(8);
  });

  test("when the circuit lets the next probe through, or the rest ends, whichever is later", () => {
    const { healthOf, clock, adviceFor } = world();
    openCircuit(healthOf("a"));
    openCircuit(healthOf("b"));
    expect(adviceFor("upstream_unavailable")).toBe(1);
    healthOf("a").startCooldown("m", 30_000);
    healthOf("b").startCooldown("m", 40_000);
    expect(adviceFor("upstream_unavailable")).toBe(30);
    clock.step(29_999);
    expect(adviceFor("upstream_unavailable")).toBe(1);
  });

  test("after no more than a minute", () => {
    const { healthOf, adviceFor } = world();
    for (const name of ["a", "b"]) healthOf(name).startCooldown("m", 300_000);
    expect(adviceFor("upstream_unavailable")).toBe(60);
  });

  test("after the circuit's own pause while somebody else's probe is under way", () => {
    const { healthOf, clock, adviceFor } = world();
    openCircuit(healthOf("a"));
    openCircuit(healthOf("b"));
    clock.step(1_000);
    const probes = [healthOf("a").acquire(), healthOf("b").acquire()];
    expect(adviceFor("upstream_unavailable")).toBe(1);
    for (const probe of probes) probe?.failed();
    expect(adviceFor("upstream_unavailable")).toBe(2);
  });
});

describe("nobody is told to wait", () => {
  test("while one route may be asked at once", () => {
    const { healthOf, clock, adviceFor } = world();
    healthOf("a").startCooldown("m", 20_000);
    expect(adviceFor("upstream_unavailable")).toBeUndefined();
    openCircuit(healthOf("b"));
    expect(adviceFor("upstream_unavailable")).toBe(1);
    clock.step(1_000);
    expect(adviceFor("upstream_unavailable")).toBeUndefined();
  });

  test.each<Cause>([
    "upstream_total_timeout",
    "answer_too_large",
    "rejected_by_upstream",
    "internal",
    "shutting_down",
  ])("by %s, which no waiting mends", (cause) => {
    const { healthOf, adviceFor } = world();
    for (const name of ["a", "b"]) healthOf(name).startCooldown("m", 20_000);
    expect(adviceFor(cause)).toBeUndefined();
  });
});
