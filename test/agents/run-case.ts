import { parseUsd, picosToNanos, printUsd } from "../../src/domain/money.ts";
import type { Agent } from "./agent/agent.ts";
import { findUnlisted } from "./client-fields.ts";
import { type FinalState, PRICES, startEnv } from "./env.ts";
import { createErrand, type Errand } from "./errand.ts";
import type { RecordedRequest } from "./recording-proxy.ts";
import { type AgentRun, createFolders, runAgent } from "./run-agent.ts";
import { type AnsweredRequest, createScriptedModel, type ScriptedModel } from "./scripted-model.ts";
import type { UpstreamKind } from "./upstreams.ts";

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
  readonly errand: Errand;
  readonly run: AgentRun;
  readonly model: ScriptedModel;
  readonly finalState: FinalState;
  readonly charged: bigint;
}

/** The amount that `createPaidKey` puts into the wallet. */
const PAID = parseUsd("100");

export async function runCase(program: string, agent: Agent, upstream: UpstreamKind): Promise<CaseResult> {
  const errand = createErrand();
  const folders = createFolders();
  const model = createScriptedModel(agent, errand, folders.work);
  const env = await startEnv(upstream, agent, model.answer);
  const options = { program, agent, errand, folders, gatewayUrl: env.url, key: env.key };
  const run = await runAgent(options).catch(async (error) => {
    await env.close();
    throw error;
  });
  const finalState = await env.close();
  const charged = PAID - parseUsd(finalState.postedUsd);
  const evidence = { agent, errand, run, model, finalState, charged };
  const problems = [...findProblems(evidence), ...(await findUnlisted(agent, env.requests))];
  return { run, requests: env.requests, answered: model.answered, chargedUsd: printUsd(charged), problems };
}

function findProblems(evidence: Evidence): readonly string[] {
  return [...findRunProblems(evidence), ...findTurnProblems(evidence), ...findMoneyProblems(evidence)];
}

function findRunProblems({ run, errand }: Evidence): readonly string[] {
  const { exitCode, stdout, files } = run;
  const wrong = Object.entries(errand.files).filter(
    ([name, text]) => files[name]?.trimEnd() !== text.trimEnd(),
  );
  return [
    ...(exitCode === 0
      ? []
      : [exitCode < 0 ? "the agent did not end in time" : `the agent exited with ${exitCode}`]),
    ...(stdout.includes(errand.finalText) ? [] : ["the agent did not print the model's final text"]),
    ...wrong.map(([name]) => `the file ${name} is not as the errand leaves it`),
  ];
}

function findTurnProblems({ agent, errand, model, finalState }: Evidence): readonly string[] {
  const { answered, done, problems } = model;
  const count = (step: AnsweredRequest["step"]) => answered.filter((each) => each.step === step).length;
  const standard = answered.filter(({ step, tier }) => step !== "other" && tier !== agent.tier);
  return [
    ...problems,
    ...(done === errand.deeds.length ? [] : [`${done} of ${errand.deeds.length} calls have a result`]),
    ...(count("call") === errand.deeds.length ? [] : [`${count("call")} calls were asked for`]),
    ...(count("final") === 1 ? [] : [`the errand ended ${count("final")} times`]),
    ...(!agent.compacts || count("summary") === 1 ? [] : [`${count("summary")} summaries were asked for`]),
    ...(standard.length === 0 ? [] : [`${standard.length} turns had another tier`]),
    ...finalState.refused.map((reason) => `the provider refused a request: ${reason}`),
    ...[...new Set(answered.flatMap(({ rejection }) => rejection ?? []))].map(
      (reason) => `the provider would reject a request: ${reason}`,
    ),
  ];
}

function findMoneyProblems({ model, finalState, charged }: Evidence): readonly string[] {
  const expected = model.answered.reduce((sum, each) => sum + costOf(each), 0n);
  const receipts = finalState.receiptsUsd.reduce((sum, usd) => sum + parseUsd(usd), 0n);
  const sums = { wallet: charged, receipts, statement: parseUsd(finalState.chargedUsd) };
  const bad = finalState.outcomes.filter((outcome) => !outcome.startsWith("ok "));
  return [
    ...Object.entries(sums).flatMap(([name, sum]) =>
      sum === expected ? [] : [`the ${name} has ${printUsd(sum)} USD instead of ${printUsd(expected)}`],
    ),
    ...(finalState.heldUsd === "0.00" ? [] : [`${finalState.heldUsd} USD are still held`]),
    ...Object.entries(Object.groupBy(bad, (outcome) => outcome)).map(
      ([outcome, each = []]) => `requests with outcome ${outcome}: ${each.length}`,
    ),
    ...(finalState.auditCode === 0 ? [] : ["the audit found problems"]),
    ...(finalState.exitCode === 0 ? [] : [`the gateway exited with ${finalState.exitCode}`]),
  ];
}

function costOf({ usage, tier }: AnsweredRequest): bigint {
  if (!usage) return 0n;
  const price = PRICES[tier ?? "standard"];
  const picos = BigInt(usage.input) * price.input + BigInt(usage.output) * price.output;
  return picosToNanos(picos * 1_000_000n);
}
