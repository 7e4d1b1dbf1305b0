import { afterEach, expect, test } from "bun:test";
import { closeSync, openSync } from "node:fs";
import { createRunningRequests, type RunningRequests } from "../../src/http/http-parts.ts";
import { findOpenFiles } from "../../src/telemetry/open-files.ts";
import { createCapturedLog } from "../support/captured-log.ts";
import { tempFolder } from "../support/temp-folder.ts";
import { until } from "../support/until.ts";

const open: RunningRequests[] = [];
afterEach(() => {
  for (const running of open.splice(0)) running.close();
});

function createRunning(room: () => number) {
  const log = createCapturedLog();
  const running = createRunningRequests({ files: { max: 100, room }, log, everyMs: 5 });
  open.push(running);
  return { running, log };
}

/** Begins requests until none may begin, and returns how many did. */
function beginAll(running: RunningRequests): number {
  let begun = 0;
  for (; running.mayBegin(); begun += 1) running.begin();
  return begun;
}

test("requests begin while two files for each are left, without a new count of the files", () => {
  const { running } = createRunning(() => 41);
  expect(beginAll(running)).toBe(20);
  running.end();
  expect(beginAll(running)).toBe(1);
});

test("no request begins while the files are used up, and the log says when that begins and ends", async () => {
  let room = -10;
  const { running, log } = createRunning(() => room);
  expect(running.mayBegin()).toBe(false);
  await until(() => log.text().includes("open files nearly used up"));
  room = 2;
  await until(() => running.mayBegin());
  await until(() => log.text().includes("open files free again"));
  expect(beginAll(running)).toBe(1);
});

test("the room for files falls by those that are opened, and is endless where the system tells no limit", () => {
  const files = findOpenFiles();
  const before = files.room();
  const opened = Array.from({ length: 20 }, () => openSync("/dev/null", "r"));
  expect(files.room()).toBeWithin(before - 25, before - 15);
  for (const file of opened) closeSync(file);
  expect(findOpenFiles(tempFolder())).toMatchObject({ max: undefined });
  expect(findOpenFiles(tempFolder()).room()).toBe(Number.POSITIVE_INFINITY);
});
