import type { GatewayError } from "../errors.ts";
import { anthropicMessages } from "../wire/anthropic-messages/protocol.ts";
import { openaiChat } from "../wire/openai-chat/protocol.ts";
import { openaiResponses } from "../wire/openai-responses/protocol.ts";
import type { WireProtocol } from "../wire/wire-protocol.ts";
import { idHeaders } from "./request-id.ts";
import { pathOf } from "./request-path.ts";

/** The envelope a request is answered in: that of its path, or the messages one with their version header. */
export function errorWire(path: string, headers: Headers): WireProtocol {
  const hasVersion = path.startsWith("/v1/") && headers.has("anthropic-version");
  if (hasVersion || isBelow("/v1/messages", path)) return anthropicMessages;
  return isBelow("/v1/responses", path) ? openaiResponses : openaiChat;
}

function isBelow(root: string, path: string): boolean {
  return path === root || path.startsWith(`${root}/`);
}

/** Answers a request that no protocol's own story answers, in the envelope its path and headers ask for. */
export function refuse(request: Request, error: GatewayError, requestId: string): Response {
  return errorResponse(error, errorWire(pathOf(request), request.headers), { requestId });
}

/** Prints an error as its row of the table says for this wire. */
export function errorResponse(
  error: GatewayError,
  wire: WireProtocol,
  {
    requestId,
    headers = {},
    betas,
  }: { requestId: string; headers?: Readonly<Record<string, string>>; betas?: string | undefined },
): Response {
  const said: Record<string, string> = {
    ...headers,
    ...idHeaders(requestId),
    "content-type": "application/json",
  };
  if (!error.row.retry) said["x-should-retry"] = "false";
  if (error.retryAfterS !== undefined) said["retry-after"] = String(error.retryAfterS);
  return new Response(wire.printError(error, requestId, betas), {
    status: wire.statusOf(error),
    headers: said,
  });
}
