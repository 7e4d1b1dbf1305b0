import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { startChromium } from "../support/chromium.ts";
import { until } from "../support/until.ts";
import { signInAgain } from "./company.ts";
import { keyLeft, questionOf, reckonedLeft, serviceLeft } from "./limits.ts";
import { type Month, startMonth } from "./month.ts";
import { download, openPages, type Pages, readRows, sumUsagePage } from "./pages.ts";
import * as places from "./places.ts";
import { playMonth } from "./play.ts";
import { LIMITS, Reckoning } from "./reckoning.ts";
import { type AccountName, FUNDS, KEYS, type KeyName, MONTH, writeScript } from "./script.ts";
import { addTo, KINDS, listed, nanosOf, type Question, readCsv, reckonedSums, type Sums } from "./sums.ts";

const ACCOUNTS: readonly AccountName[] = ["north", "south"];
/** What a statement can be split by. */
const SPLIT = ["project", "member", "key"] as const;
/** The keys that keys made end 6 hours before the month does. */
const PASSED_MS = 8 * 3_600_000;

/** One gateway on SQLite, or with `bun run month:postgres` two on one PostgreSQL and one Redis. */
const DIALECT = process.env.TEST_MONTH === "postgres" ? "postgres" : "sqlite";

const reckoning = new Reckoning();
let month: Month;
beforeAll(async () => {
  month = await startMonth(DIALECT);
});
afterAll(() => month?.close());

test("each request of a month is admitted, or declined by the limit that the reckoning names", async () => {
  const { clock, company, urls } = month.stage;
  const differences = await playMonth(month.stage, writeScript(), reckoning);
  await clock.passTo(MONTH.toMs - PASSED_MS);
  await signInAgain(urls[0] ?? "", company);
  expect(differences.slice(0, 3)).toEqual([]);
  // Every level was met.
  const met = [...reckoning.declines.keys()].sort();
  expect(met).toEqual(["", "request", "run", ...LIMITS.map(({ id }) => id)].sort());
}, 900_000);

test("every gateway is ready at the end, and counts where the others do", async () => {
  for (const url of month.stage.urls) {
    const mode = DIALECT === "postgres" ? "redis" : "local";
    const checks = { limiter: { ok: true, mode } };
    expect(await (await fetch(`${url}/readyz`)).json()).toMatchObject({ status: "ready", checks });
  }
});

function expectReckoned(question: Question, sums: Sums): void {
  const reckoned = reckonedSums(reckoning.spent, month.stage.company.ids, question);
  expect([question, listed(sums)]).toEqual([question, listed(reckoned)]);
}

describe.each(ACCOUNTS)("the sums of %s equal the reckoning to the nano", (account) => {
  const idOfAccount = () => month.stage.company.accountIds[account];

  test("in the usage of the console's API", async () => {
    for (const kind of KINDS) {
      const question = { account, kind };
      expectReckoned(question, await places.sumUsage(month.stage.company, question));
    }
  });

  test("in the statements of console and command line", async () => {
    for (const kind of SPLIT) {
      const question = { account, kind };
      expectReckoned(question, await places.sumStatement(month.stage.company, question));
      expectReckoned(question, await places.sumStatementFile(month.stage.company, question));
      expectReckoned(question, await places.sumCommand(month.desk, question));
    }
  });

  test("in the usage, the transfers and the receipts of the gRPC service", async () => {
    const { grpc } = month.stage;
    const sumOfReceipts = await places.readReceipts(grpc, idOfAccount());
    for (const kind of KINDS) {
      const question = { account, kind };
      expectReckoned(question, await places.sumService(grpc, idOfAccount(), question));
      expectReckoned(question, await places.sumTransfers(grpc, idOfAccount(), question));
      expectReckoned(question, sumOfReceipts(kind));
    }
  });

  test("in the lines of an export", async () => {
    const expected = reckoning.admitted.get(account) ?? 0;
    await until(() => places.countExported(month.exportPath, idOfAccount()) === expected);
    const sumOfLines = places.sumExport(month.exportPath, idOfAccount());
    for (const kind of KINDS) expectReckoned({ account, kind }, sumOfLines(kind));
  });

  test("in balance and whole statement", async () => {
    const { company, grpc } = month.stage;
    const closing = FUNDS[account] - (reckoning.spent.get(account) ?? 0n);
    const { balances } = await grpc.call("GetWallet", { walletId: idOfAccount() });
    expect(balances).toMatchObject({ postedNanos: String(closing), heldNanos: "0" });
    const at = `/accounts/${idOfAccount()}/wallet`;
    const owner = company.owners[account];
    expect(nanosOf((await owner.call("GET", at)).posted_usd)).toBe(closing);
    const [line] = (await owner.call("GET", `${at}/statements`)).items;
    const ends = [line.month, nanosOf(line.opening_usd), nanosOf(line.closing_usd)];
    expect(ends).toEqual([MONTH.name, FUNDS[account], closing]);
    const rows = readCsv(await owner.call("GET", `${at}/statement.csv?month=${MONTH.name}`));
    expect(nanosOf(rows.at(-1)?.balance_usd ?? "")).toBe(closing);
    const told = await places.ask(month.desk, ["statement", "--month", MONTH.name, "--account", account]);
    expect(nanosOf(told.accounts[0].closing_usd)).toBe(closing);
  });
});

test.each(Object.keys(KEYS) as KeyName[])(
  "the limits of key %s have left what the reckoning has",
  async (key) => {
    const question = questionOf(key, month.stage.clock.nowMs);
    expect(await serviceLeft(month.stage, question)).toEqual(reckonedLeft(reckoning, question, true));
    for (const url of month.stage.urls)
      expect(await keyLeft(url, month.stage, question)).toEqual(reckonedLeft(reckoning, question, false));
  },
);

describe("the console's pages show the reckoning to the nano", () => {
  let pages: Pages;
  beforeAll(async () => {
    const { urls, clock, company } = month.stage;
    pages = await openPages(await startChromium(), { url: urls[0] ?? "", nowMs: clock.nowMs, company });
  });
  afterAll(async () => {
    expect(await pages.close()).toEqual([]);
  });

  test.each(ACCOUNTS)(
    "on the usage page of %s",
    async (account) => {
      for (const kind of KINDS) {
        const question = { account, kind };
        const shown = await sumUsagePage(pages, question);
        expect([question, listed(shown)]).toEqual([question, listed(namesOf(question, shown))]);
      }
    },
    300_000,
  );

  test.each(ACCOUNTS)("in the statements of %s, and in their files", async (account) => {
    const page = await pages.open(account, "/wallet?tab=statements");
    const [row] = await readRows(page, "Statements by month");
    expect(row).toEqual(["June 2026", FUNDS[account]]);
    for (const kind of ["project", "member"] as const) {
      const link = page.locator(`a[href*="month=${MONTH.name}&by=${kind}"]`);
      const file = readCsv(await download(page, () => link.click()));
      expectReckoned({ account, kind }, places.sumLines(file.filter((line) => line.charged_usd !== "")));
    }
  });

  test("on the page of a project, by key and end user", async () => {
    const { company } = month.stage;
    const id = company.ids.get("south project shop");
    const page = await pages.open("south", `/projects/${id}?by=key`);
    const rows = new Map(await readRows(page, "Usage of the project by key"));
    expect(listed(rows)).toEqual(listed(namesOf({ account: "south", kind: "key" }, rows)));
    const users = await pages.open("south", `/projects/${id}`);
    const dearest = await readRows(users, "Usage of the project by end user");
    for (const [name, nanos] of dearest.filter(([each]) => each.startsWith("regular-")))
      expect([name, nanos]).toEqual([name, reckoning.spent.get(`south end_user ${name}`) ?? 0n]);
    expect(dearest.length).toBeGreaterThan(12);
  });
});

/** The reckoned sums by the names that a page shows. Those that it sums up as other are taken together. */
function namesOf({ account, kind }: Question, shown: Sums): Sums {
  const reckoned = reckonedSums(reckoning.spent, new Map(), { account, kind });
  const nothing = kind === "feature" || kind === "team" ? "no tag" : `no ${kind.replace("_", " ")}`;
  const titles: Readonly<Record<string, string>> = {
    "": nothing.replace("parent key", "key above"),
    default: "Default",
  };
  const renamed = new Map<string, bigint>();
  for (const [name, amount] of reckoned) {
    const title = titles[name] ?? (kind === "run" ? name.slice(name.indexOf(":") + 1) : name);
    addTo(renamed, shown.has(title) || amount === 0n ? title : "Others", amount);
  }
  return renamed;
}
