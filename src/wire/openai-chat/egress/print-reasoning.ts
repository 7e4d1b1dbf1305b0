import type { Part, ReasoningPart, ToolCallPart } from "../../../domain/chat-request.ts";
import { isHostReasoning } from "../../host-reasoning.ts";
import { shortenIdentifier } from "../../identifiers.ts";
import { type JsonObject, readText } from "../../json/read.ts";
import { type DecodeHostState, printReasoningDetail, printThoughtSignature } from "../reasoning.ts";

/** Longest id of a tool call that all hosts accept, in characters. */
export const ID_CHARS_MAX = 40;

/** The host that an assistant message is printed for. */
export interface Host {
  readonly decode: DecodeHostState;
  /** Whether its model can read Anthropic's signatures. */
  readonly isClaude: boolean;
}

interface PrintedState {
  /** Members of the message. */
  readonly members: object;
  /** Returns the members of one of its calls. */
  membersOf(call: ToolCallPart): object;
}

const NO_STATE: PrintedState = { members: {}, membersOf: () => ({}) };

/** Prints the state that a host expects back with its own earlier answer: reasoning and signatures. */
export function printHostState(parts: readonly Part[], host: Host): PrintedState {
  const reasoning = parts.filter((part) => part.kind === "reasoning");
  if (reasoning.length === 0) return NO_STATE;
  const ids = new Set(parts.flatMap((part) => (part.kind === "tool_call" ? [part.id] : [])));
  const details: object[] = [];
  const callSignatures = new Map<string, string>();
  let messageSignature: string | undefined;
  for (const part of reasoning) {
    const encoded = part.redacted ?? part.signature ?? "";
    const state = host.decode(encoded);
    if (state === undefined) {
      const isNative = encoded !== "" && !isHostReasoning(encoded);
      if (isNative && host.isClaude) details.push(printReasoningDetail(part, details.length));
    } else if (state.kind === "detail") details.push(printDetail(state.detail, part, ids));
    else if (state.kind === "message") messageSignature = state.signature;
    else callSignatures.set(shortenId(state.id), state.signature);
  }
  return {
    members: {
      ...(details.length > 0 && { reasoning_details: details }),
      ...printThoughtSignature(messageSignature),
    },
    membersOf: ({ id }) => printThoughtSignature(callSignatures.get(id)),
  };
}

/** Prints an entry with its text. An entry with the id of a call gets the shortened id of that call. */
function printDetail(detail: JsonObject, { text }: ReasoningPart, ids: ReadonlySet<string>): JsonObject {
  const id = readText(detail.id);
  const shortened = shortenId(id);
  const printed = id !== shortened && ids.has(shortened) ? { ...detail, id: shortened } : detail;
  if (detail.type === "reasoning.encrypted") return printed;
  if (detail.type === "reasoning.summary") return { ...printed, summary: text };
  return text === "" ? printed : { ...printed, text };
}

function shortenId(id: string): string {
  return shortenIdentifier(id, ID_CHARS_MAX);
}
