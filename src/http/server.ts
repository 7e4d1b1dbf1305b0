import type { Server } from "bun";
import { GatewayError } from "../errors.ts";
import { describeFault } from "../telemetry/log.ts";
import { openaiChat } from "../wire/openai-chat/protocol.ts";
import { createApp, refuseKnown, refuseUnmatched } from "./app.ts";
import { createConnectionIdle } from "./connection-idle.ts";
import { answerBrowser } from "./cors.ts";
import { errorResponse } from "./errors.ts";
import type { HttpParts } from "./http-parts.ts";
import { newRequestId } from "./identity.ts";
import { NOT_BUILT_PATHS } from "./not-built.ts";
import { type Handle, makeRoutable, rawRoutes } from "./routes.ts";

/** Bun closes a connection on which nothing has come or gone for this long. */
const IDLE_S = 75;
/** Far above our own limit, so that 30 MiB + 1 is refused by us and not by Bun's bare 413. */
const BUN_BODY_BYTES_MAX = 1024 * 1024 * 1024;

const DRAIN_POLL_MS = 10;

/** A server that listens. */
export interface HttpServer {
  /** "http://127.0.0.1:8080" */
  readonly url: string;
  /** Takes no more connections and closes idle ones. Resolves when every request is answered. */
  drain(): Promise<void>;
  /** Closes every connection. */
  close(): Promise<void>;
}

export interface ListenOptions {
  readonly host: string;
  readonly port: number;
  /** Default 75. */
  readonly idleS?: number | undefined;
}

/** Listens. Fails when the port is taken: two gateways on one port would share its requests unseen. */
export function listen(
  parts: Omit<HttpParts, "connectionIdle">,
  { host, port, idleS = IDLE_S }: ListenOptions,
): HttpServer {
  const connectionIdle = createConnectionIdle((request, seconds) => server.timeout(request, seconds), idleS);
  const app = createApp({ ...parts, connectionIdle });
  const forBrowsers = (handle: Handle) => (request: Request) => {
    const origins = parts.corsOrigins();
    return origins ? answerBrowser(request, origins, handle) : handle(request);
  };
  const handle = forBrowsers((request) => app.fetch(makeRoutable(request)));
  const refuse = forBrowsers(refuseUnmatched);
  const server = Bun.serve({
    hostname: host,
    port,
    reusePort: false,
    idleTimeout: idleS,
    maxRequestBodySize: BUN_BODY_BYTES_MAX,
    // Else Bun shows the source around a fault to whoever caused it, unless NODE_ENV says otherwise.
    development: false,
    routes: {
      ...rawRoutes(NOT_BUILT_PATHS, forBrowsers(refuseKnown), refuse),
      ...rawRoutes(
        app.routes.map(({ path }) => path),
        handle,
        refuse,
      ),
    },
    fetch: refuse,
    error(fault) {
      parts.gateway().log.error(describeFault(fault), "fault outside of every route");
      return errorResponse(new GatewayError("internal"), openaiChat, { requestId: newRequestId() });
    },
  });
  return { url: server.url.origin, drain: () => drain(server), close: () => server.stop(true) };
}

/** Not what `stop` resolves with, as that waits for connections too on which no request has come. */
async function drain(server: Server<undefined>): Promise<void> {
  void server.stop();
  while (server.pendingRequests > 0) await Bun.sleep(DRAIN_POLL_MS);
}
