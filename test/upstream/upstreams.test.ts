import { describe, expect, test } from "bun:test";
import { createUpstreams } from "../../src/upstream/upstreams.ts";
import { createCapturedLog } from "../support/captured-log.ts";
import { scriptedUpstream } from "../support/test-catalog.ts";

function start() {
  const told: string[] = [];
  const log = createCapturedLog();
  const circuit = (name: string, isOpen: boolean) => void told.push(`${name} ${isOpen ? "open" : "closed"}`);
  return { upstreams: createUpstreams({ metrics: { circuit }, log, clock: () => 0 }), told, log };
}

const one = scriptedUpstream("one", "openai", { circuitFailures: 1 });
const two = scriptedUpstream("two", "anthropic", {});

describe("createUpstreams", () => {
  test("gives those of the configuration and the built-in one, by name", () => {
    const { upstreams } = start();
    expect([...upstreams.renew([one, two]).keys()]).toEqual(["demo", "one", "two"]);
    expect([...upstreams.renew([]).keys()]).toEqual(["demo"]);
  });

  test("keeps an upstream that is written as before, and makes one anew that is not", () => {
    const { upstreams } = start();
    const before = upstreams.renew([one, two]);
    const after = upstreams.renew([structuredClone(two), { ...one, apiKey: "another" }]);
    expect(after.get("two")).toBe(before.get("two"));
    expect(after.get("demo")).toBe(before.get("demo"));
    expect(after.get("one")).not.toBe(before.get("one"));
  });

  test("forgets one that was taken away", () => {
    const { upstreams } = start();
    const before = upstreams.renew([one]);
    upstreams.renew([]);
    expect(upstreams.renew([one]).get("one")).not.toBe(before.get("one"));
  });

  test("tells of a circuit, and that one made anew or taken away is closed", () => {
    const { upstreams, told, log } = start();
    upstreams.renew([one]).get("one")?.health.begin()?.failed();
    upstreams.renew([one]);
    upstreams
      .renew([{ ...one, apiKey: "another" }])
      .get("one")
      ?.health.begin()
      ?.failed();
    upstreams.renew([]);
    expect(told).toEqual(["one closed", "one open", "one closed", "one open", "one closed"]);
    expect(log.text()).toContain("circuit opened");
  });

  test("no longer listens to what it has replaced", () => {
    const { upstreams, told } = start();
    const trial = upstreams.renew([one]).get("one")?.health.begin();
    upstreams.renew([{ ...one, apiKey: "another" }]);
    trial?.failed();
    expect(told).toEqual(["one closed", "one closed"]);
  });
});
