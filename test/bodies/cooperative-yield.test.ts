import { describe, expect, test } from "bun:test";
import { createCooperativeYield } from "../../src/bodies/cooperative-yield.ts";
import { createFairQueue } from "../../src/workers/fair-queue.ts";

/** Keeps the processor busy for as long as one turn of the event loop may take. */
function fillTurn(): void {
  const endMs = performance.now() + 11;
  while (performance.now() < endMs);
}

describe("a share of the event loop", () => {
  test("work is done at once while a turn has time left", () => {
    const share = createCooperativeYield();
    expect(share.run("a", () => 7)).toBe(7);
    expect(() =>
      share.run("a", () => {
        throw new Error("bad");
      }),
    ).toThrow("bad");
  });

  test("work behind a long piece waits for another turn, in which the loop can do something else", async () => {
    const share = createCooperativeYield();
    const order: string[] = [];
    expect(share.run("a", fillTurn)).toBeUndefined();
    const later = [1, 2, 3].map((each) =>
      share.run("a", () => {
        order.push(`piece ${each}`);
        fillTurn();
      }),
    );
    expect(order).toEqual([]);
    setImmediate(() => order.push("somebody else"));
    await Promise.all(later);
    expect(order).toEqual(["piece 1", "somebody else", "piece 2", "piece 3"]);
  });

  test("a piece that throws rejects its own promise and no other", async () => {
    const share = createCooperativeYield();
    expect(share.run("a", fillTurn)).toBeUndefined();
    const bad = share.run("a", () => {
      throw new Error("bad");
    });
    const good = share.run("a", () => "good");
    await expect(Promise.resolve(bad)).rejects.toThrow("bad");
    expect(await good).toBe("good");
  });

  test("one owner with a hundred pieces delays another's only piece by one", async () => {
    const share = createCooperativeYield();
    const order: string[] = [];
    expect(share.run("many", fillTurn)).toBeUndefined();
    const many = Array.from({ length: 100 }, () => share.run("many", () => order.push("many")));
    await share.run("few", () => order.push("few"));
    expect(order.indexOf("few")).toBe(1);
    await Promise.all(many);
    expect(order).toHaveLength(101);
  });
});

describe("a fair queue", () => {
  test("serves owners in turns and each owner's items in their order", () => {
    const queue = createFairQueue<string>();
    for (const item of ["a1", "a2", "a3", "b1", "c1", "b2"]) queue.push(item.charAt(0), item);
    expect(queue.size).toBe(6);
    const served = Array.from({ length: 7 }, () => queue.shift());
    expect(served).toEqual(["a1", "b1", "c1", "a2", "b2", "a3", undefined]);
    expect(queue.size).toBe(0);
  });
});
