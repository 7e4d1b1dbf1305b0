import { afterEach, beforeEach, expect, test } from "bun:test";
import { readFileSync } from "node:fs";
import { answerWith } from "../support/scripted-answers.ts";
import { askChat } from "./paid-key.ts";
import { openProcessFixture, type ProcessFixture } from "./process-fixture.ts";

const IDLE_MB_MAX = 120;

let fixture: ProcessFixture;
beforeEach(async () => {
  fixture = await openProcessFixture("");
});
afterEach(() => fixture.close());

test("a gateway counts its first response with the vocabulary, and takes less than 120 MB while idle", async () => {
  const { upstream, secret, serve } = fixture;
  const gateway = await serve();
  upstream.on("chat", answerWith({ text: "The quick brown fox jumps over the lazy dog" }));
  const response = await askChat(gateway.url, secret);
  expect(response.status).toBe(200);
  // 3 input and 9 output tokens; the estimate of a quarter of the bytes would be 11.
  expect(response.headers.get("x-tollgate-cost-usd")).toBe("0.000021");
  const { pid } = gateway;
  let rssMb = Number.POSITIVE_INFINITY;
  // Memory of the start is released within a few seconds.
  for (let tries = 0; rssMb > IDLE_MB_MAX && tries < 60; tries++) {
    await Bun.sleep(500);
    rssMb = Number(/VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${pid}/status`, "utf8"))?.[1]) / 1_000;
  }
  expect(rssMb).toBeLessThan(IDLE_MB_MAX);
});
