import { afterEach, beforeEach, describe, expect, test } from "bun:test";
import { renameSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { parseUsd } from "../../src/domain/money.ts";
import { gate } from "../support/script.ts";
import { answerWith } from "../support/scripted-answers.ts";
import { type ScriptedUpstream, startScriptedUpstream } from "../support/scripted-upstream.ts";
import { type ServedProcess, type ServeOptions, startServedProcess } from "../support/served-process.ts";
import { tempFolder } from "../support/temp-folder.ts";
import { scriptedConfig } from "../support/test-catalog.ts";
import { askChat, createPaidKey } from "./paid-key.ts";

const LIMITS = `limits: { requests_per_minute: 10000, concurrent_requests: 1000 }
account_limits: { requests_per_minute: 10000, concurrent_requests: 1000 }
drain_s: 10`;

const RELOADS = 10;
const REQUESTS = 200;
/** What the ordinary answer costs at 1 and 2 USD per million tokens, in nano-USD. */
const COST = 25_000n;

let upstream: ScriptedUpstream;
let folder: string;
let file: string;
let secret: string;
let served: ServedProcess | undefined;

beforeEach(async () => {
  upstream = await startScriptedUpstream();
  folder = tempFolder();
  file = join(folder, "tollgate.yaml");
  writeFileSync(file, configAt(1));
  secret = await createPaidKey(folder);
});
afterEach(async () => {
  served?.signal("SIGKILL");
  await served?.exitCode;
  await upstream.stop();
});

/** The file with the price of `chat` at so many times 1 and 2 USD. */
function configAt(factor: number): string {
  const price = `{ input: "${factor}.00", output: "${2 * factor}.00" }`;
  return scriptedConfig(upstream, LIMITS).replace(/price: .*/, `price: ${price}`);
}

async function serve(options: Partial<ServeOptions> = {}): Promise<ServedProcess> {
  served = await startServedProcess({ folder, ...options });
  return served;
}

function ask({ url }: ServedProcess, stream = false): Promise<Response> {
  return askChat(url, secret, stream);
}

/** Resolves when the process has logged so many lines with these words. */
async function untilLogged({ stdout }: ServedProcess, words: string, count = 1): Promise<void> {
  const deadline = performance.now() + 120_000;
  while (stdout().split(words).length <= count) {
    if (performance.now() > deadline) throw new Error(`The log does not say "${words}": ${stdout()}`);
    await Bun.sleep(5);
  }
}

/** Asks until all reloads are done and so many requests are answered; a few at once. */
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

/** Nobody sees a half of it. */
function replaceFile(text: string): void {
  writeFileSync(`${file}.new`, text);
  renameSync(`${file}.new`, file);
}

function costOf(answer: Response): bigint {
  return parseUsd(answer.headers.get("x-tollgate-cost-usd") ?? "");
}

describe("SIGHUP and changes of the file", () => {
  test("fail no request, and each is billed at one of the prices that were in force", async () => {
    const gateway = await serve();
    const reload = async () => {
      for (let count = 1; count <= RELOADS; count++) {
        if (count % 2 === 0) writeFileSync(file, configAt(count + 1));
        else replaceFile(configAt(count + 1));
        // The last one by the look of the file alone.
        if (count < RELOADS) process.kill(gateway.pid, "SIGHUP");
        await untilLogged(gateway, "configuration taken over", count);
      }
    };
    const answers = await askThroughout(gateway, reload());
    expect(answers.filter(({ status }) => status !== 200)).toEqual([]);
    expect(answers.length).toBeGreaterThanOrEqual(REQUESTS);
    const costs = answers.map(costOf);
    const possible = Array.from({ length: RELOADS + 1 }, (_, index) => COST * BigInt(index + 1));
    expect(costs.filter((cost) => !possible.includes(cost))).toEqual([]);
    expect(costOf(await ask(gateway))).toBe(COST * BigInt(RELOADS + 1));
    expect(gateway.stdout()).not.toContain("others wait");
  });

  test("with a bad file are refused in one line, and the gateway stays ready", async () => {
    const gateway = await serve({ environment: { BUN_CONFIG_MAX_HTTP_REQUESTS: "100" } });
    expect(gateway.stdout()).toContain('"calls":100,"variable":"BUN_CONFIG_MAX_HTTP_REQUESTS"');
    replaceFile("upstreams: { scripted: { api_key: provider-secret\n  x: [");
    await untilLogged(gateway, "configuration refused");
    process.kill(gateway.pid, "SIGHUP");
    await untilLogged(gateway, "configuration refused", 2);
    expect((await fetch(`${gateway.url}/readyz`)).status).toBe(200);
    expect((await ask(gateway)).status).toBe(200);
    replaceFile(configAt(3));
    process.kill(gateway.pid, "SIGHUP");
    await untilLogged(gateway, "configuration taken over");
    expect(costOf(await ask(gateway))).toBe(COST * 3n);
    // Once for the change, once for the signal.
    expect(gateway.stdout().split("configuration refused")).toHaveLength(1 + 2);
    expect(gateway.stdout() + gateway.stderr()).not.toContain("provider-secret");
  });
});

describe("SIGHUP", () => {
  test("while the gateway drains is ignored", async () => {
    const gateway = await serve();
    const { opened, open: goOn } = gate();
    upstream.on("chat", answerWith(undefined, { pauseAt: { bytes: 700, gate: opened } }));
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
