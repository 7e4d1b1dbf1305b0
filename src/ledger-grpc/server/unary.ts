import type { handleUnaryCall, ServerUnaryCall, sendUnaryData } from "@grpc/grpc-js";
import { LedgerError } from "../../ledger/ledger.ts";
import { InvalidField } from "../codec/invalid-field.ts";
import { encodeCallRefusal } from "../codec/status.ts";
import { explain } from "./failure.ts";
import type { Span } from "./mutations.ts";
import { isUnreadable } from "./unreadable.ts";

/** How long a call may take whose caller set no deadline. */
const DEADLINE_DEFAULT_MS = 30_000;

/** What one kind of call does. Both may throw anything. */
export interface Call<Wire, Request, Response> {
  decode(wire: Wire, span: Span): Request;
  answer(request: Request): Promise<Response>;
}

/** Makes a handler of a call: it answers once, in time, and whatever is thrown as a status. */
export function unary<Wire extends object, Request extends object, Response>(
  { decode, answer }: Call<Wire, Request, Response>,
  onFault: (fault: unknown) => void,
): handleUnaryCall<Wire, Response> {
  return (call, callback) => {
    const respond = once(callback);
    let request: Request | undefined;
    const fail = (error: unknown) => {
      const { reason, about } = explain(error, request);
      if (reason === "internal") onFault(error);
      respond(encodeCallRefusal(reason, about));
    };
    const run = async (span: Span) => {
      if (isUnreadable(call.request)) throw new InvalidField("", "invalid_request");
      if (span.deadlineMs <= span.arrivedAtMs) throw new LedgerError("deadline_exceeded");
      request = decode(call.request, span);
      return answer(request);
    };
    const span = spanOf(call);
    const waitMs = Math.min(span.deadlineMs - span.arrivedAtMs, TIMER_MAX_MS);
    const timer = setTimeout(() => fail(new LedgerError("deadline_exceeded")), waitMs);
    void run(span)
      .then((response) => respond(null, response), fail)
      .finally(() => clearTimeout(timer));
  };
}

const TIMER_MAX_MS = 2 ** 31 - 1;

function spanOf(call: ServerUnaryCall<unknown, unknown>): Span {
  const arrivedAtMs = Date.now();
  const deadlineMs = Number(call.getDeadline());
  const isSet = Number.isFinite(deadlineMs);
  return { arrivedAtMs, deadlineMs: isSet ? deadlineMs : arrivedAtMs + DEADLINE_DEFAULT_MS };
}

function once<Response>(callback: sendUnaryData<Response>): sendUnaryData<Response> {
  let isAnswered = false;
  return (...answer) => {
    if (isAnswered) return;
    isAnswered = true;
    callback(...answer);
  };
}
