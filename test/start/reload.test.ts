import { afterEach, beforeEach, describe, expect, test } from "bun:test";
import { renameSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { parseUsd } from "../../src/domain/money.ts";
import { gate } from "../support/script.ts";
import { answerWith } from "../support/scripted-answers.ts";
import type { ServedProcess } from "../support/served-process.ts";
import { scriptedConfig } from "../support/test-catalog.ts";
import { until } from "../support/until.ts";
import { askChat } from "./paid-key.ts";
import { openProcessFixture, type ProcessFixture } from "./process-fixture.ts";

const LIMITS = `limits: { requests_per_minute: 1000000, concurrent_requests: 1000 }
account_limits: { requests_per_minute: 1000000, concurrent_requests: 1000 }
drain_s: 120`;

const RELOADS = 10;
const REQUESTS = 200;
/** Cost of the default response at 1 and 2 USD per million tokens, in nano-USD. */
const COST = 25_000n;

let fixture: ProcessFixture;
let file: string;
beforeEach(async () => {
  fixture = await openProcessFixture(LIMITS);
  file = join(fixture.folder, "tollgate.yaml");
  writeFileSync(file, configAt(1));
});
afterEach(() => fixture.close());

/** The file with `factor` times 1 and 2 USD as the price of `chat`. */
function configAt(factor: number): string {
  const price = `{ input: "${factor}.00", output: "${2 * factor}.00" }`;
  return scriptedConfig(fixture.upstream, LIMITS).replace(/price: .*/, `price: ${price}`);
}

function ask({ url }: ServedProcess, stream = false): Promise<Response> {
  return askChat(url, fixture.secret, stream);
}

/** Resolves when the log of the process contains this text `count` times. */
async function untilLogged({ stdout }: ServedProcess, words: string, count = 1): Promise<void> {
  const explain = () => `The log does not contain "${words}": ${stdout()}`;
  await until(() => stdout().split(words).length > count, explain);
}

/** Sends requests, four at a time, until all reloads are done and `REQUESTS` requests are answered. */
async function askThroughout(gateway: ServedProcess, reloads: Promise<void>): Promise<Response[]> {
  const answers: Response[] = [];
  let isOver = false;
  const over = reloads.finally(() => {
    isOver = true;
  });
  const askOn = async () => {
    while (!isOver || answers.length < REQUESTS) {
      const answer = await ask(gateway);
      await answer.text();
      answers.push(answer);
    }
  };
  await Promise.all([over, askOn(), askOn(), askOn(), askOn()]);
  return answers;
}

/** Replaces the file atomically. */
function replaceFile(text: string): void {
  writeFileSync(`${file}.new`, text);
  renameSync(`${file}.new`, file);
}

function costOf(answer: Response): bigint {
  return parseUsd(answer.headers.get("x-tollgate-cost-usd") ?? "");
}

describe("reloads by SIGHUP and by changes of the file", () => {
  test("fail no request, and each request is billed at one of the prices in force", async () => {
    const gateway = await fixture.serve();
    const reload = async () => {
      for (let count = 1; count <= RELOADS; count++) {
        if (count % 2 === 0) writeFileSync(file, configAt(count + 1));
        else replaceFile(configAt(count + 1));
        // The last change is noticed by polling alone.
        if (count < RELOADS) process.kill(gateway.pid, "SIGHUP");
        await untilLogged(gateway, "configuration reloaded", count);
      }
    };
    const answers = await askThroughout(gateway, reload());
    expect(answers.filter(({ status }) => status !== 200)).toEqual([]);
    expect(answers.length).toBeGreaterThanOrEqual(REQUESTS);
    const costs = answers.map(costOf);
    const possible = Array.from({ length: RELOADS + 1 }, (_, index) => COST * BigInt(index + 1));
    expect(costs.filter((cost) => !possible.includes(cost))).toEqual([]);
    expect(costOf(await ask(gateway))).toBe(COST * BigInt(RELOADS + 1));
    expect(gateway.stdout()).not.toContain("upstream concurrency capped");
  });

  test("of an invalid file are rejected in one log line, and the gateway stays ready", async () => {
    const gateway = await fixture.serve({ environment: { BUN_CONFIG_MAX_HTTP_REQUESTS: "100" } });
    expect(gateway.stdout()).toContain('"calls":100,"variable":"BUN_CONFIG_MAX_HTTP_REQUESTS"');
    replaceFile("upstreams: { scripted: { api_key: provider-secret\n  x: [");
    await untilLogged(gateway, "configuration rejected");
    process.kill(gateway.pid, "SIGHUP");
    await untilLogged(gateway, "configuration rejected", 2);
    expect((await fetch(`${gateway.url}/readyz`)).status).toBe(200);
    expect((await ask(gateway)).status).toBe(200);
    replaceFile(configAt(3));
    process.kill(gateway.pid, "SIGHUP");
    await untilLogged(gateway, "configuration reloaded");
    expect(costOf(await ask(gateway))).toBe(COST * 3n);
    // Once for the change, once for the signal.
    expect(gateway.stdout().split("configuration rejected")).toHaveLength(1 + 2);
    expect(gateway.stdout() + gateway.stderr()).not.toContain("provider-secret");
  });
});

describe("SIGHUP", () => {
  test("during the drain is ignored", async () => {
    const gateway = await fixture.serve();
    const { opened, open: goOn } = gate();
    fixture.upstream.on("chat", answerWith(undefined, { pauseAt: { bytes: 700, gate: opened } }));
    const response = await ask(gateway, true);
    gateway.signal("SIGTERM");
    await untilLogged(gateway, '"draining"');
    for (let count = 0; count < 3; count++) process.kill(gateway.pid, "SIGHUP");
    expect((await fetch(`${gateway.url}/readyz`).catch(() => undefined))?.status).not.toBe(200);
    goOn();
    expect(await response.text()).toEndWith("data: [DONE]\n\n");
    expect(await gateway.exitCode).toBe(0);
    expect(gateway.stdout()).not.toContain("configuration");
  });
});
