import type { Script, ScriptRequest, Step } from "../support/script.ts";
import { type ScriptedUpstream, startScriptedUpstream } from "../support/scripted-upstream.ts";
import { slowAnswer } from "./slow-answers.ts";

/** The time in which the upstream worked on a request of a group. */
export interface UpstreamCall {
  readonly group: string;
  readonly fromMs: number;
  /** Infinity while it runs. */
  toMs: number;
}

export interface WatchedUpstream extends ScriptedUpstream {
  readonly calls: readonly UpstreamCall[];
}

/** Starts an upstream of slow answers that records when it worked for which group. */
export async function startWatchedUpstream(): Promise<WatchedUpstream> {
  const calls: UpstreamCall[] = [];
  const upstream = await startScriptedUpstream();
  const script: Script = (request) => watch(slowAnswer, request, calls);
  upstream.on("chat", script);
  return Object.assign(upstream, { calls });
}

/** The clients of a group send its name as their only message. */
async function* watch(script: Script, request: ScriptRequest, calls: UpstreamCall[]): AsyncGenerator<Step> {
  const group = /"content":"(\w+)"/.exec(request.bodyText)?.[1] ?? "";
  const call = { group, fromMs: Date.now(), toMs: Number.POSITIVE_INFINITY };
  calls.push(call);
  try {
    yield* script(request);
  } finally {
    call.toMs = Date.now();
  }
}
