import { beforeEach, describe, expect, test } from "bun:test";
import { COMMAND_LINE } from "../../src/accounts/audit-trail.ts";
import { createOperator } from "../../src/accounts/people/operators.ts";
import { createPasswords } from "../../src/accounts/people/passwords.ts";
import { GatewayError } from "../../src/errors.ts";
import { CHAT, MESSAGES, post } from "../support/client.ts";
import { createBrowsers } from "../support/console-browser.ts";
import { gatewayForTests } from "../support/gateway-for-tests.ts";
import { gate, silence } from "../support/script.ts";
import { answerWith } from "../support/scripted-answers.ts";
import { until } from "../support/until.ts";
import { readSamples } from "../telemetry/samples.ts";

const DELAY_MS = 300;
const gateway = gatewayForTests({ config: { metricsListen: { host: "127.0.0.1", port: 0 } } });

/** Reads one value; 0 without its series. */
type Read = (sample: string) => number;

async function scrape(): Promise<Read> {
  const response = await fetch(`http://${gateway.tollgate.metricsAddress}/metrics`);
  const samples = readSamples(await response.text());
  return (sample) => samples.get(sample) ?? 0;
}

/** The values before the test, so that its own requests alone are compared. */
let before: Read;
beforeEach(async () => {
  before = await scrape();
});

/** By how much each value has grown since the test began. */
async function growth(): Promise<Read> {
  const after = await scrape();
  return (sample) => after(sample) - before(sample);
}

const requests = (labels: string) => `tollgate_requests_total{${labels}}`;
const CLAUDE = 'model="claude",upstream="scripted-anthropic"';
const GEN_AI_CHAT =
  'gen_ai_operation_name="chat",gen_ai_request_model="chat",gen_ai_provider_name="openai",upstream="scripted-openai"';
const DURATION_SUM = `gen_ai_server_request_duration_seconds_sum{${GEN_AI_CHAT},error_type=""}`;
const ADDED_SUM = 'tollgate_added_latency_seconds_sum{surface="chat"}';

describe("the metrics of requests", () => {
  test("count an answer with its tokens and its money", async () => {
    const response = await post(gateway, MESSAGES, { max_tokens: 50 });
    await response.text();
    const { granted, captured, outcome } = await gateway.receiptOf(response);
    const grown = await growth();
    expect(grown(requests(`surface="messages",${CLAUDE},code="ok"`))).toBe(1);
    expect(grown(`tollgate_granted_usd_total{${CLAUDE}}`)).toBeCloseTo(Number(granted) / 1e9, 9);
    expect(grown(`tollgate_captured_usd_total{${CLAUDE}}`)).toBeCloseTo(Number(captured) / 1e9, 9);
    expect(grown(`tollgate_overspent_usd_total{${CLAUDE}}`)).toBe(0);
    const output = outcome?.usage?.outputTokens ?? Number.NaN;
    expect(grown(`tollgate_tokens_total{${CLAUDE},class="output"}`)).toBe(output);
  });

  test("time the first output of a stream, and not that of a whole answer", async () => {
    const firsts = `gen_ai_server_time_to_first_token_seconds_count{${GEN_AI_CHAT}}`;
    await (await post(gateway, CHAT)).text();
    expect((await growth())(firsts)).toBe(0);
    await (await post(gateway, CHAT, { stream: true })).text();
    expect((await growth())(firsts)).toBe(1);
  });

  test("leave the time of the upstream out of the added latency", async () => {
    gateway.upstream.on("chat", answerWith(undefined, { delayMs: DELAY_MS }));
    await (await post(gateway, CHAT)).text();
    const grown = await growth();
    expect(grown(DURATION_SUM)).toBeGreaterThanOrEqual(DELAY_MS / 1000);
    expect(grown(ADDED_SUM)).toBeGreaterThan(0);
    expect(grown(ADDED_SUM)).toBeLessThanOrEqual(grown(DURATION_SUM) - DELAY_MS / 1000);
  });

  test("leave the time that a body takes to arrive out of the added latency", async () => {
    const bytes = new TextEncoder().encode(JSON.stringify(CHAT.body()));
    const raw = new ReadableStream<Uint8Array>({
      async start(controller) {
        controller.enqueue(bytes.subarray(0, 20));
        await Bun.sleep(10 * DELAY_MS);
        controller.enqueue(bytes.subarray(20));
        controller.close();
      },
    });
    await (await post(gateway, CHAT, { raw })).text();
    const grown = await growth();
    // A busy machine may receive the first part long after it was sent.
    expect(grown(ADDED_SUM)).toBeLessThanOrEqual(grown(DURATION_SUM) - DELAY_MS / 1000);
  });

  test("count errors by their code, with the model and upstream that are known by then", async () => {
    await post(gateway, CHAT, { secret: "sk-tg-wrong" });
    await post(gateway, CHAT, { model: "unheard of" });
    gateway.upstream.on("chat", silence);
    const leaving = new AbortController();
    const left = post(gateway, CHAT, { signal: leaving.signal }).catch(() => undefined);
    await gateway.upstream.waitForSeen(1);
    leaving.abort();
    await left;
    const closed = requests('surface="chat",model="chat",upstream="scripted-openai",code="client_closed"');
    await until(async () => (await growth())(closed) === 1);
    const grown = await growth();
    const unknown = 'surface="chat",model="",upstream=""';
    expect(grown(requests(`${unknown},code="invalid_api_key"`))).toBe(1);
    expect(grown(requests(`${unknown},code="model_not_found"`))).toBe(1);
  });

  test("get no series from the model names of a client", async () => {
    const ofModels = async () => {
      const text = await (await fetch(`http://${gateway.tollgate.metricsAddress}/metrics`)).text();
      return text.split("\n").filter((line) => line.includes("model=")).length;
    };
    await post(gateway, CHAT, { model: "unheard of" });
    const series = await ofModels();
    expect(series).toBeGreaterThan(0);
    for (let number = 0; number < 100; number++) await post(gateway, CHAT, { model: `name-${number}` });
    expect(await ofModels()).toBe(series);
  });

  test("show what a lying upstream was charged above its hold", async () => {
    gateway.upstream.on("claude", answerWith({ text: "Hello there.", usage: { input: 150_000, output: 7 } }));
    const response = await post(gateway, MESSAGES, { max_tokens: 50 });
    await response.text();
    const { granted, captured } = await gateway.receiptOf(response);
    expect(captured).toBeGreaterThan(granted);
    const grown = await growth();
    expect(grown(`tollgate_overspent_usd_total{${CLAUDE}}`)).toBeCloseTo(Number(captured - granted) / 1e9, 9);
  });
});

describe("the metrics of the ledger", () => {
  test("show a hold while its request runs, and its transactions afterwards", async () => {
    const held = gate();
    gateway.upstream.on("chat", answerWith(undefined, { gate: held.opened }));
    const asking = post(gateway, CHAT);
    await until(async () => {
      const read = await scrape();
      return read("tollgate_ledger_open_holds") === 1 && read("tollgate_ledger_held_usd") > 0;
    });
    held.open();
    await (await asking).text();
    expect((await scrape())("tollgate_ledger_open_holds")).toBe(0);
    const grown = await growth();
    expect(grown("tollgate_ledger_commit_seconds_count")).toBeGreaterThanOrEqual(2);
    expect(grown("tollgate_ledger_batch_commands_sum")).toBeGreaterThanOrEqual(2);
    expect(grown("tollgate_ledger_sync_seconds_count")).toBeGreaterThanOrEqual(1);
  });
});

describe("the metrics of the console", () => {
  test("count sign-ins by their result", async () => {
    const { parts } = gateway.tollgate.console;
    const { database } = gateway.tollgate;
    const email = "ada@example.com";
    const people = { database, passwords: createPasswords() };
    const { oneTimePassword: password } = await createOperator(people, { email }, COMMAND_LINE);
    const open = createBrowsers(parts);
    expect((await open().call("POST", "/sign-in", { email, password })).status).toBe(200);
    expect((await open().call("POST", "/sign-in", { email, password: "wrong password" })).status).toBe(401);
    const throttle = () => Promise.reject(new GatewayError("sign_in_throttled", { retryAfterS: 9 }));
    const throttled = createBrowsers({ ...parts, credentials: { ...parts.credentials, throttle } });
    expect((await throttled().call("POST", "/sign-in", { email, password })).status).toBe(429);
    const grown = await growth();
    const of = (result: string) => grown(`tollgate_console_sign_ins_total{result="${result}"}`);
    expect([of("accepted"), of("wrong"), of("throttled"), of("failed")]).toEqual([1, 1, 1, 0]);
  });
});
