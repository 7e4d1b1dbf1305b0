import { describe, expect, test } from "bun:test";
import { createCooperativeYield } from "../../src/bodies/cooperative-yield.ts";

/** A cooperative yield with a scripted clock, and a piece of work that fills one event-loop turn. */
function start() {
  let nowMs = 0;
  const yielding = createCooperativeYield(() => nowMs);
  const fillTurn = (): void => {
    nowMs += 11;
  };
  return { yielding, fillTurn };
}

describe("a cooperative yield", () => {
  test("runs work at once while the turn has time left", () => {
    const { yielding } = start();
    expect(yielding.run("a", () => 7)).toBe(7);
    expect(() =>
      yielding.run("a", () => {
        throw new Error("bad");
      }),
    ).toThrow("bad");
  });

  test("delays work after a long piece to a later turn, and lets other callbacks run before", async () => {
    const { yielding, fillTurn } = start();
    const order: string[] = [];
    expect(yielding.run("a", fillTurn)).toBeUndefined();
    const later = [1, 2, 3].map((each) =>
      yielding.run("a", () => {
        order.push(`piece ${each}`);
        fillTurn();
      }),
    );
    expect(order).toEqual([]);
    setImmediate(() => order.push("other callback"));
    await Promise.all(later);
    expect(order).toEqual(["piece 1", "other callback", "piece 2", "piece 3"]);
  });

  test("rejects only the promise of a piece that throws", async () => {
    const { yielding, fillTurn } = start();
    expect(yielding.run("a", fillTurn)).toBeUndefined();
    const bad = yielding.run("a", () => {
      throw new Error("bad");
    });
    const good = yielding.run("a", () => "good");
    await expect(Promise.resolve(bad)).rejects.toThrow("bad");
    expect(await good).toBe("good");
  });

  test("delays an owner's only piece by one piece of an owner with a hundred", async () => {
    const { yielding, fillTurn } = start();
    const order: string[] = [];
    expect(yielding.run("many", fillTurn)).toBeUndefined();
    const many = Array.from({ length: 100 }, () => yielding.run("many", () => order.push("many")));
    await yielding.run("few", () => order.push("few"));
    expect(order.indexOf("few")).toBe(1);
    await Promise.all(many);
    expect(order).toHaveLength(101);
  });
});
