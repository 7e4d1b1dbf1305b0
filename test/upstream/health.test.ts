import { describe, expect, test } from "bun:test";
import { createHealth } from "../../src/upstream/health.ts";
import { createManualClock } from "../limiter/clock.ts";

function create() {
  const clock = createManualClock();
  return { clock, health: createHealth({ failuresMax: 5, clock: clock.now }) };
}

describe("a model that was asked to be left alone", () => {
  test("rests until then and no longer", () => {
    const { clock, health } = create();
    expect(health.isResting("m")).toBe(false);
    health.rest("m", 20_000);
    clock.step(19_999);
    expect(health.isResting("m")).toBe(true);
    clock.step(1);
    expect(health.isResting("m")).toBe(false);
  });

  test("rests alone: the upstream's other models do not", () => {
    const { health } = create();
    health.rest("m", 20_000);
    expect(health.isResting("other")).toBe(false);
  });

  test.each([
    { first: 20_000, second: 5000 },
    { first: 5000, second: 20_000 },
  ])("rests until the later of two times: $first ms, then $second ms", ({ first, second }) => {
    const { clock, health } = create();
    health.rest("m", first);
    health.rest("m", second);
    clock.step(19_999);
    expect(health.isResting("m")).toBe(true);
    clock.step(1);
    expect(health.isResting("m")).toBe(false);
  });

  test.each([301_000, 1e300, Number.POSITIVE_INFINITY])("rests five minutes at most, told %p ms", (ms) => {
    const { clock, health } = create();
    health.rest("m", ms);
    clock.step(299_999);
    expect(health.isResting("m")).toBe(true);
    clock.step(1);
    expect(health.isResting("m")).toBe(false);
  });

  test.each([0, -1, Number.NaN, Number.NEGATIVE_INFINITY])("does not rest, told %p ms", (ms) => {
    const { health } = create();
    health.rest("m", ms);
    expect(health.isResting("m")).toBe(false);
  });

  test("keeps its rest when the upstream asks the same for something that is no time", () => {
    const { health } = create();
    health.rest("m", 1000);
    health.rest("m", Number.NaN);
    expect(health.isResting("m")).toBe(true);
  });

  test("is forgotten when a thousand others were told of since", () => {
    const { health } = create();
    for (const model of ["told-once", "told-again"]) health.rest(model, 300_000);
    for (let i = 0; i < 998; i++) health.rest(`m${i}`, 300_000);
    health.rest("told-again", 1);
    expect(health.isResting("told-once")).toBe(true);
    health.rest("one more", 300_000);
    expect(health.isResting("told-once")).toBe(false);
    expect(health.isResting("told-again")).toBe(true);
  });
});

test("what rests may be tried all the same, and an open circuit makes nothing rest", () => {
  const { health } = create();
  health.rest("m", 1000);
  for (let left = 5; left > 0; left--) health.begin()?.failed();
  expect(health.begin()).toBeUndefined();
  expect(health.isResting("other")).toBe(false);
});
