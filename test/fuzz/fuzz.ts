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

Sends N requests (100,000 unless told otherwise) through a gateway to upstreams of every format, most of the requests,
or the answers, changed in ways that nobody should meet. What is drawn depends on the seed and the number of a case and
on nothing else, so --seed S --first NUMBER --count 1 plays one case again. Before that, the same cases are put through
readers and printers alone.

A run is good when no answer has status 500, each ends, and reads as its format and the contract have it; when what was
printed for another format is what its hosts take; when afterwards nothing is held, no slot is taken, the audit is
clean, the wallet is short of what the receipts say and nothing else, and memory has not grown. Exits with 1 otherwise,
and prints the first wrong cases with as few mutations as they take.
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
  const { wrongs, counts, perSecond, memoryMb } = await runFuzz(stretch);
  console.log(counts.print());
  console.log(
    `${perSecond.toFixed(0)} requests/s, ${memoryMb.early.toFixed(0)} MB, then ${memoryMb.late.toFixed(0)} MB`,
  );
  const all = [...pure.wrongs, ...hugeBodies.wrongs, ...wrongs];
  if (memoryMb.late > memoryMb.early * GROWTH_MAX + GROWTH_FREE_MB) all.push("memory has grown");
  for (const wrong of all) console.log(`\n${wrong}`);
  console.log(all.length === 0 ? "nothing is wrong" : `\n${all.length} wrong`);
  return all.length === 0;
}
