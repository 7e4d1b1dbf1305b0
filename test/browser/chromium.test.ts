import { afterAll, beforeAll, expect, test } from "bun:test";
import type { Browser } from "playwright-core";
import { findAccessibilityFaults } from "../support/axe.ts";
import { openWatchedPage, startChromium } from "../support/chromium.ts";

const HTML = { "content-type": "text/html; charset=utf-8" };
const POLICY = "default-src 'none'; script-src 'self'; style-src 'self'";

let browser: Browser;
let server: ReturnType<typeof Bun.serve>;
beforeAll(async () => {
  browser = await startChromium();
  server = Bun.serve({
    port: 0,
    fetch: ({ url }) =>
      new URL(url).pathname === "/bad"
        ? new Response(
            `<html lang="en"><title>t</title><style>b{}</style><img src="http://127.0.0.2/x.png"><button></button>`,
            { headers: { ...HTML, "content-security-policy": POLICY } },
          )
        : new Response(`<html lang="en"><title>t</title><main><h1>Hello</h1></main>`, { headers: HTML }),
  });
});
afterAll(async () => {
  await browser.close();
  await server.stop(true);
});

test("a page with an inline style, another host and a nameless button has these faults", async () => {
  const watched = await openWatchedPage(browser, { origin: server.url.origin });
  await watched.page.goto(`${server.url.origin}/bad`);
  expect(await findAccessibilityFaults(watched.page)).toContainEqual(expect.stringContaining("button-name"));
  expect(watched.faults).toContainEqual(expect.stringContaining("policy: style-src"));
  expect(watched.faults.join()).toContain("127.0.0.2");
  await watched.close();
});

test("a plain page has no fault", async () => {
  const watched = await openWatchedPage(browser, { origin: server.url.origin });
  await watched.page.goto(server.url.origin);
  expect(await findAccessibilityFaults(watched.page)).toEqual([]);
  expect(watched.faults).toEqual([]);
  await watched.close();
});
