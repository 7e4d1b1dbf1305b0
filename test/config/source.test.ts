import { describe, expect, test } from "bun:test";
import { mkdirSync, truncateSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { readSource, readSourceNow, type Source } from "../../src/config/source.ts";
import { tempFolder } from "../support/temp-folder.ts";

const KiB = 1_024;

function makePipe(): string {
  const path = join(tempFolder(), "pipe");
  expect(Bun.spawnSync(["mkfifo", path]).exitCode).toBe(0);
  return path;
}

function pathOf(kind: "folder" | "file of 5 GB" | "file without end"): string {
  if (kind === "file without end") return "/dev/zero";
  const path = join(tempFolder(), "source");
  if (kind === "folder") mkdirSync(path);
  else {
    writeFileSync(path, "");
    // A sparse file takes no disk space.
    truncateSync(path, 5_000_000_000);
  }
  return path;
}

describe("a path that holds", () => {
  const cases: [Parameters<typeof pathOf>[0], Source["kind"]][] = [
    ["folder", "folder"],
    ["file of 5 GB", "too_large"],
    ["file without end", "too_large"],
  ];

  test.each(cases)("a %s is found as %s, at a start and in a running gateway", async (kind, found) => {
    const path = pathOf(kind);
    const before = process.memoryUsage().rss;
    expect(readSourceNow(path).kind).toBe(found);
    expect((await readSource(path)).kind).toBe(found);
    expect(process.memoryUsage().rss - before).toBeLessThan(200 * KiB * KiB);
  });

  test("a file of 1 MiB is text, and one byte more is too_large", async () => {
    const path = join(tempFolder(), "source");
    writeFileSync(path, "x".repeat(KiB * KiB));
    expect(readSourceNow(path)).toMatchObject({ kind: "text", text: "x".repeat(KiB * KiB) });
    expect((await readSource(path)).kind).toBe("text");
    writeFileSync(path, "x".repeat(KiB * KiB + 1));
    expect(readSourceNow(path).kind).toBe("too_large");
    expect((await readSource(path)).kind).toBe("too_large");
  });

  test("no file is absent", async () => {
    expect(readSourceNow("/nowhere/tollgate.yaml").kind).toBe("absent");
    expect((await readSource("/nowhere/tollgate.yaml")).kind).toBe("absent");
  });
});

describe("a pipe", () => {
  test("is read at a start until its writer closes it, also when the writer starts later and pauses", () => {
    const path = makePipe();
    const writer = Bun.spawn(["sh", "-c", `sleep 0.2; { echo 'a: 1'; sleep 0.2; echo 'b: 2'; } > ${path}`]);
    expect(readSourceNow(path)).toMatchObject({ kind: "text", text: "a: 1\nb: 2\n" });
    writer.kill();
  });

  test("without a writer is unreadable at a start after the time limit", () =>
    expect(readSourceNow(makePipe(), { pipeMsMax: 50 }).kind).toBe("unreadable"));

  test("that is written without end is too_large", () => {
    const path = makePipe();
    const writer = Bun.spawn(["sh", "-c", `exec cat /dev/zero > ${path}`]);
    expect(readSourceNow(path).kind).toBe("too_large");
    writer.kill();
  });

  test("is unreadable in a running gateway, which does not wait for a writer", async () =>
    expect((await readSource(makePipe())).kind).toBe("unreadable"));
});
