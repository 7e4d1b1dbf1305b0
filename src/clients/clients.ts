import {
  CLAUDE_CODE,
  CODEX,
  CODEX_BASE_URL,
  CODEX_WEBSOCKET,
  GEMINI_CLI,
  OPENCODE,
  QWEN_CODE,
} from "./agents.ts";
import type { Client, ClientFacts, Snippet } from "./client.ts";
import { CLINE, CONTINUE, ZED } from "./editors.ts";
import { LIBRARIES } from "./libraries.ts";

/** Every client that has settings, in the order in which the console and the command line show them. */
export const CLIENTS: readonly Client[] = [
  ...LIBRARIES,
  CLAUDE_CODE,
  CODEX,
  CODEX_WEBSOCKET,
  CODEX_BASE_URL,
  GEMINI_CLI,
  OPENCODE,
  QWEN_CODE,
  CLINE,
  CONTINUE,
  ZED,
];

/** Prints the settings of clients. The secret stands in lines of a shell only. */
export function printSnippets(facts: ClientFacts, clients = CLIENTS): readonly Snippet[] {
  return clients.map(({ id, title, note, print }) => ({ id, title, note, code: print(facts) }));
}
