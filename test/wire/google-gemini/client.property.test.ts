import { describe, expect, test } from "bun:test";
import { GatewayError } from "../../../src/errors.ts";
import type { PrintOptions } from "../../../src/wire/format.ts";
import { findFormatPair } from "../../../src/wire/format-pair.ts";
import { printRequest } from "../../../src/wire/google-gemini/egress/print-request.ts";
import { googleGemini } from "../../../src/wire/google-gemini/format.ts";
import { readChatRequest } from "../../../src/wire/google-gemini/ingress/read-request.ts";
import { isJsonObject } from "../../../src/wire/json/read.ts";
import type { ModelRequest } from "../../../src/wire/model-request.ts";
import { UpstreamFault } from "../../../src/wire/upstream-fault.ts";
import { drawHostile } from "../../fuzz/cases/hostile-values.ts";
import { mutateJson } from "../../fuzz/cases/mutate-json.ts";
import { createDraw, drawInteger, drawOne } from "../../support/seeded-random.ts";
import { GEMINI_REQUESTS, GEMINI_SNIPPETS } from "./client-requests.ts";

const OPTIONS: PrintOptions = {
  model: "gemini-2.5-flash",
  outputTokensMax: 500,
  outputLimitField: undefined,
  stream: true,
  traits: { reasoning: "effort", sampling: true },
};
const CASES = 800;
const REFUSALS: readonly string[] = [
  "not_json",
  "wrong_shape",
  "unpriced_field",
  "nothing_stored",
  "untranslatable",
];

function mutatedText(number: number): string {
  const draw = createDraw("gemini requests", number);
  let body: unknown = structuredClone(drawOne(draw, GEMINI_REQUESTS));
  const mutations = draw() < 0.1 ? 0 : drawInteger(draw, 1, 3);
  for (let each = 0; each < mutations; each += 1) body = mutateJson(draw, body, GEMINI_SNIPPETS);
  return JSON.stringify(isJsonObject(body) ? { ...body, model: "m", stream: draw() < 0.5 } : body) ?? "";
}

function unlessRefused<Result>(act: () => Result): Result | undefined {
  try {
    return act();
  } catch (error) {
    if (error instanceof GatewayError && REFUSALS.includes(error.kind)) return undefined;
    throw error;
  }
}

describe("requests of Google's clients", () => {
  test("are read and printed again without a change from the second time on", () => {
    const again = (text: string) => printRequest(readChatRequest(JSON.parse(text)), OPTIONS);
    let stable = 0;
    for (let number = 0; number < CASES; number += 1) {
      const text = mutatedText(number);
      const request = unlessRefused(() => googleGemini.parseRequest(text));
      const once = request && unlessRefused(() => printRequest(request.readChat(), OPTIONS));
      const twice = once && unlessRefused(() => again(once));
      if (!twice) continue;
      expect([number, unlessRefused(() => again(twice))]).toEqual([number, twice]);
      stable += 1;
    }
    expect(stable).toBeGreaterThan(CASES / 3);
  });

  test("are printed within their bounds for upstreams of every format, or refused by name", () => {
    let printed = 0;
    for (let number = 0; number < CASES; number += 1) {
      const request = unlessRefused(() => googleGemini.parseRequest(mutatedText(number)));
      if (!request) continue;
      for (const surface of ["gemini", "chat", "messages", "responses", "converse"] as const) {
        const session = unlessRefused(() =>
          findFormatPair(googleGemini, [surface])?.begin(request, request.readChat),
        );
        if (!session) continue;
        const text = session.printUpstreamRequest(OPTIONS);
        if (surface === "gemini") expectBounded(JSON.parse(text), request);
        printed += 1;
      }
    }
    expect(printed).toBeGreaterThan(CASES);
  });
});

/** An upstream that takes either spelling must not find more output than was held. */
function expectBounded(
  body: Record<string, unknown>,
  { choices, tools }: Pick<ModelRequest, "choices" | "tools">,
): void {
  expect(Object.keys(body)).not.toContain("model");
  const configs = Object.entries(body).filter(([name]) => fold(name) === "generationconfig");
  expect(configs).toHaveLength(1);
  const [[, config] = []] = configs;
  const valuesOf = (folded: string) =>
    Object.entries(Object(config)).flatMap(([name, value]) => (fold(name) === folded ? [value] : []));
  expect(valuesOf("maxoutputtokens")).toEqual([OPTIONS.outputTokensMax]);
  for (const count of valuesOf("candidatecount")) expect(Number(count) || 1).toBe(choices);
  // A search is sent where its fee is held.
  const unpriced = tools ? /execution/i : /search|execution/i;
  for (const tool of [body.tools].flat())
    expect(Object.keys(tool ?? {}).filter((key) => unpriced.test(key))).toEqual([]);
}

function fold(name: string): string {
  return name.replaceAll("_", "").toLowerCase();
}

describe("answers of Gemini's", () => {
  const ANSWER = {
    candidates: [
      {
        content: {
          role: "model",
          parts: [
            { text: "Hm.", thought: true },
            { text: "Hi" },
            { functionCall: { name: "f", args: { a: 1 } }, thoughtSignature: "c2ln" },
          ],
        },
        finishReason: "STOP",
        index: 0,
      },
    ],
    usageMetadata: { promptTokenCount: 7, candidatesTokenCount: 3, totalTokenCount: 10 },
    modelVersion: "theirs",
    responseId: "r",
  };
  const request = googleGemini.parseRequest('{"contents":[{"parts":[{"text":"hi"}]}],"model":"asked"}');

  test("pass with the client's name of the model, or are faults", () => {
    let passed = 0;
    for (let number = 0; number < CASES; number += 1) {
      const draw = createDraw("gemini answers", number);
      let body: unknown = structuredClone(ANSWER);
      for (let each = drawInteger(draw, 0, 2); each > 0; each -= 1)
        body = draw() < 0.2 ? drawHostile(draw) : mutateJson(draw, body, GEMINI_SNIPPETS);
      const text = JSON.stringify(body) ?? "";
      const whole = unlessFaulty(() => googleGemini.readWhole(request, text));
      const reader = googleGemini.readStream(request);
      const part = unlessFaulty(() => reader.read({ event: undefined, data: text }));
      expect(part !== undefined && reader.finished).toBe(whole !== undefined);
      if (!whole || !part) continue;
      expect(JSON.parse(whole.text).modelVersion ?? "asked").toBe("asked");
      expect(reader.ending()).toContain(whole.text);
      expect([part.usage, part.generated]).toEqual([whole.usage, whole.generated]);
      passed += 1;
    }
    expect(passed).toBeGreaterThan(CASES / 4);
  });
});

function unlessFaulty<Result>(act: () => Result): Result | undefined {
  try {
    return act();
  } catch (error) {
    if (error instanceof UpstreamFault) return undefined;
    throw error;
  }
}
