import { isHostReasoning, mayHoldHostReasoning } from "../../host-reasoning.ts";
import { editElements, editMembers } from "../../json/edit.ts";
import { parseJsonObject, readText } from "../../json/read.ts";

/**
 * The messages of a body without what a host of chat completions signed in earlier answers: Anthropic refuses a
 * conversation for it. Every other byte stays as it is; messages of which nothing is left go too.
 */
export function dropSeals(messages: string): string {
  if (!mayHoldHostReasoning(messages)) return messages;
  return keepElements(messages, (message) => {
    if (!mayHoldHostReasoning(message)) return message;
    let isEmpty = false;
    const kept = editMembers(message, {
      content(content) {
        if (!content?.startsWith("[")) return content;
        const blocks = keepElements(content, (block) => (isSealed(block) ? undefined : block));
        isEmpty = blocks === "[]";
        return blocks;
      },
    });
    return isEmpty ? undefined : kept;
  });
}

/** A list of what becomes of its elements; as it was when all of them stay as they are. */
function keepElements(list: string, edit: (element: string) => string | undefined): string {
  const kept: string[] = [];
  let isChanged = false;
  editElements(list, (element) => {
    const edited = edit(element);
    isChanged ||= edited !== element;
    if (edited !== undefined) kept.push(edited);
    return element;
  });
  return isChanged ? `[${kept.join(",")}]` : list;
}

function isSealed(block: string): boolean {
  const { type, signature, data } = (mayHoldHostReasoning(block) ? parseJsonObject(block) : undefined) ?? {};
  if (type === "thinking") return isHostReasoning(readText(signature));
  return type === "redacted_thinking" && isHostReasoning(readText(data));
}
