import { createHash, timingSafeEqual } from "node:crypto";
import {
  type Metadata,
  ResponderBuilder,
  ServerInterceptingCall,
  type ServerInterceptingCallInterface,
  type ServerInterceptor,
  ServerListenerBuilder,
  status,
} from "@grpc/grpc-js";
import { encodeCallError } from "../codec/status.ts";
import { LEDGER_SERVICE } from "../service.ts";

/** Checks the token of every call. */
export interface Guard {
  readonly interceptor: ServerInterceptor;
  /** Ends the streams of health and reflection, which would otherwise stay open. */
  endWatchers(): void;
}

/** Health needs no token. */
const OPEN_PATH = "/grpc.health.v1.Health/";
const OWN_PATH = `/${LEDGER_SERVICE}/`;

/** Returns the tokens in force; they may change from call to call. */
export type Tokens = () => readonly string[];

/**
 * Admits calls with a token in force, and a bounded number of health calls without it. Ends every other call with
 * UNAUTHENTICATED and calls `onDenied`.
 */
export function createGuard(tokens: Tokens, openCalls: OpenCalls, onDenied: () => void): Guard {
  const isToken = createTokenCheck(tokens);
  const watchers = new Set<ServerInterceptingCallInterface>();

  return {
    interceptor(method, call) {
      const isOpen = method.path.startsWith(OPEN_PATH);
      const isWatcher = method.responseStream && !method.path.startsWith(OWN_PATH);
      const listener = new ServerListenerBuilder()
        .withOnReceiveMetadata((metadata, next) => {
          if (isToken(metadata) || (isOpen && openCalls.admit(call, { isStream: method.responseStream }))) {
            if (isWatcher) watchers.add(call);
            return next(metadata);
          }
          if (isOpen) return;
          onDenied();
          call.sendStatus(encodeCallError("unauthenticated"));
        })
        // Also called when a call ends without being cancelled.
        .withOnCancel(() => {
          watchers.delete(call);
          openCalls.release(call);
        })
        .build();
      return new ServerInterceptingCall(
        call,
        new ResponderBuilder().withStart((next) => next(listener)).build(),
      );
    },
    endWatchers() {
      for (const call of watchers) {
        call.sendStatus({ code: status.UNAVAILABLE, details: "The server is going away." });
      }
    },
  };
}

/** Compares digests of equal length in constant time. */
function createTokenCheck(tokens: Tokens): (metadata: Metadata) => boolean {
  let digested: readonly string[] = [];
  let digests: readonly Buffer[] = [];
  const digestsInForce = () => {
    const current = tokens();
    if (current !== digested) digests = current.map(digestOf);
    digested = current;
    return digests;
  };
  return (metadata) => {
    const [header, ...more] = metadata.get("authorization");
    const [, text] = /^bearer (.+)$/i.exec(String(header ?? "")) ?? [];
    if (text === undefined || more.length > 0) return false;
    const given = digestOf(text);
    return digestsInForce().some((digest) => timingSafeEqual(given, digest));
  };
}

function digestOf(text: string): Buffer {
  return createHash("sha256").update(text).digest();
}

type Call = ServerInterceptingCallInterface;

/** Bounds of the calls without a token. */
export interface OpenCallBounds {
  /** Concurrent calls per connection. */
  readonly callsPerConnection: number;
  /** Concurrent streams of the server. */
  readonly streams: number;
  /** How long a stream may last. Clients of the health protocol then open another. */
  readonly streamMs: number;
  /** How long any other call may take, including the time to send it. */
  readonly callMs: number;
}

const BOUNDS: OpenCallBounds = { callsPerConnection: 16, streams: 256, streamMs: 600_000, callMs: 10_000 };

/** The longest request; a request is the name of a service. */
const MESSAGE_BYTES_MAX = 1_024;

/** Admits calls without a token, within bounds. */
export interface OpenCalls {
  /** Returns whether the call is admitted. Ends it with RESOURCE_EXHAUSTED otherwise. */
  admit(call: Call, kind: { readonly isStream: boolean }): boolean;
  /** Must be called when an admitted call ends; ignores other calls. */
  release(call: Call): void;
}

interface Admitted {
  readonly peer: string;
  readonly isStream: boolean;
  readonly timer: Timer;
}

export function createOpenCalls(bounds: Partial<OpenCallBounds> = {}): OpenCalls {
  const { callsPerConnection, streams, streamMs, callMs } = { ...BOUNDS, ...bounds };
  const admitted = new Map<Call, Admitted>();
  /** Open calls by the address and port of their connection. */
  const perPeer = new Map<string, number>();
  let streamCount = 0;

  return {
    admit(call, { isStream }) {
      const peer = call.getPeer();
      const count = perPeer.get(peer) ?? 0;
      if (count >= callsPerConnection || (isStream && streamCount >= streams)) {
        call.sendStatus({
          code: status.RESOURCE_EXHAUSTED,
          details: "There are too many calls without a token.",
        });
        return false;
      }
      boundMessage(call);
      perPeer.set(peer, count + 1);
      if (isStream) streamCount += 1;
      const end = () =>
        call.sendStatus({ code: status.UNAVAILABLE, details: "The call has taken too long." });
      const timer = setTimeout(end, isStream ? streamMs : callMs);
      timer.unref();
      admitted.set(call, { peer, isStream, timer });
      return true;
    },
    release(call) {
      const known = admitted.get(call);
      if (!known) return;
      admitted.delete(call);
      clearTimeout(known.timer);
      if (known.isStream) streamCount -= 1;
      const count = perPeer.get(known.peer) ?? 0;
      if (count > 1) perPeer.set(known.peer, count - 1);
      else perPeer.delete(known.peer);
    },
  };
}

/**
 * Lowers the message bound of one call. The library has one bound for all methods of a server, 16 MiB here.
 */
function boundMessage(call: Call): void {
  // Safe because a test sends a longer message, and a missing property is not touched.
  const own = call as { maxReceiveMessageSize?: number; decoder?: { maxReadMessageLength?: number } };
  own.maxReceiveMessageSize = MESSAGE_BYTES_MAX;
  if (own.decoder) own.decoder.maxReadMessageLength = MESSAGE_BYTES_MAX;
}
