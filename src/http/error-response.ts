import type { GatewayError } from "../errors.ts";
import { anthropicMessages } from "../wire/anthropic-messages/protocol.ts";
import { openaiChat } from "../wire/openai-chat/protocol.ts";
import type { WireProtocol } from "../wire/wire-protocol.ts";
import { idHeaders } from "./request-id.ts";
import { pathOf } from "./request-path.ts";

/** The envelope a request is answered in: the messages one under its path or with its version header. */
export function errorWire(path: string, headers: Headers): WireProtocol {
  const isMessages = path === "/v1/messages" || path.startsWith("/v1/messages/");
  const hasVersion = path.startsWith("/v1/") && headers.has("anthropic-version");
  return isMessages || hasVersion ? anthropicMessages : openaiChat;
}

/** Answers a request that no protocol's own story answers, in the envelope its path and headers ask for. */
export function refuse(request: Request, error: GatewayError, requestId: string): Response {
  return errorResponse(error, errorWire(pathOf(request), request.headers), { requestId });
}

/** Prints an error as its row of the table says for this wire. */
export function errorResponse(
  error: GatewayError,
  wire: WireProtocol,
  { requestId, headers = {} }: { requestId: string; headers?: Readonly<Record<string, string>> },
): Response {
  const said: Record<string, string> = {
    ...headers,
    ...idHeaders(requestId),
    "content-type": "application/json",
  };
  if (!error.row.retry) said["x-should-retry"] = "false";
  if (error.retryAfterS !== undefined) said["retry-after"] = String(error.retryAfterS);
  return new Response(wire.printError(error, requestId), {
    status: wire.statusOf(error),
    headers: said,
  });
}
