import { Metadata, type ServerDuplexStream, status } from "@grpc/grpc-js";
import type { StreamMutationsRequest__Output } from "../../gen/tollgate/ledger/v1/StreamMutationsRequest.ts";
import type { StreamMutationsResponse } from "../../gen/tollgate/ledger/v1/StreamMutationsResponse.ts";
import { encodeCallRefusal } from "../codec/status.ts";
import { isUnreadable } from "../service.ts";
import { MUTATIONS_MAX, type Runner, runMutations } from "./mutations.ts";

/** Messages of a stream that may be unanswered; with so many, the stream is not read. */
const WINDOW_MAX = 16;

/** How long a hold may wait that says nothing else. */
const DEADLINE_DEFAULT_MS = 30_000;

type MutationStream = ServerDuplexStream<StreamMutationsRequest__Output, StreamMutationsResponse>;

/** How a stream ends, once all that was read is answered. */
type End = Partial<ReturnType<typeof encodeCallRefusal>> | "ok";

/** The service to everybody who sends mutations over and over. */
export interface MutationStreams {
  handle(call: MutationStream): void;
  /** Answers what was read of every stream, then ends it; what was not read is for another server. */
  drain(): void;
}

export function createMutationStreams(runner: Runner): MutationStreams {
  const streams = new Set<(end: End) => void>();
  let isDraining = false;

  return {
    handle(call) {
      const endStream = serve(call, runner, () => streams.delete(endStream));
      streams.add(endStream);
      if (isDraining) endStream(DRAINED);
    },
    drain() {
      isDraining = true;
      for (const endStream of streams) endStream(DRAINED);
    },
  };
}

/** Without the ledger's ErrorInfo: it says nothing of any mutation, only that the connection is over. */
const DRAINED: End = Object.freeze({ code: status.UNAVAILABLE, details: "The server is going away." });

/** Serves one stream; returns what ends it. */
function serve(call: MutationStream, runner: Runner, onGone: () => void): (end: End) => void {
  let unanswered = 0;
  let end: End | undefined;

  const endWhenAnswered = () => {
    if (end === undefined || unanswered > 0 || call.destroyed) return;
    if (end === "ok") call.end();
    else call.emit("error", end);
  };
  const endStream = (by: End) => {
    end ??= by;
    call.pause();
    endWhenAnswered();
  };
  const onAnswered = () => {
    unanswered -= 1;
    if (end === undefined && unanswered < WINDOW_MAX) call.resume();
    endWhenAnswered();
  };

  // A sign of life before the first message: the caller knows that it is let in.
  call.sendMetadata(new Metadata());
  call.on("data", (message: StreamMutationsRequest__Output) => {
    if (end !== undefined) return;
    if (isUnreadable(message) || message.mutations.length > MUTATIONS_MAX) {
      return endStream(encodeCallRefusal("invalid_request", { field: "mutations" }));
    }
    unanswered += 1;
    if (unanswered >= WINDOW_MAX) call.pause();
    void answer(call, runner, message).then(onAnswered);
  });
  call.on("end", () => endStream("ok"));
  call.on("cancelled", onGone);
  return endStream;
}

/** Resolves when the answer is handed to the connection; never, when that is gone. */
async function answer(
  call: MutationStream,
  runner: Runner,
  { sequence, mutations }: StreamMutationsRequest__Output,
): Promise<void> {
  const arrivedAtMs = Date.now();
  const span = { arrivedAtMs, deadlineMs: arrivedAtMs + DEADLINE_DEFAULT_MS };
  const results = await runMutations(runner, mutations, span);
  if (call.destroyed || call.cancelled) return new Promise(() => undefined);
  return new Promise((resolve) => call.write({ sequence, results }, () => resolve()));
}
