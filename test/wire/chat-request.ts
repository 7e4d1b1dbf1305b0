import type {
  CacheMark,
  ChatRequest,
  ImagePart,
  Part,
  Reasoning,
  ResultPart,
  TextPart,
  ToolCallPart,
  ToolResultPart,
  Turn,
} from "../../src/domain/chat-request.ts";

export const NO_REASONING: Reasoning = {
  effort: undefined,
  thinking: undefined,
  budgetTokens: undefined,
  isShown: true,
};

export const IMAGE: ImagePart = {
  kind: "image",
  source: { kind: "inline", mediaType: "image/png", data: "aGk=" },
  detail: undefined,
  cache: undefined,
  path: "messages[0].content[0]",
};

export function textOf(value: string, cache?: CacheMark): TextPart {
  return { kind: "text", text: value, cache };
}

export function turnOf(role: Turn["role"], ...parts: Part[]): Turn {
  return { role, parts };
}

/** A call of the tool `weather`, by default. */
export function callOf(id: string, name = "weather", input = '{"city":"Bonn"}'): ToolCallPart {
  return { kind: "tool_call", id, name, input, cache: undefined };
}

export function resultOf(callId: string, ...parts: ResultPart[]): ToolResultPart {
  return { kind: "tool_result", callId, parts, isError: false, cache: undefined };
}

/** A request whose user says "hi" and that asks for nothing else. */
export function chatOf(members: Partial<ChatRequest> = {}): ChatRequest {
  return {
    turns: [turnOf("user", textOf("hi"))],
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
