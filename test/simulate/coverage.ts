import { createInstrumenter } from "istanbul-lib-instrument";
import { editSources, readSource } from "./source-edits.ts";

/** The folders whose branches a simulation should take. */
const FOLDERS = ["src/gateway", "src/ledger/core", "src/ledger/engine", "src/settlement-outbox"];

/** The global that instrumented code counts in. */
const COUNTERS = "__simulation_coverage__";

/** One way out of a branch: of an `if`, a `?`, a `case`, an operand of `&&`, `||` or `??`, or a default. */
interface Way {
  readonly file: string;
  readonly line: number;
  readonly kind: string;
  readonly isTaken: boolean;
}

/** What the library counts of one file. */
interface FileCounters {
  readonly branchMap: Readonly<Record<string, Branch>>;
  /** Of each branch, how often each of its ways was taken. */
  readonly b: Readonly<Record<string, readonly number[]>>;
}

interface Branch {
  readonly type: string;
  readonly loc: Place;
  readonly locations: readonly Place[];
}

interface Place {
  /** Without a line for an `else` that is not written. */
  readonly start: { readonly line?: number | undefined };
}

/** Counts the branches of code that is imported afterwards. */
export function measureCoverage(): void {
  const instrumenter = createInstrumenter({
    esModules: true,
    coverageVariable: COUNTERS,
    parserPlugins: ["typescript", "explicitResourceManagement"],
  });
  const isMeasured = (path: string) => FOLDERS.some((folder) => path.startsWith(`${folder}/`));
  editSources(isMeasured, (path, text) => instrumenter.instrumentSync(text, path));
}

/** Each line with a branch that was not taken, and by folder the branches that were taken of all. */
export function printCoverage(): string {
  const ways = readWays();
  const lines = Map.groupBy(
    ways.filter(({ isTaken }) => !isTaken),
    ({ file, line }) => `${file}:${line}`,
  );
  const sums = FOLDERS.map((folder) => {
    const all = ways.filter(({ file }) => file.startsWith(`${folder}/`));
    const taken = all.filter(({ isTaken }) => isTaken).length;
    const percent = ((100 * taken) / Math.max(1, all.length)).toFixed(1);
    return `${folder}: ${taken} of ${all.length} branches taken, ${percent} %`;
  });
  return ["never taken:", ...lines.values().map(lineText), ...sums].join("\n");
}

function readWays(): readonly Way[] {
  const counters: unknown = Reflect.get(globalThis, COUNTERS) ?? {};
  // Safe because only instrumented code writes this global.
  const files = Object.entries(counters as Readonly<Record<string, FileCounters>>);
  return files
    .flatMap(([file, { branchMap, b }]) =>
      Object.entries(branchMap).flatMap(([id, { type, loc, locations }]) =>
        locations.map((place, way) => ({
          file,
          line: place.start.line ?? loc.start.line ?? 0,
          kind: kindOf(type, way),
          isTaken: (b[id]?.[way] ?? 0) > 0,
        })),
      ),
    )
    .sort((one, other) => one.file.localeCompare(other.file) || one.line - other.line);
}

const KINDS: Readonly<Record<string, readonly string[]>> = {
  if: ["if", "else"],
  "cond-expr": ["?", ":"],
  "default-arg": ["default"],
  switch: ["case"],
};

function kindOf(type: string, way: number): string {
  const kinds = KINDS[type];
  return kinds ? (kinds[way] ?? kinds[0] ?? type) : `operand ${way + 1}`;
}

const LINE_MAX = 120;

/** `file:line`, the ways of it that were not taken, and the line of the source. */
function lineText(ways: readonly Way[]): string {
  const [{ file, line } = { file: "", line: 0 }] = ways;
  const source = readSource(file).split("\n")[line - 1]?.trim() ?? "";
  return `  ${file}:${line} ${ways.map(({ kind }) => kind).join(", ")} | ${source}`.slice(0, LINE_MAX);
}
