import { formatTime } from "../../times.ts";

type Values = Readonly<Record<string, unknown>> | null;

/** What a change was from and to. `null` for what did not exist. */
export interface Change {
  readonly before: Values;
  readonly after: Values;
}

interface MemberChange {
  /** In words: "spending limit". */
  readonly name: string;
  /** `undefined` for a member that was not there. */
  readonly before: string | undefined;
  readonly after: string;
}

const TIME = /^\d{4}-\d{2}-\d{2}T[\d:.]+Z$/;
const MILLISECONDS = /_at_ms$/;

/** Prints an action as words: "Member role changed" for "member.role_changed". */
export function describeAction(action: string): string {
  const words = action.replaceAll(/[._]/g, " ");
  return words.charAt(0).toUpperCase() + words.slice(1);
}

/** Lists the members that differ, in the order of the names. Empty members of a new thing are left out. */
export function listChanges({ before, after }: Change): readonly MemberChange[] {
  const names = [...new Set([...Object.keys(before ?? {}), ...Object.keys(after ?? {})])].sort();
  return names.flatMap((name) => {
    const [from, to] = [before?.[name], after?.[name]];
    if (JSON.stringify(from) === JSON.stringify(to)) return [];
    if (from === undefined && (to === null || to === false)) return [];
    const print = (value: unknown) => printValue(readTime(name, value));
    return [
      { name: describeName(name), before: from === undefined ? undefined : print(from), after: print(to) },
    ];
  });
}

function describeName(name: string): string {
  const words = name
    .replace(MILLISECONDS, "_at")
    .replaceAll(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);
  return words.replaceAll("_", " ").replace(/ usd$/, " (USD)");
}

/** Times are recorded as texts, and by some changes as milliseconds. */
function readTime(name: string, value: unknown): unknown {
  return MILLISECONDS.test(name) && typeof value === "number" ? new Date(value).toISOString() : value;
}

function printValue(value: unknown): string {
  if (value === undefined || value === null) return "none";
  if (typeof value === "boolean") return value ? "yes" : "no";
  if (typeof value === "string") return TIME.test(value) ? formatTime(value, "minute") : value;
  if (Array.isArray(value)) return value.map(printValue).join(", ");
  if (typeof value !== "object") return String(value);
  return Object.entries(value)
    .filter(([, each]) => each !== null)
    .map(([name, each]) => `${describeName(name)} ${printValue(each)}`)
    .join(", ");
}
