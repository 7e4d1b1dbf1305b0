/** The new text of one chunk of a chat stream. */
export interface PlaygroundDelta {
  readonly text: string;
  readonly reasoning: string;
}

/**
 * Reads the data of one event of a chat stream; `undefined` for an event without choices. Hosts name
 * reasoning `reasoning_content` or `reasoning`.
 *
 * @see https://platform.openai.com/docs/api-reference/chat-streaming
 */
export function readDelta(data: string): PlaygroundDelta | undefined {
  const delta = member(first(member(parse(data), "choices")), "delta");
  if (delta === undefined) return undefined;
  const reasoning = text(member(delta, "reasoning_content")) || text(member(delta, "reasoning"));
  return { text: text(member(delta, "content")) + text(member(delta, "refusal")), reasoning };
}

function parse(data: string): unknown {
  try {
    return JSON.parse(data);
  } catch {
    // The end of the stream is "[DONE]"; an upstream's text that is no JSON has no delta.
    return undefined;
  }
}

function member(value: unknown, name: string): unknown {
  return typeof value === "object" && value !== null && Object.hasOwn(value, name)
    ? (value as Record<string, unknown>)[name]
    : undefined;
}

function first(value: unknown): unknown {
  return Array.isArray(value) ? value[0] : undefined;
}

function text(value: unknown): string {
  return typeof value === "string" ? value : "";
}
