import { describe, expect, test } from "bun:test";
import type { ChatRequest, Part, Tool } from "../../../src/domain/chat-request.ts";
import type { PrintOptions } from "../../../src/wire/format.ts";
import { findUntranslatable } from "../../../src/wire/google-gemini/egress/print-contents.ts";
import { printRequest } from "../../../src/wire/google-gemini/egress/print-request.ts";
import { googleGemini } from "../../../src/wire/google-gemini/format.ts";
import { encodeSignature, ID_CHARS_MAX } from "../../../src/wire/google-gemini/thinking.ts";
import { shortenIdentifiers } from "../../../src/wire/identifiers.ts";
import { findBodyProblem } from "../../support/google-rules.ts";
import {
  callOf as call,
  chatOf,
  IMAGE,
  resultOf as result,
  textOf as text,
  turnOf,
} from "../chat-request.ts";

const GEMINI_3 = { model: "gemini-3-flash-preview", origin: "google gemini-3-flash-preview" };
const TOOL: Tool = {
  name: "weather",
  description: "Looks out",
  schema: { type: "object", properties: { city: { type: "string" } }, required: ["city"] },
  strict: undefined,
  isFreeForm: false,
  cache: undefined,
};

function sealed(redacted: string): Part {
  return { kind: "reasoning", text: "", signature: undefined, redacted };
}

/** Prints a request for Gemini 2.5 Flash, and parses the body. */
function print(members: Partial<ChatRequest> = {}, options: Partial<PrintOptions> = {}) {
  const defaults: PrintOptions = {
    model: "gemini-2.5-flash",
    outputTokensMax: 10_000,
    outputLimitField: undefined,
    stream: false,
    traits: { reasoning: "effort", sampling: true },
    origin: "google gemini-2.5-flash",
  };
  return JSON.parse(printRequest(chatOf(members), { ...defaults, ...options }));
}

describe("the body of a Gemini call", () => {
  test("has leading system turns as the instruction and later ones in their place", () => {
    const { systemInstruction, contents } = print({
      turns: [
        turnOf("system", text("Be kind.")),
        turnOf("system", text("Be short.")),
        turnOf("user", text("Hi")),
        turnOf("assistant", text("Hello.")),
        turnOf("system", text("It is late.")),
        turnOf("user", text("Bye")),
      ],
    });
    expect(systemInstruction).toEqual({ parts: [{ text: "Be kind." }, { text: "Be short." }] });
    expect(contents).toEqual([
      { role: "user", parts: [{ text: "Hi" }] },
      { role: "model", parts: [{ text: "Hello." }] },
      { role: "user", parts: [{ text: "It is late." }, { text: "Bye" }] },
    ]);
  });

  test("begins with a user message, also when the conversation does not", () => {
    const opening = { role: "user", parts: [{ text: "Please begin." }] };
    expect(print({ turns: [turnOf("system", text("Be kind."))] }).contents).toEqual([opening]);
    expect(print({ turns: [turnOf("assistant", text("So,"))] }).contents[0]).toEqual(opening);
  });

  test("answers parallel calls by name and id, before any other part of the message", () => {
    const { contents } = print({
      turns: [
        turnOf("user", text("Both?")),
        turnOf("assistant", text("Yes."), call("a"), call("b", "time")),
        turnOf("user", text("And?"), result("b", text("noon")), result("a", text("rain"), IMAGE)),
      ],
    });
    expect(contents.slice(1)).toEqual([
      {
        role: "model",
        parts: [
          { text: "Yes." },
          { functionCall: { id: "a", name: "weather", args: { city: "Bonn" } } },
          { functionCall: { id: "b", name: "time", args: { city: "Bonn" } } },
        ],
      },
      {
        role: "user",
        parts: [
          { functionResponse: { id: "b", name: "time", response: { output: "noon" } } },
          { functionResponse: { id: "a", name: "weather", response: { output: "rain" } } },
          { text: "And?" },
          { inlineData: { mimeType: "image/png", data: "aGk=" } },
        ],
      },
    ]);
  });

  test("reports a failed tool as an error, and a result that is only an image as following", () => {
    const failed = { ...result("a", text("no wind")), isError: true };
    const turns = [turnOf("user", text("?")), turnOf("assistant", call("a"), call("b"))];
    const { contents } = print({ turns: [...turns, turnOf("user", failed, result("b", IMAGE))] });
    expect(contents[2].parts).toEqual([
      { functionResponse: { id: "a", name: "weather", response: { error: "no wind" } } },
      {
        functionResponse: {
          id: "b",
          name: "weather",
          response: { output: "The result is in the next part." },
        },
      },
      { inlineData: { mimeType: "image/png", data: "aGk=" } },
    ]);
  });

  test("has documents, recordings and addresses of files as Gemini reads them", () => {
    const file = { name: undefined, cache: undefined, path: "p", kind: "document" } as const;
    const { contents } = print({
      turns: [
        turnOf(
          "user",
          { ...file, source: { kind: "inline", mediaType: "application/pdf", data: "JVBER" } },
          { ...file, source: { kind: "inline", mediaType: "audio/wav", data: "UklG" } },
          { ...file, name: "notes.txt", source: { kind: "text", text: "Buy milk." } },
          { ...file, source: { kind: "url", url: "https://example.com/a?b" } },
          { ...IMAGE, source: { kind: "url", url: "https://example.com/a.PNG?size=2" } },
        ),
      ],
    });
    expect(contents[0].parts).toEqual([
      { inlineData: { mimeType: "application/pdf", data: "JVBER" } },
      { inlineData: { mimeType: "audio/wav", data: "UklG" } },
      { text: "notes.txt:\nBuy milk." },
      { fileData: { fileUri: "https://example.com/a?b", mimeType: "application/pdf" } },
      { fileData: { fileUri: "https://example.com/a.PNG?size=2", mimeType: "image/png" } },
    ]);
  });

  test.each([
    ["auto", { kind: "auto" }, { mode: "AUTO" }],
    ["none", { kind: "none" }, { mode: "NONE" }],
    ["required", { kind: "required" }, { mode: "ANY" }],
    ["one tool", { kind: "tool", name: "weather" }, { mode: "ANY", allowedFunctionNames: ["weather"] }],
  ] as const)("has the tool choice %s", (_name, toolChoice, functionCallingConfig) => {
    const { tools, toolConfig } = print({ tools: [TOOL], toolChoice });
    expect(tools).toEqual([
      {
        functionDeclarations: [
          { name: "weather", description: "Looks out", parametersJsonSchema: TOOL.schema },
        ],
      },
    ]);
    expect(toolConfig).toEqual({ functionCallingConfig });
  });

  test("still alternates where an answer of the model was reasoning alone", () => {
    const thinking = { kind: "reasoning", text: "Hm.", signature: "EqQB", redacted: undefined } as const;
    const { contents } = print({
      turns: [turnOf("user", text("Hi")), turnOf("assistant", thinking), turnOf("user", text("Well?"))],
    });
    expect(contents).toEqual([{ role: "user", parts: [{ text: "Hi" }, { text: "Well?" }] }]);
  });

  test("lacks a document without text, which Gemini rejects", () => {
    const file = { name: undefined, cache: undefined, path: "p", kind: "document" } as const;
    const empty = { ...file, source: { kind: "text", text: "" } } as const;
    const { contents } = print({ turns: [turnOf("user", empty, text("What is it?"))] });
    expect(contents).toEqual([{ role: "user", parts: [{ text: "What is it?" }] }]);
  });

  test("declares a tool without parameters without a schema", () => {
    const bare = { ...TOOL, description: "", schema: { type: "object", properties: {} } };
    expect(print({ tools: [bare] }).tools[0].functionDeclarations).toEqual([
      { name: "weather", description: "weather" },
    ]);
  });

  test("has the sampling settings that the model accepts, with a seed of 32 bits", () => {
    const sampling = { temperature: 0.5, topP: 0.9, topK: 40, seed: 2 ** 32 + 5, presencePenalty: 0.5 };
    const { generationConfig } = print({ ...sampling, frequencyPenalty: 0, stopSequences: ["END"] });
    expect(generationConfig).toEqual({
      maxOutputTokens: 10_000,
      temperature: 0.5,
      topP: 0.9,
      topK: 40,
      seed: 5,
      presencePenalty: 0.5,
      stopSequences: ["END"],
    });
    const traits = { reasoning: "effort", sampling: false } as const;
    expect(print(sampling, { traits }).generationConfig).toEqual({ maxOutputTokens: 10_000 });
  });

  test("enforces a format, except beside tools on a model before Gemini 3", () => {
    const schema = { type: "object", properties: { a: { type: "string" } } };
    const format = { kind: "schema", name: "n", description: "An a.", schema, strict: true } as const;
    const enforced = {
      responseMimeType: "application/json",
      responseJsonSchema: { description: "An a.", ...schema },
    };
    expect(print({ format }).generationConfig).toMatchObject(enforced);
    expect(print({ format, tools: [TOOL] }, GEMINI_3).generationConfig).toMatchObject(enforced);
    const { generationConfig, systemInstruction } = print({ format, tools: [TOOL] });
    expect(generationConfig).toEqual({ maxOutputTokens: 10_000 });
    expect(systemInstruction.parts[0].text).toContain(JSON.stringify({ description: "An a.", ...schema }));
    expect(print({ format: { kind: "json" } }).generationConfig).toMatchObject({
      responseMimeType: "application/json",
    });
  });
});

describe("thought signatures", () => {
  const origin = GEMINI_3.origin;
  const turns = (...parts: Parameters<typeof turnOf>[1][]) => [
    turnOf("user", text("?")),
    turnOf("assistant", ...parts),
  ];

  test("are sent back with the call and the text that they belong to", () => {
    const ofCall = sealed(encodeSignature(origin, { signature: "c2ln", callId: "a" }));
    const ofText = sealed(encodeSignature(origin, { signature: "dGV4dA==", callId: undefined }));
    const { contents } = print({ turns: turns(ofText, text("One"), ofCall, call("a"), call("b")) }, GEMINI_3);
    expect(contents[1].parts).toEqual([
      { text: "One", thoughtSignature: "dGV4dA==" },
      { functionCall: { id: "a", name: "weather", args: { city: "Bonn" } }, thoughtSignature: "c2ln" },
      { functionCall: { id: "b", name: "weather", args: { city: "Bonn" } } },
    ]);
  });

  test("find their call in another turn, and under its shortened id", () => {
    const id = `toolu:${"x".repeat(80)}`;
    const ofCall = sealed(encodeSignature(origin, { signature: "c2ln", callId: id }));
    const chat = chatOf({ turns: [...turns(ofCall), turnOf("assistant", call(id))] });
    const shortened = shortenIdentifiers(chat, { nameCharsMax: 64, idCharsMax: ID_CHARS_MAX });
    const { contents } = print({ turns: shortened.turns }, GEMINI_3);
    expect(contents[1].parts).toEqual([
      {
        functionCall: { id: expect.stringMatching(/^[\w-]{64}$/), name: "weather", args: { city: "Bonn" } },
        thoughtSignature: "c2ln",
      },
    ]);
  });

  test("of another model are dropped, and Gemini 3 is told that a call has none", () => {
    const foreign = sealed(encodeSignature("google gemini-3-pro", { signature: "c2ln", callId: "a" }));
    const [, gemini3] = print({ turns: turns(foreign, call("a"), call("b")) }, GEMINI_3).contents;
    expect(
      gemini3.parts.map(({ thoughtSignature }: { thoughtSignature?: string }) => thoughtSignature),
    ).toEqual(["skip_thought_signature_validator", undefined]);
    const [, older] = print({ turns: turns(foreign, call("a")) }).contents;
    expect(older.parts[0]).not.toHaveProperty("thoughtSignature");
  });

  test("of Anthropic and unsigned reasoning are dropped", () => {
    const thinking = { kind: "reasoning", text: "Hm.", signature: "EqQB", redacted: undefined } as const;
    expect(print({ turns: turns(thinking, text("One")) }, GEMINI_3).contents[1].parts).toEqual([
      { text: "One" },
    ]);
  });
});

describe("the thinking configuration", () => {
  const thinkingOf = (reasoning: object, options: object = {}) =>
    print(
      {
        reasoning: {
          effort: undefined,
          thinking: undefined,
          budgetTokens: undefined,
          isShown: true,
          ...reasoning,
        },
      },
      options,
    ).generationConfig.thinkingConfig;
  const pro = { model: "gemini-2.5-pro" };
  const lite = { model: "gemini-2.5-flash-lite" };
  const gemini3Pro = { model: "gemini-3-pro-preview" };

  test.each([
    ["is absent unless the client asks", {}, {}, undefined],
    [
      "is a budget below the output limit",
      { effort: "high" },
      {},
      { thinkingBudget: 9_744, includeThoughts: true },
    ],
    [
      "is the client's budget",
      { thinking: "enabled", budgetTokens: 2_000 },
      {},
      { thinkingBudget: 2_000, includeThoughts: true },
    ],
    [
      "is chosen by the model without an amount",
      { thinking: "adaptive" },
      {},
      { thinkingBudget: -1, includeThoughts: true },
    ],
    ["is off on Flash", { effort: "none" }, {}, { thinkingBudget: 0 }],
    ["is the least on Pro, which always thinks", { thinking: "disabled" }, pro, { thinkingBudget: 128 }],
    [
      "is off on Flash-Lite below its least budget",
      { effort: "low", isShown: false },
      { ...lite, outputTokensMax: 600 },
      { thinkingBudget: 0 },
    ],
    [
      "hides the thoughts that nobody reads",
      { effort: "low", isShown: false },
      {},
      { thinkingBudget: 1_024 },
    ],
    [
      "is a level on Gemini 3",
      { effort: "medium" },
      GEMINI_3,
      { thinkingLevel: "MEDIUM", includeThoughts: true },
    ],
    ["is minimal on Gemini 3 Flash", { effort: "none" }, GEMINI_3, { thinkingLevel: "MINIMAL" }],
    [
      "is low on Gemini 3 Pro, which has no less",
      { effort: "minimal" },
      gemini3Pro,
      { thinkingLevel: "LOW", includeThoughts: true },
    ],
    [
      "is high on Gemini 3 Pro, which has no medium",
      { effort: "medium" },
      gemini3Pro,
      { thinkingLevel: "HIGH", includeThoughts: true },
    ],
    [
      "is the level of a budget on Gemini 3",
      { thinking: "enabled", budgetTokens: 2_000 },
      GEMINI_3,
      { thinkingLevel: "LOW", includeThoughts: true },
    ],
    ["leaves the level to Gemini 3", { thinking: "adaptive" }, GEMINI_3, { includeThoughts: true }],
    [
      "is absent for a model without reasoning",
      { effort: "high" },
      { traits: { reasoning: "none", sampling: true } },
      undefined,
    ],
  ] as const)("%s", (_name, reasoning, options, expected) => {
    expect(thinkingOf(reasoning, options)).toEqual(expected);
  });
});

describe("a schema for Gemini", () => {
  test("keeps what Gemini reads, renames what it reads under another name, and describes the rest", () => {
    const schema = {
      $schema: "https://json-schema.org/draft/2020-12/schema",
      type: "object",
      description: "All.",
      properties: {
        kind: { const: "a" },
        size: { type: ["integer", "null"], exclusiveMinimum: 0, default: 1 },
        one: {
          oneOf: [
            { type: "string", pattern: "^a" },
            { $ref: "#/definitions/two", title: "dropped" },
          ],
        },
        flag: { enum: [true, false] },
        more: { type: "object", additionalProperties: { type: "array", items: { type: "number" } } },
      },
      definitions: { two: { type: "string", not: { minLength: 3 } } },
    };
    const { tools } = print({ tools: [{ ...TOOL, schema }] });
    expect(tools[0].functionDeclarations[0].parametersJsonSchema).toEqual({
      type: "object",
      description: "All.",
      properties: {
        kind: { enum: ["a"] },
        size: { type: ["integer", "null"], description: "{exclusiveMinimum: 0}" },
        one: { anyOf: [{ type: "string", description: '{pattern: "^a"}' }, { $ref: "#/$defs/two" }] },
        flag: { description: "{enum: [true,false]}" },
        more: { type: "object", additionalProperties: { type: "array", items: { type: "number" } } },
      },
      $defs: { two: { type: "string", description: '{not: {"minLength":3}}' } },
    });
  });
});

describe("a request that Gemini cannot take", () => {
  test("is one with a GIF, an unknown document, or more than five stop sequences", () => {
    const gif = { ...IMAGE, source: { kind: "inline", mediaType: "image/gif", data: "R0lG" } } as const;
    const word = {
      ...IMAGE,
      kind: "document",
      name: "a.doc",
      source: { ...IMAGE.source, mediaType: "application/msword" },
    } as const;
    expect(findUntranslatable(chatOf({ turns: [turnOf("user", gif)] }))).toBe(IMAGE.path);
    expect(findUntranslatable(chatOf({ turns: [turnOf("user", result("a", gif))] }))).toBe(IMAGE.path);
    expect(findUntranslatable(chatOf({ turns: [turnOf("user", word)] }))).toBe(IMAGE.path);
    expect(findUntranslatable(chatOf({ stopSequences: [..."abcdef"] }))).toBe("stop_sequences");
    expect(
      findUntranslatable(chatOf({ stopSequences: [..."abcde"], turns: [turnOf("user", IMAGE)] })),
    ).toBeUndefined();
  });
});

describe("the path of a Gemini call", () => {
  test.each([
    ["gemini-2.5-pro", false, "/models/gemini-2.5-pro:generateContent"],
    ["gemini-2.5-pro", true, "/models/gemini-2.5-pro:streamGenerateContent?alt=sse"],
    ["tunedModels/mine", false, "/tunedModels/mine:generateContent"],
    ["a?b:c", false, "/models/a%3Fb%3Ac:generateContent"],
  ] as const)("of %s, streamed %p, is %s", (model, stream, path) => {
    expect(googleGemini.upstreamPath({ model, stream })).toBe(path);
  });
});

test("the scripted Google accepts what is printed", () => {
  const turns = [
    turnOf("user", text("?")),
    turnOf("assistant", call("a")),
    turnOf("user", result("a", text("b"))),
  ];
  const format = { kind: "json" } as const;
  expect(findBodyProblem(print({ turns, tools: [TOOL], format }))).toBeUndefined();
  expect(findBodyProblem({ ...print(), model: "m" })).toContain('Unknown name "model"');
});
