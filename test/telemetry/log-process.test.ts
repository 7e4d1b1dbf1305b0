import { expect, test } from "bun:test";
import { openSync } from "node:fs";
import { createPipe, startLogProcess, type UnreadPipe } from "./log-process.ts";

/** Reads to the end. `onPiece` gets the lines so far, and whether the pipe is empty, and returns a pause. */
async function readAll(
  pipe: UnreadPipe,
  onPiece: (lines: number, isEmpty: boolean) => number,
): Promise<string> {
  const pieces: string[] = [];
  let lines = 0;
  for (let piece = pipe.read(); piece !== undefined; piece = pipe.read()) {
    pieces.push(piece);
    lines += piece.split("\n").length - 1;
    await Bun.sleep(onPiece(lines, piece === ""));
  }
  return pieces.join("");
}

function numbersOf(text: string): readonly number[] {
  const lines = text.trimEnd().split("\n");
  const numbers = lines.map((line): unknown => JSON.parse(line).number);
  return numbers.filter((number) => typeof number === "number");
}

const upTo = (count: number) => Array.from({ length: count }, (_, at) => at + 1);

test("every line reaches a slow reader in order, also those that are buffered at SIGTERM", async () => {
  const pipe = createPipe();
  // 30,000 lines fit the buffer.
  const child = startLogProcess(30_000, 20_000, pipe.writeEnd);
  let isAsked = false;
  const text = await readAll(pipe, (lines, isEmpty) => {
    if (lines > 10_000 && !isAsked) child.kill("SIGTERM");
    isAsked ||= lines > 10_000;
    // Slower than the writer.
    return isEmpty ? 1 : 15;
  });
  const { written, dropped } = await child.written;
  expect(await child.exited).toBe(0);
  expect(dropped).toBe(0);
  expect(written).toBeGreaterThan(10_000);
  expect(numbersOf(text)).toEqual(upTo(written));
});

test("lines above the buffer of 16 MiB are dropped, counted, and reported once the log is read", async () => {
  const pipe = createPipe();
  const child = startLogProcess(80_000, 1_000_000, pipe.writeEnd);
  // Nothing is read before all lines are written.
  const { written, dropped } = await child.written;
  let isAsked = false;
  const text = await readAll(pipe, (lines, isEmpty) => {
    const isRead = isEmpty && lines >= written - dropped;
    if (isRead && !isAsked) child.close();
    isAsked ||= isRead;
    return isEmpty ? 1 : 0;
  });
  expect(await child.exited).toBe(0);
  expect(dropped).toBeGreaterThan(0);
  expect(numbersOf(text)).toHaveLength(written - dropped);
  expect(text).toContain(`"lines":${dropped},"msg":"log lines dropped"`);
});

test("a process that ends while its log is not read leaves no half line in the pipe", async () => {
  const pipe = createPipe();
  const child = startLogProcess(5_000, 100_000, pipe.writeEnd);
  const { written } = await child.written;
  child.close();
  expect(await child.exited).toBe(0);
  const text = await readAll(pipe, () => 0);
  expect(text).toEndWith("\n");
  const numbers = numbersOf(text);
  expect(numbers.length).toBeLessThan(written);
  expect(numbers).toEqual(upTo(numbers.length));
});

test.each([
  ["a disk that is full", () => openSync("/dev/full", "w")],
  [
    "a pipe that is closed",
    () => {
      const pipe = createPipe();
      pipe.closeReadEnd();
      return pipe.writeEnd;
    },
  ],
])("a process whose log goes to %s keeps running, and ends when asked", async (_what, open) => {
  const child = startLogProcess(2_000, 100_000, open());
  expect((await child.written).written).toBe(2_000);
  child.close();
  expect(await child.exited).toBe(0);
});
