import { afterEach, beforeEach, expect, test } from "bun:test";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { answerWith } from "../support/scripted-answers.ts";
import { type ScriptedUpstream, startScriptedUpstream } from "../support/scripted-upstream.ts";
import { type ServedProcess, startServedProcess } from "../support/served-process.ts";
import { tempFolder } from "../support/temp-folder.ts";
import { scriptedConfig } from "../support/test-catalog.ts";
import { askChat, createPaidKey } from "./paid-key.ts";

const IDLE_MB_MAX = 120;

let upstream: ScriptedUpstream;
let gateway: ServedProcess | undefined;
beforeEach(async () => {
  upstream = await startScriptedUpstream();
});
afterEach(async () => {
  gateway?.signal("SIGKILL");
  await gateway?.exitCode;
  await upstream.stop();
});

test("a gateway counts its first answer by the vocabulary, and is small while it is idle", async () => {
  const folder = tempFolder();
  writeFileSync(join(folder, "tollgate.yaml"), scriptedConfig(upstream, ""));
  const secret = await createPaidKey(folder);
  gateway = await startServedProcess({ folder });
  upstream.on("chat", answerWith({ text: "The quick brown fox jumps over the lazy dog" }));
  const response = await askChat(gateway.url, secret);
  expect(response.status).toBe(200);
  // Three tokens in and nine out, which a quarter of the bytes would make eleven.
  expect(response.headers.get("x-tollgate-cost-usd")).toBe("0.000021");
  const { pid } = gateway;
  let rssMb = Number.POSITIVE_INFINITY;
  // What the start leaves behind goes within a few seconds.
  for (let tries = 0; rssMb > IDLE_MB_MAX && tries < 60; tries++) {
    await Bun.sleep(500);
    rssMb = Number(/VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${pid}/status`, "utf8"))?.[1]) / 1_000;
  }
  expect(rssMb).toBeLessThan(IDLE_MB_MAX);
});
