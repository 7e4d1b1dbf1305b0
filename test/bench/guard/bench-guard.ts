import { parseArgs } from "node:util";
import { type Contestants, startContestants } from "../contestants.ts";
import { FORM_OPTIONS, printForm, readForm } from "../form.ts";
import { GUARD_DURATIONS } from "../gateway/plan.ts";
import { measureThroughput } from "../gateway/throughput.ts";
import { readKeptRuns } from "../history/files.ts";
import { type HistoryLine, machineKind } from "../history/line.ts";
import { describeMachine } from "../history/machine.ts";
import { findKept, findWorse } from "./compare.ts";

/**
 * `bun run bench:guard [--database postgres] [--redis]`: compares this checkout with the last kept run of a
 * machine of this kind. Exits with 1 when a cell is worse twice, and with 2 when no kept run is comparable.
 */
export async function benchGuard(args: readonly string[]): Promise<void> {
  const { values } = parseArgs({ args: [...args], options: FORM_OPTIONS });
  const form = readForm(values);
  const machine = describeMachine();
  const kept = findKept(readKeptRuns(), machine, form);
  if (!kept) {
    console.error(
      `No run on ${printForm(form)} was kept on a machine like this one (${machineKind(machine)}). ` +
        "Keep one of a known commit with: bun run bench --keep",
    );
    process.exitCode = 2;
    return;
  }
  const contestants = await startContestants(undefined, form, []);
  const worse = await guard(contestants, kept).finally(() => contestants.stop());
  for (const each of worse) console.error(`WORSE  ${each}`);
  if (worse.length === 0) console.log("No cell is worse than the kept run by more than is allowed.");
  process.exitCode = worse.length > 0 ? 1 : 0;
}

/** Measures each cell, and a cell that is worse once more, since other load may have disturbed it. */
async function guard(contestants: Contestants, kept: HistoryLine): Promise<readonly string[]> {
  const worse: string[] = [];
  for (const cell of GUARD_DURATIONS.cells) {
    const measure = async () => {
      const result = await measureThroughput(contestants, GUARD_DURATIONS, cell);
      const { kind, connections, ratio, cpuRatio } = result;
      console.log(
        `${kind} ${connections}: rate ${ratio.toFixed(3)}, CPU ${cpuRatio.toFixed(2)} times the proxy's`,
      );
      return findWorse(kept, result);
    };
    if ((await measure()).length === 0) continue;
    console.log("  worse than the kept run: measuring again");
    worse.push(...(await measure()));
  }
  return worse;
}
