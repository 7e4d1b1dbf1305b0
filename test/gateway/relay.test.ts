import { describe, expect, test } from "bun:test";
import { relay } from "../../src/gateway/relay.ts";
import type { Outcome } from "../../src/gateway/request.ts";
import { AttemptTimeouts } from "../../src/gateway/timeouts.ts";
import { createUpstream } from "./candidates.ts";
import { createGatewayParts, createRecordedReply } from "./gateway-parts.ts";
import { createHeldRequest, type HeldRequestOptions } from "./held-request.ts";
import { event, messageBody, STREAM, streamed } from "./upstream-answers.ts";

const STREAMED = { request: { stream: true } } as const;
const BROKEN = new Error("The connection broke");
const [START = "", BLOCK = "", HI = "", , , FINISH = "", STOP = ""] = STREAM;
const THINKING = [
  event("content_block_start", {
    index: 0,
    content_block: { type: "thinking", thinking: "", signature: "" },
  }),
  event("content_block_delta", { index: 0, delta: { type: "thinking_delta", thinking: "Hm" } }),
];

/** Relays an answer to the client; `thrown` is set when that fails. */
async function relayAnswer(answer: Response, options: HeldRequestOptions = {}) {
  const { gateway } = createGatewayParts();
  const upstream = createUpstream("up", { surfacesOf: () => ["messages"] });
  const held = createHeldRequest({ ...options, upstreams: [upstream], clock: gateway.clock });
  const [candidate] = held.plan.candidates;
  const permit = upstream.keys[0].health.acquire();
  if (!candidate || !permit) throw new Error("There is no candidate");
  const { reply, sent } = createRecordedReply();
  const timeouts = new AttemptTimeouts({
    timeouts: upstream.timeouts,
    stream: held.quote.request.stream,
    startedAt: gateway.clock(),
    deadlineAt: Infinity,
    abortSources: [],
    clock: gateway.clock,
    timer: gateway.timer,
  });
  held.meter.restart(candidate);
  const relayed = relay(gateway, answer, { held, reply, candidate, permit }, timeouts);
  const result = await relayed.then(
    (outcome: Outcome) => ({ outcome, thrown: undefined }),
    (thrown: unknown) => ({ outcome: undefined, thrown }),
  );
  timeouts.close();
  return { ...result, sent, meter: held.meter };
}

describe("relay() of a stream", () => {
  test.each<[name: string, chunks: readonly (string | Error)[], sent: string, ending: string]>([
    ["withholds the finish", STREAM, STREAM.slice(0, 5).join(""), FINISH + STOP],
    ["reads events that are cut anywhere", [...STREAM.join("")], STREAM.slice(0, 5).join(""), FINISH + STOP],
    ["reads an answer of one chunk", [STREAM.join("")], STREAM.slice(0, 5).join(""), FINISH + STOP],
    [
      "ignores a connection that breaks after the finish",
      [...STREAM.slice(0, 6), BROKEN],
      STREAM.slice(0, 5).join(""),
      FINISH + STOP,
    ],
    [
      "ignores bytes after the last event",
      [...STREAM, "event: nonsense\n\n"],
      STREAM.slice(0, 5).join(""),
      FINISH + STOP,
    ],
  ])("%s", async (_name, chunks, text, ending) => {
    const { outcome, sent } = await relayAnswer(streamed(chunks), STREAMED);
    expect(namesOf(sent.chunks.join(""))).toEqual(namesOf(text));
    expect(outcome?.kind === "finished" && namesOf(outcome.ending)).toEqual(namesOf(ending));
  });

  test.each<[name: string, chunks: readonly (string | Error)[], sent: string, isCommitted: boolean]>([
    ["breaks before any event", [BROKEN], "", false],
    ["breaks after its start", [START, BROKEN], "", false],
    ["breaks after its output", [START, BLOCK, HI, BROKEN], START + BLOCK + HI, true],
    ["ends without a finish", [START, BLOCK, HI], START + BLOCK + HI, true],
    ["turns into nonsense", [START, BLOCK, `${HI}event: x\ndata: {\n\n`], START + BLOCK + HI, true],
    [
      "turns into nonsense after repeated deltas",
      [`${START + BLOCK + HI + HI + HI}event: x\ndata: {\n\n`],
      START + BLOCK + HI + HI + HI,
      true,
    ],
  ])("throws for one that %s, and sends what came before", async (_name, chunks, text, isCommitted) => {
    const { thrown, sent, meter } = await relayAnswer(streamed(chunks), STREAMED);
    expect(thrown).toBeInstanceOf(Error);
    expect(namesOf(sent.chunks.join(""))).toEqual(namesOf(text));
    expect(meter.isCommitted).toBe(isCommitted);
  });

  test("is empty when it reasoned only", async () => {
    const { outcome, meter } = await relayAnswer(streamed([START, ...THINKING, FINISH, STOP]), STREAMED);
    expect([outcome?.kind, meter.hasOutput, meter.isReadable]).toEqual(["empty", true, false]);
  });

  test("keeps everything before the first output from the client", async () => {
    const { sent, meter } = await relayAnswer(streamed([START]), STREAMED);
    expect([sent.chunks, meter.hasOutput, meter.isCommitted]).toEqual([[], false, false]);
  });
});

describe("relay() of a whole answer", () => {
  test.each<[name: string, answer: Response, kind: string]>([
    ["is finished with its text", new Response(messageBody()), "finished"],
    ["is empty without content", new Response(messageBody([])), "empty"],
    [
      "is finished when its connection breaks after the last byte",
      streamed([messageBody(), BROKEN]),
      "finished",
    ],
  ])("%s", async (_name, answer, kind) => {
    const { outcome, sent, meter } = await relayAnswer(answer);
    expect([outcome?.kind, sent.chunks, sent.end]).toEqual([kind, [], undefined]);
    expect(meter.reported()).toMatchObject({ inputTokens: 10, outputTokens: 3 });
  });

  test("throws the fault of the connection for a partial answer", async () => {
    const { thrown } = await relayAnswer(streamed([messageBody().slice(0, 40), BROKEN]));
    expect(thrown).toBe(BROKEN);
  });

  test("reads a small body of known length at once, and throws when it is cut", async () => {
    const headers = { "content-length": String(messageBody().length) };
    const whole = new Response(messageBody(), { headers });
    expect((await relayAnswer(whole)).outcome?.kind).toBe("finished");
    const cut = new Response(streamed([messageBody().slice(0, 40), BROKEN]).body, { headers });
    expect((await relayAnswer(cut)).thrown).toBe(BROKEN);
  });

  test("fails for good above 32 MiB", async () => {
    const answer = new Response(" ".repeat(32 * 1024 * 1024 + 1));
    const { outcome } = await relayAnswer(answer);
    expect(outcome).toMatchObject({ kind: "failed", error: { kind: "answer_too_large" }, isFinal: true });
  });
});

/** The types of events, which texts are compared by. */
function namesOf(text: string): string[] {
  return [...text.matchAll(/^event: (.*)$/gm)].map(([, name = ""]) => name);
}
