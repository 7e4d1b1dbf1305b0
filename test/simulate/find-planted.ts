// usage: bun run simulate:faults [NAME...] plants each fault of planted-code.ts, and runs seeds until one is found
import { join } from "node:path";
import { findOutdated } from "./plant-code.ts";
import { PLANTED_CODE } from "./planted-code.ts";

/** What the simulation says of a planted fault. */
export interface Finding {
  readonly isFound: boolean;
  /** The first broken rule with its replay, or all that was printed when none was broken. */
  readonly text: string;
}

interface Worlds {
  /** The most seeds. */
  readonly seeds: number;
  /** The most requests of a busy time. Default: what each seed draws. */
  readonly requests?: number;
}

/** Runs seeds with a planted fault in a process of its own, until a rule is broken. */
export async function findPlanted(name: string, { seeds, requests }: Worlds): Promise<Finding> {
  const run = ["--plant", name, "--seed", "1", "--seeds", String(seeds), "--minutes", "60", "--first"];
  if (requests !== undefined) run.push("--requests", String(requests));
  const child = Bun.spawn([process.execPath, join(import.meta.dir, "simulate.ts"), ...run], {
    stdio: ["ignore", "pipe", "pipe"],
  });
  const [printed, failed] = await Promise.all([
    new Response(child.stdout).text(),
    new Response(child.stderr).text(),
  ]);
  await child.exited;
  const [first] = /^FAILED .*\n(?: {4}.*\n)* {2}replay: .*$/m.exec(printed) ?? [];
  return { isFound: first !== undefined, text: first ?? `${printed}${failed}` };
}

/** Seeds of the long list. */
const SEEDS_MAX = 400;

if (import.meta.main) {
  const outdated = findOutdated();
  for (const line of outdated) console.log(`OUTDATED ${line}`);
  const chosen = process.argv.slice(2);
  const names = chosen.length > 0 ? chosen : Object.keys(PLANTED_CODE);
  let missed = 0;
  for (const name of names) {
    const beganAtMs = performance.now();
    const { isFound, text } = await findPlanted(name, { seeds: SEEDS_MAX });
    const s = ((performance.now() - beganAtMs) / 1_000).toFixed(1);
    console.log(`${isFound ? "found" : "NOT FOUND"} in ${s} s: ${name}\n${text}`);
    if (!isFound) missed += 1;
  }
  console.log(`${names.length - missed} of ${names.length} planted faults found`);
  process.exitCode = missed > 0 || outdated.length > 0 ? 1 : 0;
}
