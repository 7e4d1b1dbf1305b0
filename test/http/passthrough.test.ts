import { describe, expect, test } from "bun:test";
import { CHAT, dataOf, MESSAGES, post, SURFACES } from "../support/client.ts";
import { gatewayForTests } from "../support/gateway-for-tests.ts";
import { answer } from "../support/script.ts";
import { answerWith, EVENT_STREAM, frame } from "../support/scripted-answers.ts";
import { scriptedModel, scriptedRoute } from "../support/test-catalog.ts";

const gateway = gatewayForTests({
  models: [
    scriptedModel("chat", "openai", { routes: [scriptedRoute("scripted-openai", "theirs-1")] }),
    scriptedModel("claude", "anthropic", { routes: [scriptedRoute("scripted-anthropic", "theirs-2")] }),
  ],
});

const lastBody = () => gateway.upstream.seen.at(-1)?.bodyText ?? "";
const lastHeaders = () => gateway.upstream.seen.at(-1)?.headers ?? {};

describe("a request body", () => {
  test("of chat reaches the upstream byte for byte, apart from the model name", async () => {
    const body = (model: string) => `{ "store":false,\t"n" : 1, "messages": [ {"role":"user",
      "content":"caf\\u00e9 \\ud83d\\ude00 ☃ \\/ }]\\" ","name" : "x"} , {"role":"odd-role","content":null,"extra":[1,2,{}]}],
      "max_completion_tokens": 4e2 ,"seed":12345678901234567890,"temperature":1.0, "model" :"${model}",
      "prompt_cache_key":"k","metadata":{"model":"inner","max_tokens":1},"unknown":{"deep":[null,true,1e-7]} }`;
    expect((await post(gateway, CHAT, { raw: body("chat") })).status).toBe(200);
    const sent = lastBody();
    // The gateway may rewrite the number 400 in another notation.
    expect(sent.replace(/("max_completion_tokens":\s*)400\b/, "$14e2")).toBe(body("theirs-1"));
  });

  test("of messages reaches the upstream byte for byte, thinking and signatures included", async () => {
    const body = (
      model: string,
    ) => `{"model":"${model}","max_tokens":2000,"system":[{"type":"text","text":"x-header: a", "cache_control":{"type":"ephemeral"}}],
      "thinking":{"type":"enabled","budget_tokens":1024}, "messages":[{"role":"user","content":"q"},
      {"role":"assistant","content":[{"type":"thinking","thinking":"hm \\u2014 so","signature":"EqQBCgIYAhIM+/=="},{"type":"redacted_thinking","data":"Zm9v"},
      {"type":"tool_use","id":"toolu_1","name":"f","input":{"n":1.50}}]},{"role":"user","content":[{"type":"tool_result","tool_use_id":"toolu_1","content":[]}]},
      {"role":"system","content":"mid-conversation"}],"tools":[{"name":"f","input_schema":{"type":"object"},"defer_loading":true}],
      "context_management":{"edits":[]},"output_config":{"effort":"low"},"metadata":{"user_id":"{\\"a\\":1}"}}`;
    expect((await post(gateway, MESSAGES, { raw: body("claude") })).status).toBe(200);
    expect(lastBody()).toBe(body("theirs-2"));
  });

  test("asks for usage in every stream, and keeps the client's other stream options", async () => {
    for (const given of [{}, { include_usage: true }, { include_usage: false, include_obfuscation: false }]) {
      await (await post(gateway, CHAT, { stream: true, stream_options: given })).text();
      const sent: Record<string, unknown> = JSON.parse(lastBody());
      expect(sent.stream_options).toEqual({ ...given, include_usage: true });
    }
    await (await post(gateway, CHAT)).text();
    expect(JSON.parse(lastBody())).not.toHaveProperty("stream_options");
  });

  test("with a duplicate member is sent with only the value that was checked", async () => {
    const raw =
      '{"model":"theirs-9","model":"chat","max_tokens":999999,"max_tokens":5,"messages":[{"role":"user","content":"hi"}]}';
    expect((await post(gateway, CHAT, { raw })).status).toBe(200);
    expect(lastBody()).not.toContain("theirs-9");
    expect(lastBody()).not.toContain("999999");
    expect(JSON.parse(lastBody())).toMatchObject({ model: "theirs-1", max_tokens: 5 });
  });

  test("with two output limits is sent with the smaller one", async () => {
    await post(gateway, CHAT, { max_tokens: 100, max_completion_tokens: 50 });
    const sent: Record<string, unknown> = JSON.parse(lastBody());
    expect([sent.max_tokens, sent.max_completion_tokens].filter((each) => each !== undefined)).toEqual([50]);
  });
});

describe("a request header", () => {
  test("with version, betas or the beta query reaches an Anthropic upstream; keys and cookies do not", async () => {
    const headers = {
      "anthropic-version": "2026-10-21",
      "anthropic-beta": "a-1,b-2",
      cookie: "session=1",
      "x-forwarded-for": "1.2.3.4",
      "x-stainless-lang": "js",
    };
    await fetch(`${gateway.url}/v1/messages?beta=true`, {
      method: "POST",
      headers: { ...headers, "x-api-key": gateway.secret },
      body: JSON.stringify(MESSAGES.body()),
    });
    expect(gateway.upstream.seen.at(-1)?.target).toBe("/v1/messages?beta=true");
    expect(lastHeaders()).toMatchObject({
      "anthropic-version": "2026-10-21",
      "anthropic-beta": "a-1,b-2",
      "x-api-key": "provider-secret",
    });
    expect(Object.keys(lastHeaders())).not.toContainAnyValues(["cookie", "x-forwarded-for", "authorization"]);
    expect(JSON.stringify(lastHeaders())).not.toContain(gateway.secret);
  });

  test("with the default version is added when the client sends none", async () => {
    await post(gateway, MESSAGES);
    expect(lastHeaders()["anthropic-version"]).toBe("2023-06-01");
  });

  test("with organization or cookie does not reach an OpenAI upstream", async () => {
    await post(gateway, CHAT, { headers: { "openai-organization": "org-1", cookie: "a=b" } });
    expect(lastHeaders().authorization).toBe("Bearer provider-secret");
    expect(Object.keys(lastHeaders())).not.toContainAnyValues(["cookie", "openai-organization"]);
  });
});

describe("an answer", () => {
  const odd = (
    model: string,
  ) => `{ "id":"msg_1" , "type":"message","role":"assistant","model":"${model}","unknown":{"model":"inner"},
    "content":[{"type":"thinking","thinking":"caf\\u00e9 \\/","signature":"EqQB+/=="},{"type":"text","text":"ok","citations":null}],
    "stop_reason":"end_turn","stop_sequence":null,"usage":{"input_tokens":1,"output_tokens":1.0,"service_tier":"standard"}}`;

  test("of messages returns byte for byte, apart from the model name", async () => {
    gateway.upstream.on("theirs-2", answer({ body: odd("theirs-2-20260101") }));
    expect(await (await post(gateway, MESSAGES)).text()).toBe(odd("claude"));
  });

  test("of chat returns byte for byte, apart from the model name", async () => {
    const body = (
      model: string,
    ) => `{"id":"c","object":"chat.completion","created":1,"model":"${model}", "x_groq":{"id":"r"},
      "choices":[{"index":0,"message":{"role":"assistant","content":"caf\\u00e9","reasoning":"hm","annotations":[]},"logprobs":null,"finish_reason":"stop"}],
      "usage":{"prompt_tokens":1,"completion_tokens":1,"total_tokens":2,"queue_time":0.10},"system_fingerprint":null}`;
    gateway.upstream.on("theirs-1", answer({ body: body("theirs-1-0101") }));
    expect(await (await post(gateway, CHAT)).text()).toBe(body("chat"));
  });

  test("of messages streams byte for byte, thinking and signatures included", async () => {
    const lines = (model: string) => [
      `{"type":"message_start","message":{"id":"msg_1","type":"message","role":"assistant","model":"${model}","content":[], "stop_reason":null,"usage":{"input_tokens":5,"output_tokens":1}}}`,
      '{"type":"content_block_start","index":0,"content_block":{"type":"thinking","thinking":"","signature":""} }',
      '{"type": "ping"}',
      '{"type":"content_block_delta","index":0,"delta":{"type":"thinking_delta","thinking":"caf\\u00e9 \\/ ☃"}}',
      '{"type":"content_block_delta","index":0,"delta":{"type":"signature_delta","signature":"EqQBCgIYAhIM+/=="}}',
      '{"type":"content_block_stop","index":0        }',
      '{"type":"content_block_start","index":1,"content_block":{"type":"text","text":""}}',
      '{"type":"content_block_delta","index":1,"delta":{"type":"text_delta","text":"ok"}, "unknown":1.0}',
      '{"type":"content_block_stop","index":1}',
      '{"type":"message_delta","delta":{"stop_reason":"end_turn","stop_sequence":null},"usage":{"output_tokens":9}}',
      '{"type":"message_stop"   }',
    ];
    const streamed = (model: string) => frame("anthropic", lines(model));
    gateway.upstream.on("theirs-2", answer({ headers: EVENT_STREAM, body: streamed("theirs-2-20260101") }));
    expect(await (await post(gateway, MESSAGES, { stream: true })).text()).toBe(streamed("claude"));
  });

  test.each(SURFACES)(
    "of $path names the requested model everywhere, whole and streamed",
    async (surface) => {
      for (const stream of [false, true]) {
        const text = await (
          await post(gateway, surface, { stream, stream_options: { include_usage: true } })
        ).text();
        expect(text).not.toContain("upstream-secret-name");
        expect(text).toContain(`"model":"${surface.model}"`);
      }
    },
  );

  test("never carries headers of the upstream", async () => {
    const headers = { "openai-processing-ms": "3", "set-cookie": "a=b", server: "theirs", "x-custom": "1" };
    for (const surface of SURFACES) {
      gateway.upstream.on(
        surface.model === "chat" ? "theirs-1" : "theirs-2",
        answerWith(undefined, { headers }),
      );
      const response = await post(gateway, surface);
      expect(response.status).toBe(200);
      expect([...response.headers.keys()]).not.toContainAnyValues(Object.keys(headers));
    }
  });

  test("that is compressed is decoded", async () => {
    for (const surface of SURFACES) {
      gateway.upstream.on(
        surface.model === "chat" ? "theirs-1" : "theirs-2",
        answerWith(undefined, { gzip: true }),
      );
      for (const stream of [false, true]) {
        const response = await post(gateway, surface, { stream });
        expect(response.headers.has("content-encoding")).toBe(false);
        expect(await response.text()).toContain("friend");
      }
    }
  });
});

describe("usage in a chat stream", () => {
  const stream = async (options: object = {}) =>
    dataOf(await post(gateway, CHAT, { stream: true, ...options }));
  const asked = { stream_options: { include_usage: true } };
  const usage = { prompt_tokens: 11, completion_tokens: 7, total_tokens: 18 };

  test("is one last chunk without choices for a client that asked for it", async () => {
    const chunks = await stream(asked);
    expect(chunks.at(-1)).toMatchObject({ choices: [], usage, model: "chat" });
    expect(chunks.slice(0, -1).every((chunk) => (chunk.usage ?? null) === null)).toBe(true);
  });

  test.each([
    ["without stream options", {}],
    ["with include_usage false", { stream_options: { include_usage: false } }],
  ])("is absent %s, and is billed nonetheless", async (_name, options) => {
    const response = await post(gateway, CHAT, { stream: true, ...options });
    const chunks = await dataOf(response);
    expect(chunks.every(({ choices }) => Array.isArray(choices) && choices.length === 1)).toBe(true);
    expect(JSON.stringify(chunks)).not.toContain("prompt_tokens");
    expect(await gateway.receiptOf(response)).toMatchObject({
      outcome: { source: "reported" },
      captured: 25_000n,
    });
  });

  test("that an upstream repeats on every chunk is sent once, with the last value", async () => {
    const chunk = (delta: object, finish: string | null, tokens: number) =>
      JSON.stringify({
        id: "c",
        object: "chat.completion.chunk",
        created: 1,
        model: "theirs",
        choices: [{ index: 0, delta, finish_reason: finish }],
        usage: { prompt_tokens: 11, completion_tokens: tokens, total_tokens: 11 + tokens },
      });
    const lines = [
      chunk({ role: "assistant", content: "a" }, null, 1),
      chunk({ content: "b" }, null, 2),
      chunk({}, "stop", 7),
    ];
    gateway.upstream.on("theirs-1", answer({ headers: EVENT_STREAM, body: frame("openai", lines) }));
    const withUsage = (await stream(asked)).filter((each) => (each.usage ?? null) !== null);
    expect(withUsage).toEqual([expect.objectContaining({ choices: [], usage })]);
    expect(JSON.stringify(await stream())).not.toContain("completion_tokens");
  });

  test("ends with one end marker, whether or not the upstream sent one", async () => {
    for (const marked of [true, false]) {
      gateway.upstream.on("theirs-1", async function* (request) {
        let text = "";
        for await (const step of answerWith(undefined, { framing: "until_close" })(request)) {
          if ("send" in step) text += String(step.send);
        }
        yield { send: marked ? text : text.replace("data: [DONE]\n\n", "") };
        yield { leave: "close" };
      });
      const text = await (await post(gateway, CHAT, { stream: true })).text();
      expect(text.split("data: [DONE]\n\n")).toHaveLength(2);
      expect(text).toEndWith("data: [DONE]\n\n");
    }
  });
});
