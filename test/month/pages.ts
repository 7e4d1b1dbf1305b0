import type { Browser, Page } from "playwright-core";
import { followPath, openPageAs, settled, type Visit } from "../browser/world/open-page.ts";
import type { WatchedPage } from "../support/chromium.ts";
import type { Company } from "./company.ts";
import { type AccountName, MONTH } from "./script.ts";
import { addTo, type Kind, type Question, type Sums } from "./sums.ts";

/** The console's pages in a browser whose clock stands where the gateway's does. */
export interface Pages {
  /** Opens a page of an account as its owner. */
  open(account: AccountName, path: string): Promise<Page>;
  /** Closes the browser. Returns what the pages have complained of. */
  close(): Promise<readonly string[]>;
}

export async function openPages(
  browser: Browser,
  { url, nowMs, company }: { readonly url: string; readonly nowMs: number; readonly company: Company },
): Promise<Pages> {
  const watched = new Map<AccountName, WatchedPage>();
  const openAt = async (address: string, account: AccountName) => {
    const visit: Visit = { url, path: address, person: company.owners[account] };
    const opened = await openPageAs(browser, visit, { timeZone: "UTC" });
    await opened.page.clock.setFixedTime(nowMs);
    await opened.page.goto(`${url}${address}`);
    await settled(opened);
    return opened;
  };
  return {
    async open(account, path) {
      const address = `/console/accounts/${company.accountIds[account]}${path}`;
      const known = watched.get(account) ?? (await openAt(address, account));
      watched.set(account, known);
      await followPath(known, address);
      return known.page;
    },
    async close() {
      await browser.close();
      return [...watched.values()].flatMap(({ faults }) => faults);
    },
  };
}

/** The rows of a table: the text of the first cell, and the first amount in nano-USD. */
export async function readRows(page: Page, caption: string): Promise<readonly (readonly [string, bigint])[]> {
  const rows = await page
    .getByRole("group", { name: caption })
    .locator("tbody tr")
    .evaluateAll((each) =>
      each.map((row) => [
        row.querySelector("th, td")?.textContent?.trim() ?? "",
        row.querySelector("data[data-nanos]")?.getAttribute("data-nanos") ?? "0",
      ]),
    );
  return rows.map(([name = "", nanos = ""]) => [name, BigInt(nanos)] as const);
}

/** The usage page of the month, divided by a kind: the names that it shows, with their cost. */
export async function sumUsagePage(pages: Pages, { account, kind }: Question): Promise<Sums> {
  const isTag = kind === "feature" || kind === "team";
  const days = { from: `${MONTH.name}-01`, to: `${MONTH.name}-30` };
  const group = isTag ? { group: "tag", tag: kind } : { group: kind };
  const page = await pages.open(account, `/usage?${new URLSearchParams({ ...days, ...group })}`);
  const sums = new Map<string, bigint>();
  for (const [name, nanos] of await readRows(page, `Cost and tokens by ${captionOf(kind)}`))
    addTo(sums, name, nanos);
  return sums;
}

function captionOf(kind: Kind): string {
  const captions: Partial<Record<Kind, string>> = { end_user: "end user", parent_key: "key above" };
  return kind === "feature" || kind === "team" ? "tag" : (captions[kind] ?? kind);
}

/** Presses a link that downloads a file, and reads it. */
export async function download(page: Page, press: () => Promise<void>): Promise<string> {
  const downloading = page.waitForEvent("download");
  await press();
  return Bun.file(await (await downloading).path()).text();
}
