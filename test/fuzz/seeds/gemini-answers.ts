const USAGE = {
  promptTokenCount: 40,
  cachedContentTokenCount: 10,
  candidatesTokenCount: 8,
  thoughtsTokenCount: 4,
  totalTokenCount: 52,
  promptTokensDetails: [{ modality: "TEXT", tokenCount: 40 }],
};
const HEAD = { modelVersion: "host-model", responseId: "resp-1" };
const chunk = (parts: readonly object[], more: object = {}, finishReason?: string) => ({
  candidates: [{ content: { role: "model", parts }, index: 0, ...(finishReason && { finishReason }) }],
  ...HEAD,
  ...more,
});
const last = (parts: readonly object[], finishReason = "STOP") =>
  chunk(parts, { usageMetadata: USAGE }, finishReason);
const CALL = {
  functionCall: { id: "c1", name: "forecast", args: { city: "Oslo" } },
  thoughtSignature: "c2ln",
};

/** Streamed answers, as responses. */
export const GEMINI_STREAMS: readonly (readonly object[])[] = [
  [
    chunk([{ text: "Hello" }], { usageMetadata: { promptTokenCount: 40, totalTokenCount: 40 } }),
    last([{ text: " there." }]),
  ],
  [
    chunk([{ text: "Two calls.", thought: true }]),
    chunk([CALL]),
    last([{ functionCall: { name: "forecast" } }]),
  ],
  [chunk([{ text: "Snow." }]), last([{ text: "" }]), { usageMetadata: USAGE, ...HEAD }],
  [chunk([{ text: "Half a" }]), last([{ text: "" }], "MAX_TOKENS")],
  [{ promptFeedback: { blockReason: "SAFETY" }, usageMetadata: USAGE, ...HEAD }],
  [
    chunk([{ text: "I" }]),
    { candidates: [{ finishReason: "SAFETY", index: 0 }], usageMetadata: USAGE, ...HEAD },
  ],
  [chunk([{ executableCode: { language: "PYTHON", code: "1 + 1" } }]), last([{ text: "2" }])],
];

/** Whole answers. */
export const GEMINI_WHOLES: readonly object[] = [
  last([{ text: "Hello there." }]),
  last([
    { text: "A thought.", thought: true },
    { text: "Snow.", thoughtSignature: "c2ln" },
  ]),
  last([CALL, { functionCall: { name: "forecast", args: {} } }]),
  last([{ text: "Half a" }], "MAX_TOKENS"),
  last([], "MALFORMED_FUNCTION_CALL"),
  { promptFeedback: { blockReason: "PROHIBITED_CONTENT" }, ...HEAD },
];

export const GEMINI_ANSWER_SNIPPETS: readonly unknown[] = [
  { text: "x" },
  { text: "x", thought: true },
  CALL,
  { functionCall: { name: "", args: null } },
  { inlineData: { mimeType: "image/png", data: "AAAA" } },
  { codeExecutionResult: { outcome: "OUTCOME_OK" } },
  { finishReason: "RECITATION", index: 0 },
  { index: 1, content: { parts: [{ text: "other" }] }, finishReason: "STOP" },
  { error: { code: 503, status: "UNAVAILABLE", message: "CANARY" } },
  { usageMetadata: { promptTokenCount: -1, candidatesTokenCount: 1e300 } },
  { usageMetadata: { promptTokenCount: 1, serviceTier: "priority" } },
];
