import { quoteForShell } from "../keys/snippets.ts";
import type { ChatRequest } from "./use-chat.ts";

/** Prints a chat as a shell command, with the key's secret in TOLLGATE_KEY. */
export function printChatCurl(url: string, { key: _, ...request }: ChatRequest): string {
  const body = JSON.stringify({ ...request, stream: true }, null, 2);
  return `curl -N ${url}/v1/chat/completions \\
  -H "authorization: Bearer $TOLLGATE_KEY" \\
  -H "content-type: application/json" \\
  -d ${quoteForShell(body)}`;
}
