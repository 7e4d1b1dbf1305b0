import type { Surface } from "./client.ts";

/** What a response says of a window, whichever surface it is on; `reset` in the surface's own form. */
export function windowOf({ headers }: Response, surface: Surface, what: "requests" | "tokens") {
  const name = (part: string) =>
    surface.name === "chat" ? `x-ratelimit-${part}-${what}` : `anthropic-ratelimit-${what}-${part}`;
  const read = (part: string) => headers.get(name(part));
  return { limit: Number(read("limit")), remaining: Number(read("remaining")), reset: read("reset") ?? "" };
}

/** Input bound and default ceiling of an ordinary request, with `more` in its body. */
export function quotedTokens(surface: Surface, more?: object): number {
  return Math.ceil(Buffer.byteLength(JSON.stringify(surface.body(more))) / 2) + 1_000;
}
