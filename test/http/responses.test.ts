import { describe, expect, test } from "bun:test";
import OpenAI from "openai";
import { type Cause, ERRORS } from "../../src/errors.ts";
import { dataOf, objectOf, post, RESPONSES } from "../support/client.ts";
import { expectError } from "../support/expect-error.ts";
import { gatewayForTests } from "../support/gateway-for-tests.ts";
import { HELLO, type ModelOutput } from "../support/model-output.ts";
import { answer, resetAtOnce, type Script } from "../support/script.ts";
import { answerWith, EVENT_STREAM, frame } from "../support/scripted-answers.ts";
import { responsesLines } from "../support/scripted-responses.ts";
import {
  scriptedModel,
  scriptedRoute,
  scriptedUpstream,
  scriptedUpstreams,
  TEST_PRICE,
} from "../support/test-catalog.ts";

const native = (id: string) =>
  scriptedModel(id, "openai", {
    routes: [
      scriptedRoute("native", `their-${id}`, { price: { ...TEST_PRICE, tools: { file_search: 0n } } }),
    ],
  });
const both = [
  scriptedRoute("native", "their-first"),
  scriptedRoute("scripted-anthropic", "their-second", { priority: 2 }),
];
const gateway = gatewayForTests({
  models: [
    scriptedModel("chat", "openai"),
    scriptedModel("claude", "anthropic"),
    native("native"),
    scriptedModel("both", "openai", { routes: both }),
  ],
  upstreams: (scripted) => [
    ...scriptedUpstreams(scripted),
    scriptedUpstream("native", "openai", { baseUrl: scripted.openaiUrl, hasResponses: true }),
  ],
});

const ask = (body: Record<string, unknown> = {}) => post(gateway, RESPONSES, body);
const seen = () => JSON.parse(gateway.upstream.seen.at(-1)?.bodyText ?? "{}");
const typesOf = (events: readonly Record<string, unknown>[]) => events.map(({ type }) => type);
const TOOL: ModelOutput = {
  tool: { name: "look_up", arguments: '{"city":"Oslo"}' },
  usage: { input: 11, output: 7 },
};
const TOOLS = [{ type: "function", name: "look_up", parameters: { type: "object", properties: {} } }];
/** 11 input tokens at 1,000 nano-USD and 7 output tokens at 2,000. */
const REPORTED = 25_000n;

describe.each(["chat", "claude"])("a compaction of Codex with the model %s", (model) => {
  const said = { type: "message", role: "user", content: "Build it." };
  const trigger = { type: "compaction_trigger" };

  test("is answered by one item, whole and streamed, which stands for the conversation", async () => {
    const body = { model, input: [said, trigger], tools: TOOLS, tool_choice: "auto" };
    const whole = await objectOf(await ask(body));
    const asked = JSON.stringify(seen());
    expect(asked).toContain("Build it.");
    expect(asked).toContain("Write that summary");
    expect(asked).not.toContain("compaction_trigger");
    expect(seen().tools).toHaveLength(1);
    const events = await dataOf(await ask({ ...body, stream: true }));
    const done = events.filter(({ type }) => type === "response.output_item.done");
    expect(done).toMatchObject([{ item: { type: "compaction", encrypted_content: expect.any(String) } }]);
    expect(events.at(-1)).toMatchObject({
      type: "response.completed",
      response: { output: [{ type: "compaction" }], usage: { input_tokens: 11, output_tokens: 7 } },
    });
    expect(whole).toMatchObject({ status: "completed", output: [{ type: "compaction" }] });

    for (const next of [model, "native"]) {
      const { output } = whole as { readonly output: readonly object[] };
      expect((await ask({ model: next, input: [...output, said] })).status).toBe(200);
      expect(JSON.stringify(seen())).toContain("Hello there, friend.");
      expect(JSON.stringify(seen())).not.toContain("tgc1_");
    }
  });

  test("of another provider cannot be read, and a trigger must be the last item", async () => {
    const foreign = { type: "compaction", encrypted_content: "gAAAA" };
    await expectError(await ask({ model, input: [foreign, said] }), RESPONSES, "untranslatable", {
      message: `${ERRORS.untranslatable.message.replace(/\.$/, "")}: input[0]`,
    });
    await expectError(await ask({ model, input: [trigger, said] }), RESPONSES, "wrong_shape", {
      message: `${ERRORS.wrong_shape.message.replace(/\.$/, "")}: input[0]`,
    });
  });
});

describe.each(["chat", "claude", "native"])("responses with the model %s:", (model) => {
  test("a whole answer is a response resource, billed by its usage", async () => {
    const response = await ask({ model });
    expect(response.status).toBe(200);
    expect(await objectOf(response)).toMatchObject({
      object: "response",
      status: "completed",
      model,
      store: false,
      output: [{ type: "message", content: [{ type: "output_text", text: "Hello there, friend." }] }],
      usage: { input_tokens: 11, output_tokens: 7, total_tokens: 18 },
    });
    expect((await gateway.receiptOf(response)).captured).toBe(REPORTED);
    expect((await gateway.receiptOf(response)).request.surface).toBe("responses");
  });

  test("case 70: a stream has the whole sequence of events, numbered, without another end mark", async () => {
    const response = await ask({ model, stream: true });
    expect(response.headers.get("content-type")).toStartWith("text/event-stream");
    const text = await response.clone().text();
    expect(text).not.toContain("[DONE]");
    const events = await dataOf(response);
    expect(typesOf(events)).toEqual([
      "response.created",
      "response.in_progress",
      "response.output_item.added",
      "response.content_part.added",
      "response.output_text.delta",
      "response.output_text.delta",
      "response.output_text.delta",
      "response.output_text.done",
      "response.content_part.done",
      "response.output_item.done",
      "response.completed",
    ]);
    expect(events.map(({ sequence_number }) => sequence_number)).toEqual(events.map((_, number) => number));
    expect(text).not.toContain("upstream-secret-name");
    expect((await gateway.receiptOf(response)).captured).toBe(REPORTED);
  });

  test("a tool is called, and its result reaches the model", async () => {
    gateway.upstream.on(model, answerWith(TOOL), answerWith());
    gateway.upstream.on(`their-${model}`, answerWith(TOOL), answerWith());
    const first = await objectOf(await ask({ model, tools: TOOLS }));
    expect(first.output).toMatchObject([
      { type: "function_call", name: "look_up", arguments: '{"city":"Oslo"}' },
    ]);
    const output = first.output as Record<string, unknown>[];
    const result = { type: "function_call_output", call_id: output[0]?.call_id, output: "Rain." };
    const input = [{ role: "user", content: "How is Oslo?" }, ...output, result];
    const second = await ask({ model, tools: TOOLS, input });
    expect(second.status).toBe(200);
    expect(JSON.stringify(seen())).toContain("Rain.");
  });

  test("an answer without readable output is an error, and is charged", async () => {
    for (const id of [model, `their-${model}`])
      gateway.upstream.on(id, answerWith({ usage: { input: 3, output: 4 } }));
    await expectError(await ask({ model }), RESPONSES, "empty_charged");
    await expectError(await ask({ model, stream: true }), RESPONSES, "empty_charged");
  });

  test("a stream that breaks ends in response.failed with an error code", async () => {
    const broken = answerWith(HELLO, {
      cutAt: model === "native" ? 2_500 : 800,
      end: "close",
      lingerMs: 1_000,
    });
    for (const id of [model, `their-${model}`]) gateway.upstream.on(id, broken);
    const events = await dataOf(await ask({ model, stream: true }));
    expect(typesOf(events)).toContain("response.output_text.delta");
    expect(typesOf(events)).not.toContain("response.completed");
    expect(events.at(-1)).toMatchObject({
      type: "response.failed",
      sequence_number: events.length - 1,
      response: { status: "failed", model, error: { code: "upstream_unavailable" } },
    });
  });

  test("case 19: a prompt that is too long has the error code on which agents compact", async () => {
    const body = JSON.stringify({ error: { message: "prompt is too long: 212384 tokens > 200000 maximum" } });
    for (const id of [model, `their-${model}`]) gateway.upstream.on(id, answer({ status: 400, body }));
    for (const stream of [false, true]) {
      const response = await ask({ model, stream });
      expect(response.status).toBe(400);
      expect(await objectOf(response)).toMatchObject({
        error: {
          code: "context_length_exceeded",
          message: "prompt is too long: 212384 tokens > 200000 maximum",
        },
      });
    }
  });
});

describe("an upstream that supports responses", () => {
  test("gets the body unchanged apart from model, output limit and store", async () => {
    const input = [{ role: "user", content: "hi" }];
    await ask({ model: "native", input, store: true, future: { a: 1 } });
    expect(gateway.upstream.seen.at(-1)?.target).toBe("/v1/responses");
    expect(seen()).toEqual({
      model: "their-native",
      input,
      store: false,
      future: { a: 1 },
      max_output_tokens: 1000,
    });
  });

  test("has its events forwarded byte for byte apart from the model name", async () => {
    const modelOutput: ModelOutput = { ...TOOL, reasoning: "Hm.", text: "I look." };
    gateway.upstream.on("their-native", answerWith(modelOutput));
    const text = await (await ask({ model: "native", stream: true })).text();
    const lines = responsesLines(modelOutput).map((line) =>
      line.replaceAll("upstream-secret-name", "native"),
    );
    expect(text).toBe(frame("anthropic", lines));
  });

  test("may report only in its stream that the prompt is too long, without a circuit failure", async () => {
    const error = {
      code: "context_length_exceeded",
      message: "Your input exceeds the context window of this model.",
    };
    gateway.upstream.on("their-first", failsWith(error));
    const response = await ask({ model: "both", stream: true });
    expect(response.status).toBe(400);
    expect(await objectOf(response)).toMatchObject({ error: { code: "context_length_exceeded" } });
    expect(gateway.upstream.seen).toHaveLength(1);
  });

  test("is followed by an upstream of another format when it fails before its first output", async () => {
    for (const script of [failsWith({ code: "server_error", message: "canary" }), resetAtOnce]) {
      gateway.upstream.on("their-first", script);
      const text = await (await ask({ model: "both", stream: true })).text();
      expect(text).toContain("response.completed");
      expect(text).not.toContain("canary");
      expect(gateway.upstream.seen.at(-1)?.target).toBe("/v1/messages");
    }
  });
});

describe("a compaction by OpenAI's endpoint", () => {
  const said = { type: "message", role: "user", content: [{ type: "input_text", text: "Build it." }] };
  const compaction = { id: "cmp_1", type: "compaction", encrypted_content: "gAAAA" };
  const usage = { input_tokens: 11, output_tokens: 7, total_tokens: 18 };
  const compacted = {
    id: "resp_1",
    object: "response.compaction",
    created_at: 1,
    output: [said, compaction],
  };
  const answerCompacted = (members: object = { usage }) =>
    gateway.upstream.on("their-native", answer({ body: JSON.stringify({ ...compacted, ...members }) }));
  const compact = (body: object) =>
    fetch(`${gateway.url}/v1/responses/compact`, {
      method: "POST",
      headers: { authorization: `Bearer ${gateway.secret}`, "content-type": "application/json" },
      body: JSON.stringify({ model: "native", input: [said], ...body }),
    });

  test("passes through as OpenAI's SDK sends and reads it, and is charged by its usage", async () => {
    answerCompacted();
    const client = new OpenAI({ baseURL: `${gateway.url}/v1`, apiKey: gateway.secret, maxRetries: 0 });
    const body = { model: "native", input: [said], instructions: "Be brief." } as const;
    const { data, response } = await client.responses.compact(body as never).withResponse();
    expect(data).toMatchObject({ ...compacted, usage });
    expect(gateway.upstream.seen.at(-1)?.target).toBe("/v1/responses/compact");
    expect(seen()).toEqual({ ...body, model: "their-native" });
    const receipt = await gateway.receiptOf(response);
    expect(receipt).toMatchObject({ request: { surface: "compact" }, captured: REPORTED });
    // No limit can be sent: all 8,000 output tokens of the model at 2,000 nano-USD are on hold.
    expect(receipt.granted).toBeGreaterThan(16_000_000n);
  });

  test("holds all that its model may put out, whatever the wallet affords and the caller allows", async () => {
    const { secret } = await gateway.newPayer("0.001");
    const response = await fetch(`${gateway.url}/v1/responses/compact`, {
      method: "POST",
      headers: { authorization: `Bearer ${secret}`, "x-tollgate-clamp": "allow" },
      body: JSON.stringify({ model: "native", input: "Hello." }),
    });
    await expectError(response, RESPONSES, "wallet_empty");
    expect(gateway.upstream.seen).toHaveLength(0);
  });

  test("without a report costs its input, because the rest is encrypted", async () => {
    answerCompacted({});
    const response = await compact({});
    expect(response.status).toBe(200);
    await response.text();
    const { outcome } = await gateway.receiptOf(response);
    expect(outcome?.usage).toMatchObject({ outputTokens: 0 });
    expect(outcome?.usage?.inputTokens).toBeGreaterThan(0);
  });

  test.each([
    [{ stream: true }, "stream"],
    [{ max_output_tokens: 9 }, "max_output_tokens"],
  ])("with %j is rejected with the field's name", async (members, path) => {
    const message = `${ERRORS.wrong_shape.message.slice(0, -1)}: ${path}`;
    await expectError(await compact(members), RESPONSES, "wrong_shape", { message });
  });

  test("with a reference to a stored answer, which may be another user's, is rejected", async () => {
    const message = `${ERRORS.nothing_stored.message.slice(0, -1)}: previous_response_id`;
    const response = await compact({ previous_response_id: "resp_1" });
    await expectError(response, RESPONSES, "nothing_stored", { message });
  });

  test("is not implemented for models whose upstream lacks the responses format", async () => {
    for (const model of ["chat", "claude"]) {
      await expectError(await compact({ model }), RESPONSES, "not_built");
    }
    expect(gateway.upstream.seen).toHaveLength(0);
  });

  test("whose answer has no items is an upstream error", async () => {
    answerCompacted({ output: [] });
    const response = await compact({});
    await expectError(response, RESPONSES, "upstream_unavailable");
  });
});

/** A stream that begins and then fails. */
function failsWith(error: object): Script {
  const response = { id: "resp_1", object: "response", status: "failed", output: [], error };
  const [created = ""] = responsesLines(HELLO);
  const lines = [created, JSON.stringify({ type: "response.failed", sequence_number: 1, response })];
  return answer({ headers: EVENT_STREAM, body: frame("anthropic", lines) });
}

describe("a responses request", () => {
  test.each<[object, Cause, string]>([
    [{ previous_response_id: "resp_1" }, "nothing_stored", "previous_response_id"],
    [{ conversation: "conv_1" }, "nothing_stored", "conversation"],
    [{ prompt: { id: "p" } }, "untranslatable", "prompt"],
    [{ background: true }, "untranslatable", "background"],
    [{ input: [{ type: "item_reference", id: "msg_1" }] }, "nothing_stored", "input[0]"],
  ])(
    "with %j is rejected with the field's name before a hold, for every upstream",
    async (members, cause, path) => {
      for (const model of ["chat", "claude", "native"]) {
        const message = `${ERRORS[cause].message.slice(0, -1)}: ${path}`;
        await expectError(await ask({ model, ...members }), RESPONSES, cause, { message });
      }
      expect(gateway.upstream.seen).toHaveLength(0);
    },
  );

  test("with a tool that only OpenAI runs is rejected for other upstreams", async () => {
    const tools = [{ type: "file_search", vector_store_ids: ["vs_1"] }];
    const message = "The request has a part that no upstream of this model understands: tools[0].type";
    await expectError(await ask({ tools }), RESPONSES, "untranslatable", { message });
    expect((await ask({ model: "native", tools })).status).toBe(200);
  });

  test("that fails validation is a 400 in the envelope of chat", async () => {
    const message = "The request body failed validation: input";
    await expectError(await ask({ input: 7 }), RESPONSES, "wrong_shape", { message });
    await expectError(await ask({ raw: "{" }), RESPONSES, "not_json");
    await expectError(await ask({ model: "nobody" }), RESPONSES, "unknown_model");
    await expectError(await ask({ secret: "sk-tg-wrong" }), RESPONSES, "unknown_key");
  });

  test("without money is declined inside the stream that it asked for", async () => {
    const { secret } = await gateway.newPayer("0");
    await expectError(await ask({ secret }), RESPONSES, "wallet_empty");
    const response = await ask({ secret, stream: true, model: "claude" });
    expect(response.status).toBe(200);
    const events = await dataOf(response);
    expect(typesOf(events)).toEqual(["response.created", "response.failed"]);
    expect(events).toMatchObject([
      { sequence_number: 0, response: { model: "claude" } },
      { sequence_number: 1, response: { model: "claude", error: { code: "insufficient_quota" } } },
    ]);
    expect(gateway.upstream.seen).toHaveLength(0);
  });
});
