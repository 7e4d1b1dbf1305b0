// usage: bun run simulate [--minutes N | --hours N] [--seed N] [--days N] and more: see docs/simulation.md
import { InvalidOptions, type Options, readOptions } from "./options.ts";
import { plantCode } from "./plant-code.ts";

function read(): Options {
  try {
    return readOptions(process.argv.slice(2));
  } catch (error) {
    if (!(error instanceof InvalidOptions)) throw error;
    process.stderr.write(`${error.message}\n`);
    process.exit(2);
  }
}

const print = (line: string) => process.stdout.write(`${line}\n`);
const options = read();
if (options.plant !== undefined) plantCode(options.plant);
const coverage = options.coverage ? await import("./coverage.ts") : undefined;
coverage?.measureCoverage();
if (options.shrink) {
  const { shrinkSeed } = await import("./shrink.ts");
  process.exitCode = shrinkSeed(options, print);
} else {
  const { runSeeds } = await import("./run-seeds.ts");
  process.exitCode = await runSeeds(options, print);
}
if (coverage) print(coverage.printCoverage());
