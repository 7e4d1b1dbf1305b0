import { runSeed } from "./test/simulate/run-seed.ts";
const seeds = process.argv.slice(2).map(Number);
for (const seed of seeds) {
  const r = runSeed({ seed, bounds: { requests: 300 } });
  console.log(seed, r.steps, r.requests, r.digest.slice(0, 16), String(r.failure ?? "ok"));
}
