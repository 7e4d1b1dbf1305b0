import { parseArgs } from "node:util";
import { measureGroup } from "../agents/measure.ts";
import { GUARDED_GROUPS } from "../agents/plan.ts";
import { startAgentContestants } from "../agents/start-contestants.ts";
import { startContestants } from "../contestants.ts";
import { FORM_OPTIONS, printForm, readForm } from "../form.ts";
import { GUARD_DURATIONS } from "../gateway/plan.ts";
import { measureThroughput, type Ratios } from "../gateway/throughput.ts";
import { readKeptRuns } from "../history/files.ts";
import {
  type AgentsLine,
  type HistoryLine,
  isAgentsLine,
  isGatewayLine,
  machineKind,
} from "../history/line.ts";
import { describeMachine } from "../history/machine.ts";
import { findKept, findWorse, findWorseOfAgents } from "./compare.ts";

/**
 * `bun run bench:guard [--database postgres] [--redis]`: compares this checkout with the last kept runs of a
 * machine of this kind. Exits with 1 when a cell is worse twice, and with 2 when no kept run is comparable.
 */
export async function benchGuard(args: readonly string[]): Promise<void> {
  const { values } = parseArgs({ args: [...args], options: FORM_OPTIONS });
  const form = readForm(values);
  const machine = describeMachine();
  const lines = readKeptRuns();
  const kept = findKept(lines.filter(isGatewayLine), machine, form);
  const keptOfAgents = findKept(lines.filter(isAgentsLine), machine, form);
  if (!kept && !keptOfAgents) {
    console.error(
      `No run on ${printForm(form)} was kept on a machine like this one (${machineKind(machine)}). ` +
        "Keep one of a known commit with: bun run bench --keep",
    );
    process.exitCode = 2;
    return;
  }
  const worse = [
    ...(kept ? await guardGateway(kept) : []),
    ...(keptOfAgents ? await guardAgents(keptOfAgents) : []),
  ];
  for (const each of worse) console.error(`WORSE  ${each}`);
  if (worse.length === 0) console.log("No cell is worse than the kept run by more than is allowed.");
  process.exitCode = worse.length > 0 ? 1 : 0;
}

async function guardGateway(kept: HistoryLine): Promise<readonly string[]> {
  const contestants = await startContestants(undefined, kept.form, []);
  try {
    const worse: string[] = [];
    for (const cell of GUARD_DURATIONS.cells) {
      const found = await findTwice(async () => {
        const result = await measureThroughput(contestants, GUARD_DURATIONS, cell);
        console.log(printRatios(`${cell.kind} ${cell.connections}`, result));
        return findWorse(kept, result);
      });
      worse.push(...found);
    }
    return worse;
  } finally {
    await contestants.stop();
  }
}

async function guardAgents(kept: AgentsLine): Promise<readonly string[]> {
  const contestants = await startAgentContestants();
  try {
    const worse: string[] = [];
    for (const group of GUARDED_GROUPS) {
      const found = await findTwice(async () => {
        const results = await measureGroup(contestants, group);
        for (const result of results) console.log(printRatios(`agents, ${result.name}`, result));
        return results.flatMap((result) => findWorseOfAgents(kept, result));
      });
      worse.push(...found);
    }
    return worse;
  } finally {
    await contestants.stop();
  }
}

/** Measures what is worse once more, since other load may have disturbed it. */
async function findTwice(find: () => Promise<readonly string[]>): Promise<readonly string[]> {
  if ((await find()).length === 0) return [];
  console.log("  worse than the kept run: measuring again");
  return find();
}

function printRatios(name: string, { ratio, cpuRatio }: Ratios): string {
  return `${name}: rate ${ratio.toFixed(3)}, CPU ${cpuRatio.toFixed(2)} times the proxy's`;
}
