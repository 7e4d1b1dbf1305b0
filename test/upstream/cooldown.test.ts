import { describe, expect, test } from "bun:test";
import { createHealth } from "../../src/upstream/cooldown.ts";
import { createManualClock } from "../limiter/manual-clock.ts";

function create() {
  const clock = createManualClock();
  return { clock, health: createHealth({ failuresMax: 5, clock: clock.now }) };
}

describe("a model that was asked to be left alone", () => {
  test("rests until then and no longer", () => {
    const { clock, health } = create();
    expect(health.isCoolingDown("m")).toBe(false);
    health.startCooldown("m", 20_000);
    clock.step(19_999);
    expect(health.isCoolingDown("m")).toBe(true);
    clock.step(1);
    expect(health.isCoolingDown("m")).toBe(false);
  });

  test("rests alone: the upstream's other models do not", () => {
    const { health } = create();
    health.startCooldown("m", 20_000);
    expect(health.isCoolingDown("other")).toBe(false);
  });

  test.each([
    { first: 20_000, second: 5000 },
    { first: 5000, second: 20_000 },
  ])("rests until the later of two times: $first ms, then $second ms", ({ first, second }) => {
    const { clock, health } = create();
    health.startCooldown("m", first);
    health.startCooldown("m", second);
    clock.step(19_999);
    expect(health.isCoolingDown("m")).toBe(true);
    clock.step(1);
    expect(health.isCoolingDown("m")).toBe(false);
  });

  test.each([301_000, 1e300, Number.POSITIVE_INFINITY])("rests five minutes at most, told %p ms", (ms) => {
    const { clock, health } = create();
    health.startCooldown("m", ms);
    clock.step(299_999);
    expect(health.isCoolingDown("m")).toBe(true);
    clock.step(1);
    expect(health.isCoolingDown("m")).toBe(false);
  });

  test.each([0, -1, Number.NaN, Number.NEGATIVE_INFINITY])("does not rest, told %p ms", (ms) => {
    const { health } = create();
    health.startCooldown("m", ms);
    expect(health.isCoolingDown("m")).toBe(false);
  });

  test("keeps its rest when the upstream asks the same for something that is no time", () => {
    const { health } = create();
    health.startCooldown("m", 1000);
    health.startCooldown("m", Number.NaN);
    expect(health.isCoolingDown("m")).toBe(true);
  });

  test("is forgotten when a thousand others were told of since", () => {
    const { health } = create();
    for (const model of ["told-once", "told-again"]) health.startCooldown(model, 300_000);
    for (let i = 0; i < 998; i++) health.startCooldown(`m${i}`, 300_000);
    health.startCooldown("told-again", 1);
    expect(health.isCoolingDown("told-once")).toBe(true);
    health.startCooldown("one more", 300_000);
    expect(health.isCoolingDown("told-once")).toBe(false);
    expect(health.isCoolingDown("told-again")).toBe(true);
  });
});

test("what rests may be tried all the same, and an open circuit makes nothing rest", () => {
  const { health } = create();
  health.startCooldown("m", 1000);
  for (let left = 5; left > 0; left--) health.acquire()?.failed();
  expect(health.acquire()).toBeUndefined();
  expect(health.isCoolingDown("other")).toBe(false);
});
