import { describe, expect, test } from "bun:test";
import { dataOf, MESSAGES, objectOf } from "../support/client.ts";
import {
  collectLines,
  FORMAT_PAIRS,
  type FormatPair,
  type ProviderAnswer,
  postTo,
  providerAnswerOf,
  readProviderAnswer,
  readReply,
  replay,
  TRANSLATED_PAIRS,
} from "../support/format-pairs/format-pair.ts";
import {
  type NeutralAnswer,
  nanosOf,
  neutralAnswer,
  SAMPLE_ANSWERS,
} from "../support/format-pairs/neutral-answer.ts";
import { gatewayForTests } from "../support/gateway-for-tests.ts";
import { hasRecordings, recordedBody, recordedLines, recordings } from "../support/recordings.ts";
import { gate } from "../support/script.ts";
import { frame } from "../support/scripted-answers.ts";
import { createDraw, drawInteger } from "../support/seeded-random.ts";

const gateway = gatewayForTests();

const SMALL_BYTES = 3_000;

/** Asks for reasoning, which translated messages contain only on request. */
const THINKING = { thinking: { type: "enabled", budget_tokens: 1_024 } };

describe.each(FORMAT_PAIRS)("a $surface.name client of an $upstream upstream", (pair) => {
  const originals = [...samplesFor(pair), ...recordingsFor(pair)];

  test.each(originals)("gets %s unchanged, streamed and whole", async (_name, original) => {
    const expected = readProviderAnswer(pair.upstream, original);
    for (const stream of [true, false]) {
      gateway.upstream.on(pair.model, replay(original));
      const response = await postTo(gateway, pair, { stream, ...thinkingOf(pair) });
      expect([stream, await readReply(response, pair)]).toEqual([stream, expected]);
      await expectCharge(response, expected);
    }
  });

  if (hasRecordings) {
    const wholes = recordings("whole").filter(({ protocol }) => protocol === pair.upstream);
    test.each(wholes)("gets the whole recording $name unchanged", async ({ name }) => {
      const original = { whole: JSON.parse(recordedBody(name)), lines: [] };
      gateway.upstream.on(pair.model, replay(original));
      const response = await postTo(gateway, pair, thinkingOf(pair));
      const expected = readProviderAnswer(pair.upstream, original);
      expect(await readReply(response, pair)).toEqual(expected);
      await expectCharge(response, expected);
    });
  }
});

describe.each(TRANSLATED_PAIRS)("a $surface.name client of an $upstream upstream", (pair) => {
  const originals = [...samplesFor(pair), ...recordingsFor(pair)];

  test.each(originals)("gets %s unchanged however the stream is cut into pieces", async (name, original) => {
    const expected = readProviderAnswer(pair.upstream, original);
    const size = sizeOf(pair, original);
    const draw = createDraw(name, pair.surface.name);
    const anywhere = () => [drawInteger(draw, 1, size - 1), Number.POSITIVE_INFINITY];
    for (const pieces of [anywhere(), anywhere(), size < SMALL_BYTES ? [7, 2] : [997]]) {
      const pauseMs = pieces.includes(Number.POSITIVE_INFINITY) ? 1 : 0;
      gateway.upstream.on(pair.model, replay(original, { pieces, pauseMs }));
      const response = await postTo(gateway, pair, { stream: true, ...thinkingOf(pair) });
      expect([pieces, await readReply(response, pair)]).toEqual([pieces, expected]);
    }
  });

  test.each(originals)("gets an error and never a finish when %s is cut off", async (name, original) => {
    const before = sizeBeforeFinish(pair, original);
    const draw = createDraw(name, pair.surface.name, "cut off");
    for (const cutAt of [drawInteger(draw, 0, before), drawInteger(draw, 0, before), before]) {
      const end = draw() < 0.5 ? "reset" : "close";
      gateway.upstream.on(pair.model, replay(original, { cutAt, end }));
      const response = await postTo(gateway, pair, { stream: true, ...thinkingOf(pair) });
      await expectFailure(response, [cutAt, end]);
    }
    await gateway.nothingIsHeld();
  });
});

describe("a translated stream", () => {
  test.each(TRANSLATED_PAIRS)("of $upstream reaches a $surface.name client word by word", async (pair) => {
    const { opened, open } = gate();
    const original = providerAnswerOf(pair.upstream, neutralAnswer({ text: "First and second." }));
    const { lines } = original;
    const secondAt = lines.findIndex((line) => line.includes(" and"));
    const bytes = sizeOf(pair, { whole: {}, lines: lines.slice(0, secondAt) });
    const end = pair.upstream === "openai" ? "data: [DONE]\n\n".length : 0;
    gateway.upstream.on(pair.model, replay(original, { pauseAt: { bytes: bytes - end, gate: opened } }));
    const response = await postTo(gateway, pair, { stream: true });
    const reader = response.body?.pipeThrough(new TextDecoderStream()).getReader();
    let received = "";
    while (!received.includes("First")) received += (await reader?.read())?.value ?? "";
    expect(received).not.toContain("second");
    open();
    for (let chunk = await reader?.read(); chunk && !chunk.done; chunk = await reader?.read())
      received += chunk.value;
    expect(received).toContain("secon");
  });

  test("contains no reasoning for a messages client that did not ask for it", async () => {
    const pair = TRANSLATED_PAIRS.find(({ surface }) => surface === MESSAGES);
    if (!pair) throw new Error("No pair translates for a messages client");
    const answers = neutralAnswer({ reasoning: "Hm, let me see.", text: "It is 2." });
    gateway.upstream.on(pair.model, replay(providerAnswerOf(pair.upstream, answers)));
    for (const stream of [true, false]) {
      const silent = { thinking: { type: "adaptive", display: "omitted" } };
      for (const more of [{}, { thinking: { type: "disabled" } }, silent]) {
        const received = await readReply(await postTo(gateway, pair, { stream, ...more }), pair);
        expect(received).toEqual({ ...answers, reasoning: "" });
      }
    }
  });
});

/** The sample answers in the format of the upstream. */
function samplesFor({ upstream }: FormatPair): (readonly [name: string, original: ProviderAnswer])[] {
  return Object.entries(SAMPLE_ANSWERS).map(([name, sample]) => [name, providerAnswerOf(upstream, sample)]);
}

/** Recorded streams of the upstream's provider, with the whole answers that they merge to. */
function recordingsFor({ upstream }: FormatPair): (readonly [name: string, original: ProviderAnswer])[] {
  return recordings("streamed")
    .filter(({ protocol }) => protocol === upstream)
    .map(({ name }) => [name, collectLines(upstream, recordedLines(name))]);
}

function thinkingOf({ surface }: FormatPair): Record<string, unknown> {
  return surface.name === "messages" ? THINKING : {};
}

function sizeOf({ upstream }: FormatPair, { lines }: ProviderAnswer): number {
  return Buffer.byteLength(frame(upstream, lines));
}

/** Number of bytes before the event with the finish reason. */
function sizeBeforeFinish(pair: FormatPair, { lines }: ProviderAnswer): number {
  const finishAt = lines.findIndex((line) => /"(finish_reason|stop_reason)":\s?"/.test(line));
  const end = pair.upstream === "openai" ? "data: [DONE]\n\n".length : 0;
  return sizeOf(pair, { whole: {}, lines: lines.slice(0, finishAt) }) - end;
}

async function expectCharge(response: Response, { usage }: NeutralAnswer): Promise<void> {
  if (!usage) throw new Error("Every answer here reports its usage");
  const { captured, outcome } = await gateway.receiptOf(response);
  expect(outcome).toMatchObject({
    outcome: "ok",
    source: "reported",
    usage: {
      inputTokens: usage.input,
      cachedInputTokens: usage.cached,
      cacheWriteTokens: usage.written,
      outputTokens: usage.output,
    },
  });
  expect(captured).toBe(nanosOf(usage));
}

/** Expects an error status before any output, or an error as the last event of a stream without a finish. */
async function expectFailure(response: Response, where: readonly unknown[]): Promise<void> {
  const frames = response.status === 200 ? await dataOf(response) : [await objectOf(response)];
  expect([where, frames.at(-1)]).toEqual([where, expect.objectContaining({ error: expect.anything() })]);
  expect(frames.filter(isFinish)).toEqual([]);
  const { captured, outcome } = await gateway.receiptOf(response);
  expect([where, outcome?.outcome]).toEqual([where, "upstream_unavailable"]);
  if (response.status === 200) expect(outcome?.source).toBe("estimated");
  else expect([where, response.status, captured]).toEqual([where, 502, 0n]);
}

function isFinish(data: Record<string, unknown>): boolean {
  return /"(finish_reason|stop_reason)":"|message_stop/.test(JSON.stringify(data));
}
