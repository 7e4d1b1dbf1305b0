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
import { encodeCallRefusal } from "../codec/status.ts";
import { LEDGER_SERVICE } from "../service.ts";

/** Stands before every call. */
export interface Guard {
  readonly interceptor: ServerInterceptor;
  /** Ends the streams that would never end by themselves: those of health and reflection. */
  endWatchers(): void;
}

/** Anybody may ask whether the service is healthy. */
const OPEN_PATH = "/grpc.health.v1.Health/";
const OWN_PATH = `/${LEDGER_SERVICE}/`;

/**
 * Lets in who has the token, and within bounds who asks for health without one; `onDenied` is called for
 * everybody else.
 */
export function createGuard(token: string, openCalls: OpenCalls, onDenied: () => void): Guard {
  const isToken = createTokenCheck(token);
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
          call.sendStatus(encodeCallRefusal("unauthenticated"));
        })
        // Also the end of a call that nobody cancelled.
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

/** Digests have one length, so the comparison takes one time whatever was sent. */
function createTokenCheck(token: string): (metadata: Metadata) => boolean {
  const expected = digestOf(token);
  return (metadata) => {
    const [header, ...more] = metadata.get("authorization");
    const [, given] = /^bearer (.+)$/i.exec(String(header ?? "")) ?? [];
    return given !== undefined && more.length === 0 && timingSafeEqual(digestOf(given), expected);
  };
}

function digestOf(text: string): Buffer {
  return createHash("sha256").update(text).digest();
}

type Call = ServerInterceptingCallInterface;

/** Bounds of the calls that need no token. */
export interface OpenCallBounds {
  /** Calls of one connection at a time. */
  readonly callsPerConnection: number;
  /** Streams of the whole server at a time. */
  readonly streams: number;
  /** How long a stream may last. A client of the health protocol opens another. */
  readonly streamMs: number;
  /** How long any other call may take, the caller's part included. */
  readonly callMs: number;
}

const BOUNDS: OpenCallBounds = { callsPerConnection: 16, streams: 256, streamMs: 600_000, callMs: 10_000 };

/** The longest request: the name of a service. */
const MESSAGE_BYTES_MAX = 1_024;

/** Admits calls without a token, within bounds. */
export interface OpenCalls {
  /** Whether the call may go on. One that may not has been ended with RESOURCE_EXHAUSTED. */
  admit(call: Call, kind: { readonly isStream: boolean }): boolean;
  /** Must be called once an admitted call has ended; does nothing for another. */
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
  /** Calls by connection: an address has one connection per port. */
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

/** The library has one bound for all methods of a server, 16 MiB here, and keeps it in each call. */
function boundMessage(call: Call): void {
  // Safe because a test sends a longer message, and because what is not there is left alone.
  const own = call as { maxReceiveMessageSize?: number; decoder?: { maxReadMessageLength?: number } };
  own.maxReceiveMessageSize = MESSAGE_BYTES_MAX;
  if (own.decoder) own.decoder.maxReadMessageLength = MESSAGE_BYTES_MAX;
}
