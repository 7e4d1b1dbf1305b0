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
import type { OpenCalls } from "./open-calls.ts";

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
