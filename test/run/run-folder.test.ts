import { expect, test } from "bun:test";
import { existsSync, mkdirSync } from "node:fs";
import { createRunFolder, removeRunFolder } from "./run-folder.ts";

const folder = createRunFolder();

// A machine without enough memory keeps its files on disk.
test.skipIf(!folder.startsWith("/dev/shm"))(
  "what a killed run has left in memory is removed by the next run",
  async () => {
    removeRunFolder(folder);
    const ended = Bun.spawn(["true"]);
    await ended.exited;
    const abandoned = `/dev/shm/tollgate-run-${ended.pid}`;
    const running = `/dev/shm/tollgate-run-${process.ppid}`;
    const isOwn = !existsSync(running);
    mkdirSync(abandoned);
    mkdirSync(running, { recursive: true });
    expect(createRunFolder()).toBe(`/dev/shm/tollgate-run-${process.pid}`);
    expect([abandoned, running].map((path) => existsSync(path))).toEqual([false, true]);
    removeRunFolder(folder);
    if (isOwn) removeRunFolder(running);
  },
);
