import type { Metadata } from "@grpc/grpc-js";
import type { TraceContext } from "../../domain/trace-context.ts";
import type * as Proto from "../../gen/messages.ts";
import { LEDGER_SERVICE } from "../service.ts";

/** Creates the spans of commands. */
export interface LedgerServerTracing {
  /** Returns `undefined` for a context that is invalid or not sampled. */
  startCommand(service: string, method: string, context: TraceContext): CommandSpan | undefined;
}

interface CommandSpan {
  /** `reason` is the error code of a command that was not applied. */
  end(reason?: string): void;
}

/** Starts the span of one mutation of a stream or a batch, when it names the span of its caller. */
export function startMutation(
  tracing: LedgerServerTracing | undefined,
  { mutation, traceparent, tracestate }: Proto.Mutation__Output,
): CommandSpan | undefined {
  if (!tracing || traceparent === "" || !mutation) return undefined;
  const method = mutation.charAt(0).toUpperCase() + mutation.slice(1);
  return tracing.startCommand(LEDGER_SERVICE, method, { traceparent, tracestate });
}

/** Starts the span of a unary call, when its metadata name the span of its caller. */
export function startCall(
  tracing: LedgerServerTracing | undefined,
  { metadata, path }: { readonly metadata: Metadata; readonly path: string },
): CommandSpan | undefined {
  const [traceparent] = tracing ? metadata.get("traceparent") : [];
  if (!tracing || traceparent === undefined) return undefined;
  const method = path.slice(path.lastIndexOf("/") + 1);
  const tracestate = metadata.get("tracestate").join(",");
  return tracing.startCommand(LEDGER_SERVICE, method, { traceparent: String(traceparent), tracestate });
}
