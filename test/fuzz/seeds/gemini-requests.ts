import { LONG_NAME, PNG, SCHEMA } from "./tools.ts";

const hello = { role: "user", parts: [{ text: "Say hello." }] };

/** Requests of Google's clients. The path has the model and the kind of answer. */
export const GEMINI_REQUESTS: readonly object[] = [
  { contents: [hello] },
  { contents: hello, system_instruction: { parts: { text: "Be brief." } } },
  {
    contents: [
      {
        role: "user",
        parts: [
          { text: "What is this?" },
          { inlineData: { mimeType: "image/png", data: PNG } },
          { inline_data: { mime_type: "application/pdf", data: "JVBERi0xLjQ=" } },
          { fileData: { mimeType: "image/jpeg", fileUri: "https://example.com/cat.jpg" } },
        ],
      },
    ],
    systemInstruction: { role: "user", parts: [{ text: "Be kind." }] },
    generationConfig: {
      temperature: 1.3,
      topP: 0.9,
      topK: 40,
      maxOutputTokens: 300,
      stopSequences: ["\n\n", "END"],
      seed: 7,
      presencePenalty: 0.1,
      thinkingConfig: { includeThoughts: true, thinkingBudget: 128 },
    },
    safetySettings: [{ category: "HARM_CATEGORY_HARASSMENT", threshold: "BLOCK_NONE" }],
    labels: { team: "tolls" },
  },
  {
    contents: [
      { role: "user", parts: [{ text: "The weather in Oslo and Rome?" }] },
      {
        role: "model",
        parts: [
          { text: "Two calls.", thought: true },
          { functionCall: { id: "c1", name: "forecast", args: { city: "Oslo" } }, thoughtSignature: "c2ln" },
          { functionCall: { name: LONG_NAME } },
        ],
      },
      {
        role: "user",
        parts: [
          { functionResponse: { id: "c1", name: "forecast", response: { output: "Snow." } } },
          { functionResponse: { name: LONG_NAME, response: { result: ["Sun."] } } },
        ],
      },
      { role: "model", parts: [{ text: "Snow and sun." }] },
      { parts: [{ text: "Well?" }] },
    ],
    tools: [
      {
        functionDeclarations: [
          { name: "forecast", description: "Weather", parametersJsonSchema: SCHEMA },
          {
            name: LONG_NAME,
            description: "More weather",
            parameters: { type: "OBJECT", properties: { city: { type: "STRING", nullable: true } } },
          },
        ],
      },
    ],
    toolConfig: { functionCallingConfig: { mode: "ANY", allowedFunctionNames: ["forecast"] } },
    generationConfig: { maxOutputTokens: "2000", thinkingConfig: { thinkingLevel: "high" } },
  },
  {
    contents: [hello],
    generation_config: {
      candidate_count: 2,
      response_mime_type: "application/json",
      response_json_schema: SCHEMA,
    },
  },
];

/** Parts, contents and tools that may occur anywhere. */
export const GEMINI_SNIPPETS: readonly unknown[] = [
  { text: "" },
  { text: "A thought.", thought: true },
  { inlineData: { mimeType: "audio/wav", data: "UklGRg==" } },
  { inlineData: { mimeType: "video/mp4", data: "AAAA" } },
  { fileData: { fileUri: "gs://bucket/secret.txt" } },
  { fileData: { fileUri: "https://generativelanguage.googleapis.com/v1beta/files/x" } },
  { functionCall: { name: "constructor", args: [] } },
  { functionCall: {} },
  { functionResponse: { name: "forecast" } },
  { functionResponse: { name: "forecast", response: {}, parts: [{ inlineData: { data: PNG } }] } },
  { executableCode: { language: "PYTHON", code: "1" } },
  { codeExecutionResult: { outcome: "OUTCOME_OK", output: "1" } },
  { role: "model", parts: [] },
  { role: "function", parts: [{ text: "Nobody asked." }] },
  { google_search: {} },
  { googleSearch: {}, functionDeclarations: [{ name: "f" }] },
  { codeExecution: {} },
  { functionDeclarations: [] },
  { maxOutputTokens: 4_000_000, max_output_tokens: 4 },
  { serviceTier: "flex" },
  { model: "other", stream: true },
];
