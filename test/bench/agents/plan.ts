import { parseArgs } from "node:util";
import type { ChatSurface } from "../../../src/domain/model.ts";
import type { Form } from "../form.ts";
import type { Aim } from "../report-table.ts";
import { TURNS, USUAL_TURN } from "./conversation.ts";

/** What `bun run bench agents` measures, and how long. */
export interface AgentsPlan {
  readonly printsJson: boolean;
  readonly isQuick: boolean;
  /** Whether the results are appended to the committed history. */
  readonly isKept: boolean;
  /** Whether every cell is measured. Parts of a run are not recorded. */
  readonly isWhole: boolean;
  readonly form: Form;
  readonly groups: readonly TimedGroup[];
}

/** Agents are measured in the default form only. */
const FORM: Form = { database: "sqlite", hasRedis: false };

/** The models of the gateway, named by the format of their upstream or by what is special about them. */
export type AgentModel = "chat" | "messages" | "responses" | "gemini" | "converse" | "cached" | "five routes";

/** Cells with equal requests, which share the rounds of the proxy. */
interface Group {
  readonly format: ChatSurface;
  readonly stream: boolean;
  readonly connections: number;
  readonly turns: readonly number[];
  readonly cells: readonly AgentCell[];
}

/** A row of the table: what answers the requests of a group. */
export interface AgentCell {
  /** Never changed, because the history is compared by it. */
  readonly name: string;
  readonly model: AgentModel;
  /** Whether every request begins a conversation of its own. */
  readonly renews?: boolean;
  readonly hasArrows?: boolean;
}

interface Durations {
  readonly rounds: number;
  readonly roundMs: number;
  /** Length of a window of the warm-up. */
  readonly warmUpMs: number;
}

export type TimedGroup = Group & Durations;

/** The aims of a cell. */
export interface AgentAims {
  /** Least ratio of the gateway's rate to the proxy's. */
  readonly ratio?: Aim;
  /** Most CPU time of the gateway's process per answer, in ms. */
  readonly cpuMs?: Aim;
  readonly perSecond?: Aim;
}

const MEASURED: AgentAims = { cpuMs: { aim: 2.5, beyond: 1.5 } };
const AIMS: Readonly<Record<string, AgentAims>> = {
  "chat to chat": { ratio: { aim: 0.35, beyond: 0.5 }, cpuMs: { aim: 0.75, beyond: 0.5 } },
  "messages to chat": { cpuMs: { aim: 2, beyond: 1.2 }, perSecond: { aim: 550 } },
  "messages to Anthropic": MEASURED,
  "messages to Gemini": MEASURED,
  "messages to Converse": MEASURED,
  "chat to Anthropic, prompt_caching: auto": MEASURED,
  "chat to five routes": MEASURED,
  "chat to chat, streamed": { ratio: { aim: 0.85 } },
};

export function aimsOf(name: string): AgentAims {
  return AIMS[name] ?? {};
}

const WHOLE = { stream: false, connections: 16 };

/** Each request has about 180 KB, the size of a conversation of sixty messages. */
const USUAL: readonly Group[] = [
  {
    ...WHOLE,
    format: "chat",
    turns: [USUAL_TURN],
    cells: [
      { name: "chat to chat", model: "chat" },
      { name: "chat to chat, new conversations", model: "chat", renews: true },
      { name: "chat to chat, text beyond Latin-1", model: "chat", hasArrows: true },
      { name: "chat to five routes", model: "five routes" },
      { name: "chat to Anthropic, prompt_caching: auto", model: "cached" },
    ],
  },
  {
    ...WHOLE,
    format: "messages",
    turns: [USUAL_TURN],
    cells: [
      { name: "messages to Anthropic", model: "messages" },
      { name: "messages to chat", model: "chat" },
      { name: "messages to chat, text beyond Latin-1", model: "chat", hasArrows: true },
      { name: "messages to Gemini", model: "gemini" },
      { name: "messages to Converse", model: "converse" },
    ],
  },
  {
    format: "chat",
    stream: true,
    connections: 32,
    turns: [USUAL_TURN],
    cells: [{ name: "chat to chat, streamed", model: "chat" }],
  },
];

const UPSTREAMS: readonly (readonly [name: string, model: AgentModel])[] = [
  ["chat", "chat"],
  ["Anthropic", "messages"],
  ["Gemini", "gemini"],
  ["Converse", "converse"],
];

/** Whole conversations: every client's format against every upstream's. */
const CONVERSATIONS: readonly Group[] = (["chat", "messages", "responses"] as const).map((format) => ({
  ...WHOLE,
  format,
  turns: Array.from({ length: TURNS }, (_, at) => at + 1),
  cells: [...(format === "responses" ? [["responses", "responses"] as const] : []), ...UPSTREAMS].map(
    ([name, model]) => ({ name: `20 turns, ${format} to ${name}`, model, renews: true }),
  ),
}));

const FULL = { usual: { rounds: 5, roundMs: 1_500 }, conversations: { rounds: 3, roundMs: 1_000 } };
const QUICK = { usual: { rounds: 3, roundMs: 700 }, conversations: { rounds: 2, roundMs: 500 } };
const WARM_UP_MS = 800;

/** The cells that the guard measures: one of each kind of work. */
const GUARDED = new Set(["chat to chat", "messages to chat", "chat to chat, streamed"]);

/** The groups of the guard, one cell each. Rounds are as long as those of a kept run. */
export const GUARDED_GROUPS: readonly TimedGroup[] = USUAL.map((group) => ({
  ...group,
  ...FULL.usual,
  rounds: 3,
  warmUpMs: WARM_UP_MS,
  cells: group.cells.filter(({ name }) => GUARDED.has(name)),
}));

/**
 * Parses the options: `--quick` takes a minute and a half, `--only TEXT` measures the cells whose name has it,
 * `--json` prints one object, `--keep` keeps the results. Throws for a part of a run that is to be kept.
 */
export function readAgentsPlan(args: readonly string[]): AgentsPlan {
  const { values } = parseArgs({
    args: [...args],
    options: {
      quick: { type: "boolean", default: false },
      only: { type: "string", default: "" },
      json: { type: "boolean", default: false },
      keep: { type: "boolean", default: false },
    },
  });
  if (values.keep && (values.quick || values.only)) throw new Error("Cannot keep a quick run or part of one");
  const { usual, conversations } = values.quick ? QUICK : FULL;
  const groups = [
    ...USUAL.map((group) => ({ ...group, ...usual })),
    ...CONVERSATIONS.map((group) => ({ ...group, ...conversations })),
  ];
  return {
    printsJson: values.json,
    isQuick: values.quick,
    isKept: values.keep,
    isWhole: values.only === "",
    form: FORM,
    groups: groups
      .map((group) => ({
        ...group,
        warmUpMs: WARM_UP_MS,
        cells: group.cells.filter(({ name }) => name.includes(values.only)),
      }))
      .filter(({ cells }) => cells.length > 0),
  };
}
