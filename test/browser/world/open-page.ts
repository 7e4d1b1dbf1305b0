import type { Browser } from "playwright-core";
import { openWatchedPage, type WatchedPage, type WatchOptions } from "../../support/chromium.ts";
import type { SignedIn } from "./signed-in.ts";

export type PageOptions = Omit<WatchOptions, "origin">;

/** Opens a page as a person who is signed in, or as a visitor, and waits until it shows what it has to. */
export async function openPageAs(
  browser: Browser,
  {
    url,
    path,
    person,
  }: { readonly url: string; readonly path: string; readonly person: SignedIn | undefined },
  options: PageOptions = {},
): Promise<WatchedPage> {
  const watched = await openWatchedPage(browser, { origin: url, ...options });
  const [name = "", value = ""] = person?.cookie.split("=", 2) ?? [];
  if (person) await watched.context.addCookies([{ name, value, url: `${url}/console` }]);
  await watched.page.goto(`${url}${path}`);
  await settled(watched);
  return watched;
}

/** Waits until the page has a heading and nothing of it is still loading. */
export async function settled({ page }: WatchedPage): Promise<void> {
  await page.locator("h1").first().waitFor({ timeout: 120_000 });
  await page.waitForFunction(
    () => document.querySelector('[aria-busy="true"], [data-skeleton]') === null,
    undefined,
    {
      timeout: 120_000,
    },
  );
}
