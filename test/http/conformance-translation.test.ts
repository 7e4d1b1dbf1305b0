import { describe, expect, test } from "bun:test";
import { ERRORS } from "../../src/errors.ts";
import { CHAT, dataOf, objectOf } from "../support/client.ts";
import { expectError } from "../support/expect-error.ts";
import { answerNeutrally, postTo, readReply } from "../support/format-pairs/format-pair.ts";
import { nanosOf, neutralAnswer } from "../support/format-pairs/neutral-answer.ts";
import { gatewayForTests } from "../support/gateway-for-tests.ts";
import { answer, type Script } from "../support/script.ts";
import { isObject, type Json, listAt, objectAt } from "../support/strict-json.ts";
import { scriptedModel, scriptedRoute } from "../support/test-catalog.ts";
import { call, chatTool, claudeCode, result, TO_CLAUDE, TO_GPT, user } from "./conformance/requests.ts";
import { TRANSLATED_REQUESTS, UNTRANSLATABLE_REQUESTS } from "./conformance/translated-requests.ts";

const anthropic = (id: string, traits: { reasoning: "budget" | "adaptive"; sampling: boolean }) =>
  scriptedModel(id, "anthropic", { routes: [scriptedRoute("scripted-anthropic", id, { traits })] });
const gateway = gatewayForTests({
  models: [
    scriptedModel("gpt", "openai"),
    scriptedModel("claude", "anthropic"),
    anthropic("claude-budget", { reasoning: "budget", sampling: true }),
    anthropic("claude-adaptive", { reasoning: "adaptive", sampling: false }),
  ],
});

const LONG_NAME = `mcp__a_server_with_a_long_name__${"and_a_tool_".repeat(6)}`;

describe("a translated request", () => {
  test.each(TRANSLATED_REQUESTS)("keeps the rule: %s", async (_name, pair, body, sent) => {
    const { messages = [user("Say hello.")], ...more } = body;
    const response = await postTo(gateway, pair, { messages, ...more });
    expect([response.status, await response.text()]).toEqual([200, expect.any(String)]);
    expectMembers(seen(), sent);
  });

  test("case 62: of Claude Code keeps its system text and loses the billing header", async () => {
    const response = await postTo(gateway, TO_GPT, claudeCode());
    expect(response.status).toBe(200);
    const { messages, tools, ...others } = seen();
    const roles = listAt(messages).map((each) => objectAt(each, "a message").role);
    expect(roles).toEqual(["system", "user", "system", "assistant", "tool", "user"]);
    expect(JSON.stringify(messages)).not.toContain("x-anthropic-billing-header");
    expect(JSON.stringify(messages)).toMatch(/You are Claude Code.*The environment.*result of it/);
    expect(tools).toHaveLength(14);
    expect(JSON.stringify(tools)).not.toContain("defer_loading");
    for (const dropped of ["system", "thinking", "context_management", "output_config", "betas", "metadata"])
      expect(others).not.toHaveProperty(dropped);
  });

  test("case 63: with a long tool name has it shortened everywhere, and restored in the answer", async () => {
    const chosen = { name: LONG_NAME, input_schema: { type: "object" } };
    const body = {
      tools: [chosen, { name: `${LONG_NAME}_2`, input_schema: { type: "object" } }],
      tool_choice: { type: "tool", name: LONG_NAME },
      messages: [
        user("Go."),
        { role: "assistant", content: [{ type: "tool_use", id: "a", name: LONG_NAME, input: {} }] },
        user([{ type: "tool_result", tool_use_id: "a", content: "done" }]),
      ],
    };
    for (const stream of [false, true]) {
      gateway.upstream.on("gpt", callsFirstTool);
      const received = await readReply(await postTo(gateway, TO_GPT, { stream, ...body }), TO_GPT);
      expect(received.calls).toEqual([{ id: "call_1", name: LONG_NAME, input: {} }]);
      const [first = "", second = ""] = listAt(seen().tools).map(toolName);
      expect(first).toMatch(/^[\w-]{1,64}$/);
      expect(second).not.toBe(first);
      expect(seen().tool_choice).toEqual({ type: "function", function: { name: first } });
      expect(JSON.stringify(seen().messages)).toContain(`"${first}"`);
      expect(JSON.stringify(seen())).not.toContain(LONG_NAME);
    }
  });

  test("case 64: with a JSON schema is answered with plain text", async () => {
    const schema = { type: "object", properties: { city: { type: "string" } }, required: ["city"] };
    const format = { type: "json_schema", json_schema: { name: "place", strict: true, schema } };
    const answers = neutralAnswer({ text: '{"city":"Oslo"}' });
    gateway.upstream.on("claude", answerNeutrally(answers));
    for (const stream of [false, true]) {
      const response = await postTo(gateway, TO_CLAUDE, { stream, response_format: format });
      expect(await readReply(response, TO_CLAUDE)).toEqual(answers);
      expect(seen()).toMatchObject({ output_config: { format: { type: "json_schema", schema } } });
      expect(seen()).not.toHaveProperty("tools");
    }
  });

  test("case 61: returns signed thinking to Anthropic, also through a chat client", async () => {
    const pair = { ...TO_CLAUDE, model: "claude-adaptive" };
    const asks = neutralAnswer({
      reasoning: "I must look.",
      text: "",
      calls: [{ id: "a", name: "look_up", input: {} }],
      finish: "tool_calls",
    });
    for (const stream of [false, true]) {
      gateway.upstream.on(pair.model, answerNeutrally(asks), answerNeutrally(neutralAnswer()));
      const more = { stream, tools: [chatTool], reasoning_effort: "medium" };
      const first = await postTo(gateway, pair, { ...more, messages: [user("Go.")] });
      const message = stream ? sumOf(await dataOf(first)) : messageOf(await objectOf(first));
      await (await postTo(gateway, pair, { ...more, messages: [user("Go."), message, result("a")] })).text();
      expect(seen()).toMatchObject({
        thinking: { type: "adaptive" },
        messages: [
          {},
          {
            role: "assistant",
            content: [
              { type: "thinking", thinking: "I must look.", signature: "c2lnbmF0dXJl" },
              { type: "tool_use", id: "a" },
            ],
          },
          {},
        ],
      });
    }
  });
});

describe("a request that the upstream cannot understand is rejected before it costs anything:", () => {
  test.each(UNTRANSLATABLE_REQUESTS)("%s", async (_name, pair, body, path) => {
    for (const stream of [false, true]) {
      const response = await postTo(gateway, pair, { stream, ...body });
      const message = objectAt((await objectOf(response.clone())).error, "an error").message;
      expect(message).toStartWith(`${ERRORS.untranslatable.message.slice(0, -1)}: ${path}`);
      await expectError(response, pair.surface, "untranslatable", { message: String(message) });
    }
    expect(gateway.upstream.seen).toEqual([]);
  });

  test.each(["[]", '{"n":', "7", '"x"'])(
    "case 53: tool-call arguments that are no object: %s",
    async (text) => {
      const messages = [user("Go."), { role: "assistant", tool_calls: [call("a", text)] }];
      const path = "messages[1].tool_calls[0].function.arguments";
      const message = `${ERRORS.wrong_shape.message.slice(0, -1)}: ${path}`;
      await expectError(await postTo(gateway, TO_CLAUDE, { messages }), CHAT, "wrong_shape", { message });
      expect(gateway.upstream.seen).toEqual([]);
    },
  );
});

describe("invalid arguments of an earlier tool call", () => {
  test.each(["[]", '{"n":', "7", '"x"', "<xml/>"])("reach Claude inside an object: %s", async (text) => {
    const messages = [user("Go."), { role: "assistant", tool_calls: [call("a", text)] }, result("a")];
    expect((await postTo(gateway, TO_CLAUDE, { messages })).status).toBe(200);
    expect(seen().messages).toMatchObject([
      {},
      { content: [{ type: "tool_use", id: "a", input: { unreadable_arguments: text } }] },
      { content: [{ type: "tool_result", tool_use_id: "a" }] },
    ]);
  });
});

describe("case 19: a prompt that is too long", () => {
  const TOO_LONG = [
    [
      TO_GPT,
      {
        code: "context_length_exceeded",
        message:
          "This model's maximum context length is 128000 tokens. However, your messages resulted in 130172 tokens.",
      },
      130_172,
    ],
    [
      TO_CLAUDE,
      { type: "invalid_request_error", message: "prompt is too long: 208310 tokens > 200000 maximum" },
      208_310,
    ],
  ] as const;

  test.each(TOO_LONG)("is reported in the words on which clients compact", async (pair, error, tokens) => {
    gateway.upstream.on(pair.model, answer({ status: 400, body: JSON.stringify({ type: "error", error }) }));
    for (const stream of [false, true]) {
      const message = `prompt is too long: ${tokens} tokens > 200000 maximum`;
      await expectError(await postTo(gateway, pair, { stream }), pair.surface, "prompt_too_long", {
        message,
      });
    }
  });
});

describe("the charge", () => {
  test("case 60: counts cached tokens once, in both directions", async () => {
    const usage = { input: 10, cached: 4, written: 3, output: 7 };
    for (const pair of [TO_CLAUDE, TO_GPT]) {
      gateway.upstream.on(pair.model, answerNeutrally(neutralAnswer({ usage })));
      for (const stream of [false, true]) {
        const response = await postTo(gateway, pair, { stream });
        expect((await readReply(response, pair)).usage).toEqual(usage);
        expect((await gateway.receiptOf(response)).captured).toBe(nanosOf(usage));
      }
    }
  });

  test.each([
    ["case 35: does not depend on usage that the client disables", { include_usage: false }],
    ["case 33: does not depend on usage that the client does not ask for", undefined],
  ])("%s", async (_name, stream_options) => {
    gateway.upstream.on("claude", answerNeutrally(neutralAnswer()));
    const response = await postTo(gateway, TO_CLAUDE, { stream: true, stream_options });
    const chunks = await dataOf(response);
    expect(chunks.filter(({ usage }) => usage)).toEqual([]);
    expect(chunks.every(({ choices }) => listAt(choices).length === 1)).toBe(true);
    expect((await gateway.receiptOf(response)).captured).toBe(
      nanosOf({ input: 11, cached: 0, written: 0, output: 7 }),
    );
  });
});

/** Compares members recursively. A member that is `undefined` in `wanted` must be absent. */
function expectMembers(given: unknown, wanted: unknown): void {
  if (!isObject(wanted) || "asymmetricMatch" in wanted) {
    expect(given).toEqual(wanted);
    return;
  }
  for (const [name, value] of Object.entries(wanted)) {
    const member = objectAt(given, "a member")[name];
    if (value === undefined) expect(given).not.toHaveProperty(name);
    else if (Array.isArray(value)) {
      expect([name, listAt(member).length]).toEqual([name, value.length]);
      for (const [at, each] of value.entries()) expectMembers(listAt(member)[at], each);
    } else expectMembers(member, value);
  }
}

function seen(): Json {
  return objectAt(JSON.parse(gateway.upstream.seen.at(-1)?.bodyText ?? ""), "a body");
}

function toolName(each: unknown): string {
  return String(objectAt(objectAt(each, "a tool").function, "a function").name);
}

/** Calls the first tool of the request by the name that the upstream got. */
const callsFirstTool: Script = (request) => {
  const [first] = listAt(JSON.parse(request.bodyText).tools);
  const calls = [{ id: "call_1", name: toolName(first), input: {} }];
  return answerNeutrally(neutralAnswer({ text: "", calls, finish: "tool_calls" }))(request);
};

/** The message of a whole answer, as a client sends it back. */
function messageOf({ choices }: Json): Json {
  return objectAt(objectAt(listAt(choices)[0], "a choice").message, "a message");
}

/** The message of a streamed answer, as a client merges it. */
function sumOf(chunks: readonly Json[]): Json {
  const deltas = chunks.flatMap(({ choices }) =>
    listAt(choices).map((each) => objectAt(objectAt(each, "a choice").delta, "a delta")),
  );
  const details = new Map<number, Record<string, unknown>>();
  for (const each of deltas.flatMap((delta) => listAt(delta.reasoning_details))) {
    const { index, text, ...detail } = objectAt(each, "a detail");
    const known = details.get(Number(index)) ?? { index, text: "" };
    details.set(Number(index), { ...known, ...detail, text: `${known.text}${text ?? ""}` });
  }
  const [first] = deltas.flatMap((delta) => listAt(delta.tool_calls));
  const { id } = objectAt(first, "a call");
  return {
    role: "assistant",
    content: null,
    reasoning_details: [...details.values()],
    tool_calls: [call(String(id), "{}")],
  };
}
