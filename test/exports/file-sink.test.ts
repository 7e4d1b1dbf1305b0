import { expect, test } from "bun:test";
import { appendFileSync, readdirSync, readFileSync, renameSync, statSync } from "node:fs";
import { join, resolve } from "node:path";
import { createFileSink } from "../../src/exports/file-sink.ts";
import { tempFolder } from "../support/temp-folder.ts";
import { batchOf, namesIn } from "./lines.ts";

const NEVER = new AbortController().signal;
const LARGE = { rotate: "size", rotateBytes: 1_000_000 } as const;

test("batches are appended as lines to a file that only its owner can read", async () => {
  const path = join(tempFolder(), "new", "usage.jsonl");
  const sink = createFileSink({ path, ...LARGE });
  await sink.deliver(batchOf("a", "b"), NEVER);
  await sink.deliver(batchOf("c"), NEVER);
  sink.close();
  expect(namesIn(readFileSync(path, "utf8"))).toEqual(["a", "b", "c"]);
  expect(statSync(path).mode & 0o777).toBe(0o600);
});

test("the part of a line that a killed process left is removed before the next batch", async () => {
  const path = join(tempFolder(), "usage.jsonl");
  const first = createFileSink({ path, ...LARGE });
  await first.deliver(batchOf("a"), NEVER);
  first.close();
  appendFileSync(path, `{"torn": "${"x".repeat(100_000)}`);
  await createFileSink({ path, ...LARGE }).deliver(batchOf("b"), NEVER);
  expect(namesIn(readFileSync(path, "utf8"))).toEqual(["a", "b"]);
});

test("a file that has reached its size is renamed, and no name is used twice", async () => {
  const folder = tempFolder();
  const path = join(folder, "usage.jsonl");
  const sink = createFileSink({ path, rotate: "size", rotateBytes: 10 }, () => Date.UTC(2026, 5, 1));
  for (const name of ["a", "b", "c"]) await sink.deliver(batchOf(name), NEVER);
  const names = readdirSync(folder).sort();
  expect(names).toEqual([
    "usage-2026-06-01T00-00-00.000Z-2.jsonl",
    "usage-2026-06-01T00-00-00.000Z.jsonl",
    "usage.jsonl",
  ]);
  const all = names.flatMap((name) => namesIn(readFileSync(join(folder, name), "utf8")));
  expect(all.sort()).toEqual(["a", "b", "c"]);
});

test("a new file is begun when the UTC day or hour has changed since the last line", async () => {
  for (const [rotate, stepMs] of [
    ["day", 86_400_000],
    ["hour", 3_600_000],
  ] as const) {
    const folder = tempFolder();
    const clock = { nowMs: Date.now() };
    const sink = createFileSink({ path: join(folder, "usage.jsonl"), ...LARGE, rotate }, () => clock.nowMs);
    await sink.deliver(batchOf("a"), NEVER);
    clock.nowMs += stepMs;
    await sink.deliver(batchOf("b"), NEVER);
    expect(readdirSync(folder)).toHaveLength(2);
  }
});

test("a file that logrotate has renamed is created again", async () => {
  const folder = tempFolder();
  const path = join(folder, "usage.jsonl");
  const sink = createFileSink({ path, ...LARGE });
  await sink.deliver(batchOf("a"), NEVER);
  renameSync(path, `${path}.1`);
  await sink.deliver(batchOf("b"), NEVER);
  expect(namesIn(readFileSync(path, "utf8"))).toEqual(["b"]);
});

test("a batch that a full disk cuts is taken back whole", async () => {
  const path = join(tempFolder(), "usage.jsonl");
  // A limit of the file's size stands for the disk: 8 blocks of 512 or 1,024 bytes.
  const script = `trap '' XFSZ; ulimit -f 8; exec "${process.execPath}" "${resolve(import.meta.dir, "fill-file-child.ts")}" "${path}"`;
  const child = Bun.spawn(["sh", "-c", script], { stdout: "pipe", stderr: "inherit" });
  const { delivered, problem } = JSON.parse(await new Response(child.stdout).text());
  expect(problem).toBe("file not written: EFBIG");
  const kept = namesIn(readFileSync(path, "utf8"));
  expect(kept).toHaveLength(delivered);
  expect(delivered).toBeGreaterThan(0);
});

test("a path that cannot be written fails with the code of the fault alone", async () => {
  const sink = createFileSink({ path: "/proc/usage/secret.jsonl", ...LARGE });
  await expect(sink.deliver(batchOf("a"), NEVER)).rejects.toThrow(/^file not written: [A-Z]+$/);
});
