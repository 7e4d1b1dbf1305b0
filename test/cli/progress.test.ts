import { describe, expect, test } from "bun:test";
import { createProgress, runLongWork } from "../../src/cli/progress.ts";

/** A progress of 200 MB, whose clock the test moves. */
function openProgress(options: { readonly isTTY?: boolean; readonly json?: boolean }) {
  const printed: string[] = [];
  const clock = { ms: 0 };
  const output = { isTTY: options.isTTY, write: (text: string) => printed.push(text) };
  const progress = createProgress({ json: options.json, output, clock: () => clock.ms });
  progress.step("copy the database", 200_000_000, "bytes");
  const at = (ms: number, done: number) => {
    clock.ms = ms;
    progress.at(done);
  };
  return { printed, at, progress };
}

const CLEAR = "\r\u001b[K";

describe("progress", () => {
  test("on a terminal is one line with share, rate and time left, redrawn every 100 ms and removed at the end", () => {
    const { printed, at, progress } = openProgress({ isTTY: true });
    at(50, 1_000_000);
    at(10_000, 50_000_000);
    progress.end();
    expect(printed).toEqual([
      `${CLEAR}copy the database: 0 %, 0.0 MB of 200 MB`,
      `${CLEAR}copy the database: 25 %, 50 MB of 200 MB, 5.0 MB/s, 30 s left`,
      CLEAR,
    ]);
  });

  test("elsewhere is a plain line every 10 s", () => {
    const { printed, at, progress } = openProgress({});
    for (let second = 1; second <= 25; second += 1) at(second * 1_000, second * 1_000_000);
    progress.end();
    expect(printed).toEqual([
      "copy the database: 5 %, 10 MB of 200 MB, 1.0 MB/s, 4 min left\n",
      "copy the database: 10 %, 20 MB of 200 MB, 1.0 MB/s, 3 min left\n",
    ]);
  });

  test("with --json is printed on a terminal only", () => {
    const { printed, at } = openProgress({ json: true });
    at(60_000, 5_000_000);
    expect(printed).toEqual([]);
  });

  test("counts other things than bytes", () => {
    const { printed, progress } = openProgress({ isTTY: true });
    progress.step("audit", 15, "checks");
    expect(printed.at(-1)).toBe(`${CLEAR}audit: 0 %, 0 checks of 15 checks`);
  });
});

test("long work that fails by itself fails with its own error, and leaves no handler of signals", async () => {
  const handlers = process.listenerCount("SIGINT");
  const failing = runLongWork({ json: true }, async () => {
    throw new Error("The disk is full.");
  });
  await expect(failing).rejects.toThrow("The disk is full.");
  expect(process.listenerCount("SIGINT")).toBe(handlers);
});
