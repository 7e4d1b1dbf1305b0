import { expect, test } from "bun:test";
import { Shutdown } from "../../src/gateway/gateway.ts";

test("a shutdown calls each listener once, and none that was removed", () => {
  const shutdown = new Shutdown();
  const called: string[] = [];
  const removed = () => void called.push("removed");
  shutdown.addEventListener("abort", removed);
  shutdown.addEventListener("abort", () => void called.push("kept"));
  shutdown.removeEventListener("abort", removed);
  expect(shutdown.aborted).toBe(false);
  shutdown.abort();
  shutdown.abort();
  expect(shutdown.aborted).toBe(true);
  expect(called).toEqual(["kept"]);
});
