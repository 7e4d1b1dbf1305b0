import { expect, test } from "bun:test";
import { createReadiness } from "../../src/http/health.ts";

const answers = async () => undefined;

test("a gateway is ready while everything answers, and only then", async () => {
  expect(await createReadiness([answers, answers])()).toBe(true);
  expect(await createReadiness([answers, () => Promise.reject(new Error("away"))])()).toBe(false);
});

test("what never answers is not there, and is not waited for without end", async () => {
  const startedAt = performance.now();
  expect(await createReadiness([() => new Promise(() => undefined)])()).toBe(false);
  expect(performance.now() - startedAt).toBeLessThan(60_000);
});

test("many who ask at once cost one question", async () => {
  let asked = 0;
  const isReady = createReadiness([
    async () => {
      asked += 1;
    },
  ]);
  await Promise.all(Array.from({ length: 100 }, isReady));
  expect(asked).toBe(1);
});
