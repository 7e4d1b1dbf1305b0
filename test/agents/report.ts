import { writeFileSync } from "node:fs";
import { join } from "node:path";
import type { Agent } from "./agent/agent.ts";
import type { UpstreamKind } from "./env.ts";
import type { TappedRequest } from "./recording-proxy.ts";
import type { Cell } from "./run-case.ts";
import type { Answered } from "./scripted-model.ts";

/** A line of the table, and below it what else is to be known. */
export function printCell(agent: Agent, kind: UpstreamKind, cell: Cell, isVerbose: boolean): string {
  const { run, answered, asked, chargedUsd, faults } = cell;
  const steps = answered.filter(({ step }) => step !== "aside").length;
  const line = [
    ...head(agent, kind, faults.length === 0),
    `${(run.ms / 1000).toFixed(1)} s,`,
    `${asked.length} requests, ${answered.length} upstream (${steps} of the errand),`,
    `${chargedUsd} USD`,
  ].join(" ");
  return [
    line,
    ...faults.map((fault) => `    FAULT  ${fault}`),
    ...(faults.length > 0 ? lastWords(run.stderr).map((words) => `    stderr ${words}`) : []),
    ...(isVerbose || faults.length > 0 ? asked.map((each) => `    agent  ${describeAsked(each)}`) : []),
    ...answered
      .filter(({ step }) => isVerbose || step === "aside")
      .map((each) => `    model  ${describe(each)}`),
  ].join("\n");
}

/** The line of an agent that is not there, or of a gateway that did not start. */
export function printFailure(agent: Agent, kind: UpstreamKind, failure: string): string {
  return [...head(agent, kind, false), failure].join(" ");
}

/** Writes what the agent asked and what the upstream was asked, a file each. Their keys are of this run alone. */
export function recordCell(folder: string, { asked, answered, run }: Cell): void {
  const write = (name: string, value: unknown) =>
    writeFileSync(join(folder, name), `${JSON.stringify(value, undefined, 1)}\n`);
  for (const [index, { method, target, headers, body, status }] of asked.entries()) {
    write(`agent-${index}.json`, { method, target, status, headers, body: parse(body.toString("utf8")) });
  }
  for (const [index, { request, step, tools, result }] of answered.entries()) {
    const { method, target, headers, bodyText } = request;
    write(`model-${index}.json`, { step, tools, result, method, target, headers, body: parse(bodyText) });
  }
  write("run.json", run);
}

function head({ name }: Agent, kind: UpstreamKind, isGood: boolean): readonly string[] {
  return [name.padEnd(19), kind.padEnd(17), isGood ? "good  " : "FAILED"];
}

function describeAsked({ method, target, status, body }: TappedRequest): string {
  return `${method} ${target} ${status ?? "unanswered"}, ${body.length} bytes`;
}

function describe({ request, step, tools }: Answered): string {
  const { method, target, model, stream, bodyText } = request;
  const what = `${method} ${target} ${model ?? "without a model"}${stream ? " streamed" : ""}`;
  return `${step.padEnd(8)} ${what}, ${bodyText.length} characters, ${tools.length} tools: ${tools.join(" ")}`;
}

function lastWords(stderr: string): readonly string[] {
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
