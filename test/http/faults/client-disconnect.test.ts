import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { NO_USAGE } from "../../../src/domain/usage.ts";
import { CHAT, post } from "../../support/client.ts";
import { type Script, type Step, silence } from "../../support/script.ts";
import { answerWith, EVENT_STREAM } from "../../support/scripted-answers.ts";
import type { ExpectedCharge, Scenario } from "./fault.ts";
import { casesOf, type FaultCase, type FaultEnv, startFaultEnv } from "./fault-env.ts";
import { answerStream, BREAK_WORD, BROKEN_TEXT, framesUntil } from "./fault-scripts.ts";

/** What the issue promises: the upstream is let go, and the slot and the rest of the hold are free. */
const UPSTREAM_MS_MAX = 100;
const BOOKS_MS_MAX = 1_000;

let env: FaultEnv;
beforeAll(async () => {
  env = await startFaultEnv(HANG_UPS);
  // What is measured below does not begin by starting the counting worker.
  await warmUp(env);
});
afterAll(() => env.stop());

describe("a client that hangs up", () => {
  // One after another, because the time that each takes is measured.
  test.each(
    HANG_UPS.flatMap((scenario) => casesOf(scenario)).map((faultCase) => [faultCase.id, faultCase] as const),
  )("%s: is let go of everywhere, and pays what it should", async (_id, faultCase) => {
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
    await hasCome(() => isThere(faultCase));
    // What was sent until then is worked off before the clock starts: megabytes of it, in some scenes.
    await Bun.sleep(reading.has(faultCase.id) ? 200 : 20);
    expect((await env.gateway.balances(payer.accountId)).held).toBeGreaterThan(0n);
    const hungUpAtMs = Date.now();
    controller.abort();

    expect(await ended).toBe("aborted");
    await expectUpstreamFreed(faultCase, hungUpAtMs);
    await expectAllFree(payer, hungUpAtMs);
    await expectBooks(faultCase, payer);
    expect((await post(env.gateway, faultCase.surface, { secret })).status).toBe(200);
  });
});

/** A local count waits for its worker. */
async function warmUp({ gateway }: FaultEnv): Promise<void> {
  gateway.upstream.on(CHAT.model, answerWith({ text: "one" }));
  await (await post(gateway, CHAT)).text();
}

const shown = new Map<string, string>();

/** Reads to the end, and notes what was read so far. */
function readOn({ id }: FaultCase<HangUp>) {
  return async (response: Response) => {
    const decoder = new TextDecoder();
    for await (const bytes of response.body ?? []) {
      shown.set(id, (shown.get(id) ?? "") + decoder.decode(bytes, { stream: true }));
    }
    return "read to the end";
  };
}

/** Whether the moment has come to which the scene leads. */
function isThere({ id, scenario }: FaultCase<HangUp>): boolean {
  if (scenario.hasRead) return lastWordOf(scenario.hasRead).test(shown.get(id) ?? "");
  if (scenario.status === 0) return env.gateway.upstream.seen.some(({ model }) => model === id);
  return reading.has(id);
}

function lastWordOf(text: string): RegExp {
  return new RegExp(`${text.split(" ").at(-1)}"`);
}

async function hasCome(condition: () => boolean | Promise<boolean>, untilMs = Date.now() + 20_000) {
  while (!(await condition())) {
    if (Date.now() > untilMs) throw new Error("It did not come in time");
    await Bun.sleep(2);
  }
}

async function expectUpstreamFreed({ id }: FaultCase<HangUp>, hungUpAtMs: number): Promise<void> {
  const { seen } = env.gateway.upstream;
  const calls = seen.filter(({ model }) => model?.startsWith(id));
  expect(calls.map(({ model }) => model)).toEqual([id]);
  await calls[0]?.over;
  expect((calls[0]?.hungUpAtMs ?? Number.NaN) - hungUpAtMs).toBeWithin(-1, UPSTREAM_MS_MAX);
}

interface Payer {
  readonly secret: string;
  readonly accountId: string;
}

async function expectAllFree({ secret, accountId }: Payer, hungUpAtMs: number): Promise<void> {
  const isFree = async () => {
    const response = await fetch(`${env.gateway.url}/v1/key`, { headers: { "x-api-key": secret } });
    const { concurrent_requests } = (await response.json()) as { concurrent_requests: { used: number } };
    return concurrent_requests.used === 0 && (await env.gateway.balances(accountId)).held === 0n;
  };
  await hasCome(isFree, hungUpAtMs + BOOKS_MS_MAX);
}

async function expectBooks(
  { id, surface, scenario }: FaultCase<HangUp>,
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
  await hasCome(() => lines().length > 0);
  expect(lines()).toMatchObject([{ event: "request", outcome: "client_closed", attempts: 1 }]);
}

/** A moment at which the client goes away. */
export interface HangUp extends Scenario {
  /** The upstream's status on the receipt. */
  readonly status: number;
  /** What the client has read by then, of a stream that has opened. */
  readonly hasRead?: string;
  readonly charge: Record<"chat" | "messages", ExpectedCharge>;
}

/** More than the buffers of two sockets: when it is sent, the gateway is reading. */
const PADDING_BYTES = 16 * 1024 * 1024;

/** Calls, by model, of which the gateway has begun to read the answer. */
export const reading = new Set<string | undefined>();

/** The prompt, which the upstream has: its text is three tokens. */
const INPUT = { source: "estimated", input: 3, output: 0 } as const;

/** When clients hang up, and what they pay then. */
export const HANG_UPS: readonly HangUp[] = [
  { name: "before an answer", scripts: [silence], status: 0, charge: { chat: INPUT, messages: INPUT } },
  {
    name: "within a whole answer",
    modes: ["whole"],
    scripts: [fallsSilentBehind(() => "{", " ")],
    status: 200,
    charge: { chat: INPUT, messages: INPUT },
  },
  {
    name: "before the first event",
    modes: ["stream"],
    scripts: [fallsSilentBehind(() => "", ":")],
    status: 200,
    charge: { chat: INPUT, messages: INPUT },
  },
  {
    name: "before the first output",
    modes: ["stream"],
    scripts: [fallsSilentBehind(framesUntil(undefined), ":")],
    status: 200,
    // Anthropic has said by then what the prompt came to.
    charge: { chat: INPUT, messages: { source: "estimated", input: 11, output: 1 } },
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

/** Begins an answer, goes on for long with what means nothing, and says no more. */
function fallsSilentBehind(begin: ReturnType<typeof framesUntil>, filler: string): Script {
  return function* (request): Generator<Step> {
    const type = request.stream ? EVENT_STREAM["content-type"] : "application/json";
    yield { send: `HTTP/1.1 200 OK\r\ncontent-type: ${type}\r\nconnection: close\r\n\r\n${begin(request)}` };
    for (let sent = 0; sent < PADDING_BYTES; sent += 65_536) yield { send: `${filler.repeat(65_535)}\n` };
    reading.add(request.model);
    yield { leave: "hang" };
  };
}
