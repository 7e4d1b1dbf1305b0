import { afterAll, beforeAll, beforeEach, describe, expect, test } from "bun:test";
import { ApiError, type Content, FunctionCallingConfigMode, GoogleGenAI } from "@google/genai";
import { HumanMessage } from "@langchain/core/messages";
import { tool } from "@langchain/core/tools";
import { ChatGoogleGenerativeAI, GoogleGenerativeAIEmbeddings } from "@langchain/google-genai";
import { answerEmbeddings, answerWith } from "../support/scripted-answers.ts";
import {
  API_KEY,
  chunkOf,
  type ScriptedGoogle,
  startScriptedGoogle,
  USAGE,
} from "../support/scripted-google.ts";
import {
  scriptedModel,
  scriptedRoute,
  scriptedUpstream,
  scriptedUpstreams,
} from "../support/test-catalog.ts";
import { startTestGateway, type TestGateway } from "../support/test-gateway.ts";

const MODEL = "gemini-3-flash-preview";
const SIGNATURE = "c2lnbmF0dXJlLW9mLXRob3VnaHRz";
const ANSWER = "It rains in Oslo.";
const MODELS = ["chat", "claude", "gemini"];

let google: ScriptedGoogle;
let gateway: TestGateway;
beforeAll(async () => {
  google = startScriptedGoogle();
  const routeTo = (upstream: string, model: string, reasoning: "effort" | "adaptive") => ({
    routes: [scriptedRoute(upstream, model, { traits: { reasoning, sampling: true } })],
  });
  gateway = await startTestGateway({
    upstreams: (scripted) => [
      ...scriptedUpstreams(scripted),
      scriptedUpstream("gemini", "gemini", { baseUrl: `${google.url}/v1beta`, apiKey: API_KEY }),
    ],
    models: [
      scriptedModel("chat", "openai"),
      scriptedModel("claude", "anthropic", routeTo("scripted-anthropic", "claude", "adaptive")),
      scriptedModel("gemini", "gemini", routeTo("gemini", MODEL, "effort")),
      scriptedModel("embed", "openai", { outputTokensMax: 0, outputTokensDefault: 0 }),
    ],
  });
});
beforeEach(() => {
  google.reset();
  gateway.upstream.on("embed", answerEmbeddings());
  const oslo = { functionCall: { name: "get_weather", args: { city: "Oslo" } } };
  const call = { name: "get_weather", arguments: '{"city":"Oslo"}' };
  const usage = { input: 5, output: 9 };
  for (const model of ["chat", "claude"]) {
    let calls = 0;
    gateway.upstream.on(model, (request) => {
      calls += 1;
      const output =
        calls === 1 ? { reasoning: "Where?", text: "I look.", tool: call, usage } : { text: ANSWER, usage };
      return answerWith(output)(request);
    });
  }
  google.on(
    MODEL,
    [
      chunkOf([{ text: "Where?", thought: true }]),
      chunkOf([{ text: "I look." }]),
      chunkOf([{ ...oslo, thoughtSignature: SIGNATURE }]),
      chunkOf([], { usageMetadata: USAGE }, "STOP"),
    ],
    [chunkOf([{ text: "It rains " }]), chunkOf([{ text: "in Oslo." }], { usageMetadata: USAGE }, "STOP")],
  );
});
afterAll(async () => {
  await gateway.stop();
  await google.stop();
});

const clientOf = (apiKey = gateway.secret) =>
  new GoogleGenAI({ apiKey, httpOptions: { baseUrl: gateway.url, retryOptions: { attempts: 1 } } });
const declaration = {
  name: "get_weather",
  description: "The weather of a city",
  parametersJsonSchema: { type: "object", properties: { city: { type: "string" } }, required: ["city"] },
};
const config = {
  tools: [{ functionDeclarations: [declaration] }],
  toolConfig: { functionCallingConfig: { mode: FunctionCallingConfigMode.AUTO } },
  thinkingConfig: { includeThoughts: true },
  maxOutputTokens: 900,
};

/** Runs a loop with one tool, streamed, and returns the history and the last text. */
async function runLoop(model: string) {
  const { models } = clientOf();
  const contents: Content[] = [{ role: "user", parts: [{ text: "Oslo?" }] }];
  for (let turn = 0; turn < 3; turn += 1) {
    const parts: NonNullable<Content["parts"]> = [];
    let usage = 0;
    for await (const chunk of await models.generateContentStream({ model, contents, config })) {
      parts.push(...(chunk.candidates?.[0]?.content?.parts ?? []));
      usage = chunk.usageMetadata?.totalTokenCount ?? usage;
    }
    expect(usage).toBeGreaterThan(0);
    contents.push({ role: "model", parts });
    const calls = parts.flatMap(({ functionCall }) => (functionCall ? [functionCall] : []));
    if (calls.length === 0) {
      const text = parts.map((part) => (part.thought ? "" : (part.text ?? ""))).join("");
      return { contents, text };
    }
    const responses = calls.map(({ id, name, args }) => ({
      functionResponse: {
        ...(id && { id }),
        name: name ?? "",
        response: { output: `rain in ${args?.city}` },
      },
    }));
    contents.push({ role: "user", parts: responses });
  }
  throw new Error("The loop did not end");
}

describe.each(MODELS)("@google/genai with the model %s", (model) => {
  test("runs a loop of tools, streamed, with its reasoning brought back", async () => {
    const { contents, text } = await runLoop(model);
    expect(text).toBe(ANSWER);
    expect(contents[1]?.parts?.find(({ functionCall }) => functionCall)?.functionCall?.args).toEqual({
      city: "Oslo",
    });
    if (model === "gemini") {
      expect(google.refused).toEqual([]);
      expect(JSON.stringify(google.seen.at(-1)?.body)).toContain(`"thoughtSignature":"${SIGNATURE}"`);
    } else {
      const sent = gateway.upstream.seen.at(-1)?.bodyText ?? "";
      expect(sent).toContain("rain in Oslo");
      if (model === "claude") expect(sent).toContain('"signature":"c2lnbmF0dXJl"');
    }
  });

  test("gets a whole answer, a count and an abort", async () => {
    const { models } = clientOf();
    const whole = await models.generateContent({ model, contents: "Oslo?", config });
    expect(whole.functionCalls?.[0]).toMatchObject({ name: "get_weather", args: { city: "Oslo" } });
    const { totalTokens } = await models.countTokens({ model, contents: "Oslo?" });
    expect(totalTokens).toBeGreaterThan(0);
    const aborting = new AbortController();
    const stream = await models.generateContentStream({
      model,
      contents: "Oslo?",
      config: { abortSignal: aborting.signal },
    });
    aborting.abort();
    expect(Array.fromAsync(stream)).rejects.toThrow();
    await gateway.nothingIsHeld();
  });
});

describe("@google/genai", () => {
  test("reads models, embeddings and errors", async () => {
    const { models } = clientOf();
    const names: (string | undefined)[] = [];
    for await (const { name } of await models.list()) names.push(name);
    expect(names).toEqual(["models/chat", "models/claude", "models/gemini", "models/embed"]);
    expect((await models.get({ model: "chat" })).inputTokenLimit).toBe(200_000);
    const { embeddings } = await models.embedContent({ model: "embed", contents: ["a", "b"] });
    expect(embeddings?.map(({ values }) => values)).toEqual([
      [0.5, -0.25, 0.125],
      [0.5, -0.25, 0.125],
    ]);
    const refused = models.generateContent({ model: "none", contents: "hi" });
    const error = await refused.catch((thrown: unknown) => thrown);
    expect(error).toBeInstanceOf(ApiError);
    expect(error).toMatchObject({ status: 404, message: expect.stringContaining("model_not_found") });
  });

  test("throws when a stream breaks", async () => {
    google.on(MODEL, [chunkOf([{ text: "Hel" }])]);
    const stream = await clientOf().models.generateContentStream({ model: "gemini", contents: "hi" });
    expect(Array.fromAsync(stream)).rejects.toThrow("UNAVAILABLE");
  });
});

describe.each(MODELS)("@langchain/google-genai with the model %s", (model) => {
  const chat = () =>
    new ChatGoogleGenerativeAI({
      model,
      apiKey: gateway.secret,
      baseUrl: gateway.url,
      maxRetries: 0,
      maxOutputTokens: 900,
    });
  const weather = tool(({ city }) => `rain in ${city}`, {
    name: "get_weather",
    description: "The weather of a city",
    schema: declaration.parametersJsonSchema as never,
  });

  test("calls tools, whole and streamed", async () => {
    const bound = chat().bindTools([weather]);
    const whole = await bound.invoke([new HumanMessage("Oslo?")]);
    expect(whole.tool_calls).toMatchObject([{ name: "get_weather", args: { city: "Oslo" } }]);
    let text = "";
    for await (const chunk of await bound.stream([new HumanMessage("Oslo?")])) text += chunk.text;
    expect(text).toBe(ANSWER);
  });
});

test("@langchain/google-genai embeds texts", async () => {
  const embeddings = new GoogleGenerativeAIEmbeddings({
    model: "embed",
    apiKey: gateway.secret,
    baseUrl: gateway.url,
  });
  expect(await embeddings.embedDocuments(["a", "b"])).toEqual([
    [0.5, -0.25, 0.125],
    [0.5, -0.25, 0.125],
  ]);
});
