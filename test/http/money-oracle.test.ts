import { expect, test } from "bun:test";
import { CLIENTS } from "./money/clients.ts";
import { runMoney } from "./money/money-run.ts";

// `bun run money` sends 10,000.
const COUNT = Number(process.env.MONEY_REQUESTS ?? 500);
const SEED = Number(process.env.MONEY_SEED ?? 29);

test(`${COUNT} random requests with tiers, tools, audio and images cost what an independent oracle says`, async () => {
  const { problems, charged, counts } = await runMoney({ seed: SEED, count: COUNT });
  // A comparison of such long texts takes minutes.
  if (problems.length > 0) throw new Error(problems.slice(0, 3).join("\n"));
  expect(charged).toBeGreaterThan(COUNT / 2);
  for (const client of CLIENTS)
    expect([...counts.keys()].some((name) => name.startsWith(`${client} to `))).toBe(true);
  for (const name of ["refused", "calls", "cut calls", "audio", "images", "tier flex", "tier fast"])
    expect([name, (counts.get(name) ?? 0) > 0]).toEqual([name, true]);
}, 600_000);
