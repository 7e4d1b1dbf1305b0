import type { Turn } from "../../../domain/chat-request.ts";
import { isJsonObject, type JsonObject, readArray } from "../../json/read.ts";
import { refuse } from "../../request-body.ts";
import { readParts } from "./read-parts.ts";

/** A line of a coding agent's own that differs from session to session: it would spoil every prompt cache. */
const BILLING_HEADER = "x-anthropic-billing-header:";
const ROLES: readonly unknown[] = ["system", "user", "assistant"] satisfies Turn["role"][];

/** Reads the system prompt and the messages; what holds nothing that can be read is left out. */
export function readTurns(body: JsonObject): readonly Turn[] {
  const messages = readArray(body.messages);
  const lastOfUser = messages.findLastIndex((message) => isJsonObject(message) && message.role === "user");
  const turns = [readSystem(body.system)];
  for (const [position, message] of messages.entries()) {
    if (!isCleared(message, position < lastOfUser)) turns.push(readMessage(message, `messages[${position}]`));
  }
  const spoken = turns.filter(({ parts }) => parts.length > 0);
  return spoken.length > 0 ? spoken : refuse("messages");
}

function readSystem(system: unknown): Turn {
  const parts = readParts(system, { role: "system", path: "system" });
  return {
    role: "system",
    parts: parts.filter((part) => part.kind !== "text" || !isBillingHeader(part.text)),
  };
}

function isBillingHeader(text: string): boolean {
  return text.startsWith(BILLING_HEADER) && !text.trim().includes("\n");
}

/** Whether a system message was for the one turn after it, and that turn is over. */
function isCleared(message: unknown, hasUserAfter: boolean): boolean {
  return hasUserAfter && isJsonObject(message) && message.clear_at === "next_user_message";
}

function readMessage(message: unknown, path: string): Turn {
  if (!isJsonObject(message)) refuse(path);
  const { role, content } = message;
  if (!isRole(role)) refuse(`${path}.role`);
  return { role, parts: readParts(content, { role, path: `${path}.content` }) };
}

function isRole(role: unknown): role is Turn["role"] {
  return ROLES.includes(role);
}
