import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { CHAT, dataOf, MESSAGES, objectOf, post, RESPONSES } from "../support/client.ts";
import { googleRecordings, hasRecordings, recording, recordings } from "../support/recordings.ts";
import { API_KEY, type ScriptedGoogle, startScriptedGoogle } from "../support/scripted-google.ts";
import { isObject, type Json } from "../support/strict-json.ts";
import {
  scriptedModel,
  scriptedRoute,
  scriptedUpstream,
  scriptedUpstreams,
  TEST_PRICE,
} from "../support/test-catalog.ts";
import { startTestGateway, type TestGateway } from "../support/test-gateway.ts";

const MODEL = "gemini-3-pro-preview";
const google = { server: undefined as ScriptedGoogle | undefined };
let gateway: TestGateway;
beforeAll(async () => {
  const server = startScriptedGoogle();
  google.server = server;
  const traits = { reasoning: "effort", sampling: true } as const;
  gateway = await startTestGateway({
    upstreams: (scripted) => [
      ...scriptedUpstreams(scripted),
      scriptedUpstream("gemini", "gemini", { baseUrl: `${server.url}/v1beta`, apiKey: API_KEY }),
    ],
    models: [
      scriptedModel("chat", "openai", { outputTokensDefault: 8_000 }),
      scriptedModel("claude", "anthropic", { outputTokensDefault: 8_000 }),
      scriptedModel("gem", "gemini", {
        outputTokensDefault: 8_000,
        routes: [scriptedRoute("gemini", MODEL, { traits })],
      }),
    ],
  });
});
afterAll(async () => {
  await gateway.stop();
  await google.server?.stop();
});

function ask(model: string, stream: boolean): Promise<Response> {
  const method = stream ? "streamGenerateContent?alt=sse" : "generateContent";
  return fetch(`${gateway.url}/v1beta/models/${model}:${method}`, {
    method: "POST",
    headers: { "x-goog-api-key": gateway.secret, "content-type": "application/json" },
    body: JSON.stringify({
      contents: [{ role: "user", parts: [{ text: "Say hello." }] }],
      generationConfig: { thinkingConfig: { includeThoughts: true } },
    }),
  });
}

/** The parts of all candidates, with thoughts and signatures. */
function partsOf(responses: readonly Json[]): readonly Json[] {
  return responses.flatMap(({ candidates }) =>
    ((candidates ?? []) as readonly Json[]).flatMap(({ content }) => Object(content).parts ?? []),
  );
}

function textOf(responses: readonly Json[]): string {
  const spoken = partsOf(responses).filter(({ thought }) => !thought);
  return spoken.map(({ text = "" }) => text).join("");
}

function callsOf(responses: readonly Json[]): readonly Json[] {
  return partsOf(responses).flatMap(({ functionCall: call }) => (isObject(call) ? [call] : []));
}

/** What the last reported usage costs at the test price. */
function costOf(responses: readonly Json[]): bigint {
  const usage: Json = Object(responses.findLast(({ usageMetadata }) => usageMetadata)?.usageMetadata);
  const count = (name: string) => BigInt(Number(usage[name] ?? 0));
  const cached = count("cachedContentTokenCount");
  const input = count("promptTokenCount") - cached;
  const output = count("totalTokenCount") - count("promptTokenCount");
  const picos = input * TEST_PRICE.input + cached * TEST_PRICE.cachedInput + output * TEST_PRICE.output;
  return (picos + 999n) / 1_000n;
}

const GOOGLE = googleRecordings();

describe.skipIf(GOOGLE.length === 0)("a recorded answer of Gemini", () => {
  const play = ({ whole, lines }: (typeof GOOGLE)[number]) =>
    google.server?.on(MODEL, (_call, isStream) =>
      isStream
        ? new Response(lines.map((line) => `data: ${line}\r\n\r\n`).join(""), {
            headers: { "content-type": "text/event-stream" },
          })
        : new Response(whole, { headers: { "content-type": "application/json" } }),
    );

  test.each(GOOGLE)(
    "$name returns to Gemini's form as it came, apart from the model's name",
    async (each) => {
      play(each);
      const renamed = (response: Json) => ({ ...response, modelVersion: "gem" });
      const whole = await ask("gem", false);
      expect(await objectOf(whole.clone())).toEqual(renamed(JSON.parse(each.whole)));
      const events = await ask("gem", true);
      expect(await dataOf(events.clone())).toEqual(each.lines.map((line) => renamed(JSON.parse(line))));
      const streamed = each.lines.map((line): Json => JSON.parse(line));
      expect((await gateway.receiptOf(whole)).captured).toBe(costOf([JSON.parse(each.whole)]));
      expect((await gateway.receiptOf(events)).captured).toBe(costOf(streamed));
    },
  );

  test.each(GOOGLE)("$name has its text and calls in every other form, at one cost", async (each) => {
    play(each);
    const original: Json = JSON.parse(each.whole);
    for (const surface of [CHAT, MESSAGES, RESPONSES]) {
      const response = await post(gateway, surface, { model: "gem", max_tokens: 8_000 });
      const text = await response.clone().text();
      for (const word of textOf([original]).split(/[\s"\\]+/)) expect(text).toContain(word);
      for (const { name } of callsOf([original])) expect(text).toContain(`"name":"${name}"`);
      expect((await gateway.receiptOf(response)).captured).toBe(costOf([original]));
    }
  });
});

describe.skipIf(!hasRecordings)("a recorded answer of another provider", () => {
  test.each([...recordings("whole"), ...recordings("streamed")])(
    "$name ends in Gemini's form, whole or streamed as it came, and is charged as reported",
    async ({ name, protocol }) => {
      const isStream = recordings("streamed").some((each) => each.name === name);
      const model = protocol === "openai" ? "chat" : "claude";
      gateway.upstream.on(model, recording(name));
      const response = await ask(model, isStream);
      const responses = isStream ? await dataOf(response.clone()) : [await objectOf(response.clone())];
      const { outcome } = await gateway.receiptOf(response);
      // Some recordings have nothing to read.
      if (response.status !== 200) return expect(outcome?.outcome).toBe("empty_completion");
      expect(outcome).toMatchObject({ outcome: "ok", source: "reported" });
      expect(responses.at(-1)).toMatchObject({
        candidates: [{ finishReason: expect.any(String) }],
        modelVersion: model,
      });
      expect(textOf(responses) !== "" || callsOf(responses).length > 0).toBe(true);
    },
  );
});
