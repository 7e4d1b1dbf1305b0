import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { resolve } from "node:path";
import { Glob } from "bun";
import { findCircles } from "./circles.ts";
import { readRequestPath } from "./request-path.ts";
import { ROOMS, roomOf } from "./rooms.ts";
import { readSources, type SourceFile } from "./source-files.ts";

// usage: `bun run house [--keep]` prints the figures of the house beside the kept ones; `--keep` keeps today's.
// The guard in architecture.test.ts holds the same figures to the table in bounds.ts.
const REPOSITORY = resolve(import.meta.dir, "../..");
const KEPT_FILE = resolve(import.meta.dir, "kept-house.json");

export interface RoomSize {
  readonly files: number;
  readonly lines: number;
}

/** The size of the source code. Generated files and migrations do not count. */
export interface House {
  readonly files: number;
  readonly filesOutsideConsole: number;
  readonly lines: number;
  readonly linesOfTests: number;
  readonly medianLines: number;
  /** Files of src that take part in one plain chat request. */
  readonly filesOfPlainChat: number;
  /** Pairs of rooms of which one imports the other. */
  readonly arrows: number;
  readonly circles: number;
  readonly rooms: Readonly<Record<string, RoomSize>>;
}

/** Counts the files and lines of each room. */
export function sizesOf(sources: readonly SourceFile[]): Readonly<Record<string, RoomSize>> {
  const sizes: Record<string, RoomSize> = {};
  for (const { path, text } of sources) {
    const { files, lines } = sizes[roomOf(path)] ?? { files: 0, lines: 0 };
    sizes[roomOf(path)] = { files: files + 1, lines: lines + linesOf(text) };
  }
  return sizes;
}

export function linesOf(text: string): number {
  return text.split("\n").length - 1;
}

async function measureHouse(): Promise<House> {
  const sources = (await readSources()).filter(({ path }) => roomOf(path) !== "gen");
  const lines = sources.map(({ text }) => linesOf(text)).sort((a, b) => a - b);
  return {
    files: sources.length,
    filesOutsideConsole: sources.filter(({ path }) => roomOf(path) !== "console").length,
    lines: lines.reduce((sum, each) => sum + each, 0),
    linesOfTests: await countTestLines(),
    medianLines: lines[Math.floor(lines.length / 2)] ?? 0,
    filesOfPlainChat: (await readRequestPath()).length,
    arrows: countArrows(sources),
    circles: findCircles(sources).length,
    rooms: sizesOf(sources),
  };
}

function countArrows(sources: readonly SourceFile[]): number {
  const arrows = sources.flatMap(({ path, imports }) =>
    imports.filter((target) => /\.tsx?$/.test(target)).map((target) => `${roomOf(path)} ${roomOf(target)}`),
  );
  return new Set(arrows.filter((arrow) => new Set(arrow.split(" ")).size === 2)).size;
}

async function countTestLines(): Promise<number> {
  const paths = await Array.fromAsync(new Glob("test/**/*.{ts,tsx}").scan(REPOSITORY));
  const texts = await Promise.all(paths.map((path) => Bun.file(resolve(REPOSITORY, path)).text()));
  return texts.reduce((sum, text) => sum + linesOf(text), 0);
}

/** Prints each figure of today beside the kept one. */
export function printHouse(house: House, kept: House | undefined): string {
  const { rooms, ...figures } = house;
  const width = Math.max(...Object.keys(ROOMS).map((room) => room.length), 20);
  const row = (name: string, now: string, before: string) =>
    `${name.padEnd(width)}  ${now.padStart(13)}  ${before.padStart(13)}`;
  const { rooms: keptRooms, ...keptFigures }: Partial<House> = kept ?? {};
  const totals = Object.entries(figures).map(([name, now]) =>
    row(name, String(now), String(keptFigures[name as keyof typeof keptFigures] ?? "-")),
  );
  const size = (each: RoomSize | undefined) => (each ? `${each.files} / ${each.lines}` : "-");
  const sizes = Object.entries(rooms)
    .sort(([, one], [, other]) => other.lines - one.lines)
    .map(([room, each]) => row(room, size(each), size(keptRooms?.[room])));
  return [row("", "now", "kept"), ...totals, "", row("room", "files / lines", "kept"), ...sizes].join("\n");
}

if (import.meta.main) {
  const house = await measureHouse();
  const kept = existsSync(KEPT_FILE) ? (JSON.parse(readFileSync(KEPT_FILE, "utf8")) as House) : undefined;
  console.log(printHouse(house, kept));
  if (process.argv.includes("--keep")) writeFileSync(KEPT_FILE, `${JSON.stringify(house, null, 2)}\n`);
}
