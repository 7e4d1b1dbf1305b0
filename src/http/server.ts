import type { Server } from "bun";
import { Elysia } from "elysia";
import { reachableHost } from "../domain/addresses.ts";
import { type Cause, GatewayError } from "../errors.ts";
import { printReceipt } from "../ledger/print-receipt.ts";
import { describeFault } from "../telemetry/log.ts";
import { WIRES } from "../wire/registry.ts";
import { answerCaller } from "./answer-caller.ts";
import { discardBody } from "./body.ts";
import { childKeysRoute } from "./child-keys.ts";
import { createConnectionIdle } from "./connection-idle.ts";
import { answerBrowser } from "./cors.ts";
import { errorResponse, respondWithError } from "./errors.ts";
import { geminiHandler } from "./gemini.ts";
import type { HttpParts } from "./http-parts.ts";
import { idHeaders, newRequestId, pathOf } from "./identity.ts";
import { inferenceHandlers } from "./inference.ts";
import { keyRoute } from "./key.ts";
import { modelRoutes } from "./models.ts";
import {
  asksForSocket,
  type Handle,
  isNotBuilt,
  makeRoutable,
  NOT_BUILT_PATHS,
  type RawResponse,
  type RawRoutes,
  rawRoutes,
  SOCKET_PATH,
} from "./routes.ts";
import { type OpenSockets, ResponsesSockets, type SocketData, type SocketsParts } from "./sockets/sockets.ts";

/** Bun closes a connection without traffic after this long. */
const IDLE_S = 75;
/** Far above our own limit of 30 MiB: Bun would respond with a 413 that has no body. */
const BUN_BODY_BYTES_MAX = 1024 * 1024 * 1024;

const DRAIN_POLL_MS = 10;

/** A server that accepts connections. */
export interface HttpServer {
  /** The open WebSockets. */
  sockets(): OpenSockets;
  /** "http://127.0.0.1:8080", also for a server on every address. */
  readonly url: string;
  /** Closes each connection after its next response. Still accepts requests and connections. */
  closeAfterResponses(): void;
  /** Accepts no more connections and closes idle ones. Resolves when every request has its response. */
  drain(): Promise<void>;
  /** Closes every connection. */
  close(): Promise<void>;
}

export interface ListenOptions {
  readonly host: string;
  readonly port: number;
  /** Default: 75. */
  readonly idleS?: number | undefined;
}

/** Listens. Throws when the port is taken: two gateways on one port would share its requests unnoticed. */
export function listen(
  parts: Omit<HttpParts, "connectionIdle"> & SocketsParts,
  { host, port, idleS = IDLE_S }: ListenOptions,
): HttpServer {
  const peerOf = (request: Request): string | undefined => server.requestIP(request)?.address;
  const connectionIdle = createConnectionIdle((request, seconds) => server.timeout(request, seconds), idleS);
  const sockets = new ResponsesSockets(parts);
  const openSocket = (request: Request) => sockets.open(request, server);
  const routes = createRoutes({ ...parts, connectionIdle }, { peerOf, openSocket });
  const error = (fault: Error) => {
    parts.gateway().log.error(describeFault(fault), "request failed outside of its route");
    return errorResponse(new GatewayError("internal"), WIRES.chat, { requestId: newRequestId() });
  };
  const server: Server<SocketData> = Bun.serve<SocketData>({
    hostname: host,
    port,
    reusePort: false,
    idleTimeout: idleS,
    maxRequestBodySize: BUN_BODY_BYTES_MAX,
    // Without this, Bun's error page shows source code to the client, unless NODE_ENV is "production".
    development: false,
    ...routes,
    error,
    websocket: sockets.handlers,
  });
  // A browser and a curl line can use it: nothing connects to 0.0.0.0 everywhere.
  const reached = reachableHost(host);
  const url =
    reached === host ? server.url : new URL(server.url.href.replace(urlHost(host), urlHost(reached)));
  return {
    url: url.origin,
    // Other routes instead of a condition in each: requests pay nothing for it before the drain.
    closeAfterResponses() {
      server.reload({ ...withConnectionClose(routes), error, websocket: sockets.handlers });
      sockets.endAfterResponses();
    },
    sockets: () => sockets.state(),
    drain() {
      sockets.drain();
      return drain(server);
    },
    close() {
      sockets.close();
      return server.stop(true);
    },
  };
}

function urlHost(host: string): string {
  return host.includes(":") ? `[${host}]` : host;
}

interface Routes {
  readonly routes: RawRoutes;
  readonly fetch: Handle;
}

/** Returns the routes with a header in each response that makes Bun and the client close the connection. */
function withConnectionClose({ routes, fetch }: Routes): Routes {
  const close = <Answer extends Response | undefined>(response: Answer): Answer => {
    response?.headers.set("connection", "close");
    return response;
  };
  const entries = Object.entries(routes).map(
    ([path, answer]) => [path, async (request: Bun.BunRequest) => close(await answer(request))] as const,
  );
  return { routes: Object.fromEntries(entries), fetch: async (request) => close(await fetch(request)) };
}

/** Does not await `stop`, which waits also for connections that never sent a request. */
async function drain(server: Server<SocketData>): Promise<void> {
  void server.stop();
  while (server.pendingRequests > 0) await Bun.sleep(DRAIN_POLL_MS);
}

/** Paths of one model, and of its methods in Google's form. */
const MODEL_PATHS = ["/v1beta/models/*", "/v1/models/*"];

/** What the server knows of the connection of a request. */
interface Connections {
  peerOf(request: Request): string | undefined;
  /** Responds with `undefined` when the connection has become a WebSocket. */
  openSocket(request: Request): Promise<Response | undefined>;
}

/** Returns the routes of Bun's router, and `fetch` for all other paths. */
function createRoutes(parts: HttpParts, { peerOf, openSocket }: Connections): Routes {
  const app = createApp(parts);
  const forBrowsers = (handle: Handle) => (request: Request) => {
    const origins = parts.corsOrigins();
    return origins ? answerBrowser(request, origins, handle) : handle(request);
  };
  const handle = forBrowsers((request) => app.fetch(makeRoutable(request)));
  const reject = forBrowsers((request) => rejectAfterBody(request, "unknown_route"));
  const answerPosts = (answer: Handle) =>
    forBrowsers((request) => (request.method === "POST" ? answer(request) : rejectUnrouted(request)));
  const appPaths = app.routes.map(({ path }) => path);
  const inference = inferenceHandlers(parts).map(({ path, answer }) => {
    const answerPost = answerPosts(answer);
    return [path, path === SOCKET_PATH ? orSocket(answerPost, openSocket) : answerPost] as const;
  });
  const gemini = forBrowsers(geminiHandler(parts, rejectUnrouted));
  const answerModels: Handle = (request) => (request.method === "POST" ? gemini(request) : handle(request));
  const openConsole = (request: Request) => parts.console(request, peerOf(request));
  return {
    routes: {
      ...rawRoutes(NOT_BUILT_PATHS, forBrowsers(rejectUnrouted), reject),
      ...rawRoutes(appPaths, handle, reject),
      ...rawRoutes(MODEL_PATHS, answerModels, reject),
      ...Object.fromEntries(inference),
      "/console": openConsole,
      "/console/*": openConsole,
    },
    fetch: reject,
  };
}

/** Lets requests for a WebSocket through to it. Requests by POST pay one comparison. */
function orSocket(answer: Handle, open: Connections["openSocket"]) {
  return (request: Request): RawResponse =>
    request.method === "GET" && asksForSocket(request) ? open(request) : answer(request);
}

/** Assembles the routes that name no model. Bun calls the others itself: a second router costs 2 µs. */
function createApp(parts: HttpParts) {
  return new Elysia({ strictPath: true })
    .use(modelRoutes(parts))
    .use(keyRoute(parts))
    .use(childKeysRoute(parts))
    .use(receiptRoute(parts))
    .use(healthRoutes(parts))
    .onError(({ request, code, error }) => {
      if (code === "NOT_FOUND") return rejectUnrouted(request);
      parts.gateway().log.error(describeFault(error), "route failed");
      return respondWithError(request, new GatewayError("internal"), newRequestId());
    });
}

/** Rejects a known path whose method has no handler: `not_built` or `unknown_route`. */
function rejectUnrouted(request: Request): Promise<Response> {
  const path = pathOf(request);
  return rejectAfterBody(request, isNotBuilt(request.method, path) ? "not_built" : "unknown_route");
}

async function rejectAfterBody(request: Request, cause: Cause): Promise<Response> {
  await discardBody(request);
  return respondWithError(request, new GatewayError(cause), newRequestId());
}

/** `GET /v1/receipts/{request_id}`: the receipt of a request, for every key of the account that paid. */
function receiptRoute(parts: HttpParts) {
  return new Elysia().get("/v1/receipts/:id", ({ request, params }) =>
    answerCaller(request, parts, async ({ key }, { ledger }) => {
      const receipt = await ledger.receipt(key.accountId, params.id);
      if (!receipt) throw new GatewayError("unknown_receipt");
      return printReceipt(receipt);
    }),
  );
}

/**
 * `/healthz`: the process runs. `/readyz`: whether it takes requests, with the result of each check as JSON.
 * `/`: clients probe it before their first request. None of them needs a key.
 */
function healthRoutes(parts: HttpParts) {
  const respond = (status: number, type: string, body: string) =>
    new Response(body, { status, headers: { ...idHeaders(newRequestId()), "content-type": type } });
  return new Elysia()
    .get("/", () => respond(200, "text/plain", "tollgate\n"))
    .get("/healthz", () => respond(200, "text/plain", "ok\n"))
    .get("/readyz", async () => {
      const { isReady, checks } = await parts.readiness();
      const isDraining = parts.isDraining();
      const status = isDraining ? "draining" : isReady ? "ready" : "not_ready";
      const body = `${JSON.stringify({ status, checks })}\n`;
      return respond(status === "ready" ? 200 : 503, "application/json", body);
    });
}
