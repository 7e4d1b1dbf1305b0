import { parseUsd, picosToNanos, printUsd } from "../../src/domain/money.ts";
import type { Agent } from "./agent/agent.ts";
import { type Books, openHouse, PRICE, type UpstreamKind } from "./env.ts";
import type { TappedRequest } from "./recording-proxy.ts";
import { type AgentRun, runAgent } from "./run-agent.ts";
import { type Answered, createScriptedModel } from "./scripted-model.ts";
import { type Errand, inventErrand } from "./task.ts";

/** One agent at work with one upstream, and what is wrong with it, in words. */
export interface Cell {
  readonly run: AgentRun;
  readonly asked: readonly TappedRequest[];
  readonly answered: readonly Answered[];
  readonly chargedUsd: string;
  readonly faults: readonly string[];
}

interface Evidence {
  readonly agent: Agent;
  readonly errand: Errand;
  readonly run: AgentRun;
  readonly answered: readonly Answered[];
  readonly books: Books;
  readonly charged: bigint;
}

/** What `createPaidKey` puts into the wallet. */
const PAID = parseUsd("100");

export async function runCell(program: string, agent: Agent, upstream: UpstreamKind): Promise<Cell> {
  const errand = inventErrand();
  const model = createScriptedModel(agent, errand);
  const house = await openHouse(upstream, agent, model.script);
  const options = { program, agent, errand, gatewayUrl: house.url, key: house.key };
  const run = await runAgent(options).catch(async (error) => {
    await house.close();
    throw error;
  });
  const books = await house.close();
  const charged = PAID - parseUsd(books.postedUsd);
  const { answered } = model;
  const faults = findFaults({ agent, errand, run, answered, books, charged });
  return { run, asked: house.asked, answered, chargedUsd: printUsd(charged), faults };
}

function findFaults(evidence: Evidence): readonly string[] {
  return [...faultsOfRun(evidence), ...faultsOfLoop(evidence), ...faultsOfBooks(evidence)];
}

function faultsOfRun({ run, errand }: Evidence): readonly string[] {
  const { exitCode, stdout, fileText } = run;
  return [
    ...(exitCode === 0
      ? []
      : [exitCode < 0 ? "the agent did not come to an end" : `it exited with ${exitCode}`]),
    ...(stdout.includes(errand.farewell) ? [] : ["it did not print the model's last words"]),
    ...(fileText?.trimEnd() === errand.fileText ? [] : ["it did not make the file as told"]),
  ];
}

function faultsOfLoop({ agent, errand, answered }: Evidence): readonly string[] {
  const steps = answered.filter(({ step }) => step !== "aside");
  const order = steps.map(({ step }) => step).join(", ");
  const result = steps.at(-1)?.result;
  const brought = result?.includes(agent.tool.result(errand));
  return [
    ...(order === "call, farewell" ? [] : [`the model was led through [${order}], not [call, farewell]`]),
    ...(brought
      ? []
      : [`the upstream got ${result === undefined ? "no result" : "a wrong result"} of the tool`]),
    ...answered.flatMap(({ objection }) =>
      objection === undefined ? [] : [`a provider would refuse: ${objection}`],
    ),
  ];
}

function faultsOfBooks({ answered, books, charged }: Evidence): readonly string[] {
  const expected = answered.reduce((sum, { usage }) => sum + costOf(usage), 0n);
  const bad = books.outcomes.filter((outcome) => !outcome.startsWith("ok "));
  return [
    ...(charged === expected ? [] : [`it cost ${printUsd(charged)} USD instead of ${printUsd(expected)}`]),
    ...(books.heldUsd === "0.00" ? [] : [`${books.heldUsd} USD are still held`]),
    ...Object.entries(Object.groupBy(bad, (outcome) => outcome)).map(
      ([outcome, each = []]) => `requests that ended ${outcome}: ${each.length}`,
    ),
    ...(books.auditCode === 0 ? [] : ["the audit found the books wrong"]),
    ...(books.exitCode === 0 ? [] : [`the gateway exited with ${books.exitCode}`]),
  ];
}

function costOf(usage: Answered["usage"]): bigint {
  if (!usage) return 0n;
  const picos = BigInt(usage.input) * PRICE.input + BigInt(usage.output) * PRICE.output;
  return picosToNanos(picos * 1_000_000n);
}
