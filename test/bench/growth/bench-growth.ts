import { mkdirSync, writeFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { updatePage } from "../history/files.ts";
import { printCommit } from "../history/line.ts";
import { describeMachine, readCommit } from "../history/machine.ts";
import { measureBodies } from "./bodies.ts";
import { measureKeys } from "./keys.ts";
import { type GrowthPlan, type PartName, readGrowthPlan } from "./plan.ts";
import type { GrowthPoint } from "./point.ts";
import { measureReceipts } from "./receipts.ts";
import { measureReplicas } from "./replicas.ts";
import { type GrowthResult, plotGrowth, printGrowth } from "./report.ts";

const REPOSITORY = resolve(import.meta.dir, "../../..");
const LOCAL_FOLDER = "reports/growth";
const KEPT_FOLDER = "docs/performance";

const PARTS: Readonly<Record<PartName, (plan: GrowthPlan) => Promise<readonly GrowthPoint[]>>> = {
  keys: ({ durations }) => measureKeys(durations),
  bodies: ({ durations }) => measureBodies(durations),
  receipts: measureReceipts,
  replicas: ({ durations }) => measureReplicas(durations),
};

/**
 * `bun run bench growth [keys] [bodies] [receipts] [replicas] [--full] [--quick] [--json] [--keep]`: measures
 * how the cost of a request grows. Writes a plot of each part to reports/growth/, with `--keep` to the
 * documentation.
 */
export async function benchGrowth(args: readonly string[]): Promise<void> {
  const plan = readGrowthPlan(args);
  for (const part of plan.parts) {
    const result: GrowthResult = {
      part,
      date: new Date().toISOString(),
      commit: printCommit(readCommit()),
      machine: describeMachine(),
      isQuick: plan.isQuick,
      points: await PARTS[part](plan),
    };
    console.log(plan.printsJson ? JSON.stringify(result) : `\n${printGrowth(result)}`);
    saveResult(result, plan);
  }
}

function saveResult(result: GrowthResult, { isKept }: GrowthPlan): void {
  const folder = join(REPOSITORY, isKept ? KEPT_FOLDER : LOCAL_FOLDER);
  mkdirSync(folder, { recursive: true });
  writeFileSync(join(folder, `${result.part}.svg`), plotGrowth(result));
  if (isKept) updatePage("docs/performance.md", `growth ${result.part}`, printGrowth(result));
}
