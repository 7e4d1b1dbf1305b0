import http, { type IncomingMessage } from "node:http";
import https from "node:https";
import type { Readable } from "node:stream";
import { readBounded, textOf } from "../../../src/gateway/relay-bytes.ts";
import { createConnectionPools } from "../../../src/upstream/bun-fetch.ts";
import { createHostPost, createHttpSender } from "../../../src/upstream/http-upstream.ts";
import { callBodyOf, observerOf } from "../../support/call-body.ts";

/** A whole body, or a stream of events. */
export type CallKind = "whole" | "stream";

/** An upstream call as the gateway makes it. */
interface ClientCall {
  readonly kind: CallKind;
  readonly body: string;
  readonly signal: AbortSignal;
}

/** An answer whose body is read once, whole or in pieces. */
export interface ClientAnswer {
  readonly status: number;
  text(): Promise<string>;
  /** Reads the body to its end, piece by piece. */
  read(onPiece: (bytes: Uint8Array) => void): Promise<void>;
}

/** An HTTP client that could carry the gateway's calls. Rejects when a connection fails. */
export type Client = (call: ClientCall) => Promise<ClientAnswer>;

/** The headers that the gateway sends. */
function headersOf({ kind, body }: ClientCall): Record<string, string> {
  return {
    authorization: "Bearer bench",
    "content-type": "application/json",
    "content-length": String(Buffer.byteLength(body)),
    accept: kind === "stream" ? "text/event-stream" : "application/json",
    "accept-encoding": "identity",
  };
}

/** The compared clients. The first one, fetch, is the baseline. */
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
/** The benchmark does not use the circuit. */
const CIRCUIT_FAILURES = 5;
const ANSWER_BYTES_MAX = 32 * 1024 * 1024;

/** Bun's fetch through the gateway's upstream module, read as the gateway reads. */
async function createFetchClient(url: string): Promise<Client> {
  let pool = 0;
  const config = {
    name: "bench",
    protocol: "openai",
    baseUrl: `${url}/v1`,
    apiKey: "bench",
    timeouts: { connectMs: NEVER_MS, firstOutputMs: NEVER_MS, idleMs: NEVER_MS, totalMs: NEVER_MS },
    outputLimitField: undefined,
    hasResponses: false,
    circuitFailures: CIRCUIT_FAILURES,
  } as const;
  const post = createHostPost(
    config,
    createConnectionPools(() => pool++),
  );
  const upstream = createHttpSender(config, post);
  return async ({ kind, body, signal }) => {
    const call = {
      surface: "chat",
      path: "/chat/completions",
      model: "m",
      body: callBodyOf(body),
      stream: kind === "stream",
      headers: {},
      query: "",
    } as const;
    let end = () => {};
    const answer = await upstream.send(
      call,
      observerOf(signal, (listener) => {
        end = listener;
      }),
    );
    return {
      status: answer.status,
      async text() {
        const body = await readBounded(answer, ANSWER_BYTES_MAX).finally(() => end());
        return body ? textOf(body) : "";
      },
      read: (onPiece) => readPieces(answer, onPiece).finally(() => end()),
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

/** Bun's `node:http` with an agent that keeps every connection. */
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

/** The undici package with as many connections as calls. */
async function createUndiciClient(url: string): Promise<Client> {
  // Imported by path, because Bun replaces the package name by its own implementation.
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

/** Reads a Node stream by its events, which is fastest. Rejects when it breaks off. */
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
