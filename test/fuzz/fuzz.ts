import { parseArgs } from "node:util";
import { runCodecs, runHugeBodies } from "./codecs/run-codecs.ts";
import { runFuzz } from "./run-fuzz.ts";

const { values } = parseArgs({
  options: {
    seed: { type: "string" },
    count: { type: "string", default: "100000" },
    first: { type: "string", default: "0" },
    help: { type: "boolean", short: "h" },
  },
});

const USAGE = `bun run fuzz [--seed S] [--count N] [--first NUMBER]

Sends N requests (default 100,000) through a gateway to upstreams of every format. Most requests or answers are
mutated. A case depends only on its seed and number, so that --seed S --first NUMBER --count 1 repeats one case. The
cases are first run through the codecs alone.

A run succeeds when no answer has status 500, and each answer ends and conforms to its format and the contract; when
translated requests conform to their format; and when afterwards no money is held, no concurrency slot is taken, the
audit is clean, the wallet agrees with the receipts, and memory has not grown. Otherwise it prints the first wrong
cases with a minimal set of mutations, and exits with 1.
`;

/** Largest ratio of the memory at the end to that after a fifth of the cases. */
const GROWTH_MAX = 1.5;
const GROWTH_FREE_MB = 150;

/** Close to the largest size that the gateway accepts. */
const GIANT_SIZE = { levels: 150_000, elements: 60_000 };

if (values.help) process.stdout.write(USAGE);
else process.exitCode = (await run()) ? 0 : 1;

async function run(): Promise<boolean> {
  const stretch = {
    seed: values.seed ?? crypto.randomUUID().slice(0, 8),
    first: Number(values.first),
    count: Number(values.count),
  };
  console.log(`seed ${stretch.seed}, ${stretch.count} cases from ${stretch.first}`);
  const pure = await runCodecs(stretch);
  console.log(
    `without a gateway: ${pure.printed} bodies and ${pure.passed} answers printed, slowest ${pure.slowestMs.toFixed(0)} ms`,
  );
  const hugeBodies = runHugeBodies(GIANT_SIZE);
  console.log(`giants without a gateway: slowest is ${hugeBodies.slowest}`);
  const { violations, counts, perSecond, memoryMb } = await runFuzz(stretch);
  console.log(counts.print());
  console.log(
    `${perSecond.toFixed(0)} requests/s, ${memoryMb.early.toFixed(0)} MB, then ${memoryMb.late.toFixed(0)} MB`,
  );
  const all = [...pure.violations, ...hugeBodies.violations, ...violations];
  if (memoryMb.late > memoryMb.early * GROWTH_MAX + GROWTH_FREE_MB) all.push("memory has grown");
  for (const violation of all) console.log(`\n${violation}`);
  console.log(all.length === 0 ? "nothing is wrong" : `\n${all.length} wrong`);
  return all.length === 0;
}
