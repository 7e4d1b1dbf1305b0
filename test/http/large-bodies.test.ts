import { describe, expect, spyOn, test } from "bun:test";
import { CHAT, dataOf, MESSAGES, objectOf, post, RESPONSES, type Surface } from "../support/client.ts";
import { gatewayForTests } from "../support/gateway-for-tests.ts";
import { answer, resetAtOnce } from "../support/script.ts";
import { scriptedModel, scriptedRoute } from "../support/test-catalog.ts";

// Bodies above 128 KiB are parsed in a worker, which must not change any result.
const gateway = gatewayForTests({
  models: [
    scriptedModel("chat", "openai", { contextWindow: 10_000_000 }),
    scriptedModel("claude", "anthropic", { contextWindow: 10_000_000 }),
    scriptedModel("two", "openai", {
      contextWindow: 10_000_000,
      routes: [
        scriptedRoute("scripted-openai", "first"),
        scriptedRoute("scripted-openai", "second", { priority: 2 }),
        scriptedRoute("scripted-anthropic", "third", { priority: 3 }),
      ],
    }),
  ],
});

/** 600 kB with characters of one to four UTF-8 bytes, some of them across the blocks of the body. */
const LONG = 'Grüße, 你好 👋 \\ " \n'.repeat(20_000);
const MESSAGE = { role: "user", content: LONG };

/** The body of the last upstream call. */
function lastSent(): Record<string, unknown> {
  return JSON.parse(gateway.upstream.seen.at(-1)?.bodyText ?? "null");
}

/** The outcome on the receipt of a response. */
async function outcomeOf(response: Response) {
  const { outcome } = await gateway.receiptOf(response);
  if (!outcome) throw new Error("It is not over");
  return outcome;
}

describe("a body above 128 KiB", () => {
  test.each([
    ["chat", CHAT],
    ["messages", MESSAGES],
  ] as const)("of %s reaches an upstream of its own format unchanged", async (_, surface) => {
    const more = { messages: [MESSAGE], max_tokens: 50, "x-unknown": { a: [1.5, "é"] } };
    const response = await post(gateway, surface, more);
    expect(response.status).toBe(200);
    expect(lastSent()).toMatchObject({ ...more, model: surface.model });
    expect((await outcomeOf(response)).source).toBe("reported");
  });

  test("reaches an upstream of another format translated", async () => {
    const response = await post(gateway, CHAT, { model: "claude", messages: [MESSAGE], max_tokens: 50 });
    expect(response.status).toBe(200);
    expect(lastSent()).toMatchObject({
      model: "claude",
      max_tokens: 50,
      messages: [{ role: "user", content: [{ type: "text", text: LONG }] }],
    });
    expect((await objectOf(response)).object).toBe("chat.completion");
  });

  test("of responses is echoed in its answer, with the client's tool names", async () => {
    const tools = [{ type: "namespace", name: "files", tools: [{ type: "function", name: "read" }] }];
    const more = { input: LONG, metadata: { a: "b" }, temperature: 0.5, tools };
    const response = await post(gateway, RESPONSES, more);
    expect(response.status).toBe(200);
    expect(await objectOf(response)).toMatchObject({ metadata: { a: "b" }, temperature: 0.5 });
  });

  test("is answered as a stream", async () => {
    for (const surface of [CHAT, MESSAGES]) {
      for (const model of ["chat", "claude"]) {
        const response = await post(gateway, surface, {
          model,
          messages: [MESSAGE],
          max_tokens: 50,
          stream: true,
        });
        expect(response.status).toBe(200);
        expect(JSON.stringify(await dataOf(response))).toContain("Hello");
      }
    }
  });

  test("is sent again, also in another format, after a failover", async () => {
    gateway.upstream.on("first", answer({ status: 503, body: "{}" }));
    gateway.upstream.on("second", resetAtOnce);
    // A reset that a busy machine reads later than 300 ms has another cause.
    using _ = spyOn(performance, "now").mockReturnValue(performance.now());
    const response = await post(gateway, CHAT, { model: "two", messages: [MESSAGE], max_tokens: 50 });
    expect(response.status).toBe(200);
    const sent = gateway.upstream.seen.map(({ bodyText }) => JSON.parse(bodyText));
    // The reset is retried once on a new connection, because a kept-alive connection may have expired.
    expect(sent.map(({ model }) => model)).toEqual(["first", "second", "second", "third"]);
    for (const { messages } of sent.slice(0, 3)) expect(messages).toEqual([MESSAGE]);
    expect(sent[3]?.messages[0].content[0].text).toBe(LONG);
  });

  test("is counted locally when the upstream reports no usage", async () => {
    const whole = answer({
      body: JSON.stringify({
        id: "c",
        object: "chat.completion",
        created: 1,
        model: "chat",
        choices: [{ index: 0, message: { role: "assistant", content: "Hello!" }, finish_reason: "stop" }],
      }),
    });
    gateway.upstream.on("chat", whole);
    const response = await post(gateway, CHAT, { messages: [MESSAGE], max_tokens: 50 });
    const { source, usage } = await outcomeOf(response);
    expect(source).toBe("estimated");
    expect(usage?.inputTokens).toBeGreaterThan(LONG.length / 8);
  });

  test("is counted by count_tokens, with and without an upstream", async () => {
    const COUNT: Surface = { ...MESSAGES, path: "/v1/messages/count_tokens" };
    gateway.upstream.on("claude", answer({ body: '{"input_tokens":4242}' }));
    const asked = await post(gateway, COUNT, { messages: [MESSAGE] });
    expect(await objectOf(asked)).toEqual({ input_tokens: 4242 });
    expect(lastSent()).toMatchObject({ model: "claude", messages: [MESSAGE] });
    const here = await post(gateway, COUNT, { model: "chat", messages: [MESSAGE] });
    expect(Number((await objectOf(here)).input_tokens)).toBeGreaterThan(LONG.length / 8);
  });
});

describe("an invalid body above 128 KiB", () => {
  const BAD: readonly (readonly [string, Surface<"chat" | "messages" | "responses">, object])[] = [
    ["an invalid role", CHAT, { messages: [MESSAGE, { role: 7 }] }],
    ["an invalid output limit", MESSAGES, { messages: [MESSAGE], max_tokens: 0.5 }],
    ["a service tier without a price", CHAT, { messages: [MESSAGE], service_tier: "priority" }],
    ["a field that the other format cannot represent", CHAT, { model: "claude", messages: [MESSAGE], n: 2 }],
    ["a stored response", RESPONSES, { input: LONG, previous_response_id: "r" }],
    ["an unknown model", CHAT, { model: "none", messages: [MESSAGE] }],
  ];
  test.each(BAD)("with %s gets the same error as a small one", async (_, surface, more) => {
    const small = JSON.parse(JSON.stringify(more).replaceAll(JSON.stringify(LONG), '"x"'));
    const [large, little] = await Promise.all([
      post(gateway, surface, { ...more }),
      post(gateway, surface, small),
    ]);
    const [actual, expected] = [await objectOf(large), await objectOf(little)];
    expect([large.status, actual.error]).toEqual([little.status, expected.error]);
    expect(large.status).toBeGreaterThanOrEqual(400);
    expect(large.status).toBeLessThan(500);
  });

  test.each([
    [
      "is no JSON",
      Buffer.from(`{"model":"chat","messages":[{"role":"user","content":"${"x".repeat(200_000)}`),
    ],
    [
      "is no UTF-8",
      Buffer.concat([Buffer.from('{"model":"'), Buffer.alloc(200_000, 0xff), Buffer.from('"}')]),
    ],
  ])("that %s is rejected as invalid JSON in UTF-8", async (_, raw) => {
    const response = await post(gateway, CHAT, { raw });
    expect(response.status).toBe(400);
    expect(JSON.stringify(await objectOf(response))).toContain("not valid JSON in UTF-8");
  });
});

describe("a whole answer above 128 KiB", () => {
  const WORDS = "Grüße 👋 ".repeat(40_000);
  const USAGE = { prompt_tokens: 9, completion_tokens: 5_000, total_tokens: 5_009 };
  const whole = (finish: string | null) =>
    JSON.stringify({
      id: "c",
      object: "chat.completion",
      created: 1,
      model: "theirs",
      choices: [{ index: 0, message: { role: "assistant", content: WORDS }, finish_reason: finish }],
      usage: USAGE,
    });

  test("reaches clients of both formats and is charged as reported", async () => {
    gateway.upstream.on("chat", answer({ body: whole("stop") }));
    const own = await post(gateway, CHAT, { max_tokens: 8_000 });
    expect(await objectOf(own)).toMatchObject({ model: "chat", choices: [{ message: { content: WORDS } }] });
    const other = await post(gateway, MESSAGES, { model: "chat", max_tokens: 8_000 });
    expect(await objectOf(other)).toMatchObject({ content: [{ type: "text", text: WORDS }] });
    for (const response of [own, other]) {
      const { source, usage } = await outcomeOf(response);
      expect([source, usage?.outputTokens]).toEqual(["reported", 5_000]);
    }
  });

  test("that is incomplete is an upstream error and costs nothing", async () => {
    for (const body of [whole(null), whole("stop").slice(0, -9)]) {
      gateway.upstream.on("chat", answer({ body }));
      const response = await post(gateway, CHAT, { max_tokens: 8_000 });
      expect(response.status).toBe(502);
      expect((await outcomeOf(response)).source).toBe("none");
    }
  });
});
