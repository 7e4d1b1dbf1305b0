import { parseArgs } from "node:util";
import { PROCESSES, play, REQUESTS, type Result, SLOTS } from "./play.ts";
import { SCENARIOS, type Scenario } from "./scenarios.ts";

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: { minutes: { type: "string" }, help: { type: "boolean", short: "h" } },
});

const SHORT_MINUTES = 1.5;
const LONG_MINUTES = 3;
/** What Redis may take, and what a busy machine adds that a process does not notice itself. */
const SLOWEST_MS = 200 + 50;

const USAGE = `bun run chaos [SCENARIO …] [--minutes M]

Lets ${PROCESSES} processes under "deny" and ${PROCESSES} under "local" ask one Redis for half as many again as the ${REQUESTS} requests a
minute and ${SLOTS} at once that each kind may have, while something happens to it, and looks at every half-open minute
of what all processes logged. Prints of each scenario and kind:

  most      admissions in any minute, in parts of N = ${REQUESTS}, and what they may be: N; once more where Redis loses
            what it counted; and once more where processes go on alone (N / ${PROCESSES} each, beside what is shared)
  at once   the most that ran at one time; in parts of ${SLOTS}, by the same bounds
  slowest   answer of the limiter, without what the process itself was held up for
  shared    the longest time after it was over until Redis decided again for every process
  stuck     slots that are taken after the time of a lease with nobody in them

Exits with 1 when a bound is broken, an answer took more than ${SLOWEST_MS} ms, or a slot is stuck. All scenarios take
${SHORT_MINUTES} minutes each, named ones ${LONG_MINUTES}.

${Object.entries(SCENARIOS)
  .map(([name, { what }]) => `  ${name.padEnd(10)}${what}`)
  .join("\n")}
`;

if (values.help) {
  process.stdout.write(USAGE);
} else {
  const names = positionals.length > 0 ? positionals : Object.keys(SCENARIOS);
  const minutes = Number(values.minutes ?? (positionals.length > 0 ? LONG_MINUTES : SHORT_MINUTES));
  process.exitCode = (await playAll(names, minutes)) ? 0 : 1;
}

async function playAll(names: readonly string[], minutes: number): Promise<boolean> {
  let isGood = true;
  for (const name of names) {
    const scenario = SCENARIOS[name];
    if (!scenario) throw new Error(`There is no scenario "${name}": see --help`);
    for (const result of await play(scenario, minutes * 60_000)) {
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
