import type { ChatRequest, Part, Reasoning, TextPart, Tool, Turn } from "../../../src/domain/chat-request.ts";
import { printRequest } from "../../../src/wire/google-gemini/egress/print-request.ts";
import type { PrintOptions } from "../../../src/wire/protocol.ts";

const NO_REASONING: Reasoning = {
  effort: undefined,
  thinking: undefined,
  budgetTokens: undefined,
  isShown: true,
};

export const TOOL: Tool = {
  name: "weather",
  description: "Looks out",
  schema: { type: "object", properties: { city: { type: "string" } }, required: ["city"] },
  strict: undefined,
  isFreeForm: false,
  cache: undefined,
};

export function text(value: string): TextPart {
  return { kind: "text", text: value, cache: undefined };
}

export function turnOf(role: Turn["role"], ...parts: Part[]): Turn {
  return { role, parts };
}

export function call(id: string, name = "weather"): Part {
  return { kind: "tool_call", id, name, input: '{"city":"Bonn"}', cache: undefined };
}

export function result(
  callId: string,
  ...parts: Extract<Part, { kind: "text" | "image" | "document" }>[]
): Part {
  return { kind: "tool_result", callId, parts, isError: false, cache: undefined };
}

export function sealed(redacted: string): Part {
  return { kind: "reasoning", text: "", signature: undefined, redacted };
}

export function chatOf(members: Partial<ChatRequest> = {}): ChatRequest {
  return {
    turns: [turnOf("user", text("hi"))],
    tools: [],
    toolChoice: undefined,
    parallelToolCalls: undefined,
    reasoning: NO_REASONING,
    format: undefined,
    stopSequences: [],
    temperature: undefined,
    topP: undefined,
    topK: undefined,
    endUser: undefined,
    ...members,
  };
}

/** Prints a request for Gemini 2.5 Flash, and parses the body. */
export function print(members: Partial<ChatRequest> = {}, options: Partial<PrintOptions> = {}) {
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
