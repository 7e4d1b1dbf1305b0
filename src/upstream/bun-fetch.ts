// Work-arounds of Bun's fetch, as of Bun 1.4.5. Delete this file and call fetch directly once Bun
//  - reports when a request has a connection (`probeBody`, 20 µs a call, and `connect-watch.ts`),
//  - retries a POST on a kept connection that its host has closed (`createPost`),
//  - keeps as many idle TLS connections as calls were running (`createConnectionPools`),
//  - decodes a compressed body without printing a line to stderr when it is broken (`content-coding.ts`).
// The cap of 256 calls a process is lifted in `config/relaunch.ts`.
//
// Why fetch nevertheless: it takes the least memory. It was compared with node:http with a keep-alive Agent
// and with undici, at 64, 512 and 2,000 concurrent streams and in bursts (`bun run bench upstream`). Over TLS
// it is the cheapest (99 µs of CPU a call in bursts of 200; the others 166 and 152) or within a tenth of the
// cheapest. Only over plain HTTP with 512 or more concurrent calls does it cost up to a third more than
// node:http. It honours proxy settings.
import { type ConnectWatch, createConnectWatch } from "./connect-watch.ts";
import { decodeResponse } from "./content-coding.ts";
import type { CallBody, CallObserver, EncodedBody } from "./upstream.ts";

/**
 * A host that has closed a kept connection resets it within a round trip. A later reset has another cause.
 */
const STALE_RESET_MAX_MS = 300;

/** Bodies up to this size may always be sent whole. `fetch` keeps such a body in memory until its response begins. */
const SMALL_BYTES_MAX = 64 * 1024;
/** Larger ones are sent whole while all of this process take no more than this; else streamed, which costs more. */
const WHOLE_BYTES_MAX = 16 * 1024 * 1024;
/** The bytes of bodies that are sent whole and have no response yet, over all upstreams. */
let wholeBytes = 0;

interface PostRequest {
  readonly url: string;
  readonly headers: Headers;
  readonly body: CallBody;
}

/**
 * Sends a POST request and resolves with the response, its body decoded. Rejects when no response arrives.
 */
export type Post = (request: PostRequest, observer: CallObserver) => Promise<Response>;

export interface PostOptions {
  /** For an upstream reached over TLS. */
  readonly pools: ConnectionPools | undefined;
  /** Time limit of a connection, in milliseconds. */
  readonly connectMs: number;
}

/**
 * Returns a function that sends requests to one upstream. Redirects are not followed. A request is sent a
 * second time, on a new connection, when a kept connection was reset at once. To a host that answered within the
 * last second, a request is sent without a connect probe.
 */
export function createPost({ pools, connectMs }: PostOptions): Post {
  const watch = createConnectWatch({ connectMs, probe: probeConnection });

  return async (request, observer) => {
    const session = pools?.take(observer);
    /** No connection can have been kept before the first response. */
    const mayBeStale = watch.hasAnswered;
    let connectedAt = Infinity;
    const connected = () => {
      connectedAt = performance.now();
      observer.connected();
    };
    try {
      const response = await (watch.hasAnsweredLately() && maySendWhole(request.body)
        ? sendWhole(watch, request, { observer, session, connected })
        : sendProbing(request, { observer, session, connected }));
      watch.answered();
      // Not awaited: a reset from here on is not that of a stale connection.
      return response.headers.has("content-encoding") ? decodeResponse(response) : response;
    } catch (fault) {
      const isStale = mayBeStale && isReset(fault) && performance.now() - connectedAt < STALE_RESET_MAX_MS;
      if (!isStale || observer.signal.aborted) throw fault;
      observer.connecting();
      const again = { observer, session, connected: () => observer.connected(), keepalive: false };
      return decodeResponse(await sendProbing(request, again));
    }
  };
}

interface SendOptions {
  readonly observer: CallObserver;
  readonly session: Bun.FetchSession | undefined;
  readonly keepalive?: boolean;
  /** Called when the connection takes the request. */
  connected(): void;
}

function send(
  { url }: PostRequest,
  { observer, session, keepalive = true }: SendOptions,
  { headers, body }: { readonly headers: Headers; readonly body: BodyInit },
): Promise<Response> {
  return fetch(url, {
    session,
    method: "POST",
    headers,
    body,
    signal: observer.signal,
    keepalive,
    redirect: "manual",
    // Bun prints a line to stderr for a body that it cannot decode.
    decompress: false,
    // The attempt has exact timeouts of its own; Bun's is rounded to 4 s.
    timeout: false,
  });
}

function maySendWhole({ bytes }: CallBody): boolean {
  return bytes <= SMALL_BYTES_MAX || wholeBytes + bytes <= WHOLE_BYTES_MAX;
}

/** Sends a call whose connection is assumed, and watches it until the host answers. */
async function sendWhole(watch: ConnectWatch, request: PostRequest, options: SendOptions): Promise<Response> {
  const { headers } = request;
  const taken = request.body.take();
  const encoded = taken instanceof Promise ? await taken : taken;
  const body = wholeBodyOf(encoded);
  options.connected();
  const { bytes } = request.body;
  wholeBytes += bytes;
  const watched = watch.start(request.url, options.observer);
  try {
    return await send(request, options, { headers, body });
  } finally {
    wholeBytes -= bytes;
    watched.end();
  }
}

/** A Blob copies its blocks once, and fetch does not copy it. */
function wholeBodyOf(encoded: EncodedBody): BodyInit {
  // Safe because no block is of shared memory.
  return typeof encoded === "string" ? encoded : new Blob([...encoded] as BlobPart[]);
}

/** Sends a call and reports when it has a connection. */
function sendProbing(request: PostRequest, options: SendOptions): Promise<Response> {
  const headers = new Headers(request.headers);
  // Prevents chunked encoding of a streamed body, which some hosts refuse.
  headers.set("content-length", String(request.body.bytes));
  return send(request, options, { headers, body: probeBody(request.body, options.connected) });
}

/** Opens a connection to the host of a URL and closes it. The host sees the head of an `OPTIONS` request. */
async function probeConnection(url: string, ms: number): Promise<boolean> {
  const controller = new AbortController();
  const timer = setTimeout(() => controller.abort(), ms);
  let isConnected = false;
  const body = probeBody({ bytes: 0, take: () => "" }, () => {
    isConnected = true;
    controller.abort();
  });
  const { signal } = controller;
  await fetch(new URL("/", url), { method: "OPTIONS", body, signal, keepalive: false, redirect: "manual" })
    // A host that sends an error before it reads the request is connected as well.
    .then(() => {
      isConnected = true;
    })
    .catch(() => undefined);
  clearTimeout(timer);
  return isConnected;
}

/** Connect-probe body: fetch pulls it when the connection stands, the only sign of that which fetch gives. */
function probeBody(body: CallBody, onConnected: () => void): ReadableStream<Uint8Array> {
  const source: Bun.DirectUnderlyingSource<Uint8Array> = {
    type: "direct",
    pull(controller) {
      onConnected();
      const send = (encoded: EncodedBody) => {
        if (typeof encoded === "string") controller.write(encoded);
        else for (const block of encoded) controller.write(block);
        controller.close();
      };
      const encoded = body.take();
      return encoded instanceof Promise ? encoded.then(send) : send(encoded);
    },
  };
  // Safe because Bun accepts direct sources, which the DOM's types do not declare.
  return new ReadableStream(source as unknown as UnderlyingSource<Uint8Array>);
}

/**
 * Whether the connection was closed before the response head; fetch does not report how much of it had
 * arrived.
 */
function isReset(fault: unknown): boolean {
  return fault instanceof Error && "code" in fault && fault.code === "ECONNRESET";
}

/**
 * Bun keeps at most 64 idle connections per TLS configuration; the margin is for calls that are just ending.
 */
const CALLS_PER_POOL = 56;
/** Bun's default, in seconds. */
const TLS_SESSION_TIMEOUT_S = 300;

interface ConnectionPool {
  readonly session: Bun.FetchSession;
  calls: number;
}

/** The TLS connections of one upstream. */
export interface ConnectionPools {
  /** Returns a session for one call, which leaves it when the call has ended. */
  take(call: Pick<CallObserver, "onEnded">): Bun.FetchSession;
}

/**
 * Keeps a TLS connection for every concurrent call. Bun alone closes 136 connections when 200 responses end
 * together, and the next 200 calls make as many handshakes. Bun separates idle connections by TLS
 * configuration, so each 56 calls get their own. Configurations differ in the session timeout of a server,
 * which has no effect on a client. `nextNumber` must never return a number twice in a process.
 */
export function createConnectionPools(nextNumber: () => number): ConnectionPools {
  const pools: ConnectionPool[] = [];

  function open(): ConnectionPool {
    // Not declared in Bun's types.
    const tls: object = { sessionTimeout: TLS_SESSION_TIMEOUT_S + nextNumber() };
    const pool = { session: new Bun.FetchSession({ tls }), calls: 0 };
    pools.push(pool);
    return pool;
  }

  return {
    take(call) {
      const pool = pools.find(({ calls }) => calls < CALLS_PER_POOL) ?? open();
      pool.calls += 1;
      call.onEnded(() => {
        pool.calls -= 1;
      });
      return pool.session;
    },
  };
}
