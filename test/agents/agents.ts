import { mkdirSync } from "node:fs";
import { join } from "node:path";
import { parseArgs } from "node:util";
import type { Agent } from "./agent/agent.ts";
import { claudeCode } from "./agent/claude-code.ts";
import { codex, codexCode, codexPatch } from "./agent/codex.ts";
import { opencode, opencodeMessages, opencodeResponses } from "./agent/opencode.ts";
import { UPSTREAMS, type UpstreamKind } from "./env.ts";
import { requireAgent } from "./install.ts";
import { printCell, printFailure, recordCell } from "./report.ts";
import { type Cell, runCell } from "./run-case.ts";

const AGENTS = [claudeCode, codex, codexPatch, codexCode, opencode, opencodeMessages, opencodeResponses];

const USAGE = `bun run agents [AGENT …] [--upstream KIND] [--verbose] [--record FOLDER]

Lets real coding agents do an errand through a gateway: the scripted model behind it calls a tool of theirs that makes
a file, sees what the tool gave back, and ends with a sentence. Each agent with each upstream that is of use to it:
${UPSTREAMS.join(", ")} (the last for agents that speak responses). Agents come from npm, into
node_modules/.cache/agents (1.2 GB for all), run in an empty home, and reach nothing but the loopback.

A cell is good when the agent ended well, printed the model's last words and made the file; when the upstream got the
tool's result, and nothing that its provider would refuse; when the wallet paid exactly what the model reported, nothing
is held, the audit is clean, and no request ended other than well. Exits with 1 when a cell is not good, or an agent
could not be installed.

  --upstream KIND   only this upstream
  --verbose         every request of the agent, and what the upstream saw
  --record FOLDER   writes every request of both sides to files

${AGENTS.map(({ name, surface, pack }) => `  ${name.padEnd(20)}${surface.padEnd(11)}${pack.name} ${pack.version}`).join("\n")}
`;

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    upstream: { type: "string" },
    verbose: { type: "boolean", default: false },
    record: { type: "string" },
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
    for (const kind of upstreams.filter((each) => isOfUse(each, agent))) {
      isGood = (await runOne(agent, kind)) && isGood;
    }
  }
  return isGood;
}

function isOfUse(kind: UpstreamKind, { surface }: Agent): boolean {
  return kind !== "openai+responses" || surface === "responses";
}

/** Never rejects: an agent that cannot be had is a cell that failed, and the others go on. */
async function runOne(agent: Agent, kind: UpstreamKind): Promise<boolean> {
  try {
    const cell = await runCell(await requireAgent(agent.pack), agent, kind);
    console.log(printCell(agent, kind, cell, values.verbose));
    if (values.record !== undefined) record(values.record, agent, kind, cell);
    return cell.faults.length === 0;
  } catch (error) {
    console.log(printFailure(agent, kind, String(error)));
    return false;
  }
}

function record(folder: string, { name }: Agent, kind: UpstreamKind, cell: Cell): void {
  const path = join(folder, `${name}-${kind}`);
  mkdirSync(path, { recursive: true });
  recordCell(path, cell);
}
