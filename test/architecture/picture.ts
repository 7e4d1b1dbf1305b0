import { ROOMS, roomOf } from "./rooms.ts";

const PAGE = new URL("../../docs/architecture.md", import.meta.url);
const BEGIN = "<!-- drawn from test/architecture/rooms.ts by `bun test/architecture/picture.ts` -->";
const END = "<!-- end of the drawing -->";

/** Draws the rooms as floors: each floor imports from the floors below it only. */
function drawFloors(): string {
  const floors = new Map<number, string[]>();
  for (const room of Object.keys(ROOMS)) {
    const floor = floorOf(room);
    floors.set(floor, [...(floors.get(floor) ?? []), room]);
  }
  const rows = [...floors]
    .sort(([a], [b]) => b - a)
    .map(([floor, rooms]) => `  ${String(floor).padStart(2)}  │ ${rooms.sort().join("   ")}`);
  return [
    "```text",
    "floor │ rooms; each imports from floors below it only",
    "──────┼──────────────────────────────",
    ...rows,
    "```",
  ].join("\n");
}

/** Lists every room with what it holds. */
function drawRooms(): string {
  const rows = Object.entries(ROOMS).map(([room, { holds }]) => `| \`src/${room}\` | ${holds} |`);
  return ["| room | holds |", "|---|---|", ...rows].join("\n");
}

/** Replaces the drawing inside a page. Throws when the page has no place for it. */
export function withDrawing(page: string): string {
  const [before, rest] = split(page, BEGIN);
  const [, after] = split(rest, END);
  return `${before}${BEGIN}\n\n${drawFloors()}\n\n${drawRooms()}\n\n${END}${after}`;
}

function split(text: string, mark: string): [string, string] {
  const at = text.indexOf(mark);
  if (at < 0) throw new Error(`docs/architecture.md lacks the line: ${mark}`);
  return [text.slice(0, at), text.slice(at + mark.length)];
}

/** Longest chain of imports below a room. Throws for a circle of rooms. */
function floorOf(room: string, above: readonly string[] = []): number {
  if (above.includes(room)) throw new Error(`A circle of rooms: ${[...above, room].join(" -> ")}`);
  const below = new Set((ROOMS[room]?.imports ?? []).map(roomOf));
  below.delete(room);
  return Math.max(0, ...[...below].map((each) => floorOf(each, [...above, room]) + 1));
}

if (import.meta.main) await Bun.write(PAGE, withDrawing(await Bun.file(PAGE).text()));
