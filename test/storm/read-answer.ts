import { ERRORS, type ErrorRow } from "../../src/errors.ts";
import type { SseEvent } from "../../src/wire/sse.ts";
import { createSseDecoder } from "../../src/wire/sse.ts";
import type { Plan } from "./plan.ts";

/** What came back of one request, as it stood on the wire. */
export interface Received {
  readonly status: number;
  readonly headers: Headers;
  readonly text: string;
}

/** How an answer reads. `failed` is one of the contract's failures, said as it has to be said. */
export type Reading =
  | { readonly ended: "finished"; readonly text: string }
  | { readonly ended: "failed"; readonly text: string; readonly code: string; readonly saysBilled: boolean }
  /** It has no end yet. */
  | { readonly ended: "cut"; readonly text: string };

/** What an upstream's faults may become for a client. */
const CODES = ["invalid_request", "empty_completion", "upstream_unavailable", "upstream_timeout"];

/** Reads an answer strictly. Throws, with what is wrong, when the contract does not allow it. */
export function readAnswer(plan: Plan, { status, headers, text }: Received): Reading {
  if (status === 200) return plan.stream ? readEvents(plan, text) : readWhole(plan, text);
  const row = readError(plan, JSON.parse(text));
  if (row[plan.surface][0] !== status) throw new Error(`${row.code} with status ${status}`);
  if (headers.get("x-should-retry") !== (row.retry ? null : "false"))
    throw new Error("wrong advice to retry");
  return failed(row, "");
}

function failed({ code, message }: ErrorRow, text: string): Reading {
  return { ended: "failed", text, code, saysBilled: message.includes("were billed") };
}

function readWhole({ surface }: Plan, text: string): Reading {
  const body = JSON.parse(text);
  if (surface === "chat") {
    const [{ message, finish_reason }] = body.choices;
    if (finish_reason !== "stop") throw new Error(`a finish of ${finish_reason}`);
    return { ended: "finished", text: message.content };
  }
  if (body.stop_reason !== "end_turn") throw new Error(`a stop of ${body.stop_reason}`);
  return { ended: "finished", text: body.content[0].text };
}

/** Exactly one finish and then the end, or one error as the last event, or neither when it was cut. */
function readEvents(plan: Plan, text: string): Reading {
  const decoder = createSseDecoder();
  const steps = decoder.push(Buffer.from(text)).map((event) => readEvent(plan, event));
  const said = steps.map((step) => step.text ?? "").join("");
  const count = (kind: keyof Step) => steps.filter((step) => step[kind] !== undefined).length;
  const last = steps.at(-1) ?? {};
  if (count("failure") > 0) {
    if (!last.failure || count("failure") > 1) throw new Error("an error that is not the last event");
    if (count("isFinish") + count("isEnd") > 0) throw new Error("a finish and an error");
    return failed(last.failure, said);
  }
  if (count("isFinish") > 1) throw new Error("more than one finish");
  if (count("isEnd") === 0) return { ended: "cut", text: said };
  if (!last.isEnd || count("isEnd") > 1) throw new Error("events behind the end");
  if (count("isFinish") === 0) throw new Error("an end without a finish");
  return { ended: "finished", text: said };
}

interface Step {
  readonly text?: string;
  readonly isFinish?: true;
  readonly isEnd?: true;
  readonly failure?: ErrorRow;
}

function readEvent(plan: Plan, { event, data }: SseEvent): Step {
  if (data === "[DONE]") return { isEnd: true };
  const value = JSON.parse(data);
  if (event === "error" || value.error) return { failure: readError(plan, value) };
  if (plan.surface === "chat") {
    const [choice] = value.choices;
    const isFinish = typeof choice?.finish_reason === "string";
    return { text: choice?.delta.content ?? "", ...(isFinish && { isFinish }) };
  }
  if (value.type === "message_stop") return { isEnd: true };
  if (value.type === "message_delta") return { isFinish: true };
  return { text: value.delta?.text ?? "" };
}

/** The row of the contract's table that an error says word by word. */
function readError({ surface }: Plan, value: { error: ErrorBody; request_id?: string }): ErrorRow {
  const { message, type } = value.error;
  const row = Object.values<ErrorRow>(ERRORS).find((each) => each.message === message);
  const code = surface === "chat" ? value.error.code : value.error.details?.error_code;
  if (!row) throw new Error(`an error with a message of its own, and code ${code}`);
  if (row.code !== code || row[surface][1] !== type) throw new Error(`${row.code} said as ${code}, ${type}`);
  if (!CODES.includes(row.code)) throw new Error(`an outcome of ${row.code}: ${row.message}`);
  return row;
}

interface ErrorBody {
  readonly message: string;
  readonly type: string;
  readonly code?: string;
  readonly details?: { readonly error_code: string };
}
