import { describe, expect, test } from "bun:test";
import { createDemoUpstream } from "../../src/demo/demo.ts";
import { createUpstreams } from "../../src/upstream/upstreams.ts";
import { createCapturedLog } from "../support/captured-log.ts";
import { scriptedUpstream } from "../support/test-catalog.ts";

function start() {
  const reported: string[] = [];
  const log = createCapturedLog();
  const circuit = (name: string, isOpen: boolean) =>
    void reported.push(`${name} ${isOpen ? "open" : "closed"}`);
  const keyCircuit = (name: string, key: string, isOpen: boolean) =>
    void reported.push(`${name}/${key} ${isOpen ? "open" : "closed"}`);
  const builtIn = [createDemoUpstream()];
  const upstreams = createUpstreams({ builtIn, metrics: { circuit, keyCircuit }, log, clock: () => 0 });
  return { upstreams, reported, log };
}

const one = scriptedUpstream("one", "openai", { circuitFailures: 1 });
const two = scriptedUpstream("two", "anthropic", {});

describe("createUpstreams", () => {
  test("returns the configured and the built-in upstreams by name", () => {
    const { upstreams } = start();
    expect([...upstreams.renew([one, two]).keys()]).toEqual(["demo", "one", "two"]);
    expect([...upstreams.renew([]).keys()]).toEqual(["demo"]);
  });

  test("keeps an upstream with an unchanged configuration and replaces a changed one", () => {
    const { upstreams } = start();
    const before = upstreams.renew([one, two]);
    const after = upstreams.renew([structuredClone(two), { ...one, apiKey: "another" }]);
    expect(after.get("two")).toBe(before.get("two"));
    expect(after.get("demo")).toBe(before.get("demo"));
    expect(after.get("one")).not.toBe(before.get("one"));
  });

  test("creates a new upstream for a name that was removed and added again", () => {
    const { upstreams } = start();
    const before = upstreams.renew([one]);
    upstreams.renew([]);
    expect(upstreams.renew([one]).get("one")).not.toBe(before.get("one"));
  });

  test("reports circuits that open, and resets the circuit of a replaced or removed upstream", () => {
    const { upstreams, reported, log } = start();
    upstreams.renew([one]).get("one")?.keys[0].health.acquire()?.failed();
    upstreams.renew([one]);
    upstreams
      .renew([{ ...one, apiKey: "another" }])
      .get("one")
      ?.keys[0].health.acquire()
      ?.failed();
    upstreams.renew([]);
    expect(reported).toEqual(["one closed", "one open", "one closed", "one open", "one closed"]);
    expect(log.text()).toContain("circuit opened");
  });

  test("ignores outcomes of calls to a replaced upstream", () => {
    const { upstreams, reported } = start();
    const permit = upstreams.renew([one]).get("one")?.keys[0].health.acquire();
    upstreams.renew([{ ...one, apiKey: "another" }]);
    permit?.failed();
    expect(reported).toEqual(["one closed", "one closed"]);
  });
});
