import { expect, test } from "bun:test";
import { readRange } from "../../src/ledger/exports/range.ts";
import { runTollgate } from "../cli/run-tollgate.ts";
import { tempFolder } from "../support/temp-folder.ts";
import { DIALECTS, type ExportEnv, openExportEnv, parse } from "./export-env.ts";

async function linesOf(env: ExportEnv, range: { fromMs: number; toMs: number }) {
  const lines: string[] = [];
  for await (const entries of readRange(env.connection, range))
    lines.push(...parse(entries).map(({ id }) => id));
  return lines;
}

test.each(DIALECTS)("a range of a ledger in %s has the lines of an export", async (dialect) => {
  const env = await openExportEnv(dialect);
  try {
    await env.open("warehouse");
    const wallets = [(await env.newAccount("a")).id, (await env.newAccount("b")).id];
    for (const walletId of wallets) await env.ledger.topUp({ walletId, topUpId: "funds", amount: 100n });
    await env.spend(wallets[0] ?? "", undefined);
    env.clock.nowMs += 3 * 3_600_000;
    const beginMs = env.clock.nowMs;
    const inside = [await env.spend(wallets[0] ?? "", 5n), await env.spend(wallets[1] ?? "", 0n)];
    env.clock.nowMs += 3 * 3_600_000;
    const endMs = env.clock.nowMs;
    await env.spend(wallets[1] ?? "", 7n);
    expect(await linesOf(env, { fromMs: beginMs, toMs: endMs })).toEqual([
      `${wallets[0]}/receipt/${inside[0]}`,
      `${wallets[1]}/receipt/${inside[1]}/uncharged`,
    ]);
    const all = await linesOf(env, { fromMs: 0, toMs: endMs + 1 });
    expect(all.sort()).toEqual((await env.takeAll("warehouse")).map(({ id }) => id).sort());
  } finally {
    await env.close();
  }
});

test("the command line prints lines, lists exports and forgets one", async () => {
  const env = await openExportEnv("sqlite");
  try {
    const { id: walletId } = await env.newAccount("acme");
    await env.ledger.topUp({ walletId, topUpId: "funds", amount: 100n });
    await env.open("warehouse");
    if (env.location.dialect !== "sqlite") throw new Error("The database is not SQLite");
    const environment = { DATABASE_URL: `sqlite:${env.location.path}` };
    const run = (...line: string[]) => runTollgate(tempFolder(), ["export", ...line], environment);
    const printed = await run("print");
    expect(JSON.parse(printed.stdout)).toMatchObject({
      id: `${walletId}/top_up/funds`,
      account_name: "acme",
    });
    const oldest = new Date(Date.UTC(2026, 5, 1)).toISOString();
    expect((await run("list", "--json")).json()).toEqual({
      exports: [{ name: "warehouse", oldest_at: expect.stringMatching(/Z$/) }],
    });
    expect((await run("forget", "--name", "warehouse")).exitCode).toBe(0);
    expect((await run("list")).stdout).not.toContain("warehouse");
    const again = await run("forget", "--name", "warehouse");
    expect(again).toMatchObject({ exitCode: 1, stderr: expect.stringContaining("There is no export") });
    expect((await run("print", "--from", oldest, "--to", oldest)).exitCode).toBe(2);
  } finally {
    await env.close();
  }
});
