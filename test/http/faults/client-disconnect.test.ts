import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { NO_USAGE } from "../../../src/domain/usage.ts";
import { CHAT, post } from "../../support/client.ts";
import { type Script, type Step, silence } from "../../support/script.ts";
import { answerWith, EVENT_STREAM } from "../../support/scripted-answers.ts";
import { until } from "../../support/until.ts";
import type { ExpectedCharge, Scenario } from "./fault.ts";
import { casesOf, type FaultCase, type FaultEnv, startFaultEnv } from "./fault-env.ts";
import { answerStream, BREAK_WORD, BROKEN_TEXT, framesUntil } from "./fault-scripts.ts";

/** A moment at which the client disconnects. */
interface ClientDisconnect extends Scenario {
  /** The status of the upstream on the receipt. */
  readonly status: number;
  /** What the client of an open stream has read by then. */
  readonly hasRead?: string;
  readonly charge: Record<"chat" | "messages", ExpectedCharge>;
}

/** More than the buffers of two sockets. Once it is sent, the gateway is reading. */
const PADDING_BYTES = 16 * 1024 * 1024;

/** The models whose answer the gateway has begun to read. */
const reading = new Set<string | undefined>();

/** The charge for the prompt, whose text is three tokens. */
const INPUT = { source: "estimated", input: 3, output: 0 } as const;

/** The moments of disconnecting, and the charge at each. */
const DISCONNECTS: readonly ClientDisconnect[] = [
  { name: "before an answer", scripts: [silence], status: 0, charge: { chat: INPUT, messages: INPUT } },
  {
    name: "within a whole answer",
    modes: ["whole"],
    scripts: [sendsFillerAfter(() => "{", " ")],
    status: 200,
    charge: { chat: INPUT, messages: INPUT },
  },
  {
    name: "before the first event",
    modes: ["stream"],
    scripts: [sendsFillerAfter(() => "", ":")],
    status: 200,
    charge: { chat: INPUT, messages: INPUT },
  },
  {
    name: "before the first output",
    modes: ["stream"],
    scripts: [sendsFillerAfter(framesUntil(undefined), ":")],
    status: 200,
    // Anthropic has reported the input of the prompt by then.
    charge: { chat: INPUT, messages: { source: "estimated", input: 11, output: 0 } },
  },
  {
    name: "in the middle of a stream",
    modes: ["stream"],
    scripts: [answerStream(framesUntil(BREAK_WORD), { end: "hang" })],
    status: 200,
    hasRead: BROKEN_TEXT,
    charge: {
      chat: { source: "estimated", input: 3, output: 3 },
      messages: { source: "estimated", input: 11, output: 3 },
    },
  },
];

/** Begins an answer, sends 16 MiB of filler, and then sends nothing more. */
function sendsFillerAfter(begin: ReturnType<typeof framesUntil>, filler: string): Script {
  return function* (request): Generator<Step> {
    const type = request.stream ? EVENT_STREAM["content-type"] : "application/json";
    yield { send: `HTTP/1.1 200 OK\r\ncontent-type: ${type}\r\nconnection: close\r\n\r\n${begin(request)}` };
    for (let sent = 0; sent < PADDING_BYTES; sent += 65_536) yield { send: `${filler.repeat(65_535)}\n` };
    reading.add(request.model);
    yield { leave: "hang" };
  };
}

/** Upper bound for cancelling half of the upstream calls; a busy machine may delay single ones. */
const UPSTREAM_MS_MEDIAN_MAX = 100;
/** Upper bounds for cancelling each upstream call, and for freeing the slot and the rest of the hold. */
const UPSTREAM_MS_MAX = 5_000;
const BOOKS_MS_MAX = 5_000;

/** The times from each disconnect to the end of its upstream call. */
const delaysMs: number[] = [];
let env: FaultEnv;
beforeAll(async () => {
  env = await startFaultEnv(DISCONNECTS);
  // Starts the token-counting worker, so that its start is not part of the measured times.
  await warmUp(env);
});
afterAll(() => env.stop());

describe("a client that disconnects", () => {
  // Sequential, because each case measures time.
  test.each(
    DISCONNECTS.flatMap((scenario) => casesOf(scenario)).map(
      (faultCase) => [faultCase.id, faultCase] as const,
    ),
  )("%s frees the upstream call, slot and hold, and pays the right charge", async (_id, faultCase) => {
    const { secret, key } = await env.gateway.newPayer("1", { limits: { concurrentRequests: 1 } });
    const payer = { secret, accountId: key.accountId };
    const controller = new AbortController();
    const options = {
      secret,
      model: faultCase.id,
      stream: faultCase.mode === "stream",
      signal: controller.signal,
    };
    const pending = post(env.gateway, faultCase.surface, options);
    const ended = pending.then(readOn(faultCase)).catch(() => "aborted");
    await until(() => isMoment(faultCase));
    // Waits until everything sent so far is processed: megabytes, in some scenarios.
    await Bun.sleep(reading.has(faultCase.id) ? 200 : 20);
    expect((await env.gateway.balances(payer.accountId)).held).toBeGreaterThan(0n);
    const disconnectedAtMs = Date.now();
    controller.abort();

    expect(await ended).toBe("aborted");
    await expectUpstreamFreed(faultCase, disconnectedAtMs);
    await expectAllFree(payer, disconnectedAtMs);
    await expectLedger(faultCase, payer);
    expect((await post(env.gateway, faultCase.surface, { secret })).status).toBe(200);
  });

  test("cancels half of the upstream calls within 100 ms", () => {
    expect(delaysMs.length).toBeGreaterThan(0);
    const median = delaysMs.toSorted((one, other) => one - other)[delaysMs.length >> 1];
    expect(median).toBeLessThan(UPSTREAM_MS_MEDIAN_MAX);
  });
});

/** Makes one request with a local token count. */
async function warmUp({ gateway }: FaultEnv): Promise<void> {
  gateway.upstream.on(CHAT.model, answerWith({ text: "one" }));
  await (await post(gateway, CHAT)).text();
}

const shown = new Map<string, string>();

/** Reads a response to its end, and records the text read so far. */
function readOn({ id }: FaultCase<ClientDisconnect>) {
  return async (response: Response) => {
    const decoder = new TextDecoder();
    for await (const bytes of response.body ?? []) {
      shown.set(id, (shown.get(id) ?? "") + decoder.decode(bytes, { stream: true }));
    }
    return "read to the end";
  };
}

/** Whether the moment of the scenario has come. */
function isMoment({ id, scenario }: FaultCase<ClientDisconnect>): boolean {
  if (scenario.hasRead) return lastWordOf(scenario.hasRead).test(shown.get(id) ?? "");
  if (scenario.status === 0) return env.gateway.upstream.seen.some(({ model }) => model === id);
  return reading.has(id);
}

function lastWordOf(text: string): RegExp {
  return new RegExp(`${text.split(" ").at(-1)}"`);
}

async function expectUpstreamFreed(
  { id }: FaultCase<ClientDisconnect>,
  disconnectedAtMs: number,
): Promise<void> {
  const { seen } = env.gateway.upstream;
  const calls = seen.filter(({ model }) => model?.startsWith(id));
  expect(calls.map(({ model }) => model)).toEqual([id]);
  await calls[0]?.over;
  const delayMs = (calls[0]?.disconnectedAtMs ?? Number.NaN) - disconnectedAtMs;
  expect(delayMs).toBeWithin(-1, UPSTREAM_MS_MAX);
  delaysMs.push(delayMs);
}

interface Payer {
  readonly secret: string;
  readonly accountId: string;
}

async function expectAllFree({ secret, accountId }: Payer, disconnectedAtMs: number): Promise<void> {
  const isFree = async () => {
    const response = await fetch(`${env.gateway.url}/v1/key`, { headers: { "x-api-key": secret } });
    const { concurrent_requests } = (await response.json()) as { concurrent_requests: { used: number } };
    return concurrent_requests.used === 0 && (await env.gateway.balances(accountId)).held === 0n;
  };
  await until(isFree);
  expect(Date.now() - disconnectedAtMs).toBeLessThan(BOOKS_MS_MAX);
}

async function expectLedger(
  { id, surface, scenario }: FaultCase<ClientDisconnect>,
  { accountId }: Payer,
): Promise<void> {
  const { gateway } = env;
  const charge = scenario.charge[surface.name];
  const { items } = await gateway.tollgate.ledger.receipts({ walletId: accountId }, { size: 2 });
  expect(items).toHaveLength(1);
  const captured = BigInt(charge.input) * 1_000n + BigInt(charge.output) * 2_000n;
  expect(items[0]).toMatchObject({
    state: "settled",
    captured,
    outcome: {
      outcome: "client_closed",
      source: charge.source,
      upstream: id,
      attempts: [{ upstream: id, status: scenario.status, ms: expect.any(Number) }],
    },
  });
  const usage = { ...NO_USAGE, inputTokens: charge.input, outputTokens: charge.output };
  expect(items[0]?.outcome?.usage).toEqual(usage);
  expect((await gateway.balances(accountId)).posted).toBe(1_000_000_000n - captured);
  const lines = () => gateway.log.about(items[0]?.holdId ?? "");
  await until(() => lines().length > 0);
  expect(lines()).toMatchObject([{ event: "request", outcome: "client_closed", attempts: 1 }]);
}
