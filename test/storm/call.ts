import { ERRORS, type ErrorRow } from "../../src/errors.ts";
import type { SseEvent } from "../../src/wire/sse.ts";
import { createSseDecoder } from "../../src/wire/sse.ts";
import type { ClientBehavior, Plan, UpstreamName } from "./plan.ts";
import { isWholeText, upstreamOfText } from "./tagged-output.ts";

/** The result of one request, as its client saw it. */
export interface CallResult {
  readonly number: number;
  readonly ended: "finished" | "failed" | "left" | "wrong";
  /** The error code of a failure, or the violation of a wrong answer. */
  readonly detail: string | undefined;
  /** The id of the receipt; `undefined` when the client left before the headers. */
  readonly requestId: string | undefined;
  /** The upstream whose text the client read; `undefined` when it read nothing. */
  readonly answeredBy: UpstreamName | undefined;
  /** Whether an error reports that the output was billed. */
  readonly saysBilled: boolean;
}

export interface Target {
  readonly url: string;
  readonly secret: string;
}

const PATHS = { chat: "/v1/chat/completions", messages: "/v1/messages" };
/** Longer than every timeout of the gateway. */
const PATIENCE_MS = 120_000;

/**
 * Sends one request and behaves as planned. Never rejects: a violation of the contract has the result
 * `wrong`.
 */
export async function call(target: Target, plan: Plan): Promise<CallResult> {
  const got: Got = { status: 0, headers: new Headers(), text: "", hasLeft: false };
  const isOver = await receive(target, plan, got).then(
    () => true,
    (error: Error) => {
      if (!got.hasLeft) got.fault = error.message;
      return false;
    },
  );
  const requestId = got.headers.get("x-request-id") ?? undefined;
  try {
    if (got.fault) throw new Error(got.fault);
    return { ...checkResult(plan, got, isOver), number: plan.number, requestId };
  } catch (error) {
    const detail = error instanceof Error ? error.message : "unknown";
    return { ...UNREAD, number: plan.number, requestId, ended: "wrong", detail };
  }
}

/** Everything received so far. */
interface Got {
  status: number;
  headers: Headers;
  text: string;
  hasLeft: boolean;
  fault?: string;
}

async function receive({ url, secret }: Target, plan: Plan, got: Got): Promise<void> {
  const controller = new AbortController();
  const disconnect = () => {
    got.hasLeft = true;
    controller.abort();
  };
  const timers = [setTimeout(() => controller.abort(new Error("no end within 30 s")), PATIENCE_MS)];
  if (plan.clientBehavior.kind === "leaves_after_ms")
    timers.push(setTimeout(disconnect, plan.clientBehavior.ms));
  try {
    const response = await fetch(`${url}${PATHS[plan.surface]}`, {
      method: "POST",
      headers: { "x-api-key": secret, "content-type": "application/json" },
      body: plan.body,
      signal: controller.signal,
    });
    got.status = response.status;
    got.headers = response.headers;
    await readBody(response, plan.clientBehavior, got, disconnect);
  } finally {
    for (const timer of timers) clearTimeout(timer);
  }
}

/** A slow reader pauses after each of the first pieces only. */
const SLOW_PIECES = 12;

async function readBody(
  response: Response,
  clientBehavior: ClientBehavior,
  got: Got,
  disconnect: () => void,
): Promise<void> {
  const body = response.body?.getReader();
  const decoder = new TextDecoder();
  for (let pieces = 1; body; pieces++) {
    const { done, value } = await body.read();
    if (done) return;
    got.text += decoder.decode(value, { stream: true });
    if (clientBehavior.kind === "leaves_after_pieces" && pieces === clientBehavior.pieces) disconnect();
    if (clientBehavior.kind === "reads_slowly" && pieces <= SLOW_PIECES)
      await Bun.sleep(clientBehavior.pauseMs);
  }
}

function checkResult(plan: Plan, got: Got, isOver: boolean): Omit<CallResult, "number" | "requestId"> {
  if (!isOver && (got.status !== 200 || !plan.stream)) {
    return { ...UNREAD, ended: "left" };
  }
  const reading = readAnswer(plan, got);
  const answeredBy = upstreamOfText(reading.text, plan.number);
  if (reading.text !== "" && !answeredBy) throw new Error("a text that no upstream sent");
  if (reading.ended === "cut" && isOver) throw new Error("a stream that ended without a word");
  checkWhole(plan, reading, answeredBy);
  if (reading.ended === "failed") {
    return { ended: "failed", detail: reading.code, answeredBy, saysBilled: reading.saysBilled };
  }
  return { ...UNREAD, ended: reading.ended === "cut" ? "left" : "finished", answeredBy };
}

const UNREAD = { detail: undefined, answeredBy: undefined, saysBilled: false };

function checkWhole({ number }: Plan, { ended, text }: Reading, answeredBy: UpstreamName | undefined): void {
  if (ended !== "finished") return;
  if (!answeredBy || !isWholeText(text, answeredBy, number))
    throw new Error("a finished answer that is not whole");
}

/** The response to one request. */
interface Received {
  readonly status: number;
  readonly headers: Headers;
  readonly text: string;
}

/** A decoded answer. `failed` is an error of the contract in its exact form. */
type Reading =
  | { readonly ended: "finished"; readonly text: string }
  | { readonly ended: "failed"; readonly text: string; readonly code: string; readonly saysBilled: boolean }
  /** The answer has not ended. */
  | { readonly ended: "cut"; readonly text: string };

/** The error codes that faults of an upstream may cause. */
const CODES = ["invalid_request", "empty_completion", "upstream_unavailable", "upstream_timeout"];

/** Decodes an answer strictly. Throws at the first violation of the contract. */
function readAnswer(plan: Plan, { status, headers, text }: Received): Reading {
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

/**
 * Expects one finish and then the end, or one error as the last event, or neither when the stream was cut
 * off.
 */
function readEvents(plan: Plan, text: string): Reading {
  const decoder = createSseDecoder();
  const steps = decoder.push(Buffer.from(text)).map((event) => readEvent(plan, event));
  const receivedText = steps.map((step) => step.text ?? "").join("");
  const count = (kind: keyof Step) => steps.filter((step) => step[kind] !== undefined).length;
  const last = steps.at(-1) ?? {};
  if (count("failure") > 0) {
    if (!last.failure || count("failure") > 1) throw new Error("an error that is not the last event");
    if (count("isFinish") + count("isEnd") > 0) throw new Error("a finish and an error");
    return failed(last.failure, receivedText);
  }
  if (count("isFinish") > 1) throw new Error("more than one finish");
  if (count("isEnd") === 0) return { ended: "cut", text: receivedText };
  if (!last.isEnd || count("isEnd") > 1) throw new Error("events behind the end");
  if (count("isFinish") === 0) throw new Error("an end without a finish");
  return { ended: "finished", text: receivedText };
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

/** Returns the row of the error table whose message and type equal those of an error. */
function readError({ surface }: Plan, value: { error: ErrorBody; request_id?: string }): ErrorRow {
  const { message, type } = value.error;
  const row = Object.values<ErrorRow>(ERRORS).find((each) => each.message === message);
  const code = surface === "chat" ? value.error.code : value.error.details?.error_code;
  if (!row) throw new Error(`an error with a message of its own, and code ${code}`);
  if (row.code !== code || row[surface][1] !== type) throw new Error(`${row.code} sent as ${code}, ${type}`);
  if (!CODES.includes(row.code)) throw new Error(`an outcome of ${row.code}: ${row.message}`);
  return row;
}

interface ErrorBody {
  readonly message: string;
  readonly type: string;
  readonly code?: string;
  readonly details?: { readonly error_code: string };
}
