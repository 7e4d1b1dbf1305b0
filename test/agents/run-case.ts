import { parseUsd, picosToNanos, printUsd } from "../../src/domain/money.ts";
import type { Agent } from "./agent/agent.ts";
import { type FinalState, PRICE, startEnv, type UpstreamKind } from "./env.ts";
import type { RecordedRequest } from "./recording-proxy.ts";
import { type AgentRun, runAgent } from "./run-agent.ts";
import { type AnsweredRequest, createScriptedModel } from "./scripted-model.ts";
import { createTask, type Task } from "./task.ts";

/** The result of one agent with one upstream, with the problems that were found. */
export interface CaseResult {
  readonly run: AgentRun;
  readonly requests: readonly RecordedRequest[];
  readonly answered: readonly AnsweredRequest[];
  readonly chargedUsd: string;
  readonly problems: readonly string[];
}

interface Evidence {
  readonly agent: Agent;
  readonly task: Task;
  readonly run: AgentRun;
  readonly answered: readonly AnsweredRequest[];
  readonly finalState: FinalState;
  readonly charged: bigint;
}

/** The amount that `createPaidKey` puts into the wallet. */
const PAID = parseUsd("100");

export async function runCase(program: string, agent: Agent, upstream: UpstreamKind): Promise<CaseResult> {
  const task = createTask();
  const model = createScriptedModel(agent, task);
  const env = await startEnv(upstream, agent, model);
  const options = { program, agent, task, gatewayUrl: env.url, key: env.key };
  const run = await runAgent(options).catch(async (error) => {
    await env.close();
    throw error;
  });
  const finalState = await env.close();
  const charged = PAID - parseUsd(finalState.postedUsd);
  const { answered } = model;
  const problems = findProblems({ agent, task, run, answered, finalState, charged });
  return { run, requests: env.requests, answered, chargedUsd: printUsd(charged), problems };
}

function findProblems(evidence: Evidence): readonly string[] {
  return [...findRunProblems(evidence), ...findLoopProblems(evidence), ...findStateProblems(evidence)];
}

function findRunProblems({ run, task }: Evidence): readonly string[] {
  const { exitCode, stdout, fileText } = run;
  return [
    ...(exitCode === 0
      ? []
      : [exitCode < 0 ? "the agent did not end in time" : `the agent exited with ${exitCode}`]),
    ...(stdout.includes(task.finalText) ? [] : ["the agent did not print the model's final text"]),
    ...(fileText?.trimEnd() === task.fileText ? [] : ["the agent did not create the file of the task"]),
  ];
}

function findLoopProblems({ agent, task, answered }: Evidence): readonly string[] {
  const steps = answered.filter(({ step }) => step !== "other");
  const order = steps.map(({ step }) => step).join(", ");
  const result = steps.at(-1)?.result;
  const isRight = result?.includes(agent.tool.result(task));
  return [
    ...(order === "call, final" ? [] : [`the steps were [${order}] instead of [call, final]`]),
    ...(isRight
      ? []
      : [`the upstream received ${result === undefined ? "no tool result" : "a wrong tool result"}`]),
    ...answered.flatMap(({ rejection }) =>
      rejection === undefined ? [] : [`the provider would reject a request: ${rejection}`],
    ),
  ];
}

function findStateProblems({ answered, finalState, charged }: Evidence): readonly string[] {
  const expected = answered.reduce((sum, { usage }) => sum + costOf(usage), 0n);
  const bad = finalState.outcomes.filter((outcome) => !outcome.startsWith("ok "));
  return [
    ...(charged === expected
      ? []
      : [`the charge was ${printUsd(charged)} USD instead of ${printUsd(expected)}`]),
    ...(finalState.heldUsd === "0.00" ? [] : [`${finalState.heldUsd} USD are still held`]),
    ...Object.entries(Object.groupBy(bad, (outcome) => outcome)).map(
      ([outcome, each = []]) => `requests with outcome ${outcome}: ${each.length}`,
    ),
    ...(finalState.auditCode === 0 ? [] : ["the audit found problems"]),
    ...(finalState.exitCode === 0 ? [] : [`the gateway exited with ${finalState.exitCode}`]),
  ];
}

function costOf(usage: AnsweredRequest["usage"]): bigint {
  if (!usage) return 0n;
  const picos = BigInt(usage.input) * PRICE.input + BigInt(usage.output) * PRICE.output;
  return picosToNanos(picos * 1_000_000n);
}
