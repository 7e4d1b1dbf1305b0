import { answer, type Script } from "../support/script.ts";
import { answerWith } from "../support/scripted-answers.ts";
import type { ScriptedUpstream } from "../support/scripted-upstream.ts";
import type { Company } from "./company.ts";
import { usd } from "./company.ts";
import type { LedgerClient } from "./ledger-client.ts";
import type { Reckoning, Verdict } from "./reckoning.ts";
import { KEYS, printRequest, type Scene, type Scripted } from "./script.ts";
import type { ScriptedClock } from "./scripted-clock.ts";

/** Requests that a crowd has at a time. */
const CROWD_MAX = 48;

/** The product that the month is played with. */
export interface Stage {
  /** The gateways, which take requests in turns. */
  readonly urls: readonly string[];
  readonly clock: ScriptedClock;
  readonly company: Pick<Company, "secrets" | "accountIds">;
  readonly grpc: LedgerClient;
}

/** How a request was answered. */
interface Heard {
  readonly status: number;
  /** The error's code; "" without one. */
  readonly code: string;
  readonly limit: string | undefined;
  readonly needed: string | undefined;
  readonly cost: string | undefined;
}

/** A request whose answer is not what the reckoning says. */
export interface Difference {
  readonly request: Scripted;
  readonly expected: Heard;
  readonly heard: Heard;
}

/** Lets both models report what the text of each request asks for. */
export function scriptUpstream(upstream: ScriptedUpstream): void {
  const script: Script = (request) => {
    const [, input, output] = /in=(\d+) out=(\d+)/.exec(request.bodyText) ?? [];
    if (input === undefined)
      return answer({ status: 500, body: '{"error":{"message":"scripted"}}' })(request);
    return answerWith({ text: "So be it.", usage: { input: Number(input), output: Number(output) } })(
      request,
    );
  };
  for (const model of ["chat", "claude"]) upstream.on(model, script);
}

/** Plays the scenes, each request at its time. Returns what was answered otherwise than the reckoning decides. */
export async function playMonth(
  stage: Stage,
  scenes: readonly Scene[],
  reckoning: Reckoning,
): Promise<readonly Difference[]> {
  const differences: Difference[] = [];
  for (const { isAtOnce, requests } of scenes) {
    if (isAtOnce) reckoning.checkOrder(requests);
    const verdicts = isAtOnce ? requests.map((request) => reckoning.decide(request)) : [];
    const waiting = requests.entries();
    const playOn = async () => {
      for (const [at, request] of waiting) {
        await stage.clock.passTo(request.atMs);
        const verdict = verdicts[at] ?? reckoning.decide(request);
        const expected = expect(request, verdict);
        const { heard, requestId } = await send(stage, request);
        if (!Bun.deepEquals(heard, expected)) differences.push({ request, expected, heard });
        if (verdict.refunded > 0n && heard.status === 200)
          await refund(stage, request, { requestId, amount: verdict.refunded });
      }
    };
    await Promise.all(Array.from({ length: isAtOnce ? CROWD_MAX : 1 }, playOn));
  }
  return differences;
}

/** Errors of messages have no code: their status and the header tell. */
function expect({ usage, surface }: Scripted, { declinedBy, needed, charged }: Verdict): Heard {
  if (declinedBy === undefined) {
    const [status, code] = usage ? [200, ""] : [502, "upstream_unavailable"];
    return {
      status,
      code: surface === "messages" ? "" : code,
      limit: undefined,
      needed: undefined,
      cost: usd(charged),
    };
  }
  const code = declinedBy === "" ? "insufficient_balance" : "spending_limit_exceeded";
  const limit = declinedBy || undefined;
  return {
    status: 402,
    code: surface === "messages" ? "" : code,
    limit,
    needed: usd(needed),
    cost: undefined,
  };
}

async function send({ urls, company }: Stage, request: Scripted) {
  const { path, body } = printRequest(request);
  const response = await fetch(`${urls[request.index % urls.length]}${path}`, {
    method: "POST",
    headers: {
      ...headersOf(request),
      authorization: `Bearer ${company.secrets.get(request.key)}`,
      "content-type": "application/json",
    },
    body,
  });
  const text = await response.text();
  const header = (name: string) => response.headers.get(name) ?? undefined;
  const heard: Heard = {
    status: response.status,
    code: response.ok ? "" : (JSON.parse(text).error.code ?? ""),
    limit: header("x-tollgate-limit"),
    needed: padded(header("x-tollgate-needed-usd")),
    cost: padded(header("x-tollgate-cost-usd")),
  };
  return { heard, requestId: header("x-request-id") ?? "" };
}

/** Other characters than Latin-1 go out as their UTF-8, as clients send them. */
function headersOf({ user, isInBody, tags, run, costMax }: Scripted): Record<string, string> {
  const headers: Record<string, string> = {};
  if (user !== undefined && !isInBody) headers["x-tollgate-user"] = user;
  const listed = Object.entries(tags).map(([tag, value]) => `${tag}=${value}`);
  if (listed.length > 0) headers["x-tollgate-tags"] = listed.join(", ");
  if (run) headers["x-tollgate-run"] = run.max === undefined ? run.id : `${run.id}; max=${usd(run.max)}`;
  if (costMax !== undefined) headers["x-tollgate-max-cost-usd"] = usd(costMax);
  const inBytes = (text: string) => Buffer.from(text, "utf8").toString("latin1");
  return Object.fromEntries(Object.entries(headers).map(([name, value]) => [name, inBytes(value)]));
}

/** Decimal USD with nine decimals. */
function padded(amount: string | undefined): string | undefined {
  if (amount === undefined) return undefined;
  const [whole, decimals = ""] = amount.split(".");
  return `${whole}.${decimals.padEnd(9, "0")}`;
}

function refund(
  { grpc, company }: Stage,
  { index, key }: Scripted,
  { requestId, amount }: { readonly requestId: string; readonly amount: bigint },
): Promise<unknown> {
  const walletId = company.accountIds[KEYS[key].account];
  const request = { walletId, holdId: requestId, refundId: `refund ${index}`, amountNanos: String(amount) };
  return grpc.call("CreateRefund", request);
}
