import { drawInteger, drawOne, drawWeighted, type RandomSource } from "../../support/seeded-random.ts";
import { drawHostile, drawName, drawText } from "./hostile-values.ts";

/** Parts, blocks, items and tools that a mutation may insert into a list. */
export type Snippets = readonly unknown[];

type Container = unknown[] | Record<string, unknown>;

/** A member or an element, and the value that holds it. */
interface Spot {
  readonly holder: Container;
  readonly key: string;
}

interface Mutation {
  readonly weight: number;
  mutate(
    draw: RandomSource,
    spot: Spot,
    others: { readonly spots: readonly Spot[]; readonly snippets: Snippets },
  ): void;
}

const SPOTS_MAX = 4_000;
const REPEATS_MAX = 300;

/** Changes one place of a value, in place. Returns the value, which may be replaced. */
export function mutateJson(draw: RandomSource, value: unknown, snippets: Snippets): unknown {
  const box: Record<string, unknown> = { value };
  const spots = spotsOf(box);
  drawWeighted(draw, MUTATIONS).mutate(draw, drawOne(draw, spots), { spots, snippets });
  return box.value;
}

const MUTATIONS: readonly Mutation[] = [
  { weight: 8, mutate: (draw, spot) => put(spot, drawHostile(draw)) },
  { weight: 4, mutate: (_draw, spot) => remove(spot) },
  { weight: 4, mutate: (draw, spot) => changeText(draw, spot) },
  { weight: 3, mutate: (_draw, spot) => repeat(spot, 1) },
  { weight: 0.5, mutate: (draw, spot) => repeat(spot, drawInteger(draw, 2, REPEATS_MAX)) },
  { weight: 3, mutate: (draw, spot) => swap(draw, spot) },
  { weight: 4, mutate: (draw, spot, { spots }) => put(spot, structuredClone(get(drawOne(draw, spots)))) },
  { weight: 3, mutate: (draw, spot) => rename(draw, spot) },
  { weight: 2, mutate: (draw, spot) => add(spot, drawName(draw), drawHostile(draw)) },
  {
    weight: 2,
    mutate: (draw, spot) => add(spot, "cache_control", structuredClone(drawOne(draw, CACHE_MARKS))),
  },
  {
    weight: 5,
    mutate(draw, spot, { spots, snippets }) {
      const lists = spots.map(get).filter((value) => Array.isArray(value));
      const snippet = structuredClone(drawOne(draw, snippets));
      if (lists.length === 0) return put(spot, snippet);
      const list: unknown[] = drawOne(draw, lists);
      list.splice(drawInteger(draw, 0, list.length), draw() < 0.3 ? 1 : 0, snippet);
    },
  },
];

const CACHE_MARKS = [
  { type: "ephemeral" },
  { type: "ephemeral", ttl: "1h" },
  { type: 1 },
  null,
  { ttl: "9d" },
];

function spotsOf(root: Container): Spot[] {
  const spots: Spot[] = [];
  const waiting: Container[] = [root];
  while (waiting.length > 0 && spots.length < SPOTS_MAX) {
    const holder = waiting.pop() ?? [];
    for (const [key, value] of Object.entries(holder)) {
      spots.push({ holder, key });
      if (isContainer(value)) waiting.push(value);
    }
  }
  return spots;
}

function isContainer(value: unknown): value is Container {
  return typeof value === "object" && value !== null;
}

function isRecord(value: unknown): value is Record<string, unknown> {
  return isContainer(value) && !Array.isArray(value);
}

function get({ holder, key }: Spot): unknown {
  return Array.isArray(holder) ? holder[Number(key)] : holder[key];
}

function put({ holder, key }: Spot, value: unknown): void {
  if (Array.isArray(holder)) holder[Number(key)] = value;
  else define(holder, key, value);
}

/** Defines a member of any name, as JSON.parse does, and never a prototype. */
function define(holder: Record<string, unknown>, key: string, value: unknown): void {
  Object.defineProperty(holder, key, { value, enumerable: true, configurable: true, writable: true });
}

function remove({ holder, key }: Spot): void {
  if (Array.isArray(holder)) holder.splice(Number(key), 1);
  else delete holder[key];
}

function changeText(draw: RandomSource, spot: Spot): void {
  const value = get(spot);
  const text = typeof value === "string" ? value : "";
  const at = drawInteger(draw, 0, text.length);
  if (draw() < 0.3) put(spot, text.slice(0, at));
  else put(spot, draw() < 0.5 ? drawText(draw) : text.slice(0, at) + drawText(draw) + text.slice(at));
}

function repeat({ holder, key }: Spot, times: number): void {
  if (!Array.isArray(holder)) return;
  const value: unknown = holder[Number(key)];
  const copies = Array.from({ length: times }, () => structuredClone(value));
  holder.splice(Number(key), 0, ...copies);
}

function swap(draw: RandomSource, spot: Spot): void {
  const other = { holder: spot.holder, key: drawOne(draw, Object.keys(spot.holder)) };
  const value = get(other);
  put(other, get(spot));
  put(spot, value);
}

function rename(draw: RandomSource, spot: Spot): void {
  const value = get(spot);
  if (Array.isArray(spot.holder)) {
    spot.holder.push(structuredClone(value));
    return;
  }
  remove(spot);
  define(spot.holder, drawName(draw), value);
}

function add(spot: Spot, name: string, value: unknown): void {
  const target = get(spot);
  if (Array.isArray(target)) target.push(value);
  else if (isRecord(target)) define(target, name, value);
  else put(spot, value);
}
