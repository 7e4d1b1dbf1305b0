import { readFileSync } from "node:fs";
import type { Page } from "playwright-core";

const AXE = readFileSync(require.resolve("axe-core/axe.min.js"), "utf8");

interface AxeRun {
  readonly violations: readonly {
    readonly id: string;
    readonly impact: string;
    readonly nodes: readonly { readonly html: string; readonly failureSummary?: string }[];
  }[];
}

/**
 * Returns the serious and critical accessibility faults of a page, one line each; of its open dialog alone where one
 * is open, because the page behind is inert.
 */
export async function findAccessibilityFaults(page: Page): Promise<readonly string[]> {
  // Evaluated by the debugger, because the page's policy refuses scripts of others. Costs 100 ms of CPU, and
  // stays until the document is left.
  if (!(await page.evaluate(() => "axe" in window))) await page.evaluate(AXE);
  const run = await page.evaluate<AxeRun>(
    "axe.run(document.querySelector('[role=dialog]') ?? document, { resultTypes: ['violations'] })",
  );
  return run.violations
    .filter(({ impact }) => impact === "serious" || impact === "critical")
    .flatMap(({ id, nodes }) => nodes.map(({ html }) => `${id}: ${html.slice(0, 160)}`));
}
