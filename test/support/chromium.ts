import { type Browser, type BrowserContext, chromium, type Page } from "playwright-core";
import { requireProgram } from "./installed-programs.ts";

/** Long enough for a busy machine: a test waits for a fact, and never fails for slowness alone. */
const WAIT_MS = 120_000;

/**
 * Installs Debian's headless shell of Chromium if needed and returns its path. A page costs it a third less CPU
 * than the whole browser.
 */
export function requireChromium(): Promise<string> {
  return requireProgram({
    name: "chromium-headless-shell",
    folders: ["/usr/bin"],
    debianPackage: "chromium-headless-shell",
    variable: "PATH",
  });
}

/** Starts a headless Chromium. It ends with `close`, or with this process. */
export async function startChromium(): Promise<Browser> {
  return chromium.launch({
    executablePath: await requireChromium(),
    // Debian's sandbox refuses root, and containers have a small /dev/shm.
    args: ["--no-sandbox", "--disable-dev-shm-usage", "--disable-gpu"],
  });
}

export interface WatchOptions {
  /** Origin of the console. A request to another origin is a fault. */
  readonly origin: string;
  readonly width?: number;
  readonly height?: number;
  readonly theme?: "light" | "dark";
  readonly timeZone?: string;
  /** Default: "en-GB". */
  readonly language?: string;
  /** Sent with every request. */
  readonly headers?: Readonly<Record<string, string>>;
}

/** A browser page whose faults are collected: policy violations, page errors, requests to other hosts. */
export interface WatchedPage {
  readonly page: Page;
  readonly context: BrowserContext;
  /** Every fault so far, in words. Must be empty at the end of each test. */
  readonly faults: readonly string[];
  /** Leaves the page. Removes cookies, stored values, routes and faults, and undoes changes of its size and theme. */
  clear(): Promise<void>;
  close(): Promise<void>;
}

/** Opens a page in a context of its own: no cookie is shared with other pages. */
export async function openWatchedPage(browser: Browser, options: WatchOptions): Promise<WatchedPage> {
  const {
    origin,
    width = 1280,
    height = 900,
    theme = "light",
    timeZone = "Europe/Berlin",
    language = "en-GB",
    headers = {},
  } = options;
  const context = await browser.newContext({
    viewport: { width, height },
    colorScheme: theme,
    timezoneId: timeZone,
    locale: language,
    reducedMotion: "reduce",
    extraHTTPHeaders: { ...headers },
    permissions: ["clipboard-read", "clipboard-write"],
  });
  context.setDefaultTimeout(WAIT_MS);
  const faults: string[] = [];
  await context.exposeBinding("__violated", (_source, text: string) => faults.push(`policy: ${text}`));
  await context.addInitScript(() => {
    const report = (window as unknown as { __violated(text: string): void }).__violated;
    document.addEventListener("securitypolicyviolation", (event) => {
      report(`${event.effectiveDirective} ${event.blockedURI} ${event.sourceFile ?? ""}`);
    });
  });
  const page = await context.newPage();
  page.on("pageerror", (error) => faults.push(`page error: ${error.message}`));
  page.on("console", (message) => {
    // React reports what a page's error boundary caught. A refused call of the API is no fault.
    const isFault = message.type() === "error" && !message.text().startsWith("Failed to load resource");
    if (isFault) faults.push(`console: ${message.text().slice(0, 200)}`);
  });
  page.on("request", (request) => {
    const url = new URL(request.url());
    const isOwn = url.origin === origin || url.protocol === "data:" || url.protocol === "blob:";
    if (!isOwn) faults.push(`another host: ${url.origin}`);
  });
  return {
    page,
    context,
    faults,
    async clear() {
      await page.unrouteAll({ behavior: "ignoreErrors" });
      // A page without scripts of the same origin: the browser's process and what it has loaded are kept.
      await page.goto(`${origin}/healthz`);
      await page.evaluate(() => {
        localStorage.clear();
        sessionStorage.clear();
      });
      await context.clearCookies();
      await page.setViewportSize({ width, height });
      await page.emulateMedia({ colorScheme: theme, reducedMotion: "reduce" });
      faults.length = 0;
    },
    close: () => context.close(),
  };
}
