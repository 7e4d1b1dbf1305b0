import { describe, expect, test } from "bun:test";
import type { ChatRequest } from "../../../src/domain/chat-request.ts";
import { GatewayError } from "../../../src/errors.ts";
import { encodeReasoning } from "../../../src/wire/google-gemini/carried-reasoning.ts";
import { readChatRequest } from "../../../src/wire/google-gemini/ingress/read-request.ts";

const HELLO = [{ role: "user", parts: [{ text: "hi" }] }];
const read = (members: object): ChatRequest => readChatRequest({ contents: HELLO, ...members });
const turnsOf = (contents: unknown) => read({ contents }).turns;
const refusal = (members: object) => {
  try {
    read(members);
  } catch (error) {
    if (error instanceof GatewayError) return [error.kind, error.publicMessage.split(": ").at(-1)];
  }
  return undefined;
};

describe("readChatRequest", () => {
  test("reads the system instruction and contents, single objects for lists, and roles that are missing", () => {
    const request = read({
      system_instruction: { parts: { text: "Be brief." } },
      contents: { parts: [{ text: "hi" }, { inline_data: { mime_type: "image/PNG", data: "a-_b" } }] },
    });
    expect(request.turns).toEqual([
      { role: "system", parts: [{ kind: "text", text: "Be brief.", cache: undefined }] },
      {
        role: "user",
        parts: [
          { kind: "text", text: "hi", cache: undefined },
          {
            kind: "image",
            source: { kind: "inline", mediaType: "image/png", data: "a+/b" },
            detail: undefined,
            cache: undefined,
            path: "contents[0].parts[1].inlineData",
          },
        ],
      },
    ]);
  });

  test("gives calls and results without ids the ids of each other, by name and order", () => {
    const call = (name: string, id?: string) => ({ functionCall: { id, name, args: { a: 1 } } });
    const result = (name: string, output: unknown, id?: string) => ({
      functionResponse: { id, name, response: { output } },
    });
    const turns = turnsOf([
      ...HELLO,
      { role: "model", parts: [call("f"), call("g", "own"), call("f")] },
      { role: "function", parts: [result("f", "one"), result("f", { two: 2 }), result("g", "three", "own")] },
      { role: "model", parts: [call("f")] },
      { role: "user", parts: [result("f", "four")] },
    ]);
    const ids = turns.flatMap(({ parts }) =>
      parts.flatMap((part) =>
        part.kind === "tool_call" ? [part.id] : part.kind === "tool_result" ? [part.callId] : [],
      ),
    );
    expect(ids).toEqual(["call_1", "own", "call_2", "call_1", "call_2", "own", "call_3", "call_3"]);
    expect(turns[2]?.parts.map((part) => part.kind === "tool_result" && part.parts)).toEqual([
      [{ kind: "text", text: "one", cache: undefined }],
      [{ kind: "text", text: '{"output":{"two":2}}', cache: undefined }],
      [{ kind: "text", text: "three", cache: undefined }],
    ]);
  });

  test("reads errors and media of results", () => {
    const parts = [{ inlineData: { mimeType: "image/png", data: "aGk=" } }];
    const [turn] = turnsOf([
      { parts: [{ functionResponse: { name: "f", response: { error: "no" }, parts } }] },
    ]);
    expect(turn?.parts).toMatchObject([
      { kind: "tool_result", isError: true, parts: [{ kind: "text", text: "no" }, { kind: "image" }] },
    ]);
  });

  test("reads reasoning from signatures of the gateway, drops thoughts that they repeat, and those of Google's", () => {
    const signed = { text: "Hm.", signature: "c2ln", redacted: undefined };
    const redacted = { text: "", signature: undefined, redacted: "eHg=" };
    const turn = (thoughtSignature: string) => ({
      role: "model",
      parts: [
        { text: "Hm.", thought: true },
        { functionCall: { id: "a", name: "f" }, thoughtSignature },
      ],
    });
    const call = { kind: "tool_call", id: "a", name: "f", input: "{}", cache: undefined };
    // SDKs in Python encode bytes again, in the alphabet for URLs.
    const urlSafe = encodeReasoning([signed, redacted]).replaceAll("+", "-").replaceAll("/", "_");
    for (const signature of [encodeReasoning([signed, redacted]), urlSafe]) {
      expect(turnsOf([...HELLO, turn(signature)])[1]?.parts).toEqual([
        { kind: "reasoning", ...signed },
        { kind: "reasoning", ...redacted },
        call,
      ] as never);
    }
    for (const signature of ["Z29vZ2xl", "dG9sbGdhdGU6", "dG9sbGdhdGU6eyJwaWVjZXMiOjF9"]) {
      expect(turnsOf([...HELLO, turn(signature)])[1]?.parts).toEqual([
        { kind: "reasoning", text: "Hm.", signature: undefined, redacted: undefined },
        call,
      ] as never);
    }
  });

  test("reads tools, whose parameters are in one of two languages, and the choice among them", () => {
    const parameters = {
      type: "OBJECT",
      properties: {
        city: { type: "STRING", nullable: true, enum: ["a"], format: "enum" },
        days: { type: "ARRAY", items: { type: "INTEGER" }, min_items: "1", maxItems: "3" },
        any_of: { any_of: [{ type: "STRING" }, { type: "NUMBER" }] },
      },
      property_ordering: ["city"],
      required: ["city"],
    };
    const json = { type: "object", properties: { a: { type: ["string", "null"] } } };
    const { tools, toolChoice } = read({
      tools: [
        { functionDeclarations: [{ name: "f", description: "F", parameters }] },
        { function_declarations: [{ name: "g", parameters_json_schema: json }, { name: "h" }] },
      ],
      toolConfig: { functionCallingConfig: { mode: "ANY", allowedFunctionNames: ["f", "g"] } },
    });
    expect(toolChoice).toEqual({ kind: "required" });
    expect(tools.map(({ name, description, schema }) => ({ name, description, schema }))).toEqual([
      {
        name: "f",
        description: "F",
        schema: {
          type: "object",
          properties: {
            city: { type: ["string", "null"], enum: ["a", null] },
            days: { type: "array", items: { type: "integer" }, minItems: 1, maxItems: 3 },
            any_of: { anyOf: [{ type: "string" }, { type: "number" }] },
          },
          required: ["city"],
        },
      },
      { name: "g", description: undefined, schema: json },
    ]);
  });

  test.each<[object, object]>([
    [{}, { effort: undefined, thinking: undefined, budgetTokens: undefined, isShown: false }],
    [
      { thinkingBudget: 0, includeThoughts: true },
      { effort: "none", thinking: "disabled", isShown: false },
    ],
    [{ thinkingBudget: -1 }, { thinking: "adaptive", budgetTokens: undefined }],
    [
      { thinking_budget: "2048", include_thoughts: true },
      { thinking: "enabled", budgetTokens: 2_048, isShown: true },
    ],
    [{ thinkingLevel: "HIGH" }, { effort: "high", thinking: "adaptive" }],
    [{ includeThoughts: true }, { effort: undefined, thinking: "adaptive", isShown: true }],
  ])("reads the thinking of %j", (thinkingConfig, reasoning) => {
    expect(read({ generationConfig: { thinkingConfig } }).reasoning).toMatchObject(reasoning);
  });

  test.each<[object, object]>([
    [{ responseMimeType: "text/plain" }, {}],
    [{ responseMimeType: "application/json" }, { format: { kind: "json" } }],
    [
      { response_mime_type: "application/json", responseSchema: { type: "OBJECT" } },
      { format: { kind: "schema", schema: { type: "object" } } },
    ],
    [{ responseJsonSchema: { type: "object" } }, { format: { kind: "schema", schema: { type: "object" } } }],
    [
      { temperature: 2, topP: 1, topK: 40.5, seed: 7, presence_penalty: 1, frequencyPenalty: -1 },
      { temperature: 2, topP: 1, topK: 40, seed: 7, presencePenalty: 1, frequencyPenalty: -1 },
    ],
    [{ stopSequences: ["a", ""] }, { stopSequences: ["a"] }],
  ])("reads the generation of %j", (generationConfig, members) => {
    expect(read({ generationConfig })).toMatchObject(members);
  });

  test.each<[object, string, string]>([
    [{ contents: [{ role: "system", parts: [{ text: "a" }] }] }, "untranslatable", "contents[0].role"],
    [{ contents: [{ parts: [{ videoMetadata: {} }] }] }, "untranslatable", "contents[0].parts[0]"],
    [
      { contents: [{ role: "model", parts: [{ inlineData: { mimeType: "image/png", data: "" } }] }] },
      "untranslatable",
      "contents[0].parts[0]",
    ],
    [{ contents: [{ parts: [{ text: "" }] }] }, "wrong_shape", "contents"],
    [{ tools: [{ computerUse: {} }] }, "untranslatable", "tools[0].computerUse"],
    [
      { tools: [{ functionDeclarations: [{ name: "" }] }] },
      "wrong_shape",
      "tools[0].functionDeclarations[0].name",
    ],
    [{ generationConfig: { candidateCount: 2 } }, "untranslatable", "generationConfig.candidateCount"],
    [{ generationConfig: { responseLogprobs: true } }, "untranslatable", "generationConfig.responseLogprobs"],
    [
      { generationConfig: { responseMimeType: "text/x.enum" } },
      "untranslatable",
      "generationConfig.responseMimeType",
    ],
    [
      { toolConfig: { functionCallingConfig: { mode: 2 } } },
      "wrong_shape",
      "toolConfig.functionCallingConfig.mode",
    ],
  ])("refuses %j", (members, kind, path) => {
    expect(refusal(members)).toEqual([kind, path]);
  });
});
