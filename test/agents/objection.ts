import { isJsonObject, type JsonObject, readArray } from "../../src/wire/json/read.ts";

/**
 * Why Anthropic itself would refuse a request, where the scripted model takes it: while it thinks, an answer that
 * called a tool has to come back with the thinking that led to it, sealed as it was.
 */
export function findObjection({ thinking, messages }: JsonObject): string | undefined {
  if (!isJsonObject(thinking) || thinking.type === "disabled") return undefined;
  const turns = readArray(messages).filter(isJsonObject);
  const calls = turns.map(({ content }) => readArray(content).filter(isJsonObject)).filter(isCall);
  const forgets = calls.some(([first]) => first?.type !== "thinking" || first.signature !== "c2lnbmF0dXJl");
  return forgets ? "the thinking before a call did not come back" : undefined;
}

function isCall(blocks: readonly JsonObject[]): boolean {
  return blocks.some(({ type }) => type === "tool_use");
}
