import { mkdirSync } from "node:fs";
import { join } from "node:path";
import { parseArgs } from "node:util";
import type { Agent } from "./agent/agent.ts";
import { AGENTS } from "./agent/all.ts";
import { addToPage, lineOf } from "./conformance-page.ts";
import { requireAgent } from "./install.ts";
import { printCase, printFailure, recordCase } from "./report.ts";
import { type CaseResult, runCase } from "./run-case.ts";
import { UPSTREAMS, type UpstreamKind } from "./upstreams.ts";

const USAGE = `bun run agents [AGENT …] [--upstream KIND] [--verbose] [--record FOLDER] [--page]

Runs real coding agents through a gateway. The scripted model behind it gives each an errand of 14 calls: it writes, reads
and edits files, runs commands, one of which fails, and ends with a sentence. The context of Codex gets full within it. Each
agent runs with each upstream that it can use: ${UPSTREAMS.join(", ")}.
Agents are installed from npm into node_modules/.cache/agents (1.2 GB for all), run with an empty home, and reach only
the loopback interface.

A case is good when the agent exited with 0, printed the model's final text and left the files of the errand; when the
model received every result, and no request that its provider would reject; when receipts, statement and wallet have the
cost of the reported usage, nothing is held, the audit finds no problem, and every request has the outcome ok; and when
docs/client-fields.md lists every field that the agent sent. Exits with 1 when a case is not good, or when an agent could
not be installed.

  --upstream KIND   only this upstream
  --verbose         lists every request of the agent and of the gateway
  --record FOLDER   writes every request of the agent and of the gateway to a file
  --page            writes the results of these runs into docs/conformance.md

${AGENTS.map(({ name, surface, pack }) => `  ${name.padEnd(20)}${surface.padEnd(11)}${pack.name} ${pack.version}`).join("\n")}
`;

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    upstream: { type: "string" },
    verbose: { type: "boolean", default: false },
    record: { type: "string" },
    page: { type: "boolean", default: false },
    help: { type: "boolean", short: "h" },
  },
});

if (values.help) process.stdout.write(USAGE);
else process.exitCode = (await runAll(chosenAgents(), chosenUpstreams())) ? 0 : 1;

function chosenAgents(): readonly Agent[] {
  const unknown = positionals.find((wanted) => AGENTS.every(({ name }) => name !== wanted));
  if (unknown !== undefined) throw new Error(`There is no agent "${unknown}": see --help`);
  return positionals.length > 0 ? AGENTS.filter(({ name }) => positionals.includes(name)) : AGENTS;
}

function chosenUpstreams(): readonly UpstreamKind[] {
  if (values.upstream === undefined) return UPSTREAMS;
  const chosen = UPSTREAMS.filter((kind) => kind === values.upstream);
  if (chosen.length === 0) throw new Error(`There is no upstream "${values.upstream}": see --help`);
  return chosen;
}

async function runAll(agents: readonly Agent[], upstreams: readonly UpstreamKind[]): Promise<boolean> {
  let isGood = true;
  for (const agent of agents) {
    for (const kind of upstreams.filter((each) => agent.upstreams.includes(each))) {
      isGood = (await runOne(agent, kind)) && isGood;
    }
  }
  return isGood;
}

/** Never rejects: an agent that cannot be installed is a failed case, and the other cases still run. */
async function runOne(agent: Agent, kind: UpstreamKind): Promise<boolean> {
  try {
    const result = await runCase(await requireAgent(agent.pack), agent, kind);
    console.log(printCase(agent, kind, result, values.verbose));
    if (values.record !== undefined) record(values.record, agent, kind, result);
    if (values.page) await addToPage(lineOf(agent, kind, result));
    return result.problems.length === 0;
  } catch (error) {
    console.log(printFailure(agent, kind, String(error)));
    return false;
  }
}

function record(folder: string, { name }: Agent, kind: UpstreamKind, result: CaseResult): void {
  const path = join(folder, `${name}-${kind}`);
  mkdirSync(path, { recursive: true });
  recordCase(path, result);
}
