import { describe, expect, test } from "bun:test";
import Anthropic from "@anthropic-ai/sdk";
import { betaTool } from "@anthropic-ai/sdk/helpers/beta/json-schema";
import { rejectionOf } from "../support/counting-fetch.ts";
import { answerNeutrally } from "../support/format-pairs/format-pair.ts";
import { neutralAnswer } from "../support/format-pairs/neutral-answer.ts";
import { type Json, listAt, objectAt } from "../support/strict-json.ts";
import { CLAUDE, GPT, translatingGateway } from "./translating-gateway.ts";

const { upstream, settings } = translatingGateway();

const QUESTION = { role: "user" as const, content: "Oslo, then Rome?" };
const oslo = { id: "call_oslo_1", name: "get_weather", input: { city: "Oslo" } };
const rome = { id: "call_rome_2", name: "get_weather", input: { city: "Rome" } };
const callsFor = (call: typeof oslo) =>
  neutralAnswer({ text: "I will look.", calls: [call], finish: "tool_calls" });
const answers = neutralAnswer({ text: "It rains in both." });

const getWeather = betaTool({
  name: "get_weather",
  description: "The weather of a city.",
  inputSchema: { type: "object", properties: { city: { type: "string" } }, required: ["city"] },
  run: ({ city }) => `rain in ${city}`,
});

/** An SDK client, and the status of each of its requests. */
function createClient() {
  const statuses: number[] = [];
  const counting = async (...call: Parameters<typeof fetch>) => {
    const response = await fetch(...call);
    statuses.push(response.status);
    return response;
  };
  const { baseURL, apiKey } = settings();
  const client = new Anthropic({
    baseURL: baseURL.replace("/v1", ""),
    apiKey,
    maxRetries: 0,
    fetch: counting,
  });
  return { client, statuses };
}

const seenBodies = (): Json[] =>
  upstream().seen.map(({ bodyText }) => objectAt(JSON.parse(bodyText), "a body"));
const messagesSeen = () => seenBodies().map(({ messages }) => listAt(messages).length);

describe.each([
  ["OpenAI", GPT, [1, 3, 5]],
  ["Anthropic", CLAUDE, [1, 3, 5]],
])("the tool runner of Anthropic's SDK with an upstream of %s", (_name, model, lengths) => {
  const params = { model, max_tokens: 1_000, messages: [QUESTION], tools: [getWeather] };

  test("ends its loop with whole answers, each requested with the whole conversation", async () => {
    const { client, statuses } = createClient();
    upstream().on(
      model,
      answerNeutrally(callsFor(oslo)),
      answerNeutrally(callsFor(rome)),
      answerNeutrally(answers),
    );
    const message = await client.beta.messages.toolRunner(params);
    expect(message.content).toMatchObject([{ type: "text", text: answers.text }]);
    expect(messagesSeen()).toEqual(lengths);
    expect(statuses).toEqual([200, 400, 200, 400, 200]);
    for (const body of seenBodies()) expect(body).not.toHaveProperty("thread");
  });

  test("ends its loop with streamed answers, each requested with the whole conversation", async () => {
    const { client, statuses } = createClient();
    upstream().on(
      model,
      answerNeutrally(callsFor(oslo)),
      answerNeutrally(callsFor(rome)),
      answerNeutrally(answers),
    );
    const texts: string[] = [];
    for await (const stream of client.beta.messages.toolRunner({ ...params, stream: true })) {
      const { content } = await stream.finalMessage();
      texts.push(content.map((block) => (block.type === "text" ? block.text : "")).join(""));
    }
    expect(texts).toEqual(["I will look.", "I will look.", answers.text]);
    expect(messagesSeen()).toEqual(lengths);
    expect(statuses).toEqual([200, 400, 200, 400, 200]);
    for (const body of seenBodies()) expect(body).not.toHaveProperty("thread");
  });

  test("sends one request for each answer when threads are off", async () => {
    const { client, statuses } = createClient();
    upstream().on(model, answerNeutrally(callsFor(oslo)), answerNeutrally(answers));
    await client.beta.messages.toolRunner({ ...params, thread: false });
    expect(statuses).toEqual([200, 200]);
  });

  test("continues a thread by sending every turn whole", async () => {
    const { client } = createClient();
    upstream().on(model, answerNeutrally(answers), answerNeutrally(answers), answerNeutrally(answers));
    const thread = client.beta.messages.thread({ model, max_tokens: 1_000, system: "Be brief." });
    for (const content of ["One?", "Two?", "Three?"]) {
      const reply = await thread.send({ role: "user", content });
      expect(reply.content).toMatchObject([{ text: answers.text }]);
    }
    expect(seenBodies().map((body) => JSON.stringify(body).includes("Be brief."))).toEqual([
      true,
      true,
      true,
    ]);
    expect(JSON.stringify(seenBodies().at(-1))).toContain("One?");
  });
});

describe("a continued thread", () => {
  const thread = { type: "continue" as const, previous_message_id: "msg_of_somebody" };
  const request = { model: CLAUDE, max_tokens: 100, messages: [QUESTION], thread };

  test("is answered with thread_not_found for a client with the threads beta", async () => {
    const { client } = createClient();
    const betas = ["message-threads-2026-08-12"];
    const error = await rejectionOf(client.beta.messages.create({ ...request, betas }));
    expect(error).toMatchObject({
      status: 400,
      type: "invalid_request_error",
      errorCode: "thread_not_found",
    });
    expect(upstream().seen).toHaveLength(0);
  });

  test("is answered with the usual code for every other client", async () => {
    const { client } = createClient();
    const error = await rejectionOf(client.beta.messages.create(request));
    expect(error).toMatchObject({ status: 400, type: "invalid_request_error", errorCode: "invalid_request" });
    expect(upstream().seen).toHaveLength(0);
  });
});
