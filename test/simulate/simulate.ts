import { parseArgs } from "node:util";
import { MISFORTUNE_NAMES, MISFORTUNES, noMisfortunes } from "./misfortunes.ts";
import { runSeed, type SeedResult } from "./run-seed.ts";

const { values } = parseArgs({
  options: {
    seed: { type: "string" },
    minutes: { type: "string", default: "1" },
    days: { type: "string", default: "1" },
    until: { type: "string" },
    trace: { type: "boolean", default: false },
  },
});

const isOne = values.trace || values.until !== undefined;
const seed = values.seed === undefined ? Math.floor(Date.now() / 1_000) : Number(values.seed);
const days = Number(values.days);
const until = values.until === undefined ? undefined : Number(values.until);
const onLine = values.trace ? (line: string) => process.stdout.write(`${line}\n`) : undefined;

const beganAtMs = performance.now();
const endsAtMs = beganAtMs + Number(values.minutes) * 60_000;
const counts = noMisfortunes();
const total = { seeds: 0, steps: 0, requests: 0, simulatedMs: 0 };
const endings = new Map<string, number>();
let failures = 0;

process.stdout.write(`seed ${seed}\n`);
for (let next = seed; next === seed || (!isOne && performance.now() < endsAtMs); next += 1) {
  const result = runSeed({ seed: next, days, until, onLine });
  add(result);
  if (result.failure !== undefined) report(result);
}
summarize();

function add({ steps, requests, simulatedMs, counts: more, endings: ended }: SeedResult): void {
  total.seeds += 1;
  total.steps += steps;
  total.requests += requests;
  total.simulatedMs += simulatedMs;
  for (const name of MISFORTUNE_NAMES) counts[name] += more[name];
  for (const [name, count] of ended) endings.set(name, (endings.get(name) ?? 0) + count);
}

function report({ seed: failed, steps, failure }: SeedResult): void {
  failures += 1;
  process.stdout.write(`FAILED seed ${failed} at step ${steps}: ${String(failure)}\n`);
  if (failure instanceof Error && failure.name !== "Violation") process.stdout.write(`${failure.stack}\n`);
  process.stdout.write(
    `  replay: bun run simulate --seed ${failed} --days ${days} --until ${steps} --trace\n`,
  );
}

function summarize(): void {
  const s = (performance.now() - beganAtMs) / 1_000;
  const { seeds, steps, requests, simulatedMs } = total;
  const simulatedDays = simulatedMs / 86_400_000;
  process.stdout.write(
    `${seeds} seeds, ${requests} requests, ${steps} steps, ${simulatedDays.toFixed(1)} simulated days in ${s.toFixed(0)} s: ` +
      `${Math.round(requests / s)} requests a second, ${(s / simulatedDays).toFixed(2)} s a day\n`,
  );
  const missed = isOne ? [] : MISFORTUNE_NAMES.filter((name) => counts[name] === 0);
  for (const name of MISFORTUNE_NAMES)
    process.stdout.write(`${String(counts[name]).padStart(8)} ${MISFORTUNES[name].does}\n`);
  for (const [name, count] of [...endings].sort((one, other) => other[1] - one[1])) {
    process.stdout.write(`${String(count).padStart(8)} requests ended: ${name}\n`);
  }
  for (const name of missed) process.stdout.write(`never happened: ${name}\n`);
  if (failures > 0 || missed.length > 0) process.exitCode = 1;
}
