import { describe, expect, test } from "bun:test";
import { CHAT, MESSAGES, objectOf, post, RESPONSES } from "../support/client.ts";
import { expectError } from "../support/expect-error.ts";
import { gatewayForTests } from "../support/gateway-for-tests.ts";
import { answer, type Script } from "../support/script.ts";
import { answerWith, EVENT_STREAM, frame } from "../support/scripted-answers.ts";
import { connectSocket } from "../support/socket-client.ts";
import { scriptedModel, scriptedRoute, scriptedUpstream, TEST_PRICE } from "../support/test-catalog.ts";

/** A cent a search, a dollar a container; audio costs ten times as much as text. */
const PRICE = {
  ...TEST_PRICE,
  tools: { web_search: 10_000_000_000n, code_execution: 1_000_000_000_000n },
  audio: {
    input: TEST_PRICE.input * 10n,
    output: TEST_PRICE.output * 10n,
    cachedInput: TEST_PRICE.input * 10n,
  },
};
const COST = { ...TEST_PRICE, tools: { web_search: 5_000_000_000n } };
const ON_CHAT = {
  price: PRICE,
  cost: COST,
  routes: [scriptedRoute("scripted-openai", "chat", { price: PRICE, cost: COST })],
};

const gateway = gatewayForTests({
  upstreams: (scripted) => [
    scriptedUpstream("scripted-openai", "openai", { baseUrl: scripted.openaiUrl, hasResponses: true }),
    scriptedUpstream("scripted-anthropic", "anthropic", { baseUrl: scripted.anthropicUrl }),
  ],
  models: [
    scriptedModel("chat", "openai", ON_CHAT),
    scriptedModel("plain", "openai"),
    scriptedModel("unpriced", "anthropic"),
    scriptedModel("either", "openai", {
      routes: [
        scriptedRoute("scripted-openai", "plain"),
        scriptedRoute("scripted-openai", "searching", { price: PRICE }),
      ],
    }),
    scriptedModel("claude", "anthropic", {
      price: PRICE,
      routes: [scriptedRoute("scripted-anthropic", "claude", { price: PRICE })],
    }),
    scriptedModel("sonar", "openai", {
      price: { ...TEST_PRICE, tools: { request: 5_000_000_000n } },
      routes: [
        scriptedRoute("scripted-openai", "sonar", {
          price: { ...TEST_PRICE, tools: { request: 5_000_000_000n } },
        }),
      ],
    }),
  ],
});

const SEARCH = { type: "web_search_20250305", name: "web_search" };
const SEARCHED = { type: "server_tool_use", id: "s", name: "web_search", input: {} };

/** Answers a message with searches, and refuses a search whose bound is not sent. */
function searching(searches: unknown, { breaksOff = false } = {}): Script {
  return (request) => {
    const { tools, stream } = JSON.parse(request.bodyText);
    if (!tools?.every((tool: { max_uses?: number }) => (tool.max_uses ?? 0) > 0))
      return answer({ status: 400, body: "{}" })(request);
    const usage = { input_tokens: 10, output_tokens: 5, server_tool_use: { web_search_requests: searches } };
    const text = { type: "text", text: "Found." };
    const message = {
      id: "m",
      type: "message",
      role: "assistant",
      model: "claude",
      content: [SEARCHED, text],
    };
    if (!stream)
      return answer({ body: JSON.stringify({ ...message, stop_reason: "end_turn", usage }) })(request);
    const lines = [
      {
        type: "message_start",
        message: { ...message, content: [], usage: { input_tokens: 10, output_tokens: 1 } },
      },
      { type: "content_block_start", index: 0, content_block: SEARCHED },
      { type: "content_block_stop", index: 0 },
      { type: "content_block_start", index: 1, content_block: text },
      { type: "content_block_stop", index: 1 },
      ...(breaksOff
        ? []
        : [{ type: "message_delta", delta: { stop_reason: "end_turn" }, usage }, { type: "message_stop" }]),
    ];
    return answer({
      headers: EVENT_STREAM,
      body: frame(
        "anthropic",
        lines.map((line) => JSON.stringify(line)),
      ),
    })(request);
  };
}

async function askClaude(script: Script, body: object = {}) {
  gateway.upstream.on("claude", script);
  const response = await post(gateway, MESSAGES, { max_tokens: 100, tools: [SEARCH], ...body });
  await response.text().catch(() => "");
  return { response, receipt: await gateway.receiptOf(response) };
}

/** 10 tokens of input at 1,000 nanos and 5 of output at 2,000. */
const TOKENS = 20_000n;
const CENT = 10_000_000n;

describe("a search of Anthropic", () => {
  test("is held at the bound that is sent, and charged as the answer counts it", async () => {
    const { receipt } = await askClaude(searching(3));
    expect(receipt.captured).toBe(TOKENS + 3n * CENT);
    expect(receipt.granted > 10n * CENT).toBe(true);
    expect(receipt.outcome).toMatchObject({ source: "reported", usage: { calls: { web_search: 3 } } });
    expect(JSON.parse(gateway.upstream.seen.at(-1)?.bodyText ?? "{}").tools[0].max_uses).toBe(10);
  });

  test("is held at the request's own bound", async () => {
    const { receipt } = await askClaude(searching(2), { tools: [{ ...SEARCH, max_uses: 2 }] });
    expect(receipt.captured).toBe(TOKENS + 2n * CENT);
    const { receipt: more } = await askClaude(searching(2), { tools: [{ ...SEARCH, max_uses: 5 }] });
    expect(more.granted - receipt.granted).toBe(3n * CENT);
  });

  test("is cut to its bound when a million are reported, and logged", async () => {
    const { receipt } = await askClaude(searching(1_000_000), { tools: [{ ...SEARCH, max_uses: 2 }] });
    expect(receipt.captured).toBe(TOKENS + 2n * CENT);
    expect(receipt.outcome?.attempts.at(-1)?.report).toBe("above_bound");
    expect(gateway.log.text()).toContain("usage above bound");
  });

  test("costs what was seen where the report is no number", async () => {
    const { receipt } = await askClaude(searching("many"));
    expect(receipt.captured).toBe(TOKENS + CENT);
    expect(gateway.log.text()).toContain(`"disbelieved":true`);
  });

  test("is charged as far as a broken stream showed it", async () => {
    const { receipt } = await askClaude(searching(0, { breaksOff: true }), { stream: true });
    expect(receipt.outcome?.usage?.calls).toEqual({ web_search: 1 });
    expect(receipt.captured > CENT).toBe(true);
  });

  test("is on the receipt that its client reads", async () => {
    const { response } = await askClaude(searching(3), { stream: true });
    const id = response.headers.get("x-request-id");
    const headers = { authorization: `Bearer ${gateway.secret}` };
    const receipt = await objectOf(await fetch(`${gateway.url}/v1/receipts/${id}`, { headers }));
    expect(receipt.tool_calls).toEqual([{ tool: "web_search", calls: 3, usd_per_call: "0.01" }]);
  });
});

describe("a tool without a fee", () => {
  test.each([
    ["messages", 400, MESSAGES, { model: "claude", tools: [{ type: "x_search_20260101" }] }, "tools[0].type"],
    ["responses", 400, RESPONSES, { model: "chat", tools: [{ type: "file_search" }] }, "tools[0].type"],
    [
      "responses",
      400,
      RESPONSES,
      { model: "plain", tools: [{ type: "web_search" }], tool_choice: "required" },
      "tools[0].type",
    ],
    [
      "responses",
      400,
      RESPONSES,
      { model: "plain", tools: [{ type: "web_search" }, { type: "file_search" }] },
      "tools[1].type",
    ],
    [
      "messages",
      400,
      MESSAGES,
      { model: "unpriced", tools: [SEARCH], tool_choice: { type: "tool", name: "web_search" } },
      "tools[0].type",
    ],
    ["chat", 422, CHAT, { model: "plain", web_search_options: {} }, "web_search_options"],
    ["chat", 422, CHAT, { model: "plain", modalities: ["text", "audio"] }, "modalities"],
    ["chat", 422, CHAT, { model: "chat", modalities: ["text", "image"] }, "modalities"],
  ])("is refused by name on %s with %i", async (_name, status, surface, body, path) => {
    const seen = gateway.upstream.seen.length;
    const response = await post(gateway, surface, { max_tokens: undefined, ...body });
    expect(response.status).toBe(status);
    expect(await response.text()).toContain(path);
    expect(gateway.upstream.seen).toHaveLength(seen);
  });
});

describe("a search that clients offer by default, without a fee", () => {
  const SPOKEN = { text: "Hello there.", usage: { input: 10, output: 5 } };
  const f = { type: "function", name: "f", parameters: { type: "object", properties: {} } };
  const sent = () => JSON.parse(gateway.upstream.seen.at(-1)?.bodyText ?? "{}");
  const tools = [{ type: "web_search" }, f];

  test("is dropped on responses, and the hold takes no window for it", async () => {
    gateway.upstream.on("plain", answerWith(SPOKEN));
    const ask = async (members: object) => {
      const response = await post(gateway, RESPONSES, { model: "plain", ...members });
      expect(response.status).toBe(200);
      await response.text();
      return gateway.receiptOf(response);
    };
    const receipt = await ask({ tools, tool_choice: "auto" });
    expect(sent().tools).toEqual([f]);
    expect(sent().max_tool_calls).toBeUndefined();
    expect(receipt.captured).toBe(TOKENS);
    const without = await ask({ tools: [f], tool_choice: "auto" });
    // The body is 20 bytes longer, which are tokens at the most.
    expect(receipt.granted - without.granted).toBeLessThan(100_000n);
  });

  test("is dropped on a WebSocket", async () => {
    gateway.upstream.on("plain", answerWith(SPOKEN));
    const client = await connectSocket(gateway);
    const frames = await client.create({ model: "plain", tools });
    expect(frames.at(-1)).toMatchObject({ type: "response.completed" });
    expect(sent().tools).toEqual([f]);
    client.socket.close();
  });

  test("is dropped on messages", async () => {
    gateway.upstream.on("unpriced", answerWith(SPOKEN));
    const response = await post(gateway, MESSAGES, { model: "unpriced", max_tokens: 9, tools: [SEARCH] });
    expect(response.status).toBe(200);
    expect(Object.keys(sent())).not.toContain("tools");
  });

  test("goes to a route with a fee where there is one", async () => {
    gateway.upstream.on("searching", answerWith(SPOKEN));
    gateway.upstream.on("plain", answerWith(SPOKEN));
    const response = await post(gateway, RESPONSES, { model: "either", tools });
    await response.text();
    expect(sent()).toMatchObject({ model: "searching", tools });
  });
});

describe("a key without paid tools", () => {
  const SPOKEN = { text: "Hello there.", usage: { input: 10, output: 5 } };
  const sent = () => JSON.parse(gateway.upstream.seen.at(-1)?.bodyText ?? "{}");
  const f = { type: "function", name: "f", parameters: { type: "object", properties: {} } };

  test("loses searches that clients offer by default, with their fee, and is refused others", async () => {
    const { secret } = await gateway.newKey({ forbidsPaidTools: true });
    gateway.upstream.on("chat", answerWith(SPOKEN));
    const tools = [{ type: "web_search" }, f];
    const response = await post(gateway, RESPONSES, { model: "chat", tools, secret });
    await response.text();
    const receipt = await gateway.receiptOf(response);
    expect(sent().tools).toEqual([f]);
    expect(receipt).toMatchObject({ captured: TOKENS });
    expect(receipt.granted < CENT).toBe(true);
    const code = { type: "code_execution_20250825", name: "code_execution" };
    const refused = await post(gateway, MESSAGES, { max_tokens: 9, tools: [code], secret });
    await expectError(refused, MESSAGES, "paid_tool_not_allowed");
    const asked = await post(gateway, CHAT, { model: "chat", web_search_options: {}, secret });
    await expectError(asked, CHAT, "paid_tool_not_allowed");
  });

  test("uses models that search by themselves, and gives the keys below it no more", async () => {
    const { secret } = await gateway.newKey({ forbidsPaidTools: true, allowsChildren: true });
    gateway.upstream.on("sonar", answerWith(SPOKEN));
    const response = await post(gateway, CHAT, { model: "sonar", secret });
    await response.text();
    expect((await gateway.receiptOf(response)).captured).toBe(TOKENS + CENT / 2n);
    const make = (body: object) =>
      fetch(`${gateway.url}/v1/key/children`, {
        method: "POST",
        headers: { authorization: `Bearer ${secret}` },
        body: JSON.stringify({ name: "run", spending_limit_usd: "1", ...body }),
      });
    const child = await objectOf(await make({}));
    expect(child.allows_paid_tools).toBe(false);
    const below = { model: "chat", web_search_options: {}, secret: String(child.secret) };
    await expectError(await post(gateway, CHAT, below), CHAT, "paid_tool_not_allowed");
    expect((await make({ allows_paid_tools: true })).status).toBe(422);
    expect((await make({ allows_paid_tools: "no" })).status).toBe(422);
  });
});

describe("a search of OpenAI's responses", () => {
  const call = { type: "web_search_call", id: "w", status: "completed", action: { type: "search" } };
  const page = { ...call, action: { type: "open_page", url: "https://x.example" } };
  const message = {
    type: "message",
    id: "m",
    role: "assistant",
    content: [{ type: "output_text", text: "Found." }],
  };
  const body = {
    id: "r",
    object: "response",
    status: "completed",
    model: "chat",
    output: [call, page, call, message],
    usage: { input_tokens: 10, output_tokens: 5, total_tokens: 15 },
  };

  test("is charged for each search and no page, within the bound of all tools", async () => {
    gateway.upstream.on("chat", answer({ body: JSON.stringify(body) }));
    const response = await post(gateway, RESPONSES, { model: "chat", tools: [{ type: "web_search" }] });
    await response.text();
    const receipt = await gateway.receiptOf(response);
    expect(receipt).toMatchObject({
      captured: TOKENS + 2n * CENT,
      outcome: { source: "reported", upstreamCost: TOKENS + CENT },
    });
    expect(JSON.parse(gateway.upstream.seen.at(-1)?.bodyText ?? "{}").max_tool_calls).toBe(10);
  });

  test("is cut to the bound of all tools", async () => {
    gateway.upstream.on("chat", answer({ body: JSON.stringify(body) }));
    const response = await post(gateway, RESPONSES, {
      model: "chat",
      tools: [{ type: "web_search" }],
      max_tool_calls: 1,
    });
    await response.text();
    expect((await gateway.receiptOf(response)).captured).toBe(TOKENS + CENT);
  });
});

describe("chat", () => {
  const answerOf = (usage: object) =>
    answer({
      body: JSON.stringify({
        choices: [{ index: 0, message: { role: "assistant", content: "Hi." }, finish_reason: "stop" }],
        usage: { prompt_tokens: 10, completion_tokens: 5, total_tokens: 15, ...usage },
      }),
    });
  const ask = async (model: string, usage: object, members: object = {}) => {
    gateway.upstream.on(model, answerOf(usage));
    const response = await post(gateway, CHAT, { model, ...members });
    await response.text();
    return gateway.receiptOf(response);
  };

  test("charges one search of each answer that has to search", async () => {
    expect((await ask("chat", {}, { web_search_options: {} })).captured).toBe(TOKENS + CENT);
  });

  test("charges the fee of each request of a model that searches by itself", async () => {
    const receipt = await ask("sonar", {});
    expect(receipt).toMatchObject({
      captured: TOKENS + CENT / 2n,
      outcome: { usage: { calls: { request: 1 } } },
    });
    expect((await ask("sonar", {}, { web_search_options: {} })).captured).toBe(TOKENS + CENT / 2n);
  });

  test("charges spoken input and output at prices of their own", async () => {
    const heard = {
      prompt_tokens_details: { audio_tokens: 4 },
      completion_tokens_details: { audio_tokens: 3 },
    };
    const content = [{ type: "input_audio", input_audio: { data: "AAAA", format: "wav" } }];
    const members = { modalities: ["text", "audio"], messages: [{ role: "user", content }] };
    const receipt = await ask("chat", heard, members);
    // 4 of 10 and 3 of 5 tokens cost ten times as much.
    expect(receipt.captured).toBe(6_000n + 40_000n + 4_000n + 60_000n);
    expect(receipt.outcome?.usage?.audio).toEqual({ inputTokens: 4, cachedInputTokens: 0, outputTokens: 3 });
    expect(receipt.granted >= receipt.captured).toBe(true);
  });

  test.each([
    ["pcm16", "breaks off", 10],
    ["pcm16", "ends without a report", 10],
    ["opus", "breaks off", 649],
  ])("charges spoken %s output of a stream that %s as %i tokens of audio", async (format, how, spoken) => {
    const data = Buffer.alloc(24_000).toString("base64");
    const chunk = (delta: object, finish: string | null = null) =>
      JSON.stringify({ id: "c", choices: [{ index: 0, delta, finish_reason: finish }] });
    const halves = [data.slice(0, 16_000), data.slice(16_000)];
    const spoke = halves.map((half) => chunk({ audio: { id: "a", data: half } }));
    const isBroken = how === "breaks off";
    const body = isBroken
      ? spoke.map((line) => `data: ${line}\n\n`).join("")
      : frame("openai", [...spoke, chunk({}, "stop")]);
    const framing = isBroken ? ({ framing: "until_close" } as const) : {};
    gateway.upstream.on("chat", answer({ headers: EVENT_STREAM, body, ...framing }));
    const members = { modalities: ["text", "audio"], audio: { voice: "alloy", format }, stream: true };
    const response = await post(gateway, CHAT, { model: "chat", ...members });
    await response.text().catch(() => undefined);
    const receipt = await gateway.receiptOf(response);
    expect(receipt.outcome?.usage?.audio?.outputTokens).toBe(spoken);
    expect(receipt.captured >= BigInt(spoken) * 20_000n).toBe(true);
    expect(receipt.granted >= receipt.captured).toBe(true);
  });

  test.each([
    [
      "a recording",
      { type: "input_audio", input_audio: { data: "A".repeat(40_000), format: "mp3" } },
      40,
      40,
    ],
    ["samples", { type: "input_audio", input_audio: { data: "A".repeat(64_000), format: "wav" } }, 10, 10],
    ["a document", { type: "file", file: { file_data: "A".repeat(8_000) } }, 100, undefined],
    ["a document that the provider has", { type: "file", file: { file_id: "file-1" } }, 5_000, undefined],
  ])(
    "charges %s in the input of a stream that breaks off without a report",
    async (_, part, tokens, heard) => {
      const chunk = JSON.stringify({ id: "c", choices: [{ index: 0, delta: { content: "Hi" } }] });
      const body = `data: ${chunk}\n\n`;
      gateway.upstream.on("chat", answer({ headers: EVENT_STREAM, body, framing: "until_close" }));
      const members = { stream: true, messages: [{ role: "user", content: [part] }] };
      const response = await post(gateway, CHAT, { model: "chat", ...members });
      await response.text().catch(() => undefined);
      const { outcome, captured, granted } = await gateway.receiptOf(response);
      const inputTokens = outcome?.usage?.inputTokens ?? 0;
      expect(inputTokens >= tokens && inputTokens < tokens + 30).toBe(true);
      expect(outcome?.usage?.audio?.inputTokens).toBe(heard);
      expect(captured >= BigInt(tokens) * (heard === undefined ? 1_000n : 10_000n)).toBe(true);
      expect(granted >= captured).toBe(true);
    },
  );

  test("charges audio that the request did not ask for as text, and logs it", async () => {
    const receipt = await ask("chat", { completion_tokens_details: { audio_tokens: 5 } });
    expect(receipt.captured).toBe(TOKENS);
    expect(receipt.outcome?.attempts.at(-1)?.report).toBe("above_bound");
  });

  test("charges nothing for more audio than all tokens", async () => {
    const members = { modalities: ["text", "audio"] };
    const receipt = await ask("chat", { completion_tokens_details: { audio_tokens: 1_000_000 } }, members);
    expect(receipt.captured).toBe(TOKENS);
  });
});
