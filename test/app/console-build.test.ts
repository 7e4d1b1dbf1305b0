import { afterAll, expect, test } from "bun:test";
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  utimesSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import {
  type ConsoleBuilder,
  type ConsoleBuilderOptions,
  createConsoleBuilder,
} from "../../src/app/console-build.ts";
import type { ConsoleBuild } from "../../src/http/console/pages.ts";
import { createCapturedLog } from "../support/captured-log.ts";
import { TEST_MS } from "../support/timeouts.ts";
import { until } from "../support/until.ts";

const root = mkdtempSync(join(tmpdir(), "console-builder-"));
afterAll(() => rmSync(root, { recursive: true, force: true }));
let folders = 0;
const newFolder = () => {
  const folder = join(root, String(folders++));
  mkdirSync(folder);
  return folder;
};

/** A builder on caches of its own, and its log. */
function open(options: Partial<ConsoleBuilderOptions> = {}) {
  const log = createCapturedLog();
  const builder = createConsoleBuilder({ dataFolder: root, caches: [newFolder()], log, ...options });
  return { ...builder, log };
}

/** A command in place of the bundler: `$1` is the folder to build into. */
const command = (script: string) => ["sh", "-c", `${script}\n${BUILD}`, "sh"];
const BUILD = `mkdir -p "$1" && echo '{"html":"built","assets":[],"compressed":[]}' > "$1/manifest.json"`;

test("two processes that build at once share one build, with every file, and leave no draft", async () => {
  const cache = newFolder();
  const builders = [open({ caches: [cache] }), open({ caches: [cache] })];
  const [first, second] = await Promise.all(builders.map(untilBuilt));
  expect(second).toEqual(first);
  expect(first?.html).toContain('<div id="root">');
  for (const name of first?.assets ?? []) expect(existsSync(join(first?.folder ?? "", name))).toBe(true);
  expect(readdirSync(cache)).toHaveLength(1);
  for (const builder of builders) await builder.close();
});

test("a folder without a manifest, as a killed deletion leaves it, is built again", async () => {
  const cache = newFolder();
  const first = open({ caches: [cache], command: command("") });
  const { folder } = await untilBuilt(first);
  await first.close();
  rmSync(join(folder, "manifest.json"));
  writeFileSync(join(folder, "rest.js"), "");
  const builder = open({ caches: [cache] });
  const built = await untilBuilt(builder);
  expect(built.folder).toBe(folder);
  expect(readdirSync(folder)).not.toContain("rest.js");
  await builder.close();
});

test("pages that wait for a build are answered within the wait, and it goes on", async () => {
  const gate = join(newFolder(), "gate");
  const builder = open({ command: command(`until [ -e "${gate}" ]; do sleep 0.05; done`) });
  const states = await Promise.all([builder.current(), builder.current(), builder.current()]);
  expect(states).toEqual(["building", "building", "building"]);
  writeFileSync(gate, "");
  expect((await untilBuilt(builder)).html).toBe("built");
  await builder.close();
});

test("a build goes into the data folder when the install is read-only or its disk is full", async () => {
  const file = join(newFolder(), "file");
  writeFileSync(file, "");
  const [full, data] = [newFolder(), newFolder()];
  const readOnly = open({ caches: [join(file, "console"), data], command: command("") });
  expect((await untilBuilt(readOnly)).folder).toStartWith(data);
  const writes = `case "$1" in ${full}/*) echo x > /dev/full || exit 1;; esac`;
  const onFullDisk = open({ caches: [full, newFolder()], command: command(writes) });
  expect((await untilBuilt(onFullDisk)).folder).not.toStartWith(full);
  for (const builder of [readOnly, onFullDisk]) await builder.close();
});

test("a failed build is named in the log, is not repeated at once, and is tried again later", async () => {
  const folder = newFolder();
  const [runs, isFull] = [join(folder, "runs"), join(folder, "full")];
  writeFileSync(isFull, "");
  const script = `echo run >> "${runs}"; if [ -e "${isFull}" ]; then dd if=/dev/zero of=/dev/full count=1 || exit 1; fi`;
  const builder = open({ command: command(script), pauseMs: 300 });
  await until(async () => (await builder.current()) === "failed");
  for (let call = 0; call < 5; call++) await builder.current();
  expect(builder.log.text()).toContain("console build failed");
  expect(builder.log.text()).toContain("No space left on device");
  rmSync(isFull);
  await until(async () => typeof (await builder.current()) === "object");
  const count = readFileSync(runs, "utf8").trim().split("\n").length;
  expect(count).toBe(builder.log.text().split("console build failed").length);
  await builder.close();
});

test("a builder that hangs is killed at its limit, and one that is killed fails the build alone", async () => {
  const pid = join(newFolder(), "pid");
  const hanging = open({
    command: command(`trap "" TERM; echo $$ > "${pid}"; exec sleep 1000`),
    // Longer than a busy machine needs to start the shell.
    buildMs: 8_000,
  });
  expect(await hanging.current()).toBe("building");
  await until(async () => (await hanging.current()) === "failed");
  expect(existsSync(`/proc/${readFileSync(pid, "utf8").trim()}`)).toBe(false);
  expect(hanging.log.text()).toContain('"signal":"SIGKILL"');
  const killed = open({ command: command("kill -9 $$") });
  await until(async () => (await killed.current()) === "failed");
  expect(killed.log.text()).toContain('"signal":"SIGKILL"');
  for (const builder of [hanging, killed]) await builder.close();
});

test("a stop ends a running builder and logs no failure", async () => {
  const pid = join(newFolder(), "pid");
  const builder = open({ command: command(`echo $$ > "${pid}"; exec sleep 1000`) });
  await builder.current();
  await until(() => existsSync(pid) && readFileSync(pid, "utf8") !== "");
  await builder.close();
  await until(() => !existsSync(`/proc/${readFileSync(pid, "utf8").trim()}`));
  expect(builder.log.text()).toBe("");
});

test("builds that nobody has served for a week are deleted, and those in use stay", async () => {
  const cache = newFolder();
  const days = (count: number) => new Date(Date.now() - count * 86_400_000);
  const put = (name: string, age: Date) => {
    mkdirSync(join(cache, name));
    for (const path of ["manifest.json", "main.js"]) writeFileSync(join(cache, name, path), "{}");
    for (const path of ["manifest.json", "main.js", ""]) utimesSync(join(cache, name, path), age, age);
  };
  const [unused, served] = ["a".repeat(24), "b".repeat(24)];
  put(unused, days(8));
  put(served, days(6));
  put(`${"c".repeat(24)}.123`, days(1));
  put(`${"d".repeat(24)}.124`, new Date());
  put("of-somebody-else", days(100));
  const builder = open({ caches: [cache], command: command("") });
  const { folder } = await untilBuilt(builder);
  expect(readdirSync(cache).sort()).toEqual(
    [served, `${"d".repeat(24)}.124`, "of-somebody-else", folder.slice(cache.length + 1)].sort(),
  );
  await builder.close();
});

test("a build that is deleted while it is served is made again", async () => {
  const builder = open({ command: command("") });
  const { folder } = await untilBuilt(builder);
  rmSync(folder, { recursive: true });
  expect((await untilBuilt(builder)).folder).toBe(folder);
  expect(existsSync(folder)).toBe(true);
  await builder.close();
});

async function untilBuilt(builder: ConsoleBuilder): Promise<ConsoleBuild> {
  const end = Date.now() + TEST_MS / 2;
  while (Date.now() < end) {
    const state = await builder.current();
    if (typeof state === "object") return state;
    expect(state).toBe("building");
  }
  throw new Error("The console was not built in time");
}
