import { afterEach, beforeEach, expect, test } from "bun:test";
import { readdirSync } from "node:fs";
import { CHAT } from "../support/client.ts";
import { expectError } from "../support/expect-error.ts";
import { gate } from "../support/script.ts";
import { answerWith } from "../support/scripted-answers.ts";
import type { ServedProcess } from "../support/served-process.ts";
import { until } from "../support/until.ts";
import { askChat } from "./paid-key.ts";
import { openProcessFixture, type ProcessFixture } from "./process-fixture.ts";

/** A gateway has about 25 files open before its first request. */
const FILES_MAX = 256;
/** More than the files of the gateway; below the concurrent calls of a test process. */
const CALLERS = 250;
/** What one answer costs, in nano-USD: 0.000025 USD. */
const COST = 25_000;
const SETTINGS = `limits: { requests_per_minute: 1000000, concurrent_requests: 1000 }
account_limits: { requests_per_minute: 1000000, concurrent_requests: 1000 }
drain_s: 2`;

let fixture: ProcessFixture;
beforeEach(async () => {
  fixture = await openProcessFixture(SETTINGS);
});
afterEach(() => fixture.close());

function serveWithFiles(max: number, environment = {}): Promise<ServedProcess> {
  return fixture.serve({ environment, through: ["sh", "-c", `ulimit -n ${max}; exec "$0" "$@"`] });
}

/** Asks for one stream until it is served, as a client does that waits as long as it is told. Counts the refusals. */
async function untilServed({ url }: ServedProcess, onRefused = () => {}): Promise<number> {
  for (let refusals = 0; ; refusals += 1) {
    const response = await askChat(url, fixture.secret, true);
    if (response.status === 200) {
      expect(await response.text()).toEndWith("data: [DONE]\n\n");
      return refusals;
    }
    expect(response.headers.get("retry-after")).toBe("1");
    await expectError(response, CHAT, "too_many_files");
    onRefused();
    await Bun.sleep(1_000);
  }
}

test("a burst of more streams than there are files is served whole or refused, and each is charged", async () => {
  const gateway = await serveWithFiles(FILES_MAX);
  // No stream ends before one is refused, however slowly they arrive.
  const { opened, open } = gate();
  fixture.upstream.on("chat", answerWith(undefined, { gate: opened, delayMs: 500 }));
  await Promise.all(Array.from({ length: CALLERS }, () => untilServed(gateway, open)));
  await until(() => gateway.stdout().includes('"open files free again"'));
  // Connections of before may still be closing.
  await untilServed(gateway);
  gateway.signal("SIGTERM");
  expect(await gateway.exitCode).toBe(0);
  const log = gateway.stdout();
  expect(log).toContain('"open files nearly used up"');
  // No upstream is blamed for it.
  expect(log).not.toContain('"circuit opened"');
  const posted = 100 - (CALLERS + 1) * (COST / 1e9);
  expect(await fixture.accounts()).toMatchObject([{ held_usd: "0.00", posted_usd: String(posted) }]);
});

test("a part that is first used while connections take every file ends no process, and is loaded later", async () => {
  const gateway = await serveWithFiles(FILES_MAX, { METRICS_LISTEN: "127.0.0.1:0" });
  const metrics = `http://${/"metrics":"([^"]+)"/.exec(gateway.stdout())?.[1]}`;
  const kept = await connectTo(metrics);
  kept.ask("/elsewhere");
  await until(() => kept.answers().includes("404"));
  const idle = await Promise.all(Array.from({ length: 2 * FILES_MAX }, () => connectTo(gateway.url)));
  await until(() => readdirSync(`/proc/${gateway.pid}/fd`).length === FILES_MAX);
  kept.ask("/metrics");
  await until(() => kept.answers().includes("HTTP/1.1 500 "));
  for (const { close } of [...idle, kept]) close();
  await untilServed(gateway);
  const text = await (await fetch(`${metrics}/metrics`)).text();
  expect(/^process_max_fds \d+/m.exec(text)?.[0]).toBe("process_max_fds 256");
  expect(gateway.stdout()).not.toContain('"circuit opened"');
});

/** Opens a connection that sends nothing until it asks. */
async function connectTo(url: string) {
  let answers = "";
  const data = (_: unknown, bytes: Uint8Array) => {
    answers += Buffer.from(bytes).toString();
  };
  const { hostname, port } = new URL(url);
  const socket = await Bun.connect({ hostname, port: Number(port), socket: { data } });
  const ask = (path: string) => socket.write(`GET ${path} HTTP/1.1\r\nhost: ${hostname}\r\n\r\n`);
  return { ask, answers: () => answers, close: () => socket.terminate() };
}

test.each([
  [FILES_MAX, true],
  [8_192, false],
])("a limit of %d files is reported at the start: %p", async (max, isReported) => {
  const gateway = await serveWithFiles(max);
  const line = `"files":${max},"msg":"few open files allowed: raise the hard limit to 4096 or more"`;
  await untilServed(gateway);
  expect(gateway.stdout().includes(line)).toBe(isReported);
});
