import { describe, expect, test } from "bun:test";
import type { Page } from "playwright-core";
import { untilTitled } from "./world/forms.ts";
import { browse } from "./world/open-page.ts";
import { PASSWORD } from "./world/world.ts";
import { worldForTests } from "./world/world-for-tests.ts";

/** Long enough for a busy machine. */
const FOCUS_MS_MAX = 60_000;
/** More than any page has places for the focus. */
const TABS_MAX = 120;

const { world, browser } = worldForTests({ days: 1, perDay: 20 });

const account = () => `/console/accounts/${world.acme.accountId}`;

test("a person signs in and creates a key with the keyboard alone", async () => {
  const path = `${account()}/keys`;
  await browse(browser, { url: world.url, path }, async (page) => {
    // The first field has the focus by itself.
    await untilFocused(page, "E-mail");
    await page.keyboard.type(world.emails.owner);
    await page.keyboard.press("Tab");
    await page.keyboard.type(PASSWORD);
    await page.keyboard.press("Enter");
    await untilTitled(page, "Keys");
    await tabTo(page, "Create key");
    await page.keyboard.press("Enter");
    await page.getByRole("dialog", { name: "Create a key" }).waitFor();
    await tabTo(page, "Name");
    await page.keyboard.type("made by keyboard");
    await page.keyboard.press("Enter");
    await page.getByRole("dialog", { name: /is ready/ }).waitFor();
    await tabTo(page, "I have stored it");
    await page.keyboard.press("Enter");
    await page.getByRole("row", { name: /made by keyboard/ }).waitFor();
  });
});

test("Ctrl K finds a request by its id, and Escape gives the focus back", async () => {
  const { items } = await world.owner.call("GET", `/accounts/${world.acme.accountId}/requests`);
  const [{ id }] = items;
  await browse(browser, { url: world.url, path: account(), person: world.owner }, async (page) => {
    const search = page.getByRole("combobox", { name: /request id/ });
    await tabTo(page, "Keys");
    await page.keyboard.press("Control+k");
    await search.waitFor();
    await page.keyboard.press("Escape");
    // A dialog that is closed but still in the page would take the second Ctrl K for its own.
    await page.locator("dialog").waitFor({ state: "detached" });
    await untilFocused(page, "Keys");
    await page.keyboard.press("Control+k");
    await search.waitFor();
    await page.keyboard.type(id);
    await page
      .getByRole("option")
      .filter({ hasText: /request$/ })
      .waitFor();
    await page.keyboard.press("Enter");
    await untilTitled(page, "Receipt");
    expect(page.url()).toEndWith(id);
  });
});

test("the first place of the focus skips the navigation", async () => {
  const path = `${account()}/keys`;
  await browse(browser, { url: world.url, path, person: world.owner }, async (page) => {
    await page.keyboard.press("Tab");
    await untilFocused(page, "Skip to the page");
    expect(await isFocusVisible(page)).toBe(true);
    await page.keyboard.press("Enter");
    await page.keyboard.press("Tab");
    await page.waitForFunction(() => document.activeElement?.closest("main"));
  });
});

test.each(["", "/keys", "/wallet"])(
  "the focus is seen at every place of %p and is never lost",
  async (path) => {
    const visit = { url: world.url, path: `${account()}${path}`, person: world.owner };
    await browse(browser, visit, async (page) => {
      const unseen: string[] = [];
      let places = 0;
      for (; places < TABS_MAX; places++) {
        await page.keyboard.press("Tab");
        // Behind the last place comes the browser itself.
        if (await page.evaluate(() => document.activeElement === document.body)) break;
        if (!(await isFocusVisible(page))) unseen.push(await focusedName(page));
      }
      expect(unseen).toEqual([]);
      expect(places).toBeGreaterThan(15);
      expect(places).toBeLessThan(TABS_MAX);
    });
  },
);

test("a link is made and revoked with the keyboard alone, and the focus stays in its page", async () => {
  const path = `${account()}/links`;
  await browse(browser, { url: world.url, path, person: world.owner }, async (page) => {
    const dialog = page.getByRole("dialog");
    await tabTo(page, "Create link");
    await page.keyboard.press("Enter");
    await dialog.waitFor();
    await tabTo(page, "Create link");
    await page.keyboard.press("Enter");
    await untilFocused(page, "Copy link");
    await page.keyboard.press("Escape");
    await page.keyboard.press("Escape");
    await untilFocused(page, "Create link");
    await tabTo(page, /^Revoke/);
    await page.keyboard.press("Enter");
    await untilFocused(page, "Cancel");
    await page.keyboard.press("Tab");
    await page.keyboard.press("Enter");
    await page.getByRole("status").getByText("Link revoked").waitFor();
    // The row is gone, and its button with it.
    await page.waitForFunction(() => document.activeElement?.closest("main"));
  });
});

test("a row's page gets the focus, its menu opens by arrows, and Escape returns to the menu", async () => {
  const path = `${account()}/keys`;
  await browse(browser, { url: world.url, path, person: world.owner }, async (page) => {
    await tabTo(page, /^production/);
    await page.keyboard.press("Enter");
    await untilTitled(page, "production");
    await page.waitForFunction(() => document.activeElement?.matches("main"));
    await tabTo(page, /^More for key/);
    await page.keyboard.press("ArrowDown");
    await untilFocused(page, "Revoke");
    await page.keyboard.press("Enter");
    await page.getByRole("dialog", { name: /^Revoke/ }).waitFor();
    await untilFocused(page, /^Type/);
    await page.keyboard.press("Escape");
    await untilFocused(page, /^More for key/);
  });
});

test("arrow keys mark a range of a chart, and Enter opens it with its own sums", async () => {
  const path = `${account()}/usage?range=7d`;
  await browse(browser, { url: world.url, path, person: world.owner }, async (page) => {
    const reading = page.locator("figcaption").first();
    await tabTo(page, /^Cost per/);
    await page.keyboard.press("ArrowLeft");
    await page.keyboard.press("Shift+ArrowLeft");
    await reading.getByText(/ – .*: \$/).waitFor();
    await page.keyboard.press("Enter");
    await page.waitForURL(/from=/);
    await reading.getByText(/^In total \$/).waitFor();
  });
});

describe("an operator without a mouse", () => {
  const visit = (page: string) => ({
    url: world.url,
    path: `/console/operator/${page}`,
    person: world.operator,
  });
  const answer = async (page: Page, button: string) => {
    await page.getByRole("dialog").waitFor();
    await untilFocused(page, "Cancel");
    await tabTo(page, button);
    await page.keyboard.press("Enter");
    await page.getByRole("dialog").waitFor({ state: "detached" });
  };

  test("adds credit by the menu of an account, which has the focus afterwards", async () => {
    await browse(browser, visit("accounts"), async (page) => {
      await tabTo(page, "Actions of account Acme");
      await page.keyboard.press("ArrowDown");
      await untilFocused(page, /^Add credit/);
      await page.keyboard.press("Enter");
      await untilFocused(page, "Amount in USD");
      await page.keyboard.type("5");
      await tabTo(page, "Reason");
      await page.keyboard.type("goodwill");
      await page.keyboard.press("Enter");
      await page.getByRole("status").getByText("Credit added").waitFor();
      await untilFocused(page, "Actions of account Acme");
    });
  });

  test("opens and closes a circuit by a button that keeps the focus", async () => {
    await browse(browser, visit("health"), async (page) => {
      await tabTo(page, "Open the circuit of anthropic");
      await page.keyboard.press("Enter");
      await answer(page, "Open the circuit");
      await untilFocused(page, "Close the circuit of anthropic");
      await page.keyboard.press("Enter");
      await answer(page, "Close the circuit");
      await untilFocused(page, "Open the circuit of anthropic");
    });
  });

  test("creates and revokes a code, and the focus stays in the page", async () => {
    await browse(browser, visit("codes"), async (page) => {
      await tabTo(page, "Create codes");
      await page.keyboard.press("Enter");
      await untilFocused(page, "Amount of each in USD");
      await page.keyboard.type("3");
      await page.keyboard.press("Enter");
      await page.getByRole("region", { name: "code", exact: true }).waitFor();
      await tabTo(page, "I have stored it");
      await page.keyboard.press("Enter");
      // The button of the empty page is gone.
      await page.waitForFunction(() => document.activeElement?.closest("main"));
      await tabTo(page, /^Revoke code/);
      await page.keyboard.press("Enter");
      await answer(page, "Revoke");
      await page.getByRole("status").getByText("Code revoked").waitFor();
      await page.waitForFunction(() => document.activeElement?.closest("main"));
    });
  });
});

test("a question mark lists the keys, and g with a letter opens a page", async () => {
  await browse(browser, { url: world.url, path: account(), person: world.owner }, async (page) => {
    await page.keyboard.press("?");
    const help = page.getByRole("dialog", { name: "Keyboard" });
    await help.getByText("Go to Wallet").waitFor();
    await page.keyboard.press("Escape");
    await help.waitFor({ state: "detached" });
    const wallet = page.getByRole("heading", { level: 1, name: "Wallet" });
    // On a busy machine, more time than a sequence has may pass between its keys.
    while (!(await wallet.isVisible())) {
      for (const key of ["g", "w"]) await page.keyboard.press(key);
      await wallet.waitFor({ timeout: 5_000 }).catch(() => {});
    }
  });
});

/** Presses Tab until something with this name has the focus. */
async function tabTo(page: Page, name: string | RegExp): Promise<void> {
  for (let count = 0; count < TABS_MAX; count++) {
    if (isNamed(await focusedName(page), name)) return;
    await page.keyboard.press("Tab");
  }
  throw new Error(`Tab does not reach "${name}"`);
}

function isNamed(text: string, name: string | RegExp): boolean {
  return typeof name === "string" ? text === name : name.test(text);
}

/** Waits until something with this name has the focus, which dialogs take and give back a little later. */
async function untilFocused(page: Page, name: string | RegExp): Promise<void> {
  const deadline = performance.now() + FOCUS_MS_MAX;
  while (!isNamed(await focusedName(page), name)) {
    if (performance.now() > deadline) throw new Error(`"${name}" gets no focus`);
    await Bun.sleep(20);
  }
}

/** The name of what has the focus: its label, or its text. */
function focusedName(page: Page): Promise<string> {
  return page.evaluate(() => {
    const focused = document.activeElement;
    const label = focused instanceof HTMLInputElement ? focused.labels?.[0]?.textContent : undefined;
    return (focused?.getAttribute("aria-label") ?? label ?? focused?.textContent ?? "").trim();
  });
}

/** Whether a whole ring shows the focus, around its element or around its row. */
async function isFocusVisible(page: Page): Promise<boolean> {
  // A busy machine paints the focus and scrolls to it a little later.
  const deadline = performance.now() + FOCUS_MS_MAX;
  while (performance.now() < deadline) {
    if (await isFocusVisibleNow(page)) return true;
    await Bun.sleep(50);
  }
  return false;
}

function isFocusVisibleNow(page: Page): Promise<boolean> {
  return page.evaluate(() => {
    const focused = document.activeElement as HTMLElement | null;
    if (!focused) return false;
    const box = focused.getBoundingClientRect();
    const isInView = box.width > 0 && box.height > 0 && box.bottom > 0 && box.top < innerHeight;
    const isRinged = (element: Element) => {
      const { outlineStyle, outlineWidth, outlineOffset, display } = getComputedStyle(element);
      if (outlineStyle === "none" || outlineWidth === "0px") return false;
      // Chromium draws no ring around an inline element that holds blocks.
      const isBlock = (each: Element) => !getComputedStyle(each).display.startsWith("inline");
      if (display === "inline" && [...element.children].some(isBlock)) return false;
      return !isCut(element, Number.parseFloat(outlineWidth) + Number.parseFloat(outlineOffset));
    };
    /** Whether an element around this one hides what is this far outside of it. */
    const isCut = (element: Element, outside: number) => {
      const { left, right, top, bottom } = element.getBoundingClientRect();
      for (let each = element.parentElement; each && each !== document.body; each = each.parentElement) {
        const { overflowX, overflowY } = getComputedStyle(each);
        const edge = each.getBoundingClientRect();
        // The ring of a row goes on to the right where its table is scrolled.
        const goesOn = each.scrollWidth > each.clientWidth;
        const isBeside = left - outside < edge.left || (right + outside > edge.right && !goesOn);
        const isAbove = top - outside < edge.top || bottom + outside > edge.bottom;
        if ((overflowX !== "visible" && isBeside) || (overflowY !== "visible" && isAbove)) return true;
      }
      return false;
    };
    const row = focused.closest("tr");
    return isInView && (isRinged(focused) || (row !== null && isRinged(row)));
  });
}
