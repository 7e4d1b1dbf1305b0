import { encodeReasoning } from "../../../src/wire/google-gemini/carried-reasoning.ts";

const PNG = "iVBORw0KGgo=";
const SCHEMA = { type: "OBJECT", properties: { city: { type: "STRING" } }, required: ["city"] };

/** Requests of Google's clients, without what the route adds. */
export const GEMINI_REQUESTS: readonly object[] = [
  { contents: [{ parts: [{ text: "Say hello." }] }] },
  {
    system_instruction: { parts: { text: "Be brief." } },
    contents: {
      role: "user",
      parts: [{ text: "What is it?" }, { inline_data: { mime_type: "image/png", data: PNG } }],
    },
    generation_config: { max_output_tokens: 300, top_p: 0.5, stop_sequences: ["END"], candidate_count: 1 },
  },
  {
    systemInstruction: { role: "user", parts: [{ text: "You are Gemini CLI." }] },
    contents: [
      { role: "user", parts: [{ text: "The folder is /work." }, { text: "Make the file." }] },
      {
        role: "model",
        parts: [
          { text: "A thought.", thought: true },
          {
            functionCall: { id: "call_1", name: "run_shell_command", args: { command: "ls", n: 12 } },
            thoughtSignature: encodeReasoning([{ text: "Hm.", signature: "c2ln", redacted: undefined }]),
          },
          { functionCall: { name: "read_file", args: {} } },
        ],
      },
      {
        role: "user",
        parts: [
          { functionResponse: { id: "call_1", name: "run_shell_command", response: { output: "a.txt" } } },
          {
            functionResponse: {
              name: "read_file",
              response: { error: "missing" },
              parts: [{ inlineData: { mimeType: "image/png", data: PNG } }],
            },
          },
        ],
      },
      { role: "model", parts: [{ text: "Done.", thoughtSignature: "Z29vZ2xl" }] },
      { role: "user", parts: [{ text: "Thanks." }] },
    ],
    tools: [
      {
        functionDeclarations: [
          {
            name: "run_shell_command",
            description: "Runs",
            parametersJsonSchema: { type: "object", properties: { command: { type: "string" } } },
          },
          { name: "read_file", description: "Reads", parameters: SCHEMA },
        ],
      },
    ],
    toolConfig: { functionCallingConfig: { mode: "AUTO" } },
    generationConfig: { temperature: 1, topP: 0.95, topK: 64, thinkingConfig: { includeThoughts: true } },
    safetySettings: [{ category: "HARM_CATEGORY_HARASSMENT", threshold: "BLOCK_NONE" }],
  },
  {
    contents: [
      {
        parts: [
          { fileData: { mimeType: "application/pdf", fileUri: "https://example.com/a.pdf" } },
          { text: "Sum it up." },
        ],
      },
    ],
    generationConfig: {
      responseMimeType: "application/json",
      responseSchema: { ...SCHEMA, nullable: true },
      maxOutputTokens: 2_000,
      thinkingConfig: { thinkingBudget: 1_024 },
      seed: 7,
    },
  },
];

/** What a mutation may insert. */
export const GEMINI_SNIPPETS: readonly unknown[] = [
  { text: "more" },
  { functionCall: { name: "read_file", args: { a: [1] } } },
  { functionResponse: { name: "read_file", response: {} } },
  { role: "model", parts: [{ text: "ok" }] },
  { functionDeclarations: [{ name: "f" }] },
  { googleSearch: {} },
  { candidate_count: 4, max_output_tokens: "5", maxOutputTokens: 6 },
  { thoughtSignature: encodeReasoning([{ text: "", signature: undefined, redacted: "eHg=" }]), text: "a" },
];
