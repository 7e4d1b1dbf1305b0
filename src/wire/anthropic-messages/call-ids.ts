import type { ReplyHead } from "../codecs.ts";
import { createCallIds } from "../identifiers.ts";

/** What Anthropic's clients take and give back. */
const ID = /^[\w-]{1,256}$/;

/** Gives the tool calls of an answer ids of the form that a `tool_use` has. */
export function createToolUseIds({ id: answerId }: ReplyHead): (id: string) => string {
  return createCallIds(
    (calls) => `toolu_${answerId}${calls}`,
    (id) => ID.test(id),
  );
}
