import { afterAll, describe, expect, test } from "bun:test";
import { type Bodies, createBodies } from "../../src/bodies/bodies.ts";
import { createCooperativeYield } from "../../src/bodies/cooperative-yield.ts";
import type { PlanQuestion, Printed } from "../../src/bodies/open-body.ts";
import type { Surface } from "../../src/domain/model.ts";
import { GatewayError } from "../../src/errors.ts";
import { findFormatPair } from "../../src/wire/format-pair.ts";
import { WIRES } from "../../src/wire/registry.ts";
import { UpstreamFault } from "../../src/wire/upstream-fault.ts";
import { answerOf } from "../fuzz/cases/fuzz-answer.ts";
import { caseOf, TRAITS } from "../fuzz/cases/fuzz-case.ts";
import { type CaseId, stepsOf } from "../fuzz/cases/steps.ts";
import { CHAT_REQUESTS } from "../fuzz/seeds/chat-requests.ts";
import { MESSAGES_REQUESTS } from "../fuzz/seeds/messages-requests.ts";
import { RESPONSES_REQUESTS } from "../fuzz/seeds/responses-requests.ts";
import { drawInteger, drawOne } from "../support/seeded-random.ts";

const CASES = 400;
const OWNER = "account";
const TARGETS: readonly Surface[] = ["chat", "messages", "responses", "embeddings"];
const SEEDS = { chat: CHAT_REQUESTS, messages: MESSAGES_REQUESTS, responses: RESPONSES_REQUESTS };
const FORMATS = ["chat", "messages", "responses"] as const;
const HEAD = { id: "0190aaaa", createdAtS: 1_790_000_000, inputTokens: 11 };

const inProcess = createBodies(createCooperativeYield(), { inProcessBytesMax: Number.POSITIVE_INFINITY });
const inWorker = createBodies(createCooperativeYield(), { inProcessBytesMax: -1 });
afterAll(() => {
  inProcess.close();
  inWorker.close();
});

describe("the body worker and the main thread agree", () => {
  test("on the facts, plans, bodies, prompts and errors of mutated requests", async () => {
    const kinds = new Map<string, number>();
    for (let number = 0; number < CASES; number += 1) {
      const id = { seed: "bodies", number, without: new Set<string>() };
      const seen = await everythingOf(inProcess, id);
      expect([number, await everythingOf(inWorker, id)]).toEqual([number, seen]);
      const kind = String(seen.error ?? "read");
      kinds.set(kind, (kinds.get(kind) ?? 0) + 1);
    }
    // Enough requests are accepted, and others are declined for several reasons.
    expect(kinds.get("read")).toBeGreaterThan(CASES / 2);
    expect(kinds.size).toBeGreaterThan(4);
  });

  test("on parts and faults of mutated answers", async () => {
    const kinds = new Map<string, number>();
    for (let number = 0; number < CASES; number += 1) {
      const id = { seed: "answers", number, without: new Set<string>() };
      const seen = await answerFrom(inProcess, id);
      expect([number, await answerFrom(inWorker, id)]).toEqual([number, seen]);
      kinds.set(seen.kind, (kinds.get(seen.kind) ?? 0) + 1);
    }
    expect(kinds.get("part")).toBeGreaterThan(CASES / 10);
    expect(kinds.get("fault")).toBeGreaterThan(CASES / 10);
  });
});

/** Returns every answer about the body of a case, as plain values. */
async function everythingOf(bodies: Bodies, id: CaseId): Promise<Record<string, unknown>> {
  const { client, body: bytes } = caseOf(id);
  const wire = WIRES[client === "count_tokens" ? "messages" : client];
  const draw = stepsOf(id).draw("bodies");
  const questions = TARGETS.filter((target) => findFormatPair(wire, [target])).map(
    (surface): PlanQuestion => ({
      surface,
      options: [drawOne(draw, Object.values(TRAITS)), TRAITS.plain].map((traits) => ({
        model: "host-model",
        outputTokensMax: drawInteger(draw, 1, 64_000),
        outputLimitField: undefined,
        stream: false,
        traits,
      })),
    }),
  );
  try {
    const body = await bodies.read({ wire, owner: OWNER, blocks: blocksOf(bytes) });
    const {
      text: _,
      promptText: __,
      readChat: ___,
      readEchoedFields: ____,
      beginning: _____,
      ...facts
    } = { ...body.request } as Record<string, unknown>;
    const plans = (await body.plan(questions)).map((plan) => {
      if ("untranslatable" in plan) return describeError(plan.untranslatable);
      const { request: _, ...context } = plan.context;
      return { textBytes: plan.textBytes, context };
    });
    const printed: unknown[] = [];
    for (const { surface, options } of questions) {
      for (const each of options)
        printed.push(await outcomeOf(async () => textOf(await body.print(surface, each))));
    }
    const count = await outcomeOf(async () => textOf(await body.printCount({ model: "host-model" })));
    const beginning = body.beginning();
    return {
      facts,
      beginning,
      plans,
      printed,
      count,
      prompt: await outcomeOf(async () => body.promptText()),
    };
  } catch (error) {
    return { error: describeError(error) };
  }
}

async function answerFrom(bodies: Bodies, id: CaseId) {
  const draw = stepsOf(id).draw("answer");
  const [client, format] = [drawOne(draw, FORMATS), drawOne(draw, FORMATS)];
  const wire = WIRES[client];
  const request = wire.parseRequest(
    JSON.stringify({ ...drawOne(draw, SEEDS[client].slice(0, 4)), stream: false }),
  );
  const exchange = findFormatPair(wire, [format]);
  const outcome = await outcomeOf(async () => {
    const reader = exchange?.begin(request, request.readChat);
    if (!reader) throw new GatewayError("not_built");
    const { answer } = answerOf(id, { format, stream: false, choices: 1, call: 0 });
    const blocks = blocksOf(Buffer.from(answer.body));
    const { unrepresentable, ...part } = await bodies.readAnswer({
      reader,
      client: wire,
      owner: OWNER,
      head: HEAD,
      blocks,
    });
    return { part, unrepresentable: unrepresentable && describeError(unrepresentable) };
  });
  return { kind: "value" in outcome ? "part" : "fault", outcome };
}

async function outcomeOf<Value>(act: () => Promise<Value>) {
  try {
    return { value: await act() };
  } catch (thrown) {
    return { thrown: describeError(thrown) };
  }
}

/** Formats all that a client, a log or the gateway can read from an error. */
function describeError(error: unknown): string {
  if (error instanceof GatewayError) return `${error.kind}: ${error.publicMessage} ${error.retryAfterS}`;
  if (error instanceof UpstreamFault) return `fault: ${error.message} ${JSON.stringify(error.promptTooLong)}`;
  return error instanceof Error ? `${error.name}: ${error.message}` : "not an error";
}

/** Cuts bytes into two blocks, possibly within a character. */
function blocksOf(bytes: Buffer): readonly Uint8Array[] {
  const middle = bytes.byteLength >> 1;
  return [bytes.subarray(0, middle), bytes.subarray(middle)].map((part) => new Uint8Array(part));
}

function textOf(printed: Printed): string {
  return typeof printed === "string" ? printed : Buffer.concat(printed).toString();
}
