import type { Server } from "bun";
import { GatewayError } from "../errors.ts";
import { describeFault } from "../telemetry/log.ts";
import { openaiChat } from "../wire/openai-chat/protocol.ts";
import { createApp } from "./app.ts";
import { errorResponse } from "./error-response.ts";
import type { HttpParts } from "./http-parts.ts";
import { newRequestId } from "./request-id.ts";
import { targetOf } from "./request-path.ts";

/** Bun closes an idle keep-alive connection after this long. */
const IDLE_S = 60;
/** The same after a model request, whose last bytes a slow client may still be reading: the most Bun allows. */
const IDLE_AFTER_ANSWER_S = 255;
/** Far above our own limit, so that 30 MiB + 1 is refused by us and not by Bun's bare 413. */
const BUN_BODY_BYTES_MAX = 1024 * 1024 * 1024;

/** Listens. Fails when the port is taken: two gateways on one port would share its requests unseen. */
export function listen(
  parts: Omit<HttpParts, "letIdle">,
  { host, port }: { host: string; port: number },
): Server<undefined> {
  const letIdle = (request: Request) => server.timeout(request, IDLE_AFTER_ANSWER_S);
  const app = createApp({ ...parts, letIdle });
  const server = Bun.serve({
    hostname: host,
    port,
    reusePort: false,
    idleTimeout: IDLE_S,
    maxRequestBodySize: BUN_BODY_BYTES_MAX,
    // Else Bun shows the source around a fault to whoever caused it, unless NODE_ENV says otherwise.
    development: false,
    fetch(request, server) {
      // A model may think for minutes: our own limits apply there, and silences in streams are filled.
      if (request.method === "POST") server.timeout(request, 0);
      return app.fetch(withRoutableUrl(request));
    },
    error(fault) {
      parts.gateway().log.error(describeFault(fault), "fault outside of every route");
      return errorResponse(new GatewayError("internal"), openaiChat, { requestId: newRequestId() });
    },
  });
  return server;
}

/** Elysia looks for the path from the twelfth character of the URL on, which a short or odd Host header shifts. */
function withRoutableUrl(request: Request): Request {
  const target = targetOf(request);
  if (request.url.length - target.length >= "http://".length + 4) return request;
  return new Request(`http://localhost${target}`, request);
}
