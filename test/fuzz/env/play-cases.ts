import { textAt } from "../../support/strict-json.ts";
import { caseOf, type FuzzCase, LANE } from "../cases/fuzz-case.ts";
import { candidatesOf, type ExpectedAnswer, type Reading } from "../read/expected.ts";
import { readAnswer } from "../read/read-answer.ts";
import { readTranslatedChat, readTranslatedGemini, readTranslatedMessages } from "../read/read-translated.ts";
import type { FuzzEnv } from "./fuzz-env.ts";
import type { Lane, UpstreamCall } from "./fuzz-upstream.ts";

/** A range of cases of one seed. */
export interface CaseRange {
  readonly seed: string;
  readonly first: number;
  readonly count: number;
}

const WHOLE: ReadonlySet<string> = new Set();

/** Plays a range of cases, one at a time per lane. Calls `onSeen` after each. */
export async function runCases(
  env: FuzzEnv,
  { seed, first, count }: CaseRange,
  onSeen: (seen: CaseResult) => void,
): Promise<void> {
  let next = first;
  await Promise.all(
    env.lanes.map(async (lane) => {
      while (next < first + count) {
        const number = next++;
        const played = await playCase(env, lane, caseOf({ seed, number, without: WHOLE }));
        onSeen(played);
        if (isTimeout(played)) await Bun.sleep(LATE_MS_MAX);
      }
    }),
  );
}

/** The result of one case. */
export interface CaseResult {
  readonly case: FuzzCase;
  /** The decoded answer; `undefined` when it is wrong. */
  readonly reading: Reading | undefined;
  /** The violation of a wrong case. */
  readonly violation: string | undefined;
  readonly status: number;
  readonly requestId: string | undefined;
  readonly calls: readonly UpstreamCall[];
}

/** A call that timed out may reach a busy upstream late, where it would count for the lane's next case. */
const LATE_MS_MAX = 1_000;

function isTimeout({ reading }: CaseResult): boolean {
  return reading?.ended === "failed" && reading.row.code === "upstream_timeout";
}

/** Such as "streamGenerateContent?alt=sse" in the path of Gemini's form. */
function pathOf({ client, model, method }: FuzzCase, { name }: Lane): string {
  return client === "gemini" ? `/v1beta/models/${model.replace(LANE, name)}:${method}` : PATHS[client];
}

const PATHS = {
  chat: "/v1/chat/completions",
  messages: "/v1/messages",
  responses: "/v1/responses",
  embeddings: "/v1/embeddings",
  count_tokens: "/v1/messages/count_tokens",
};
/** Longer than every timeout of the gateway. */
const WAIT_MS_MAX = 30_000;

/** Sends the request of a case and checks the answer. Never rejects. */
export async function playCase({ gateway }: FuzzEnv, lane: Lane, fuzzCase: FuzzCase): Promise<CaseResult> {
  lane.playing = fuzzCase;
  lane.calls.length = 0;
  const body = inLane(fuzzCase.body, lane);
  let status = 0;
  let requestId: string | undefined;
  let reading: Reading | undefined;
  let violation: string | undefined;
  try {
    const response = await fetch(`${gateway.url}${pathOf(fuzzCase, lane)}`, {
      method: "POST",
      headers: { authorization: `Bearer ${gateway.secret}`, "content-type": "application/json" },
      body,
      signal: AbortSignal.timeout(WAIT_MS_MAX),
    });
    status = response.status;
    requestId = response.headers.get("x-request-id") ?? undefined;
    const text = new TextDecoder("utf-8", { fatal: true }).decode(await response.bytes());
    const expected = expectedAnswerOf(fuzzCase, { lane, body: body.toString(), calls: lane.calls });
    reading = readAnswer(expected, { status, headers: response.headers, text });
    for (const call of lane.calls) readSent(fuzzCase, call);
  } catch (error) {
    violation = error instanceof Error ? error.message : "unknown";
  }
  lane.playing = undefined;
  return { case: fuzzCase, reading, violation, status, requestId, calls: [...lane.calls] };
}

/** Checks that a translated request is one that its host accepts. */
function readSent({ client }: FuzzCase, { format, body }: UpstreamCall): void {
  if (format === client || client === "count_tokens") return;
  if (format === "gemini") readTranslatedGemini(body);
  const { model, stream } = readBody(body);
  const sent = { model: textAt(model), stream: stream === true, outputTokensMax: undefined };
  if (format === "chat") readTranslatedChat(body, sent);
  if (format === "messages") readTranslatedMessages(body, sent);
}

function inLane(body: Buffer, lane: Lane): Buffer<ArrayBuffer> {
  return Buffer.from(body.toString("latin1").replaceAll(LANE, lane.name), "latin1");
}

/** What the client asked for, parsed from its body. */
function expectedAnswerOf(
  { client, model: named, method }: FuzzCase,
  { lane, body, calls }: { lane: Lane; body: string; calls: readonly UpstreamCall[] },
): ExpectedAnswer {
  // With two upstream calls, the last one need not be the one that was answered.
  const isPassthrough = calls.some(({ format }) => format === client);
  if (method) {
    const asked = { model: named.replace(LANE, lane.name), stream: method.endsWith("sse"), wantsUsage: true };
    return { client, ...asked, choices: candidatesOf(body), isPassthrough };
  }
  const { model, stream, n, stream_options } = readBody(body);
  const isStreamable = client !== "embeddings" && client !== "count_tokens";
  return {
    client,
    model: textAt(model),
    stream: isStreamable && stream === true,
    choices: typeof n === "number" ? n : 1,
    wantsUsage: Object(stream_options).include_usage === true,
    isPassthrough,
  };
}

function readBody(body: string): Record<string, unknown> {
  try {
    return Object(JSON.parse(body));
  } catch {
    return {};
  }
}
