import { describe, expect, test } from "bun:test";
import type { TSchema } from "@sinclair/typebox";
import { Value } from "@sinclair/typebox/value";
import { dataOf, objectOf, post, RESPONSES } from "../support/client.ts";
import { gatewayForTests } from "../support/gateway-for-tests.ts";
import type { ModelOutput } from "../support/model-output.ts";
import { answerWith } from "../support/scripted-answers.ts";
import { RESPONSE_RESOURCE, schemaOfEvent } from "./open-responses-schemas.ts";

// The seven cases of the public compliance suite of Open Responses keep their names.

const gateway = gatewayForTests();

const USAGE = { input: 11, output: 7 };
const WEATHER: ModelOutput = {
  tool: { name: "get_weather", arguments: '{"location":"San Francisco, CA"}' },
  usage: USAGE,
};
const TOOLS = [
  {
    type: "function",
    name: "get_weather",
    description: "Get the current weather for a location",
    parameters: {
      type: "object",
      properties: { location: { type: "string", description: "The city and state" } },
      required: ["location"],
    },
  },
];
const PNG =
  "data:image/png;base64,iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==";

const message = (content: unknown, role = "user") => ({ type: "message", role, content });

/** Lists where and how a value violates a schema. */
function faultsOf(schema: TSchema | undefined, value: unknown): string[] {
  if (!schema) return ["There is no such thing"];
  return [...Value.Errors(schema, value)].map(({ path, message }) => `${path}: ${message}`);
}

describe.each(["chat", "claude"])("Open Responses with the model %s:", (model) => {
  const ask = async (body: Record<string, unknown>) => {
    const response = await objectOf(await post(gateway, RESPONSES, { model, ...body }));
    expect(faultsOf(RESPONSE_RESOURCE, response)).toEqual([]);
    return response;
  };

  const stream = async (body: Record<string, unknown>) => {
    const events = await dataOf(await post(gateway, RESPONSES, { model, stream: true, ...body }));
    for (const event of events) {
      expect([event.type, faultsOf(schemaOfEvent(event.type), event)]).toEqual([event.type, []]);
    }
    return events;
  };

  const upstreamSaw = () => gateway.upstream.seen.at(-1)?.bodyText ?? "";

  test("basic-response", async () => {
    const response = await ask({ input: [message("Say hello in exactly 3 words.")] });
    expect(response.output).not.toBeEmpty();
    expect(response.status).toBe("completed");
  });

  test("streaming-response", async () => {
    const events = await stream({ input: [message("Count from 1 to 5.")] });
    expect(events.at(-1)).toMatchObject({ type: "response.completed", response: { status: "completed" } });
  });

  test("system-prompt", async () => {
    const input = [message("You are a pirate.", "system"), message("Say hello.")];
    const response = await ask({ input });
    expect(response.output).not.toBeEmpty();
    expect(response.status).toBe("completed");
    expect(upstreamSaw()).toContain("You are a pirate.");
  });

  test("tool-calling", async () => {
    gateway.upstream.on(model, answerWith(WEATHER));
    const { output } = await ask({ input: [message("What is the weather in San Francisco?")], tools: TOOLS });
    expect(output).toMatchObject([{ type: "function_call", name: "get_weather" }]);
  });

  test("tool-calling-streaming", async () => {
    gateway.upstream.on(model, answerWith(WEATHER));
    const events = await stream({ input: [message("What is the weather?")], tools: TOOLS });
    const types = events.map(({ type, item }) =>
      typeof item === "object" && item !== null && "type" in item ? `${type} ${item.type}` : type,
    );
    expect(types).toContain("response.output_item.added function_call");
    expect(types).toContain("response.function_call_arguments.delta");
    expect(types).toContain("response.function_call_arguments.done");
    expect(types).toContain("response.output_item.done function_call");
  });

  test("image-input", async () => {
    const content = [
      { type: "input_text", text: "What do you see in this image?" },
      { type: "input_image", image_url: PNG },
    ];
    const response = await ask({ input: [message(content)] });
    expect(response.output).not.toBeEmpty();
    expect(response.status).toBe("completed");
    expect(upstreamSaw()).toContain(PNG.slice(PNG.indexOf(",") + 1));
  });

  test("multi-turn", async () => {
    const input = [
      message("My name is Alice."),
      message("Hello Alice! Nice to meet you.", "assistant"),
      message("What is my name?"),
    ];
    const response = await ask({ input });
    expect(response.output).not.toBeEmpty();
    expect(response.status).toBe("completed");
    expect(upstreamSaw()).toContain("Nice to meet you.");
  });

  test("every request field is echoed in a valid form, and reasoning is valid", async () => {
    gateway.upstream.on(model, answerWith({ ...WEATHER, reasoning: "Hm.", text: "I look." }));
    const body = {
      instructions: "Be brief.",
      tools: TOOLS,
      tool_choice: { type: "function", name: "get_weather" },
      reasoning: { effort: "low", summary: "auto" },
      include: ["reasoning.encrypted_content"],
      text: { format: { type: "json_schema", name: "a", schema: { type: "object" } }, verbosity: "low" },
      metadata: { a: "b" },
      temperature: 0.3,
      top_p: 0.9,
      max_output_tokens: 100,
      truncation: "auto",
      user: "u",
    };
    expect((await ask(body)).output).toMatchObject([
      { type: "reasoning" },
      { type: "message" },
      { type: "function_call" },
    ]);
    expect((await stream(body)).at(-1)?.type).toBe("response.completed");
  });

  test("incomplete and failed responses are valid", async () => {
    gateway.upstream.on(
      model,
      answerWith({ text: "I", usage: USAGE, finish: model === "chat" ? "length" : "max_tokens" }),
    );
    expect((await stream({})).at(-1)?.type).toBe("response.incomplete");
    gateway.upstream.on(model, answerWith(undefined, { cutAt: 800, end: "close", lingerMs: 1_000 }));
    expect((await stream({})).at(-1)?.type).toBe("response.failed");
    const { secret } = await gateway.newPayer("0");
    expect((await stream({ secret })).at(-1)?.type).toBe("response.failed");
  });
});

test("the schemas find missing and wrong members", () => {
  expect(faultsOf(RESPONSE_RESOURCE, { object: "response" })).not.toBeEmpty();
  expect(
    faultsOf(schemaOfEvent("response.output_text.delta"), { type: "response.output_text.delta" }),
  ).not.toBeEmpty();
  expect(schemaOfEvent("response.canary")).toBeUndefined();
});
