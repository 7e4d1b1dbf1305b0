// usage: log-child.ts LINES PER_SECOND
// Writes numbered lines to the log at a rate. Then sends what it measured over IPC, and closes the log when it is
// sent "close". On SIGTERM it stops writing and closes the log at once.
import { createLog } from "../../src/telemetry/log.ts";

const TICK_MS = 10;
const [lines = 0, perSecond = 0] = Bun.argv.slice(2).map(Number);
const log = createLog("info");
/** The fields of a usual request. */
const fields = {
  request: "01934c1f-0000-7000-8000-000000000000",
  surface: "chat",
  status: 200,
  ms: 1,
  keyId: "01934c1f-0000-7000-8000-000000000001",
  keyHint: "sk-tg-abcd",
  accountId: "01934c1f-0000-7000-8000-000000000002",
  model: "chat",
  upstream: "openai",
  attempts: 1,
  outcome: "ok",
  chargedUsd: "0.000025",
};
let written = 0;
let longestMs = 0;
let isEnding = false;
const closing = Promise.withResolvers<void>();
process.on("message", () => closing.resolve());
process.once("SIGTERM", () => {
  isEnding = true;
  closing.resolve();
});

const startedAt = performance.now();
const startedCpu = process.cpuUsage();
for (let lastAt = startedAt; written < lines && !isEnding; ) {
  await Bun.sleep(TICK_MS);
  const now = performance.now();
  longestMs = Math.max(longestMs, now - lastAt - TICK_MS);
  lastAt = now;
  const due = Math.min(lines, Math.ceil(((now - startedAt) / 1_000) * perSecond));
  while (written < due) {
    written += 1;
    log.info({ ...fields, number: written }, "request");
  }
}
const { user, system } = process.cpuUsage(startedCpu);
const seconds = (performance.now() - startedAt) / 1_000;
// The log passes its last lines on after 100 ms, and counts those that are dropped. Timers end in order.
await Bun.sleep(150);
process.send?.({ written, dropped: log.dropped, longestMs, seconds, cpuUs: user + system });
await closing.promise;
await log.close();
process.exit();
