import { afterAll, expect, test } from "bun:test";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createConsoleBuilder } from "../../src/app/console-build.ts";
import type { ConsoleBuild } from "../../src/http/console/pages.ts";
import { createCapturedLog } from "../support/captured-log.ts";
import { TEST_MS } from "../support/timeouts.ts";

const dataFolder = mkdtempSync(join(tmpdir(), "console-builder-"));
afterAll(() => rmSync(dataFolder, { recursive: true, force: true }));

test("two gateways that start at once share one build of the console", async () => {
  const log = createCapturedLog();
  const builders = [createConsoleBuilder({ dataFolder, log }), createConsoleBuilder({ dataFolder, log })];
  const [first, second] = await Promise.all(builders.map(untilBuilt));
  expect(second).toEqual(first);
  expect(first?.html).toContain('<div id="root">');
  for (const name of first?.assets ?? []) {
    expect(await Bun.file(join(first?.folder ?? "", name)).exists()).toBe(true);
  }
  for (const builder of builders) builder.close();
});

test("a page that waits for a build gets an answer within the wait, and the build goes on", async () => {
  const builder = createConsoleBuilder({ dataFolder, log: createCapturedLog() });
  const states = await Promise.all([builder.current(), builder.current(), builder.current()]);
  for (const state of states) expect(state).not.toBe("failed");
  await untilBuilt(builder);
  builder.close();
});

async function untilBuilt(builder: ReturnType<typeof createConsoleBuilder>): Promise<ConsoleBuild> {
  const end = Date.now() + TEST_MS / 2;
  while (Date.now() < end) {
    const state = await builder.current();
    if (typeof state === "object") return state;
    expect(state).toBe("building");
  }
  throw new Error("The console was not built in time");
}
