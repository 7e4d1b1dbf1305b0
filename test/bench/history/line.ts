import { type Static, Type } from "@sinclair/typebox";
import { Value } from "@sinclair/typebox/value";

const PERCENTILES = Type.Object({ p50: Type.Number(), p99: Type.Number() });
const RATIOS = { ratio: Type.Number(), cpuRatio: Type.Number() };
const RATE = Type.Object({
  perSecond: Type.Number(),
  p50Ms: Type.Number(),
  p99Ms: Type.Number(),
  cpuUs: Type.Number(),
});
const MEMORY = Type.Object({ beforeMb: Type.Number(), openMb: Type.Number() });

const CELL = Type.Object({
  kind: Type.String(),
  connections: Type.Number(),
  ...RATIOS,
  proxy: RATE,
  gateway: RATE,
  serverCpuUs: Type.Object({ postgres: Type.Optional(Type.Number()), redis: Type.Optional(Type.Number()) }),
  beside: Type.Array(Type.Object({ label: Type.String(), ...RATIOS })),
});

const MACHINE = Type.Object({
  cpu: Type.String(),
  cores: Type.Number(),
  memoryGb: Type.Number(),
  kernel: Type.String(),
  bun: Type.String(),
});

const COMMIT = Type.Object({ hash: Type.String(), isDirty: Type.Boolean() });

const HEAD = {
  date: Type.String(),
  commit: COMMIT,
  machine: MACHINE,
  isQuick: Type.Boolean(),
  form: Type.Object({
    database: Type.Union([Type.Literal("sqlite"), Type.Literal("postgres")]),
    hasRedis: Type.Boolean(),
  }),
  money: Type.Object({ requests: Type.Number(), isRight: Type.Boolean() }),
};

/** One run of `bun run bench`: where, of what, and every result. Members may be added, never renamed. */
const HISTORY_LINE = Type.Object({
  ...HEAD,
  throughput: Type.Array(CELL),
  steady: Type.Object({ perSecond: Type.Number(), added: PERCENTILES }),
  stall: Type.Object({ steadyMs: Type.Number(), bodiesMs: Type.Number() }),
  memory: Type.Object({
    idle: Type.Object({ proxyMb: Type.Number(), gatewayMb: Type.Number() }),
    streams: Type.Number(),
    proxy: MEMORY,
    gateway: MEMORY,
  }),
});

/** One run of `bun run bench agents`, told from the others by its member `agents`. */
const AGENTS_LINE = Type.Object({
  ...HEAD,
  agents: Type.Object({
    cells: Type.Array(Type.Object({ name: Type.String(), ...RATIOS, proxy: RATE, gateway: RATE })),
    stallMs: Type.Number(),
  }),
});

export type HistoryLine = Static<typeof HISTORY_LINE>;
export type AgentsLine = Static<typeof AGENTS_LINE>;
/** A line of the history. */
export type KeptLine = HistoryLine | AgentsLine;
export type HistoryCell = HistoryLine["throughput"][number];
export type Machine = Static<typeof MACHINE>;
/** The checked-out commit. `isDirty` when files differ from it. */
export type Commit = Static<typeof COMMIT>;

const DIGITS = 4;

export function isAgentsLine(line: KeptLine): line is AgentsLine {
  return "agents" in line;
}

export function isGatewayLine(line: KeptLine): line is HistoryLine {
  return !isAgentsLine(line);
}

/** Prints one line of JSON, with fractions rounded to 4 digits. Throws when a member is missing or NaN. */
export function printLine(line: KeptLine): string {
  const printed = JSON.stringify(line, (_name, value: unknown) =>
    typeof value === "number" && !Number.isInteger(value) ? Number(value.toPrecision(DIGITS)) : value,
  );
  readLine(printed, "a new line");
  return printed;
}

/** Parses a history file. Throws with the name of the file and the number of the bad line. */
export function readHistory(text: string, file: string): readonly KeptLine[] {
  return text
    .split("\n")
    .flatMap((printed, index) => (printed === "" ? [] : [readLine(printed, `${file}:${index + 1}`)]));
}

function readLine(printed: string, place: string): KeptLine {
  const value = parse(printed, place);
  const isOfAgents = typeof value === "object" && value !== null && "agents" in value;
  const schema = isOfAgents ? AGENTS_LINE : HISTORY_LINE;
  if (Value.Check(schema, value)) return value;
  const { path, message } = Value.Errors(schema, value).First() ?? { path: "", message: "" };
  throw new Error(`Cannot read ${place}: ${path} ${message}`);
}

function parse(printed: string, place: string): unknown {
  try {
    return JSON.parse(printed);
  } catch {
    throw new Error(`Cannot read ${place}: it is not JSON`);
  }
}

/** Machines of one kind have comparable ratios: processor, cores and memory are equal. */
export function machineKind({ cpu, cores, memoryGb }: Machine): string {
  return `${cpu}, ${cores} cores, ${memoryGb} GB`;
}

/** "1a2b3c4", or "1a2b3c4 (dirty)". */
export function printCommit({ hash, isDirty }: Commit): string {
  return isDirty ? `${hash} (dirty)` : hash;
}
