import { describe, expect, test } from "bun:test";
import type { Cause } from "../../../src/errors.ts";
import type { UpstreamRequestOptions } from "../../../src/wire/model-request.ts";
import { openaiChat } from "../../../src/wire/openai-chat/format.ts";
import { cpuMs } from "../../support/cpu-time.ts";
import { errorOf } from "../play.ts";

const MESSAGES = [{ role: "user", content: "hi" }];
const PNG = `data:image/png;base64,${"A".repeat(30_000)}`;

function parse(members: object) {
  return openaiChat.parseRequest(JSON.stringify({ model: "m", messages: MESSAGES, ...members }));
}

function print(text: string, options: Partial<UpstreamRequestOptions> = {}): string {
  return openaiChat.printUpstreamRequest(openaiChat.parseRequest(text), {
    model: "up",
    outputTokensMax: 50,
    outputLimitField: undefined,
    ...options,
  });
}

describe("parseRequest", () => {
  test("reads the facts of a request", () => {
    const request = parse({ max_tokens: 100, n: 2, stream: true, stream_options: { include_usage: true } });
    expect(request).toMatchObject({
      model: "m",
      stream: true,
      outputTokensMax: 100,
      outputLimitField: "max_tokens",
      thinkingTokens: 0,
      choices: 2,
      wantsUsage: true,
    });
  });

  test("uses the smaller of two output limits", () => {
    const request = parse({ max_tokens: 100, max_completion_tokens: 70 });
    expect(request.outputTokensMax).toBe(70);
    expect(parse({ max_tokens: 60, max_completion_tokens: 70 }).outputTokensMax).toBe(60);
  });

  test("reads null as omitted", () => {
    const request = parse({
      max_tokens: null,
      max_completion_tokens: null,
      n: null,
      stream: null,
      stream_options: null,
      tools: null,
      service_tier: null,
      modalities: null,
    });
    expect(request).toMatchObject({
      outputTokensMax: undefined,
      choices: 1,
      stream: false,
      wantsUsage: false,
    });
  });

  test("accepts unknown roles, part types and fields", () => {
    const messages = [
      { role: "developer", content: null },
      { role: "oracle", content: [{ type: "hologram" }, "text", 7, null], extra: {} },
      { role: "assistant", tool_calls: [] },
    ];
    expect(() => parse({ messages, thinking: true, safeguards: {}, reasoning_effort: "max" })).not.toThrow();
  });

  test.each<[string, Cause]>([
    ["", "not_json"],
    ["{", "not_json"],
    ['{"model":"m",}', "not_json"],
    ["{} {}", "not_json"],
    ["[]", "wrong_shape"],
    ["null", "wrong_shape"],
    ['"text"', "wrong_shape"],
  ])("rejects the body %j with %s", (text, cause) => expect(errorOf(openaiChat, text).kind).toBe(cause));

  test.each<[string, object]>([
    ["model", { model: undefined }],
    ["model", { model: "" }],
    ["model", { model: 7 }],
    ["model", { model: "m".repeat(257) }],
    ["messages", { messages: undefined }],
    ["messages", { messages: [] }],
    ["messages", { messages: {} }],
    ["messages[1]", { messages: [...MESSAGES, "hi"] }],
    ["messages[0]", { messages: [null] }],
    ["messages[0].role", { messages: [{ content: "hi" }] }],
    ["messages[0].content", { messages: [{ role: "user", content: {} }] }],
    ["messages[0].content", { messages: [{ role: "user", content: 7 }] }],
    ["stream", { stream: "true" }],
    ["max_tokens", { max_tokens: 0 }],
    ["max_tokens", { max_tokens: -1 }],
    ["max_tokens", { max_tokens: 1.5 }],
    ["max_tokens", { max_tokens: "100" }],
    ["max_completion_tokens", { max_completion_tokens: 1e300 }],
    ["n", { n: 0 }],
    ["n", { n: 129 }],
    ["stream_options", { stream_options: [] }],
    ["tools", { tools: {} }],
  ])("rejects the path %s of %j", (path, members) => {
    const error = errorOf(openaiChat, { model: "m", messages: MESSAGES, ...members });
    expect(error.kind).toBe("wrong_shape");
    expect(error.publicMessage).toEndWith(`: ${path}`);
  });

  test.each<[string, object]>([
    ["service_tier", { service_tier: "Priority" }],
    ["service_tier", { service_tier: ["default"] }],
    ["speed", { speed: "fast" }],
    ["modalities", { modalities: ["text", "video"] }],
    ["models", { models: ["dearer/model"] }],
  ])("rejects the path %s if its value changes the price: %j", (path, members) => {
    const error = errorOf(openaiChat, { model: "m", messages: MESSAGES, ...members });
    expect(error.kind).toBe("unpriced_field");
    expect(error.publicMessage).toEndWith(`: ${path}`);
  });

  test("accepts the service tiers with the catalog's price", () => {
    for (const service_tier of ["auto", "default", "standard", "standard_only"]) {
      expect(() => parse({ service_tier, modalities: ["text"], speed: "standard" })).not.toThrow();
    }
  });

  test("reads no members from a prototype", () => {
    expect(
      errorOf(openaiChat, `{"__proto__":{"model":"m","messages":${JSON.stringify(MESSAGES)}}}`).kind,
    ).toBe("wrong_shape");
  });

  test("rejects a body of brackets and commas quickly, before parsing", () => {
    const ms = cpuMs(() => {
      for (const text of [
        "[".repeat(30_000_000),
        `[${"1,".repeat(15_000_000)}1]`,
        `[${"{},".repeat(10_000_000)}1]`,
        `{"a":`.repeat(5_000_000),
      ]) {
        expect(errorOf(openaiChat, text).kind).toBe("wrong_shape");
      }
    });
    expect(ms).toBeLessThan(10_000);
  });

  test("accepts a message that nests 300,000 levels", () => {
    const deep = `${"[".repeat(300_000)}${"]".repeat(300_000)}`;
    const request = openaiChat.parseRequest(`{"model":"m","messages":[{"role":"user","content":${deep}}]}`);
    expect(request.promptText()).toBe("");
  });
});

describe("the input size", () => {
  const part = (...content: unknown[]) => parse({ messages: [{ role: "user", content }] }).input;

  test("is the UTF-8 bytes of the body", () => {
    const text = '{"model":"m","messages":[{"role":"user","content":"грüße 𝄞"}]}';
    const input = {
      textBytes: Buffer.byteLength(text),
      images: 0,
      mediaBytes: 0,
      unbounded: false,
      serverTools: false,
    };
    expect(openaiChat.parseRequest(text).input).toEqual(input);
  });

  test("counts inline images separately from the text", () => {
    const input = part({ type: "text", text: "look" }, { type: "image_url", image_url: { url: PNG } });
    expect(input).toMatchObject({ images: 1, unbounded: false });
    expect(input.textBytes).toBeLessThan(250);
  });

  test("counts a remote image as an image", () => {
    expect(part({ type: "image_url", image_url: { url: "https://example.com/a.png" } })).toMatchObject({
      images: 1,
      unbounded: false,
    });
  });

  test("is at least the other bytes if image data is escaped or not ASCII", () => {
    for (const data of ["\\/".repeat(1000), "\\u0041".repeat(1000), "ж".repeat(1000)]) {
      const text = `{"model":"m","messages":[{"role":"user","content":[{"type":"image_url","image_url":{"url":"data:image/png;base64,${data}"}}]}]}`;
      const others = Buffer.byteLength(text) - Buffer.byteLength(data);
      expect(openaiChat.parseRequest(text).input.textBytes).toBeGreaterThanOrEqual(others);
    }
  });

  test("includes every byte that a model would read as text", () => {
    const texts = [
      { type: "text", text: PNG },
      { type: "text", text: "hi", image_url: { url: PNG } },
      { type: "image_url", image_url: { url: PNG.replace("image/png", "text/plain") } },
      { type: "image_url", image_url: { url: PNG.replace(";base64", "") } },
      { type: "image_url", image_url: { url: ` ${PNG}` } },
      { type: "image_url", image_url: { url: PNG.replace("png", "svg+xml") } },
    ];
    for (const text of texts) expect(part(text).textBytes).toBeGreaterThan(30_000);
    const inString = parse({ messages: [{ role: "user", content: PNG }] }).input;
    expect(inString.textBytes).toBeGreaterThan(30_000);
  });

  test.each<[string, object]>([
    ["a file", { messages: [{ role: "user", content: [{ type: "file", file: { file_id: "f" } }] }] }],
    ["audio", { messages: [{ role: "user", content: [{ type: "input_audio", input_audio: {} }] }] }],
    ["a part of an unknown type", { messages: [{ role: "user", content: [{ type: "video_url" }] }] }],
    ["a part without a type", { messages: [{ role: "user", content: [{ file_id: "f" }] }] }],
    ["earlier audio", { messages: [{ role: "assistant", audio: { id: "a" } }] }],
    [
      "a data URL of another type than an image",
      {
        messages: [
          {
            role: "user",
            content: [{ type: "image_url", image_url: { url: "data:application/pdf;base64,AA" } }],
          },
        ],
      },
    ],
    ["a tool that runs at the upstream", { tools: [{ type: "mcp" }] }],
  ])("is unbounded with %s", (_, members) => expect(parse(members).input.unbounded).toBe(true));

  test("includes server tools with a tool that runs at the upstream", () =>
    expect(parse({ tools: [{ type: "mcp" }] }).input.serverTools).toBe(true));

  test("is unbounded with a tool whose type is not a string", () => {
    const type = { toString: 1, valueOf: 1 };
    expect(parse({ tools: [{ type }] }).input.unbounded).toBe(true);
  });

  test("is bounded with tools that run at the client", () => {
    const tools = [
      { type: "function", function: { name: "f" } },
      { type: "custom", custom: { name: "c" } },
    ];
    expect(parse({ tools }).input.unbounded).toBe(false);
  });

  test.each([
    '{"model":"m","messages":[{"role":"user","content":[{"type":"file","type":"text","text":"hi"}]}]}',
    '{"model":"m","messages":[{"role":"user","content":[{"type":"file"}],"content":"hi"}]}',
    '{"model":"m","messages":[{"role":"user","content":[{"type":"file"}]}],"messages":[{"role":"user","content":"hi"}]}',
  ])("is unbounded if a key is repeated: %s", (text) => {
    expect(openaiChat.parseRequest(text).input.unbounded).toBe(true);
  });
});

describe("promptText", () => {
  test("joins the text that the model reads, without media", () => {
    const request = parse({
      messages: [
        { role: "system", content: "be brief" },
        {
          role: "user",
          content: [
            { type: "text", text: "look" },
            { type: "image_url", image_url: { url: PNG } },
          ],
        },
        {
          role: "assistant",
          tool_calls: [{ id: "c", type: "function", function: { name: "find", arguments: '{"q":1}' } }],
        },
      ],
      tools: [{ type: "function", function: { name: "find", parameters: { properties: { q: {} } } } }],
    });
    const text = request.promptText();
    for (const word of ["be brief", "look", "find", '{"q":1}', "properties", "q"])
      expect(text).toContain(word);
    expect(text).not.toContain("AAAA");
  });
});

describe("printUpstreamRequest", () => {
  test("changes only the bytes of the model and the output limit", () => {
    const text =
      '{ "messages": [ {"role":"user","content":"\\u0068i"} ],\n "model": "m", "max_tokens": 100, "x": 1.0 }';
    expect(print(text)).toBe(text.replace('"m"', '"up"').replace("100", "50"));
  });

  test.each([
    ["", undefined, "max_completion_tokens"],
    ["", "max_tokens", "max_tokens"],
    [',"max_tokens":9', undefined, "max_tokens"],
    [',"max_completion_tokens":9', undefined, "max_completion_tokens"],
    [',"max_tokens":9', "max_completion_tokens", "max_completion_tokens"],
    [',"max_completion_tokens":9', "max_tokens", "max_tokens"],
    [',"max_tokens":9,"max_completion_tokens":8', undefined, "max_completion_tokens"],
    [',"max_tokens":null,"max_tokens":9', undefined, "max_tokens"],
    [',"max_tokens":9,"max_tok\\u0065ns":9', "max_completion_tokens", "max_completion_tokens"],
  ] as const)("prints one output limit for %j on a route with %s", (limits, outputLimitField, sent) => {
    const body = print(`{"model":"m","messages":[{"role":"user"}]${limits}}`, { outputLimitField });
    const { max_tokens, max_completion_tokens } = JSON.parse(body);
    expect({ max_tokens, max_completion_tokens }).toEqual({
      max_tokens: undefined,
      max_completion_tokens: undefined,
      [sent]: 50,
    });
    expect(body.match(/max_/g)).toHaveLength(1);
  });

  test.each([
    ["", '"stream_options":{"include_usage":true}'],
    [',"stream_options":null', '"stream_options":{"include_usage":true}'],
    [',"stream_options":{}', '"stream_options":{"include_usage":true}'],
    [',"stream_options":{"include_usage":false}', '"stream_options":{"include_usage":true}'],
    [
      ',"stream_options":{ "include_obfuscation":false }',
      '"stream_options":{ "include_obfuscation":false,"include_usage":true }',
    ],
  ])("requests usage in a stream with %j", (options, sent) => {
    expect(print(`{"model":"m","messages":[{"role":"user"}],"stream":true${options}}`)).toContain(sent);
  });

  test("does not request usage for a whole answer", () =>
    expect(print('{"model":"m","messages":[{"role":"user"}]}')).not.toContain("stream_options"));

  test("writes repeated keys once, with the value that was checked", () => {
    const text =
      '{"n":128,"service_tier":"priority","model":"a","messages":[{"role":"user"}],"n":1,"service_tier":"auto","model":"b","stream":true,"stream":false}';
    const body = print(text);
    expect(body).toStartWith(
      '{"n":1,"service_tier":"auto","model":"up","messages":[{"role":"user"}],"stream":false',
    );
    expect(body.match(/"(n|service_tier|model|stream)":/g)).toHaveLength(4);
  });
});
