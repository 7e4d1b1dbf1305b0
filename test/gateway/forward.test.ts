import { describe, expect, test } from "bun:test";
import { GatewayError } from "../../src/errors.ts";
import { forward } from "../../src/gateway/forward.ts";
import type { Gateway } from "../../src/gateway/gateway.ts";
import type { HeldRequest, Outcome, Reply } from "../../src/gateway/request.ts";
import type { UpstreamMetrics } from "../../src/telemetry/upstream-metrics.ts";
import type { UpstreamKey } from "../../src/upstream/upstream.ts";
import { createUpstream } from "./candidates.ts";
import { createGatewayParts, createRecordedReply } from "./gateway-parts.ts";
import { createHeldRequest, type HeldRequestOptions, LASTING_CALLER } from "./held-request.ts";
import {
  answersStatus,
  answersWhole,
  messageBody,
  refusesConnections,
  STREAM,
  streamed,
} from "./upstream-answers.ts";

type Send = UpstreamKey["send"];

const STREAMED = { request: { stream: true } } as const;
const BROKEN = new Error("The connection broke");

interface ForwardOptions extends HeldRequestOptions {
  readonly sends?: readonly Send[];
  readonly parts?: Partial<Gateway>;
  readonly reply?: Partial<Reply>;
  readonly held?: Partial<HeldRequest>;
}

/** Forwards a request to one upstream for each of `sends`: "u0", "u1" and so on, in this order. */
async function forwardTo({
  sends = [],
  parts,
  reply: replyParts,
  held: heldParts,
  ...options
}: ForwardOptions) {
  const { gateway, recorded, log } = createGatewayParts(parts);
  const upstreams = sends.map((send, index) =>
    createUpstream(`u${index}`, { surfacesOf: () => ["messages"], send }),
  );
  const held = { ...createHeldRequest({ ...options, upstreams, clock: gateway.clock }), ...heldParts };
  const { reply, sent } = createRecordedReply(replyParts);
  const answer = await forward(gateway, held, reply);
  return { answer, held, sent, recorded, log, upstreams };
}

/** The kind of an outcome, and the cause of a failed one. */
function nameOf(outcome: Outcome): string {
  return outcome.kind === "failed" ? outcome.error.kind : outcome.kind;
}

describe("forward()", () => {
  test.each<[name: string, sends: readonly Send[], outcome: string, statuses: readonly number[]]>([
    ["the first candidate that answers ends the request", [answersWhole, answersWhole], "finished", [200]],
    ["a refused connection moves on", [refusesConnections, answersWhole], "finished", [0, 200]],
    ["a status 500 moves on", [answersStatus(500), answersWhole], "finished", [500, 200]],
    ["a status 429 moves on", [answersStatus(429), answersWhole], "finished", [429, 200]],
    ["a status 413 moves on", [answersStatus(413), answersWhole], "finished", [413, 200]],
    ["a status 400 is final", [answersStatus(400), answersWhole], "rejected_by_upstream", [400]],
    ["a status 422 is final", [answersStatus(422), answersWhole], "rejected_by_upstream", [422]],
    ["an empty answer is final", [async () => new Response(messageBody([])), answersWhole], "empty", [200]],
    [
      "the last failure is the outcome",
      [answersStatus(500), refusesConnections],
      "upstream_unavailable",
      [500, 0],
    ],
    [
      "four candidates are tried at most",
      Array<Send>(5).fill(answersStatus(500)),
      "upstream_unavailable",
      [500, 500, 500, 500],
    ],
  ])("%s", async (_name, sends, outcome, statuses) => {
    const { answer, recorded } = await forwardTo({ sends });
    expect(nameOf(answer.outcome)).toBe(outcome);
    expect(answer.attempts.map(({ status }) => status)).toEqual([...statuses]);
    expect(recorded.running).toBe(0);
  });

  test.each<[name: string, sends: readonly Send[], outcome: string, chunks: string, attempts: number]>([
    [
      "a stream that breaks before its output moves on",
      [async () => streamed([BROKEN]), async () => streamed(STREAM)],
      "finished",
      "Hi there",
      2,
    ],
    [
      "a stream that breaks after its output is final",
      [async () => streamed([...STREAM.slice(0, 3), BROKEN]), answersWhole],
      "upstream_unavailable",
      "Hi",
      1,
    ],
  ])("%s", async (_name, sends, outcome, text, attempts) => {
    const { answer, sent } = await forwardTo({ ...STREAMED, sends });
    expect(nameOf(answer.outcome)).toBe(outcome);
    const texts = sent.chunks.join("").matchAll(/"text_delta","text":"([^"]*)"/g);
    expect([...texts].map(([, delta]) => delta).join("")).toBe(text);
    expect(answer.attempts).toHaveLength(attempts);
  });

  test("a connection that finds no open file is refused with retry-after, and blames no upstream", async () => {
    const lacksFiles = () => Promise.reject(Object.assign(new Error("EMFILE"), { code: "EMFILE" }));
    const { answer, upstreams } = await forwardTo({ sends: Array<Send>(2).fill(lacksFiles) });
    expect(answer.outcome).toMatchObject({ error: { kind: "too_many_files", retryAfterS: 1 } });
    expect(answer.attempts).toHaveLength(2);
    for (const { keys } of upstreams) {
      expect(keys[0]?.health.status()).toMatchObject({ state: "closed", failures: 0 });
    }
  });

  test("a name that is not found while files are short is no fault of the upstream either", async () => {
    const files = { max: 256, room: () => 0 };
    const { answer } = await forwardTo({ sends: [refusesConnections], parts: { files } });
    expect(nameOf(answer.outcome)).toBe("too_many_files");
  });

  test.each<[name: string, options: ForwardOptions, outcome: Outcome["kind"]]>([
    ["a client that disconnected", { reply: { signal: AbortSignal.abort() } }, "client_disconnected"],
    [
      "a caller whose key was revoked",
      { caller: { ...LASTING_CALLER, aborted: true, ended: new GatewayError("key_revoked") } },
      "revoked",
    ],
    ["a process that shuts down", { parts: { shutdown: AbortSignal.abort() } }, "failed"],
  ])("%s ends the request before any attempt", async (_name, options, outcome) => {
    const { answer } = await forwardTo({ sends: [answersWhole], ...options });
    expect(answer).toMatchObject({ outcome: { kind: outcome }, attempts: [] });
  });

  test("an output limit that is not the client's own is named in a header", async () => {
    const own = await forwardTo({ sends: [answersWhole] });
    expect(own.sent.headers).not.toHaveProperty("x-tollgate-max-tokens");
    const ours = await forwardTo({ sends: [answersWhole], request: { outputTokensMax: undefined } });
    expect(ours.sent.headers).toHaveProperty(
      "x-tollgate-max-tokens",
      String(ours.held.quote.outputTokensMax),
    );
  });
});

describe("forward() never rejects", () => {
  const fails = (thrown: unknown) => () => {
    throw thrown;
  };
  const codecThatFails: Partial<HeldRequest> = brokenCodec();
  const failingMetrics: UpstreamMetrics = {
    attempted: fails(BROKEN),
    circuit: fails(BROKEN),
    keyCircuit: fails(BROKEN),
    running: fails(BROKEN),
    aboveBound: fails(BROKEN),
  };
  const { body } = createHeldRequest();

  test.each<[name: string, options: ForwardOptions, cause: string]>([
    ["when an upstream throws at once", { sends: [fails(BROKEN)] }, "upstream_unavailable"],
    ["when an upstream throws no error", { sends: [fails(undefined)] }, "upstream_unavailable"],
    ["when an upstream rejects with null", { sends: [() => Promise.reject(null)] }, "upstream_unavailable"],
    [
      "when an answer breaks",
      { ...STREAMED, sends: [async () => streamed([BROKEN])] },
      "upstream_unavailable",
    ],
    ["when an answer is no message", { sends: [async () => new Response("{")] }, "upstream_unavailable"],
    [
      "when an error body breaks",
      { sends: [async () => new Response(streamed([BROKEN]).body, { status: 400 })] },
      "rejected_by_upstream",
    ],
    [
      "when the codec throws",
      { ...STREAMED, sends: [async () => streamed(STREAM)], held: codecThatFails },
      "upstream_unavailable",
    ],
    [
      "when the body cannot be printed",
      { sends: [answersWhole], held: { body: { ...body, print: fails(BROKEN) } } },
      "internal",
    ],
    [
      "when the body is lost with its worker",
      { sends: [answersWhole], held: { body: { ...body, print: () => Promise.reject(BROKEN) } } },
      "internal",
    ],
    [
      "when the reply cannot be written",
      { ...STREAMED, sends: [async () => streamed(STREAM)], reply: { write: fails(BROKEN) } },
      "upstream_unavailable",
    ],
    [
      "when the reply cannot begin",
      { ...STREAMED, sends: [answersWhole], reply: { beginStream: fails(BROKEN) } },
      "internal",
    ],
    ["when the clock fails", { sends: [answersWhole], parts: { clock: fails(BROKEN) } }, "internal"],
    ["when the metrics fail", { sends: [answersWhole], parts: { metrics: failingMetrics } }, "internal"],
  ])("%s", async (_name, options, cause) => {
    const { answer } = await forwardTo(options);
    expect(nameOf(answer.outcome)).toBe(cause);
  });

  test("and ends the permit of every attempt", async () => {
    const { upstreams } = await forwardTo({ sends: Array<Send>(1).fill(fails(BROKEN)) });
    const [upstream] = upstreams;
    for (let left = 4; left > 0; left--) upstream?.keys[0].health.acquire()?.failed();
    expect(upstream?.keys[0].health.isOpen()).toBe(true);
  });

  /** A plan whose only candidate throws when an answer is read. */
  function brokenCodec(): Partial<HeldRequest> {
    const upstream = createUpstream("u0", {
      surfacesOf: () => ["messages"],
      send: async () => streamed(STREAM),
    });
    const { plan } = createHeldRequest({ ...STREAMED, upstreams: [upstream] });
    const candidates = plan.candidates.map((candidate) => ({
      ...candidate,
      codec: { ...candidate.codec, readStream: fails(BROKEN) },
    }));
    return { plan: { ...plan, candidates } };
  }
});
