import type { Manner, Plan, UpstreamName } from "./plan.ts";
import { type Reading, readAnswer } from "./read-answer.ts";
import { isWhole, speakerOf } from "./said.ts";

/** What became of one request, as its client saw it. */
export interface Seen {
  readonly number: number;
  readonly ended: "finished" | "failed" | "left" | "wrong";
  /** The contract's code when it failed, what is wrong when it was not allowed. */
  readonly detail: string | undefined;
  /** The receipt's; `undefined` when the client left before the headers. */
  readonly requestId: string | undefined;
  /** Who said what the client read; `undefined` when it read nothing. */
  readonly speaker: UpstreamName | undefined;
  /** Whether a failure says that something was charged. */
  readonly saysBilled: boolean;
}

export interface Target {
  readonly url: string;
  readonly secret: string;
}

const PATHS = { chat: "/v1/chat/completions", messages: "/v1/messages" };
/** Far beyond every limit of the gateway's. */
const PATIENCE_MS = 120_000;

/** Makes one request and behaves as planned. Never rejects: what must not be is `wrong`. */
export async function call(target: Target, plan: Plan): Promise<Seen> {
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
    return { ...judge(plan, got, isOver), number: plan.number, requestId };
  } catch (error) {
    const detail = error instanceof Error ? error.message : "unknown";
    return { ...UNREAD, number: plan.number, requestId, ended: "wrong", detail };
  }
}

/** What came so far. */
interface Got {
  status: number;
  headers: Headers;
  text: string;
  hasLeft: boolean;
  fault?: string;
}

async function receive({ url, secret }: Target, plan: Plan, got: Got): Promise<void> {
  const controller = new AbortController();
  const leave = () => {
    got.hasLeft = true;
    controller.abort();
  };
  const timers = [setTimeout(() => controller.abort(new Error("no end within 30 s")), PATIENCE_MS)];
  if (plan.manner.kind === "leaves_after_ms") timers.push(setTimeout(leave, plan.manner.ms));
  try {
    const response = await fetch(`${url}${PATHS[plan.surface]}`, {
      method: "POST",
      headers: { "x-api-key": secret, "content-type": "application/json" },
      body: plan.body,
      signal: controller.signal,
    });
    got.status = response.status;
    got.headers = response.headers;
    await readBody(response, plan.manner, got, leave);
  } finally {
    for (const timer of timers) clearTimeout(timer);
  }
}

/** A slow reader is slow for so many pieces: the rest it reads as it comes. */
const SLOW_PIECES = 12;

async function readBody(response: Response, manner: Manner, got: Got, leave: () => void): Promise<void> {
  const body = response.body?.getReader();
  const decoder = new TextDecoder();
  for (let pieces = 1; body; pieces++) {
    const { done, value } = await body.read();
    if (done) return;
    got.text += decoder.decode(value, { stream: true });
    if (manner.kind === "leaves_after_pieces" && pieces === manner.pieces) leave();
    if (manner.kind === "reads_slowly" && pieces <= SLOW_PIECES) await Bun.sleep(manner.pauseMs);
  }
}

function judge(plan: Plan, got: Got, isOver: boolean): Omit<Seen, "number" | "requestId"> {
  if (!isOver && (got.status !== 200 || !plan.stream)) {
    return { ...UNREAD, ended: "left" };
  }
  const reading = readAnswer(plan, got);
  const speaker = speakerOf(reading.text, plan.number);
  if (reading.text !== "" && !speaker) throw new Error("a text that no upstream said");
  if (reading.ended === "cut" && isOver) throw new Error("a stream that ended without a word");
  checkWhole(plan, reading, speaker);
  if (reading.ended === "failed") {
    return { ended: "failed", detail: reading.code, speaker, saysBilled: reading.saysBilled };
  }
  return { ...UNREAD, ended: reading.ended === "cut" ? "left" : "finished", speaker };
}

const UNREAD = { detail: undefined, speaker: undefined, saysBilled: false };

function checkWhole({ number }: Plan, { ended, text }: Reading, speaker: UpstreamName | undefined): void {
  if (ended !== "finished") return;
  if (!speaker || !isWhole(text, speaker, number)) throw new Error("a finished answer that is not whole");
}
