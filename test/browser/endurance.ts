// bun run console:endurance [--navigations N]   opens the pages of the console by its links, 500 times by default, beside
//                           50 requests a second. Prints how long each page takes, and the browser's memory: it must be
//                           flat. Ends with 1 where a median is above 300 ms, or memory grew by more than a fifth.
import type { CDPSession, Page } from "playwright-core";
import { startChromium } from "../support/chromium.ts";
import { answerWith } from "../support/scripted-answers.ts";
import { openPageAs } from "./world/open-page.ts";
import { startWorld, type World } from "./world/world.ts";

const MODEL = "gpt-4.1-mini";
const REQUEST_EVERY_MS = 20;
const LOOKS = 5;
const MEDIAN_MS_MAX = 300;
const GROWTH_MAX = 1.2;
const PAGES = [
  "Overview",
  "Usage",
  "Requests",
  "Refusals",
  "Keys",
  "Projects",
  "Models",
  "Wallet",
  "Notices",
  "Team",
];

const option = Bun.argv.indexOf("--navigations");
const navigations = option > 0 ? Number(Bun.argv[option + 1]) : 500;
const world = await startWorld({ days: 20, perDay: 200 });
const browser = await startChromium();
const load = await startLoad(world);
const path = `/console/accounts/${world.acme.accountId}`;
const { page, context } = await openPageAs(browser, { url: world.url, path, person: world.owner });
const session = await context.newCDPSession(page);
const took = new Map<string, number[]>();
const heaps: number[] = [];
for (let turn = 0; turn < navigations; turn++) {
  const name = PAGES[turn % PAGES.length] ?? "";
  took.set(name, [...(took.get(name) ?? []), await visit(page, name)]);
  if (turn % Math.ceil(navigations / LOOKS) === 0) heaps.push(await readHeap(session));
}
heaps.push(await readHeap(session));
const answered = load.stop();
for (const [name, times] of took) console.log(`${median(times).toFixed(0).padStart(5)} ms  ${name}`);
console.log(`${answered} requests answered meanwhile`);
console.log(`memory in MB: ${heaps.map((bytes) => (bytes / 1e6).toFixed(1)).join(", ")}`);
const isSlow = [...took.values()].some((times) => median(times) > MEDIAN_MS_MAX);
// The first look is before most pages were loaded.
const grew = (heaps.at(-1) ?? 0) / (heaps[1] ?? 1) > GROWTH_MAX;
await browser.close();
await world.close();
process.exit(isSlow || grew ? 1 : 0);

/** Presses a link of the navigation, and returns how long its page took until nothing of it is being loaded. */
async function visit(opened: Page, name: string): Promise<number> {
  return opened.evaluate(async (title) => {
    const beganAtMs = performance.now();
    const links = [...document.querySelectorAll<HTMLAnchorElement>("nav a")];
    links.find(({ textContent }) => textContent?.startsWith(title))?.click();
    const isThere = () =>
      document.querySelector("h1")?.textContent === title && !document.querySelector("main [data-skeleton]");
    while (!isThere()) await new Promise((resolve) => requestAnimationFrame(resolve));
    return performance.now() - beganAtMs;
  }, name);
}

async function readHeap(opened: CDPSession): Promise<number> {
  await opened.send("HeapProfiler.collectGarbage");
  const { usedSize } = await opened.send("Runtime.getHeapUsage");
  return usedSize;
}

function median(values: readonly number[]): number {
  return values.toSorted((a, b) => a - b)[Math.floor(values.length / 2)] ?? 0;
}

/** Sends a request every 20 ms, whatever the answers take. */
async function startLoad({ url, upstream, owner, acme }: World): Promise<{ stop(): number }> {
  upstream.on(MODEL, answerWith({ text: "Hi.", usage: { input: 420, output: 64 } }));
  const { secret } = await owner.call("POST", `/accounts/${acme.accountId}/keys`, {
    name: "load",
    requests_per_minute: 1_000_000,
    tokens_per_minute: 1_000_000_000,
    concurrent_requests: 10_000,
  });
  const body = JSON.stringify({ model: MODEL, messages: [{ role: "user", content: "Hello" }] });
  const headers = { authorization: `Bearer ${secret}`, "content-type": "application/json" };
  let answered = 0;
  const timer = setInterval(() => {
    void fetch(`${url}/v1/chat/completions`, { method: "POST", headers, body })
      .then((answer) => answer.text().then(() => answer.ok && answered++))
      .catch(() => undefined);
  }, REQUEST_EVERY_MS);
  return {
    stop() {
      clearInterval(timer);
      return answered;
    },
  };
}
