import { expect } from "bun:test";
import type { Browser, Page } from "playwright-core";
import { openWatchedPage, type WatchedPage, type WatchOptions } from "../../support/chromium.ts";
import type { SignedIn } from "./signed-in.ts";

export type PageOptions = Omit<WatchOptions, "origin">;

/** What to open, and who looks at it; `undefined` is a visitor without a session. */
export interface Visit {
  readonly url: string;
  readonly path: string;
  readonly person?: SignedIn | undefined;
}

/** Opens a page and uses it. Fails on a policy violation, a page error or a request to another host. */
export async function browse<Result>(
  browser: Browser,
  visit: Visit,
  use: (page: Page, watched: WatchedPage) => Promise<Result>,
  options: PageOptions = {},
): Promise<Result> {
  const watched = await openPageAs(browser, visit, options);
  try {
    const result = await use(watched.page, watched);
    expect(watched.faults).toEqual([]);
    return result;
  } finally {
    await watched.close();
  }
}

/** Pages that tests have closed, by their origin and options: a page of a new process costs three times the CPU. */
const closed = new WeakMap<Browser, Map<string, WatchedPage[]>>();

/**
 * Opens a page as a person who is signed in, or as a visitor, and waits until it shows what it has to. When it is
 * closed, it is cleared and kept for the next one; only what the browser has loaded is left.
 */
export async function openPageAs(
  browser: Browser,
  visit: Visit,
  options: PageOptions = {},
): Promise<WatchedPage> {
  const pages = closed.get(browser) ?? new Map<string, WatchedPage[]>();
  closed.set(browser, pages);
  const like = JSON.stringify([visit.url, options]);
  const kept = pages.get(like) ?? [];
  pages.set(like, kept);
  const watched = kept.pop() ?? (await openWatchedPage(browser, { origin: visit.url, ...options }));
  await show(watched, visit);
  // A page whose gateway has ended cannot be cleared.
  const close = () =>
    watched.clear().then(
      () => void kept.push(watched),
      () => watched.close(),
    );
  return { ...watched, close };
}

/** Opens a page in a browser process of its own, which has loaded nothing before. */
export async function openNewPageAs(browser: Browser, visit: Visit): Promise<WatchedPage> {
  const watched = await openWatchedPage(browser, { origin: visit.url });
  await show(watched, visit);
  return watched;
}

async function show(watched: WatchedPage, { url, path, person }: Visit): Promise<void> {
  const [name = "", value = ""] = person?.cookie.split("=", 2) ?? [];
  if (person) await watched.context.addCookies([{ name, value, url: `${url}/console` }]);
  await watched.page.goto(`${url}${path}`);
  await settled(watched);
}

/** Waits until the page has a heading and nothing of it is still loading. */
export async function settled({ page }: WatchedPage): Promise<void> {
  await page.locator("h1").first().waitFor();
  await page.waitForFunction(() => document.querySelector('[aria-busy="true"], [data-skeleton]') === null);
}

/** Closes a page at the end of a test. Fails on its faults. */
export async function finish(watched: WatchedPage): Promise<void> {
  await settled(watched);
  expect(watched.faults).toEqual([]);
  await watched.close();
}

const NOWHERE = { path: "/console/nowhere", heading: "There is no such page" };

/**
 * Goes to another page of the open console as a link does, without loading the console again: a third of the CPU.
 * The page of an unknown path is shown between, so that nothing of the page before is left or taken for the
 * new one.
 */
export async function followPath(watched: WatchedPage, path: string): Promise<void> {
  const { page } = watched;
  await page.evaluate((to) => history.pushState({}, "", to), NOWHERE.path);
  await page.getByRole("heading", { name: NOWHERE.heading }).waitFor();
  await page.evaluate((to) => history.pushState({}, "", to), path);
  await page.getByRole("heading", { name: NOWHERE.heading }).waitFor({ state: "detached" });
  await settled(watched);
}
