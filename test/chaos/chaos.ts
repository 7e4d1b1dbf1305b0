import { parseArgs } from "node:util";
import { SHARED_LIMITER_TIMEOUT_MS } from "../../src/limiter/limiter.ts";
import { PROCESSES, REQUESTS, type Result, runScenario, SLOTS } from "./run-scenario.ts";
import { SCENARIOS, type Scenario } from "./scenarios.ts";

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: { minutes: { type: "string" }, help: { type: "boolean", short: "h" } },
});

const SHORT_MINUTES = 1.5;
const LONG_MINUTES = 3;
/** The time limit of Redis, plus the delay of a busy machine that a process cannot measure. */
const SLOWEST_MS = SHARED_LIMITER_TIMEOUT_MS + 50;

const USAGE = `bun run chaos [SCENARIO …] [--minutes M]

Runs ${PROCESSES} processes with on_failure "deny" and ${PROCESSES} with "local" on one Redis, at 1.5 times their limits of ${REQUESTS} requests
per minute and ${SLOTS} concurrent requests, while a fault hits Redis or a process. Checks every half-open minute of the
logged admissions. Prints for each scenario and on_failure:

  most      admissions in any minute as a share of N = ${REQUESTS}, and the bound: N, plus N where Redis loses its counts,
            plus N where processes decide alone (N / ${PROCESSES} each, beside the shared count)
  at once   most concurrent requests as a share of ${SLOTS}, with the same bounds
  slowest   answer of the limiter, without the delays of the process itself
  shared    the longest time after a fault until Redis decided again for every process
  stuck     slots that are still taken, without a request, after the time of a lease

Exits with 1 when a bound is broken, an answer took more than ${SLOWEST_MS} ms, or a slot is stuck. Without
names, all scenarios run for ${SHORT_MINUTES} minutes each; named scenarios run for ${LONG_MINUTES}.

${Object.entries(SCENARIOS)
  .map(([name, { what }]) => `  ${name.padEnd(10)}${what}`)
  .join("\n")}
`;

if (values.help) {
  process.stdout.write(USAGE);
} else {
  const names = positionals.length > 0 ? positionals : Object.keys(SCENARIOS);
  const minutes = Number(values.minutes ?? (positionals.length > 0 ? LONG_MINUTES : SHORT_MINUTES));
  process.exitCode = (await runScenarios(names, minutes)) ? 0 : 1;
}

async function runScenarios(names: readonly string[], minutes: number): Promise<boolean> {
  let isGood = true;
  for (const name of names) {
    const scenario = SCENARIOS[name];
    if (!scenario) throw new Error(`There is no scenario "${name}": see --help`);
    for (const result of await runScenario(scenario, minutes * 60_000)) {
      console.log(describe(name, scenario, result));
      isGood &&= isKept(result);
    }
  }
  return isGood;
}

function describe(name: string, { losesData }: Scenario, result: Result): string {
  const { onFailure, mostInAnyMinute, bound, admitted, mostAtOnce, slowestMs, sharedAfterMs, stuck } = result;
  const parts = (count: number, of: number) => (count / of).toFixed(3);
  return [
    `${name} (${onFailure}${losesData ? ", loses counts" : ""})`.padEnd(32),
    `most ${parts(mostInAnyMinute, REQUESTS)} N of ${bound / REQUESTS} N,`,
    `at once ${parts(mostAtOnce, SLOTS)},`,
    `slowest ${slowestMs.toFixed(0)} ms,`,
    `shared after ${(sharedAfterMs / 1000).toFixed(1)} s,`,
    `stuck ${stuck},`,
    `admitted ${admitted}${isKept(result) ? "" : "   NOT KEPT"}`,
  ].join(" ");
}

function isKept({ mostInAnyMinute, bound, mostAtOnce, slowestMs, stuck }: Result): boolean {
  const isBounded = mostInAnyMinute <= bound && mostAtOnce <= (SLOTS * bound) / REQUESTS;
  return isBounded && slowestMs < SLOWEST_MS && stuck === 0;
}
