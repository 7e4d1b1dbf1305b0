import type { Part, ReasoningPart, ToolCallPart } from "../../../domain/chat-request.ts";
import { isHostReasoning } from "../../host-reasoning.ts";
import { shortenIdentifier } from "../../identifiers.ts";
import { type JsonObject, readText } from "../../json/read.ts";
import { ID_CHARS_MAX } from "../id-chars.ts";
import { type DecodeHostState, printThoughtSignature } from "../reasoning.ts";
import { printReasoningDetail } from "../reasoning-details.ts";

/** The host that an assistant's message goes back to. */
export interface Host {
  readonly open: DecodeHostState;
  /** Whether its model reads what Anthropic's sign. */
  readonly isClaude: boolean;
}

interface GivenBack {
  /** Members of the message. */
  readonly members: object;
  /** Members of one of its calls. */
  membersOf(call: ToolCallPart): object;
}

const NOTHING: GivenBack = { members: {}, membersOf: () => ({}) };

/** What a host gets back of its own earlier answer: reasoning that it signed, and signatures over message and calls. */
export function printHostState(parts: readonly Part[], host: Host): GivenBack {
  const reasoning = parts.filter((part) => part.kind === "reasoning");
  if (reasoning.length === 0) return NOTHING;
  const ids = new Set(parts.flatMap((part) => (part.kind === "tool_call" ? [part.id] : [])));
  const details: object[] = [];
  const overCalls = new Map<string, string>();
  let overMessage: string | undefined;
  for (const part of reasoning) {
    const token = part.redacted ?? part.signature ?? "";
    const returned = host.open(token);
    if (returned === undefined) {
      const isNative = token !== "" && !isHostReasoning(token);
      if (isNative && host.isClaude) details.push(printReasoningDetail(part, details.length));
    } else if (returned.kind === "detail") details.push(printDetail(returned.detail, part, ids));
    else if (returned.kind === "message") overMessage = returned.signature;
    else overCalls.set(fitId(returned.id), returned.signature);
  }
  return {
    members: {
      ...(details.length > 0 && { reasoning_details: details }),
      ...printThoughtSignature(overMessage),
    },
    membersOf: ({ id }) => printThoughtSignature(overCalls.get(id)),
  };
}

/** A detail with its text again. One that names a call has the id that the call has here. */
function printDetail(detail: JsonObject, { text }: ReasoningPart, ids: ReadonlySet<string>): JsonObject {
  const id = readText(detail.id);
  const fitted = fitId(id);
  const named = id !== fitted && ids.has(fitted) ? { ...detail, id: fitted } : detail;
  if (detail.type === "reasoning.encrypted") return named;
  if (detail.type === "reasoning.summary") return { ...named, summary: text };
  return text === "" ? named : { ...named, text };
}

function fitId(id: string): string {
  return shortenIdentifier(id, ID_CHARS_MAX);
}
