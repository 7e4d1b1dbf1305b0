import { Metadata, type ServerDuplexStream, status } from "@grpc/grpc-js";
import type * as Proto from "../../gen/messages.ts";
import { platform } from "../../platform.ts";
import { encodeCallError } from "../codec/status.ts";
import { isUndecodable } from "../service.ts";
import { applyMutations, MUTATIONS_MAX, type MutationTarget } from "./mutations.ts";

/** The maximum of unanswered messages of a stream; at this many, reading pauses. */
const WINDOW_MAX = 16;

/** How long a hold without a timeout may wait to be decided. */
const DEADLINE_DEFAULT_MS = 30_000;

type MutationStream = ServerDuplexStream<Proto.StreamMutationsRequest__Output, Proto.StreamMutationsResponse>;

/** The final status of a stream, sent once every read message is answered. */
type End = Partial<ReturnType<typeof encodeCallError>> | "ok";

/** The open streams of mutations. */
export interface MutationStreams {
  handle(call: MutationStream): void;
  /** Ends every stream once its read messages are answered. Unread messages go to the next server. */
  drain(): void;
}

export function createMutationStreams(target: MutationTarget): MutationStreams {
  const streams = new Set<(end: End) => void>();
  let isDraining = false;

  return {
    handle(call) {
      const endStream = serve(call, target, () => streams.delete(endStream));
      streams.add(endStream);
      if (isDraining) endStream(DRAINED);
    },
    drain() {
      isDraining = true;
      for (const endStream of streams) endStream(DRAINED);
    },
  };
}

/** Carries no ErrorInfo of the ledger, because it concerns the connection and no mutation. */
const DRAINED: End = Object.freeze({ code: status.UNAVAILABLE, details: "The server is going away." });

/** Serves one stream. Returns a function that ends it. */
function serve(call: MutationStream, target: MutationTarget, onGone: () => void): (end: End) => void {
  let unanswered = 0;
  let end: End | undefined;

  const endWhenAnswered = () => {
    if (end === undefined || unanswered > 0 || call.destroyed) return;
    if (end === "ok") call.end();
    else call.emit("error", end);
  };
  const endStream = (finalStatus: End) => {
    end ??= finalStatus;
    call.pause();
    endWhenAnswered();
  };
  const onAnswered = () => {
    unanswered -= 1;
    if (end === undefined && unanswered < WINDOW_MAX) call.resume();
    endWhenAnswered();
  };

  // Sent before the first message, so that the caller knows that its token is accepted.
  call.sendMetadata(new Metadata());
  call.on("data", (message: Proto.StreamMutationsRequest__Output) => {
    if (end !== undefined) return;
    if (isUndecodable(message) || message.mutations.length > MUTATIONS_MAX) {
      return endStream(encodeCallError("invalid_request", { field: "mutations" }));
    }
    unanswered += 1;
    if (unanswered >= WINDOW_MAX) call.pause();
    void answer(call, target, message).then(onAnswered);
  });
  call.on("end", () => endStream("ok"));
  call.on("cancelled", onGone);
  return endStream;
}

/** Resolves when the answer is handed to the connection; never resolves when the connection is lost. */
async function answer(
  call: MutationStream,
  target: MutationTarget,
  { sequence, mutations }: Proto.StreamMutationsRequest__Output,
): Promise<void> {
  const arrivedAtMs = platform.now();
  const span = { arrivedAtMs, deadlineMs: arrivedAtMs + DEADLINE_DEFAULT_MS };
  const results = await applyMutations(target, mutations, span);
  if (call.destroyed || call.cancelled) return new Promise(() => undefined);
  return new Promise((resolve) => call.write({ sequence, results }, () => resolve()));
}
