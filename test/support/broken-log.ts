import { closeSync, openSync, readdirSync, readFileSync, readlinkSync } from "node:fs";

/** SQLite opens its log with this flag, and we do not. */
const NOFOLLOW = 0o400000;

/** Makes syncs of a log fail: puts /dev/null, which cannot be synced, in place of the descriptor for them. */
export function breakSyncs(log: string): void {
  const ofLog = readdirSync("/proc/self/fd").filter((name) => isLinkTo(`/proc/self/fd/${name}`, log));
  const synced = ofLog.map(Number).find((file) => {
    const [, flags = ""] = /^flags:\s*(\d+)/m.exec(readFileSync(`/proc/self/fdinfo/${file}`, "utf8")) ?? [];
    return (Number.parseInt(flags, 8) & NOFOLLOW) === 0;
  });
  if (synced === undefined) throw new Error("The log is not open");
  closeSync(synced);
  const others: number[] = [];
  for (let file = openSync("/dev/null", "r+"); file !== synced; file = openSync("/dev/null", "r+")) {
    others.push(file);
  }
  for (const file of others) closeSync(file);
}

/** Files may be closed while their names are read. */
function isLinkTo(path: string, target: string): boolean {
  try {
    return readlinkSync(path) === target;
  } catch {
    return false;
  }
}
