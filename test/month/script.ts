import { createDraw, drawInteger, drawOne } from "../support/seeded-random.ts";

/** The scripted month, and the time at which its accounts are made. June 2026 begins on a Monday. */
export const MONTH = { name: "2026-06", fromMs: Date.UTC(2026, 5, 1), toMs: Date.UTC(2026, 6, 1) };
export const PREPARED_AT_MS = MONTH.fromMs - 6 * 3_600_000;
export const DAY_MS = 86_400_000;

/** Pico-USD per token of both models. A charge is rounded up to a nano-USD. */
export const PICOS = { input: 370_100n, output: 1_530_300n };

export type AccountName = "north" | "south";

/** Who sends requests: a key, whose it is, and where it belongs. `under` is the key that made it. */
export interface KeyPlan {
  readonly account: AccountName;
  readonly project: string;
  readonly member?: string;
  readonly under?: KeyName;
}
export type KeyName =
  | "front"
  | "ada"
  | "ben"
  | "cho"
  | "agent"
  | "child one"
  | "child two"
  | "grandchild"
  | "robot"
  | "dov"
  | "eva";

/** The project "default" is that of an account without any. */
export const KEYS: Readonly<Record<KeyName, KeyPlan>> = {
  front: { account: "north", project: "search" },
  ada: { account: "north", project: "search", member: "ada" },
  ben: { account: "north", project: "support", member: "ben" },
  cho: { account: "north", project: "search", member: "cho" },
  agent: { account: "north", project: "support", member: "cho" },
  "child one": { account: "north", project: "support", member: "cho", under: "agent" },
  "child two": { account: "north", project: "support", member: "cho", under: "agent" },
  grandchild: { account: "north", project: "support", member: "cho", under: "child one" },
  robot: { account: "north", project: "default" },
  dov: { account: "south", project: "shop", member: "dov" },
  eva: { account: "south", project: "shop", member: "eva" },
};

/**
 * Requests that are sent one by one, end users that send one each, and amounts in nano-USD that run out. The months
 * of `bun run month` and `bun run month:postgres` are four times as large as that of the suite.
 */
export const SIZE = process.env.TEST_MONTH
  ? { single: 1_400, users: 10_000, north: 322_000_000n, south: 80_000_000n, shopPerDay: 4_700_000n }
  : { single: 1_400, users: 2_500, north: 216_000_000n, south: 50_000_000n, shopPerDay: 3_700_000n };

/** The money that comes into each wallet before the month, in nano-USD. South's is spent in the month. */
export const FUNDS: Readonly<Record<AccountName, bigint>> = {
  north: 1_000_000_000_000n,
  south: SIZE.south,
};

type Surface = "chat" | "messages" | "responses";

/** One request of the script. */
export interface Scripted {
  readonly index: number;
  readonly atMs: number;
  readonly key: KeyName;
  readonly surface: Surface;
  readonly user: string | undefined;
  /** Whether the body names the end user, instead of the header. */
  readonly isInBody: boolean;
  readonly tags: Readonly<Record<string, string>>;
  readonly run: { readonly id: string; readonly max?: bigint } | undefined;
  readonly costMax: bigint | undefined;
  /** What the upstream reports: tokens. `undefined` when it answers with status 500. */
  readonly usage: { readonly input: number; readonly output: number } | undefined;
  readonly outputMax: number;
  /** Whether half of the charge is refunded at once. */
  readonly isRefunded: boolean;
}

/** A part of the month: requests that are sent one by one, or all at a moment. */
export interface Scene {
  readonly isAtOnce: boolean;
  readonly requests: readonly Scripted[];
}

const CROWDS = 20;
const FEATURES = ["search", "chat", "index"];
const SINGLE_KEYS: readonly KeyName[] = [
  ...(["ada", "ben", "cho", "cho", "robot", "dov", "dov", "eva", "eva"] as const),
  ...(["agent", "child one", "child two", "grandchild"] as const),
];

/** Returns the scenes of a month: on 20 days a crowd of end users at 00:30, and single requests all month. */
export function writeScript({ single, users } = SIZE): readonly Scene[] {
  const draw = createDraw("a month");
  const scenes: Scene[] = [];
  let index = 0;
  const perDay = Math.ceil(single / 29);
  for (let day = 0; day < 29; day += 1) {
    const fromMs = MONTH.fromMs + day * DAY_MS;
    if (day < CROWDS) {
      const from = Math.floor((users * day) / CROWDS);
      const to = Math.floor((users * (day + 1)) / CROWDS);
      const crowd = Array.from({ length: to - from }, (_, at) =>
        fromCrowd(draw, { index: index + at, atMs: fromMs + 1_800_000, user: from + at }),
      );
      index += crowd.length;
      scenes.push({ isAtOnce: true, requests: crowd });
    }
    const times = Array.from({ length: perDay }, () => 3_600_000 + drawInteger(draw, 0, 82_000_000)).sort(
      (one, other) => one - other,
    );
    const requests = times.map((ms, at) => alone(draw, { index: index + at, atMs: fromMs + ms }));
    index += requests.length;
    scenes.push({ isAtOnce: false, requests });
  }
  return scenes;
}

type Draw = ReturnType<typeof createDraw>;

/** Four in five end users are those of north's search. Two in a hundred ask for more than each of them may spend. */
function fromCrowd(draw: Draw, at: { index: number; atMs: number; user: number }): Scripted {
  const { index, atMs, user } = at;
  const isGreedy = user % 100 === 7 || user % 100 === 9;
  const key = user % 5 < 4 ? "front" : "dov";
  const outputMax = isGreedy ? 4_000 : drawInteger(draw, 1, key === "dov" ? 3 : 20);
  return {
    index,
    atMs,
    key,
    surface: drawOne(draw, ["chat", "messages", "responses"]),
    user: nameOf(user),
    isInBody: user % 3 === 0,
    tags: { feature: drawOne(draw, ["search", "chat"]) },
    run: undefined,
    costMax: undefined,
    usage: { input: drawInteger(draw, 1, 40), output: drawInteger(draw, 0, Math.min(outputMax, 20)) },
    outputMax,
    isRefunded: false,
  };
}

function nameOf(user: number): string {
  if (user % 50 === 1) return `Zoë ${user}`;
  return user % 50 === 2 ? `user,${user}; "x"=%` : `user-${user}`;
}

function alone(draw: Draw, { index, atMs }: { index: number; atMs: number }): Scripted {
  const key = drawOne(draw, SINGLE_KEYS);
  const outputMax = drawInteger(draw, 20, 900);
  const has = (share: number) => draw() < share;
  const isRun = (key === "eva" || key === "ben") && has(0.4);
  const runId = `night-${drawInteger(draw, 1, 4)}`;
  return {
    index,
    atMs,
    key,
    surface: drawOne(draw, ["chat", "messages", "responses"]),
    user: has(0.7) ? `regular-${drawInteger(draw, 1, 12)}` : undefined,
    isInBody: has(0.5),
    tags: { ...(has(0.8) && { feature: drawOne(draw, FEATURES) }), ...(has(0.4) && { team: "blå" }) },
    run: isRun ? { id: runId, max: 4_500_001n } : undefined,
    costMax: has(0.06) ? 700_003n : undefined,
    usage: has(0.03)
      ? undefined
      : { input: drawInteger(draw, 1, 60), output: drawInteger(draw, 0, outputMax) },
    outputMax,
    isRefunded: has(0.05),
  };
}

/** The path of a request, and its whole body. Its text says what the upstream is to report. */
export function printRequest(request: Scripted): { readonly path: string; readonly body: string } {
  const { surface, outputMax, usage, user, isInBody } = request;
  const text = usage ? `in=${usage.input} out=${usage.output}` : "fail";
  const messages = [{ role: "user", content: text }];
  const named = isInBody ? user : undefined;
  const bodies = {
    chat: { model: "chat", max_tokens: outputMax, messages, user: named },
    messages: {
      model: "claude",
      max_tokens: outputMax,
      messages,
      ...(named && { metadata: { user_id: named } }),
    },
    responses: {
      model: "chat",
      max_output_tokens: outputMax,
      input: text,
      store: false,
      safety_identifier: named,
    },
  };
  const paths = { chat: "/v1/chat/completions", messages: "/v1/messages", responses: "/v1/responses" };
  return { path: paths[surface], body: JSON.stringify(bodies[surface]) };
}
