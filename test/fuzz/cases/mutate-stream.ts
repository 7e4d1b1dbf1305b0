import { type Draw, drawInteger, drawOne, drawWeighted } from "../../storm/draw.ts";
import { mutateJson, type Snippets } from "./mutate-json.ts";

interface Mutation {
  readonly weight: number;
  mutate(draw: Draw, events: unknown[], snippets: Snippets): void;
}

/** Changes the events of a stream in one way: one of them, or which there are and in which order. */
export function mutateStream(draw: Draw, events: unknown[], snippets: Snippets): void {
  if (events.length > 0) drawWeighted(draw, MUTATIONS).mutate(draw, events, snippets);
}

const REPEATS_MAX = 200;

const MUTATIONS: readonly Mutation[] = [
  {
    weight: 14,
    mutate(draw, events, snippets) {
      const at = drawAt(draw, events);
      events[at] = mutateJson(draw, events[at], snippets);
    },
  },
  { weight: 3, mutate: (draw, events) => void events.splice(drawAt(draw, events), 1) },
  { weight: 3, mutate: (draw, events) => repeat(draw, events, 1) },
  { weight: 0.5, mutate: (draw, events) => repeat(draw, events, drawInteger(draw, 2, REPEATS_MAX)) },
  {
    weight: 3,
    mutate(draw, events) {
      const [moved] = events.splice(drawAt(draw, events), 1);
      events.splice(drawInteger(draw, 0, events.length), 0, moved);
    },
  },
  {
    weight: 2,
    mutate(draw, events) {
      const at = drawAt(draw, events);
      const [one, other] = [events[at], events[drawAt(draw, events)]];
      if (isRecord(one) && isRecord(other)) events[at] = { ...one, ...structuredClone(other) };
    },
  },
  {
    weight: 2,
    mutate: (draw, events, snippets) =>
      void events.splice(drawInteger(draw, 0, events.length), 0, structuredClone(drawOne(draw, snippets))),
  },
  { weight: 1, mutate: (draw, events) => void events.splice(drawAt(draw, events), 0, { type: "ping" }) },
  { weight: 1, mutate: (draw, events) => void events.splice(drawAt(draw, events)) },
];

function drawAt(draw: Draw, events: readonly unknown[]): number {
  return drawInteger(draw, 0, Math.max(0, events.length - 1));
}

function repeat(draw: Draw, events: unknown[], times: number): void {
  const at = drawAt(draw, events);
  const copies = Array.from({ length: times }, () => structuredClone(events[at]));
  events.splice(at, 0, ...copies);
}

function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
