// Work-arounds of Bun's fetch, as of Bun 1.4.5. Delete this file and call fetch directly once Bun
//  - reports when a request has a connection (`probeBody`, 10 to 15 µs a call),
//  - retries a POST on a kept connection that its host has closed (`createPost`),
//  - keeps as many idle TLS connections as calls were running (`createConnectionPools`),
//  - decodes a compressed body without printing a line to stderr when it is broken (`decodeResponse`).
// The cap of 256 calls a process is lifted in `config/relaunch.ts`.
//
// Why fetch nevertheless: it takes the least memory. It was compared with node:http with a keep-alive Agent
// and with undici, at 64, 512 and 2,000 concurrent streams and in bursts (`bun run bench upstream`). Over TLS it is the cheapest (99 µs of CPU a call in bursts of 200; the others 166 and 152) or
// within a tenth of the cheapest. Only over plain HTTP with 512 or more concurrent calls does it cost up to a
// third more than node:http. It honours proxy settings.
import { pipeline, Readable, type Transform } from "node:stream";
import {
  createBrotliDecompress,
  createGunzip,
  createInflate,
  createInflateRaw,
  createZstdDecompress,
} from "node:zlib";
import type { CallBody, CallObserver } from "./upstream.ts";

/**
 * A host that has closed a kept connection resets it within a round trip. A later reset has another cause.
 */
const STALE_RESET_MAX_MS = 300;

interface PostRequest {
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: CallBody;
}

/**
 * Sends a POST request and resolves with the response, its body decoded. Rejects when no response arrives.
 */
export type Post = (request: PostRequest, observer: CallObserver) => Promise<Response>;

/**
 * Returns a function that sends requests to one upstream; `pools` is for upstreams reached over TLS.
 * Redirects are not followed. A request is sent a second time, on a new connection, when a kept connection
 * was reset at once.
 */
export function createPost(pools: ConnectionPools | undefined): Post {
  /** No connection can have been kept before the first response. */
  let hasResponded = false;

  return async ({ url, headers, body }, observer) => {
    let connectedAt = Number.POSITIVE_INFINITY;
    const connected = () => {
      connectedAt = performance.now();
      observer.connected();
    };
    const session = pools?.take(observer.ended);
    const send = (keepalive: boolean) =>
      fetch(url, {
        session,
        method: "POST",
        headers,
        body: probeBody(body, connected),
        signal: observer.signal,
        keepalive,
        redirect: "manual",
        // Bun prints a line to stderr for a body that it cannot decode.
        decompress: false,
        // The attempt has exact timeouts of its own; Bun's is rounded to 4 s.
        timeout: false,
      });
    try {
      const response = await send(true);
      hasResponded = true;
      // Not awaited: a reset from here on is not that of a stale connection.
      return response.headers.has("content-encoding") ? decodeResponse(response) : response;
    } catch (fault) {
      const isStale = hasResponded && isReset(fault) && performance.now() - connectedAt < STALE_RESET_MAX_MS;
      if (!isStale || observer.signal.aborted) throw fault;
      observer.connecting();
      return decodeResponse(await send(false));
    }
  };
}

/** Connect-probe body: fetch pulls it when the connection stands, the only sign of that which fetch gives. */
function probeBody(body: CallBody, onConnected: () => void): ReadableStream<Uint8Array> {
  const source: Bun.DirectUnderlyingSource<Uint8Array> = {
    type: "direct",
    pull(controller) {
      onConnected();
      const send = (encoded: string | Uint8Array) => {
        controller.write(encoded);
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
  /** Returns a session for one call, which leaves it when `ended` resolves. */
  take(ended: Promise<void>): Bun.FetchSession;
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
    take(ended) {
      const pool = pools.find(({ calls }) => calls < CALLS_PER_POOL) ?? open();
      pool.calls += 1;
      void ended.then(() => {
        pool.calls -= 1;
      });
      return pool.session;
    },
  };
}

type Body = ReadableStream<Uint8Array>;

/** Decoders by content coding, without `deflate`, which has two formats. */
const DECODERS: Readonly<Record<string, () => Transform>> = {
  gzip: createGunzip,
  "x-gzip": createGunzip,
  br: createBrotliDecompress,
  zstd: createZstdDecompress,
};

/**
 * Decodes a compressed body as it is read, for hosts that compress although the request accepts only
 * `identity`. Returns the response itself when its coding is unknown. A broken body fails with an error of
 * zlib.
 */
export async function decodeResponse(response: Response): Promise<Response> {
  const coding = response.headers.get("content-encoding")?.trim().toLowerCase() ?? "";
  const { body, status } = response;
  // The Response constructor rejects any other status.
  if (!body || status < 200 || status > 599) return response;
  if (coding === "deflate") return withBody(response, await decodeDeflate(body));
  const create = Object.hasOwn(DECODERS, coding) ? DECODERS[coding] : undefined;
  return create ? withBody(response, decode(body, create())) : response;
}

function withBody({ status, headers }: Response, body: Body): Response {
  const kept = new Headers(headers);
  kept.delete("content-encoding");
  return new Response(body, { status, headers: kept });
}

type NodeBody = Parameters<typeof Readable.fromWeb>[0];

/** Inflates no further than the body is read: a small body may hold a large one. */
function decode(body: Body, decoder: Transform): Body {
  // The decoder fails with a fault of either stream. Safe because both types name one class at run time.
  pipeline(Readable.fromWeb(body as unknown as NodeBody), decoder, () => {});
  return Readable.toWeb(decoder) as unknown as Body;
}

/** Some hosts send deflate without the zlib header. The first bytes show whether it is there. */
async function decodeDeflate(body: Body): Promise<Body> {
  const reader = body.getReader();
  let first: Awaited<ReturnType<typeof reader.read>> | undefined = await reader.read();
  const [method = 0, flags = 0] = first.value ?? [];
  const hasHeader = (method & 0x0f) === 8 && (method * 256 + flags) % 31 === 0;
  const whole: Body = new ReadableStream({
    async pull(controller) {
      const { done, value } = first ?? (await reader.read());
      first = undefined;
      if (done) controller.close();
      else controller.enqueue(value);
    },
    cancel: (reason) => reader.cancel(reason),
  });
  return decode(whole, hasHeader ? createInflate() : createInflateRaw());
}
