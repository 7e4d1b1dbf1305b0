import { expect, test } from "bun:test";
import { mkdirSync, readdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { checkOutboxDisk } from "../../src/settlement-outbox/folder.ts";
import { tempFolder } from "../support/temp-folder.ts";

test("a disk with space has no problem, and the check leaves no file", async () => {
  const folder = tempFolder();
  mkdirSync(join(folder, "journal"));
  const disk = await checkOutboxDisk(folder);
  expect(disk.problem).toBeUndefined();
  expect(disk.freeBytes).toBeGreaterThan(0);
  expect(readdirSync(join(folder, "journal"))).toEqual([]);
});

test("a folder in which no file can be created is not writable", async () => {
  const folder = tempFolder();
  writeFileSync(join(folder, "journal"), "");
  expect((await checkOutboxDisk(folder)).problem).toBe("not_writable");
});

test("a missing folder rejects", async () =>
  expect(await checkOutboxDisk(tempFolder()).catch(() => "rejected")).toBe("rejected"));
