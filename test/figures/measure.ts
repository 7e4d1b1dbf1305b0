// bun run figures:measure   times the operator's figures and the accounts at risk with 5,000 accounts on SQLite: six
//                           months of grants and ends, and a month of usage in two models. Each must take under 300 ms.
import { Database as Sqlite } from "bun:sqlite";
import { MEASURE_COLUMNS } from "../../src/db/usage-columns.ts";
import { findAtRisk } from "../../src/figures/at-risk.ts";
import { createFigures } from "../../src/figures/figures.ts";
import { printPlan } from "../../src/plans/plan-text.ts";
import { openTempStorage } from "../accounts/temp-storage.ts";
import { PRO } from "../plans/samples.ts";

const ACCOUNTS = 5_000;
const MONTHS = 6;
const DAY_MS = 86_400_000;
const NOW_MS = Date.UTC(2026, 5, 28, 12);

const storage = await openTempStorage("sqlite");
storage.clock.nowMs = NOW_MS;
const path = storage.location.dialect === "sqlite" ? storage.location.path : "";
const file = new Sqlite(path);
const uuid = (n: number) => `01900000-0000-7000-8000-${String(n).padStart(12, "0")}`;
file.transaction(() => {
  const account = file.prepare(
    "INSERT INTO accounts (id, name, state, created_at_ms) VALUES (?, ?, 'active', ?)",
  );
  const wallet = file.prepare(
    "INSERT INTO wallets (wallet_id, posted, held, credit_limit, state, last_seq, created_at_ms, newest_credit, mixed, newest_hold_ms) VALUES (?, ?, 0, 0, 'active', ?, ?, ?, 1, ?)",
  );
  const credit = file.prepare(
    "INSERT INTO credits (wallet_id, seq, credit_id, source, amount, left_amount, expired, expires_at_ms, created_at_ms, claims, ended_at_ms, live) VALUES (?, ?, ?, 'plan', 20000000000, ?, ?, ?, ?, ?, ?, ?)",
  );
  const transfer = file.prepare(
    "INSERT INTO transfers (wallet_id, seq, transfer_id, kind, debit_account, credit_account, amount, posted_after, created_at_ms, credits) VALUES (?, ?, ?, ?, ?, ?, ?, 0, ?, ?)",
  );
  const subscription = file.prepare(
    "INSERT INTO subscriptions (id, account_id, state, plan, time_zone, anchor_ms, anchor_period, next_period, period_grant, next_at_ms, created_at_ms, created_by) VALUES (?, ?, 'active', ?, 'UTC', ?, 0, 6, 20000000000, ?, ?, 'x')",
  );
  const days = ["usage_days", "usage_hours"].map((table) =>
    file.prepare(
      `INSERT INTO ${table} (wallet_id, start_ms, key_id, model, upstream, outcome, ${MEASURE_COLUMNS.join(", ")}) VALUES (?, ?, 'k', ?, 'u', 'ok', ${MEASURE_COLUMNS.map(() => "7").join(", ")})`,
    ),
  );
  const begin = Date.UTC(2026, 0, 1);
  for (let n = 0; n < ACCOUNTS; n++) {
    const id = uuid(n);
    account.run(id, `account ${n}`, begin);
    wallet.run(id, 5_000_000_000, MONTHS * 2, begin, MONTHS * 2 - 1, NOW_MS - (n % 40) * DAY_MS);
    subscription.run(uuid(n + 1e6), id, JSON.stringify(printPlan(PRO)), begin, Date.UTC(2026, 6, 1), begin);
    for (let month = 0; month < MONTHS; month++) {
      const at = Date.UTC(2026, month, 1);
      const isLast = month === MONTHS - 1;
      const seq = 2 * month + 1;
      const end = Date.UTC(2026, month + 1, 1);
      credit.run(
        id,
        seq,
        `g${n}-${seq}`,
        isLast ? 5_000_000_000 : 0,
        isLast ? 0 : 9,
        end,
        at,
        isLast ? null : 0,
        isLast ? null : end,
        isLast ? 1 : 0,
      );
      transfer.run(id, seq, `g${n}-${seq}`, 1, 2, 1, 20_000_000_000, at, null);
      if (!isLast)
        transfer.run(id, seq + 1, `expiry-${seq}-${seq + 1}`, 7, 1, 4, 9, end, JSON.stringify([[seq, 9]]));
    }
    for (let day = 0; day < 27; day++)
      for (const model of ["a", "b"])
        for (const insert of days) insert.run(id, Date.UTC(2026, 5, 1 + day), model);
  }
  file.run(
    `UPDATE usage_cursor SET version = 1, hours_from_ms = 0, hours_to_ms = ${NOW_MS}, days_from_ms = 0, days_to_ms = ${Date.UTC(2026, 5, 28)}, totals_from_ms = 0, totals_version = 1`,
  );
})();
file.run("ANALYZE");
file.close();

const figures = createFigures(storage);
for (const name of ["first", "second", "third"]) {
  await time(`${name} figures`, () => figures.read());
  await time(`${name} accounts at risk`, () => findAtRisk(storage));
}
await storage.close();

async function time(name: string, work: () => Promise<unknown>): Promise<void> {
  const [startMs, cpu] = [performance.now(), process.cpuUsage()];
  await work();
  const { user, system } = process.cpuUsage(cpu);
  console.log(
    `${name}: ${Math.round(performance.now() - startMs)} ms, ${Math.round((user + system) / 1_000)} ms of CPU`,
  );
}
