import { expect, test } from "bun:test";
import { auditSqlite } from "../../src/ledger/audit.ts";
import { openLedger, WALLET } from "./samples.ts";

const FUNDS = 10_000_000n;

function startLoad(path: string, name: string, rounds: number) {
  const command = [process.execPath, `${import.meta.dir}/load-child.ts`, path, name, `${rounds}`];
  return Bun.spawn(command, { stdout: "pipe", stderr: "inherit" });
}

async function openForLoad() {
  const open = await openLedger(FUNDS);
  const limit = { walletId: WALLET, limitId: "l1", keyId: "k1", period: "day", amount: FUNDS } as const;
  await open.ledger.setSpendLimit(limit);
  return open;
}

test("two processes on one file lose nothing and book nothing twice", async () => {
  const open = await openForLoad();
  const rounds = 40;
  const loads = ["a", "b"].map((name) => startLoad(open.database.path, name, rounds));
  const exits = await Promise.all(
    loads.map(async (load) => [await load.exited, await new Response(load.stdout).text()]),
  );
  expect(exits.map(([code]) => code)).toEqual([0, 0]);
  const settled = BigInt(2 * 32 * rounds);
  expect(await open.ledger.balances(WALLET)).toMatchObject({ posted: FUNDS - 2n * settled, held: 0n });
  expect(auditSqlite(open.database, Date.now())).toMatchObject({
    holds: Number(settled),
    findings: [],
    warnings: [],
  });
  await open.close();
}, 20_000);

test("what a killed process had acknowledged is all there, and the books are right", async () => {
  const open = await openForLoad();
  const load = startLoad(open.database.path, "k", 1_000_000);
  const said = new Response(load.stdout).text();
  await Bun.sleep(1_000);
  load.kill("SIGKILL");
  await load.exited;

  // What follows the last line feed was cut off by the kill.
  const lines = (await said).split("\n").slice(0, -1);
  const states = new Map(
    open.database.client
      .query<{ hold_id: string; state: string }, []>("SELECT hold_id, state FROM holds")
      .all()
      .map((row) => [row.hold_id, row.state]),
  );
  const missing = lines.filter((line) => {
    const [what, holdId = ""] = line.split(" ");
    return what === "settled" ? states.get(holdId) !== "settled" : !states.has(holdId);
  });
  expect(lines.length).toBeGreaterThan(100);
  expect(missing).toEqual([]);
  expect(auditSqlite(open.database, Date.now()).findings).toEqual([]);
  await open.close();
}, 20_000);
