import { describe, expect, test } from "bun:test";
import { encodeReasoning } from "../../../src/wire/google-gemini/carried-reasoning.ts";
import { googleGemini } from "../../../src/wire/google-gemini/format.ts";
import { errorOf } from "../play.ts";

const HELLO = [{ role: "user", parts: [{ text: "hi" }] }];
const OPTIONS = { model: "gemini-2.5-pro", outputTokensMax: 50, outputLimitField: undefined };

const bodyOf = (members: object) =>
  JSON.stringify({ contents: HELLO, ...members, model: "m", stream: false });
const parse = (members: object = {}) => googleGemini.parseRequest(bodyOf(members));
const print = (members: object) => JSON.parse(googleGemini.printUpstreamRequest(parse(members), OPTIONS));
const refusal = (members: object) => {
  const { kind, publicMessage } = errorOf(googleGemini, bodyOf(members));
  return [kind, publicMessage.split(": ").at(-1)];
};

describe("parseRequest", () => {
  test.each([
    ["in camelCase", { generationConfig: { maxOutputTokens: 7, candidateCount: 3 } }],
    ["in snake_case", { generation_config: { max_output_tokens: 7, candidate_count: 3 } }],
    ["in both", { generationConfig: { max_output_tokens: 7, candidateCount: 3 } }],
    ["as text", { generationConfig: { maxOutputTokens: "7", candidate_count: "3" } }],
  ])("reads the bounds of the money %s", (_name, members) => {
    expect(parse(members)).toMatchObject({ outputTokensMax: 7, choices: 3 });
  });

  test.each([
    [{}, undefined, 1],
    [{ generationConfig: null }, undefined, 1],
    [{ generationConfig: { maxOutputTokens: 0, candidateCount: 0 } }, undefined, 1],
    [{ generationConfig: { maxOutputTokens: null, candidateCount: null } }, undefined, 1],
  ])("takes Google's defaults of %j", (members, outputTokensMax, choices) => {
    const request = parse(members);
    expect([request.outputTokensMax, request.choices]).toEqual([outputTokensMax, choices]);
  });

  test.each<[object, string]>([
    [{ GenerationConfig: { maxOutputTokens: 7 } }, "GenerationConfig"],
    [{ generationconfig: { maxOutputTokens: 7 } }, "generationconfig"],
    [{ generationConfig: {}, generation_config: { candidateCount: 9 } }, "generation_config"],
    [{ generationConfig: { MaxOutputTokens: 7 } }, "generationConfig.MaxOutputTokens"],
    [{ generation_config: { candidateCount: 1, candidate_count: 9 } }, "generation_config.candidate_count"],
    [{ generationConfig: { candidateCount: 129 } }, "generationConfig.candidateCount"],
    [{ generationConfig: { candidateCount: 1.5 } }, "generationConfig.candidateCount"],
    [{ generationConfig: { maxOutputTokens: -1 } }, "generationConfig.maxOutputTokens"],
    [{ generationConfig: { maxOutputTokens: "1e9" } }, "generationConfig.maxOutputTokens"],
    [{ generationConfig: [] }, "generationConfig"],
    [{ contents: [] }, "contents"],
    [{ contents: "hi" }, "contents"],
    [{ contents: [{ parts: [1] }] }, "contents[0].parts[0]"],
    [{ contents: [{ parts: [{ Text: "a" }] }] }, "contents[0].parts[0].Text"],
    [{ tools: "all" }, "tools"],
  ])("rejects %j", (members, path) => {
    expect(refusal(members)).toEqual(["wrong_shape", path]);
  });

  test("rejects a repeated key at any depth, also one that is written with an escape", () => {
    for (const body of [
      '{"contents":[{"parts":[{"text":"a","text":"b"}]}],"model":"m"}',
      '{"contents":[{"parts":[{"text":"a"}]}],"generationConfig":{"candidateCount":1,"candidate\\u0043ount":9},"model":"m"}',
      '{"model":"dear","contents":[{"parts":[{"text":"a"}]}],"model":"m"}',
    ])
      expect(errorOf(googleGemini, body).kind).toBe("wrong_shape");
  });

  test.each<[object, string]>([
    [{ tools: [{ googleSearch: {} }] }, "tools[0].googleSearch"],
    [{ tools: { google_search: {} } }, "tools[0].google_search"],
    [
      { tools: [{ functionDeclarations: [] }, { googleSearchRetrieval: {} }, { googleSearch: {} }] },
      "tools[1].googleSearchRetrieval",
    ],
  ])("bounds the searches of %j at one", (members, path) => {
    expect(parse(members)).toMatchObject({
      tools: { tools: [{ name: "grounding", path, callsMax: 1 }] },
      input: { serverTools: true },
    });
    expect(parse(members).tools?.tools).toHaveLength(1);
  });

  test.each<[object, string]>([
    [{ tools: [{ googleSearch: {} }, { googleMaps: {} }] }, "tools[1].googleMaps"],
    [{ tools: { urlContext: {} } }, "tools[0].urlContext"],
    [{ tools: [{ GoogleSearch: {} }] }, "tools[0].GoogleSearch"],
    [{ tools: [{ "a\nb": {} }] }, "tools[0]"],
    [{ tools: [{ codeExecution: {} }] }, "tools[0].codeExecution"],
    [{ tools: [{ somethingNew: {} }] }, "tools[0].somethingNew"],
    [{ serviceTier: "platinum" }, "service_tier"],
    [{ service_tier: 2 }, "service_tier"],
    [{ generationConfig: { serviceTier: "standard" } }, "generationConfig.serviceTier"],
    [{ generationConfig: { responseModalities: ["TEXT", "IMAGE"] } }, "generationConfig.responseModalities"],
    [{ generation_config: { response_modalities: ["AUDIO"] } }, "generation_config.responseModalities"],
    [{ generationConfig: { responseModalities: 2 } }, "generationConfig.responseModalities"],
    [{ generationConfig: { routingConfig: { autoMode: {} } } }, "generationConfig.routingConfig"],
    [{ fallbacks: [{ model: "dear" }] }, "fallbacks"],
  ])("rejects what has no price: %j", (members, path) => {
    expect(refusal(members)).toEqual(["unpriced_field", path]);
  });

  test.each<[object, string]>([
    [{ cachedContent: "cachedContents/1" }, "cachedContent"],
    [{ cached_content: "cachedContents/1" }, "cachedContent"],
    [fileAt("gs://bucket/file.pdf"), "contents[0].parts[0].fileData.fileUri"],
    [
      fileAt("https://generativelanguage.googleapis.com/v1beta/files/1"),
      "contents[0].parts[0].fileData.fileUri",
    ],
    [fileAt("files/1"), "contents[0].parts[0].fileData.fileUri"],
  ])("rejects what Google stores for the operator: %j", (members, path) => {
    const { kind, publicMessage } = errorOf(googleGemini, bodyOf(members));
    expect([kind, publicMessage]).toEqual(["nothing_stored", expect.stringContaining(`: ${path}`)]);
  });

  test.each([
    [{ serviceTier: "priority" }, { asked: "priority", path: "serviceTier" }],
    [{ service_tier: "SERVICE_TIER_FLEX" }, { asked: "flex", path: "service_tier" }],
    [{ serviceTier: "standard" }, undefined],
    [{ serviceTier: "unspecified" }, undefined],
  ])("reads the tier of %j", (members, tier) => {
    expect(parse(members).tier).toEqual(tier as never);
  });

  test("names what a model must be able to do", () => {
    const part = (mimeType: string) => ({ inlineData: { mimeType, data: "aGk=" } });
    const parts = [part("image/png"), part("audio/wav"), part("application/pdf")];
    const generationConfig = { responseSchema: {}, thinkingConfig: { thinkingLevel: "LOW" } };
    const asked = { contents: [{ parts }], tools: [{ functionDeclarations: [] }], generationConfig };
    expect(parse(asked).needs).toEqual([
      "tools",
      "images",
      "documents",
      "audio",
      "reasoning",
      "structured_output",
    ]);
    expect(parse({ generationConfig: { thinkingConfig: { includeThoughts: true } } }).needs).toBeUndefined();
  });

  test("bounds the input by its media", () => {
    const image = { inlineData: { mimeType: "image/png", data: "aGVsbG8=" } };
    expect(parse({ contents: [{ parts: [image, { text: "?" }] }] }).input).toMatchObject({
      images: 1,
      mediaBytes: 8,
      unbounded: false,
    });
    for (const part of [
      { inline_data: { mime_type: "application/pdf", data: "aGk=" } },
      { fileData: { mimeType: "video/mp4", fileUri: "https://example.com/a.mp4" } },
      {
        functionResponse: {
          name: "f",
          response: {},
          parts: [{ inlineData: { mimeType: "audio/wav", data: "" } }],
        },
      },
      { somethingNew: {} },
      { ...image, mediaResolution: { level: "MEDIA_RESOLUTION_HIGH" } },
    ])
      expect([part, parse({ contents: [{ parts: [part] }] }).input.unbounded]).toEqual([part, true]);
    const detailed = {
      contents: [{ parts: [image] }],
      generationConfig: { mediaResolution: "MEDIA_RESOLUTION_HIGH" },
    };
    expect(parse(detailed).input.unbounded).toBe(true);
  });
});

function fileAt(fileUri: string): object {
  return { contents: [{ parts: [{ fileData: { mimeType: "application/pdf", fileUri } }] }] };
}

describe("printUpstreamRequest", () => {
  test("sets the output limit in the client's spelling, and keeps what it does not know", () => {
    expect(print({ x: 1.0, generation_config: { max_output_tokens: 99, topK: 3 } })).toEqual({
      contents: HELLO,
      x: 1,
      generation_config: { max_output_tokens: 50, topK: 3 },
    });
    expect(print({ generationConfig: { max_output_tokens: "99" } }).generationConfig).toEqual({
      max_output_tokens: 50,
    });
    for (const members of [{}, { generationConfig: null }, { generationConfig: {} }])
      expect(print(members)).toEqual({ contents: HELLO, generationConfig: { maxOutputTokens: 50 } });
  });

  test("keeps every other byte", () => {
    const text =
      '{ "safetySettings": [1.0],\n "contents":[{"parts":[{"text":"caf\\u00e9 \\/"}]}],"model":"m","stream":true}';
    expect(googleGemini.printUpstreamRequest(googleGemini.parseRequest(text), OPTIONS)).toBe(
      '{ "safetySettings": [1.0],\n "contents":[{"parts":[{"text":"caf\\u00e9 \\/"}]}],"generationConfig":{"maxOutputTokens":50}}',
    );
  });

  test("drops signatures of other providers' reasoning, and keeps those of Google's", () => {
    const carried = encodeReasoning([{ text: "Hm.", signature: "c2ln", redacted: undefined }]);
    const call = { name: "f", args: {} };
    const parts = [
      { text: "a", thoughtSignature: carried },
      { functionCall: call, thoughtSignature: carried },
      { functionCall: call, thought_signature: carried },
      { functionCall: call, thoughtSignature: "Z29vZ2xl" },
    ];
    expect(print({ contents: [...HELLO, { role: "model", parts }] }).contents[1].parts).toEqual([
      { text: "a" },
      { functionCall: call, thoughtSignature: "skip_thought_signature_validator" },
      { functionCall: call, thought_signature: "skip_thought_signature_validator" },
      { functionCall: call, thoughtSignature: "Z29vZ2xl" },
    ]);
  });
});
