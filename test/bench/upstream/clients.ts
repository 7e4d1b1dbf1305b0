import http, { type IncomingMessage } from "node:http";
import https from "node:https";
import type { Readable } from "node:stream";
import { readBounded, textOf } from "../../../src/gateway/read-bounded.ts";
import { createHealth } from "../../../src/upstream/health.ts";
import { createHttpUpstream } from "../../../src/upstream/http-upstream.ts";
import { createLanes } from "../../../src/upstream/lanes.ts";
import { callBodyOf } from "../../support/call-body.ts";

/** A whole body, or a stream of events. */
export type CallKind = "whole" | "stream";

/** A call of an upstream, as the gateway makes it. */
export interface ClientCall {
  readonly kind: CallKind;
  readonly body: string;
  readonly signal: AbortSignal;
}

/** An answer whose body is read one way or the other, once. */
export interface ClientAnswer {
  readonly status: number;
  text(): Promise<string>;
  /** Reads to the end, a piece at a time as it comes. */
  read(onPiece: (bytes: Uint8Array) => void): Promise<void>;
}

/** What could carry the gateway's calls. Rejects when a connection fails or breaks off. */
export type Client = (call: ClientCall) => Promise<ClientAnswer>;

/** The same from every client: what the gateway itself sends. */
function headersOf({ kind, body }: ClientCall): Record<string, string> {
  return {
    authorization: "Bearer bench",
    "content-type": "application/json",
    "content-length": String(Buffer.byteLength(body)),
    accept: kind === "stream" ? "text/event-stream" : "application/json",
    "accept-encoding": "identity",
  };
}

/** All that are compared, each for the calls of one upstream; fetch comes first, as the baseline. */
export const CLIENTS = {
  fetch: createFetchClient,
  "node:http": createNodeClient,
  undici: createUndiciClient,
} as const satisfies Record<string, (url: string) => Promise<Client>>;

export type ClientName = keyof typeof CLIENTS;

export function isClientName(name: string): name is ClientName {
  return name in CLIENTS;
}

const NEVER_MS = 900_000;
/** Nobody asks the health here. */
const CIRCUIT_FAILURES = 5;
const ANSWER_BYTES_MAX = 32 * 1024 * 1024;

/** Bun's fetch, through the gateway's own upstream and read as the gateway reads. */
async function createFetchClient(url: string): Promise<Client> {
  let lane = 0;
  const upstream = createHttpUpstream(
    {
      name: "bench",
      protocol: "openai",
      baseUrl: `${url}/v1`,
      apiKey: "bench",
      timeouts: { connectMs: NEVER_MS, firstOutputMs: NEVER_MS, idleMs: NEVER_MS, totalMs: NEVER_MS },
      outputLimitField: undefined,
      hasResponses: false,
      circuitFailures: CIRCUIT_FAILURES,
    },
    {
      health: createHealth({ failuresMax: CIRCUIT_FAILURES, clock: () => performance.now() }),
      lanes: createLanes(() => lane++),
    },
  );
  return async ({ kind, body, signal }) => {
    const call = {
      surface: "chat",
      path: "/chat/completions",
      body: callBodyOf(body),
      stream: kind === "stream",
      headers: {},
      query: "",
    } as const;
    const { promise: ended, resolve: end } = Promise.withResolvers<void>();
    const answer = await upstream.send(call, { signal, connecting() {}, connected() {}, ended });
    return {
      status: answer.status,
      async text() {
        const body = await readBounded(answer, ANSWER_BYTES_MAX).finally(end);
        return body ? textOf(body) : "";
      },
      read: (onPiece) => readPieces(answer, onPiece).finally(end),
    };
  };
}

async function readPieces({ body }: Response, onPiece: (bytes: Uint8Array) => void): Promise<void> {
  const reader = body?.getReader();
  for (;;) {
    const piece = await reader?.read();
    if (!piece || piece.done) return;
    onPiece(piece.value);
  }
}

const SOCKETS_KEPT_MAX = 4_096;

/** `node:http` as Bun has it, with an agent that keeps every connection. */
async function createNodeClient(url: string): Promise<Client> {
  const { hostname, port, protocol } = new URL(url);
  const { Agent, request } = protocol === "https:" ? https : http;
  const agent = new Agent({ keepAlive: true, maxFreeSockets: SOCKETS_KEPT_MAX });
  const to = { hostname, port, path: "/v1/chat/completions", method: "POST", agent };
  return async (call) => {
    const { promise, resolve, reject } = Promise.withResolvers<IncomingMessage>();
    const sent = request({ ...to, headers: headersOf(call), signal: call.signal }, resolve);
    sent.on("error", reject);
    sent.end(call.body);
    const answer = await promise;
    return {
      status: answer.statusCode ?? 0,
      text: () => readText(answer),
      read: (onPiece) => readReadable(answer, onPiece),
    };
  };
}

const KEPT_MS = 30_000;

/** The real undici with as many connections as there are calls. */
async function createUndiciClient(url: string): Promise<Client> {
  // By its path, because under its name Bun has a stand-in of its own.
  const { Agent, request } = await import("../../../node_modules/undici/index.js");
  const dispatcher = new Agent({
    connections: null,
    headersTimeout: 0,
    bodyTimeout: 0,
    keepAliveTimeout: KEPT_MS,
  });
  const target = `${url}/v1/chat/completions`;
  return async (call) => {
    const { body, signal } = call;
    const answer = await request(target, {
      method: "POST",
      headers: headersOf(call),
      body,
      signal,
      dispatcher,
    });
    return {
      status: answer.statusCode,
      text: () => answer.body.text(),
      read: (onPiece) => readReadable(answer.body, onPiece),
    };
  };
}

/** Reads a Node stream to its end by its events: its fastest way. Rejects when it breaks off. */
function readReadable(readable: Readable, onPiece: (bytes: Uint8Array) => void): Promise<void> {
  const { promise, resolve, reject } = Promise.withResolvers<void>();
  readable.on("data", onPiece);
  readable.on("end", resolve);
  readable.on("error", reject);
  readable.on("close", () => reject(new Error("The answer broke off")));
  return promise;
}

async function readText(readable: Readable): Promise<string> {
  const pieces: Uint8Array[] = [];
  await readReadable(readable, (bytes) => pieces.push(bytes));
  return Buffer.concat(pieces).toString();
}
