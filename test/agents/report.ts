import { writeFileSync } from "node:fs";
import { join } from "node:path";
import type { Agent } from "./agent/agent.ts";

import type { RecordedRequest } from "./recording-proxy.ts";
import type { CaseResult } from "./run-case.ts";
import type { AnsweredRequest } from "./scripted-model.ts";
import type { UpstreamKind } from "./upstreams.ts";

/** Prints one line of the table, followed by problems and details. */
export function printCase(agent: Agent, kind: UpstreamKind, result: CaseResult, isVerbose: boolean): string {
  const { run, answered, requests, chargedUsd, problems } = result;
  const turns = turnsOf(result);
  const line = [
    ...head(agent, kind, problems.length === 0),
    `${(run.ms / 1000).toFixed(1)} s,`,
    `${turns} turns, ${answered.length} requests upstream, ${requests.length} of the agent,`,
    `${chargedUsd} USD`,
  ].join(" ");
  return [
    line,
    ...problems.map((problem) => `    PROBLEM ${problem}`),
    ...(problems.length > 0 ? lastLines(run.stderr).map((line) => `    stderr ${line}`) : []),
    ...(isVerbose || problems.length > 0
      ? requests.map((each) => `    agent  ${describeRequest(each)}`)
      : []),
    ...answered
      .filter(({ step }) => isVerbose || step === "other")
      .map((each) => `    model  ${describeAnswer(each)}`),
  ].join("\n");
}

/** How often the model answered for the errand. */
export function turnsOf({ answered }: Pick<CaseResult, "answered">): number {
  return answered.filter(({ step }) => step !== "other").length;
}

/** Prints the line of an agent that is not installed, or of a gateway that did not start. */
export function printFailure(agent: Agent, kind: UpstreamKind, failure: string): string {
  return [...head(agent, kind, false), failure].join(" ");
}

/** Writes each request of the agent and of the gateway to a file. Their keys are valid in this run only. */
export function recordCase(folder: string, { requests, answered, run }: CaseResult): void {
  const write = (name: string, value: unknown) =>
    writeFileSync(join(folder, name), `${JSON.stringify(value, undefined, 1)}\n`);
  for (const [index, { method, target, headers, body, status, events }] of requests.entries()) {
    write(`agent-${index}.json`, {
      method,
      target,
      status,
      headers,
      body: parse(body.toString("utf8")),
      events,
    });
  }
  for (const [index, { request, step, tools, usage }] of answered.entries()) {
    const { method, target, headers, bodyText } = request;
    write(`model-${index}.json`, { step, tools, usage, method, target, headers, body: parse(bodyText) });
  }
  write("run.json", run);
}

function head({ name }: Agent, kind: UpstreamKind, isGood: boolean): readonly string[] {
  return [name.padEnd(19), kind.padEnd(17), isGood ? "good  " : "FAILED"];
}

function describeRequest({ method, target, status, body }: RecordedRequest): string {
  return `${method} ${target} ${status ?? "unanswered"}, ${body.length} bytes`;
}

function describeAnswer({ request, step, tools }: AnsweredRequest): string {
  const { method, target, model, stream, bodyText } = request;
  const what = `${method} ${target} ${model ?? "without a model"}${stream ? " streamed" : ""}`;
  return `${step.padEnd(8)} ${what}, ${bodyText.length} characters, ${tools.length} tools: ${tools.join(" ")}`;
}

function lastLines(stderr: string): readonly string[] {
  return stderr
    .trim()
    .split("\n")
    .slice(-4)
    .map((line) => line.slice(0, 300));
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return text;
  }
}
