import type { ChatRequest, Part, Tool, Turn } from "../domain/chat-request.ts";
import { shortHash } from "./short-hash.ts";

/** The longest names and ids that the hosts of a format take; all take letters, digits, _ and -. */
interface NameLimits {
  readonly nameCharsMax: number;
  readonly idCharsMax: number;
}

const HASH_CHARS = 8;

/** Shortens what is too long to its beginning and a hash, always to the same, so that calls and results still meet. */
export function shortenIdentifiers(
  request: ChatRequest,
  { nameCharsMax, idCharsMax }: NameLimits,
): ChatRequest {
  const fitName = (name: string) => shortenIdentifier(name, nameCharsMax);
  const { toolChoice } = request;
  return {
    ...request,
    turns: fitTurns(request.turns, { fitName, fitId: (id) => shortenIdentifier(id, idCharsMax) }),
    tools: request.tools.map((tool) => ({ ...tool, name: fitName(tool.name) })),
    toolChoice: toolChoice?.kind === "tool" ? { kind: "tool", name: fitName(toolChoice.name) } : toolChoice,
  };
}

/** The names that a client has for its tools, by what they are shortened to; those that fit are left out. */
export function originalNames(
  tools: readonly Tool[],
  { nameCharsMax }: Pick<NameLimits, "nameCharsMax">,
): ReadonlyMap<string, string> {
  const originals = new Map<string, string>();
  for (const { name } of tools) {
    const fitted = shortenIdentifier(name, nameCharsMax);
    if (fitted !== name) originals.set(fitted, name);
  }
  return originals;
}

interface Fit {
  fitName(name: string): string;
  fitId(id: string): string;
}

function fitTurns(turns: readonly Turn[], how: Fit): readonly Turn[] {
  return turns.map((turn) =>
    turn.parts.some(isOfTool) ? { ...turn, parts: turn.parts.map((part) => fitPart(part, how)) } : turn,
  );
}

function isOfTool({ kind }: Part): boolean {
  return kind === "tool_call" || kind === "tool_result";
}

function fitPart(part: Part, { fitName, fitId }: Fit): Part {
  if (part.kind === "tool_call") return { ...part, id: fitId(part.id), name: fitName(part.name) };
  return part.kind === "tool_result" ? { ...part, callId: fitId(part.callId) } : part;
}

/** A name of at most so many letters, digits, _ and -: itself if it is one, else its beginning and a hash. */
export function shortenIdentifier(name: string, charsMax: number): string {
  if (name.length <= charsMax && /^[\w-]+$/.test(name)) return name;
  const head = name.slice(0, charsMax - HASH_CHARS - 1).replaceAll(/[^\w-]/g, "_");
  return `${head}_${shortHash(name, HASH_CHARS)}`;
}
