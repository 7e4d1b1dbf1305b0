import type { GatewayError } from "../errors.ts";
import { anthropicMessages } from "../wire/anthropic-messages/protocol.ts";
import { openaiChat } from "../wire/openai-chat/protocol.ts";
import { openaiEmbeddings } from "../wire/openai-embeddings/protocol.ts";
import { openaiResponses } from "../wire/openai-responses/protocol.ts";
import type { WireProtocol } from "../wire/protocol.ts";
import { idHeaders } from "./identity.ts";
import { pathOf } from "./request-path.ts";

const SURFACES: readonly WireProtocol[] = [openaiChat, anthropicMessages, openaiResponses, openaiEmbeddings];

/**
 * The envelope of an error: that of the surface which the path belongs to. A path below `/v1/` that belongs to
 * none (models, key, receipts, unmatched paths) has the messages envelope for a client that sends `anthropic-version`.
 */
export function errorWire(path: string, headers: Headers): WireProtocol {
  const surface = SURFACES.find((wire) => isBelow(wire.path, path));
  if (surface) return surface;
  return path.startsWith("/v1/") && headers.has("anthropic-version") ? anthropicMessages : openaiChat;
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
