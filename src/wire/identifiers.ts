import type { ChatRequest, Part, Tool, Turn } from "../domain/chat-request.ts";

/** The longest names and ids that hosts of a format accept. Every host accepts letters, digits, _ and -. */
interface IdentifierLimits {
  readonly nameCharsMax: number;
  readonly idCharsMax: number;
}

const HASH_CHARS = 8;

/**
 * Shortens every tool name and call id that a host would reject to its beginning and a hash. The result
 * depends on the identifier alone, so calls still match their tools and results.
 */
export function shortenIdentifiers(
  request: ChatRequest,
  { nameCharsMax, idCharsMax }: IdentifierLimits,
): ChatRequest {
  const toHostName = (name: string) => shortenIdentifier(name, nameCharsMax);
  const toHostId = (id: string) => shortenIdentifier(id, idCharsMax);
  const { toolChoice } = request;
  return {
    ...request,
    turns: shortenInTurns(request.turns, { toHostName, toHostId }),
    tools: request.tools.map((tool) => ({ ...tool, name: toHostName(tool.name) })),
    toolChoice:
      toolChoice?.kind === "tool" ? { kind: "tool", name: toHostName(toolChoice.name) } : toolChoice,
  };
}

/** Returns the client's tool names by their shortened names. Names that are not shortened are omitted. */
export function originalNames(
  tools: readonly Tool[],
  { nameCharsMax }: Pick<IdentifierLimits, "nameCharsMax">,
): ReadonlyMap<string, string> {
  const originals = new Map<string, string>();
  for (const { name } of tools) {
    const shortened = shortenIdentifier(name, nameCharsMax);
    if (shortened !== name) originals.set(shortened, name);
  }
  return originals;
}

interface Shortening {
  toHostName(name: string): string;
  toHostId(id: string): string;
}

function shortenInTurns(turns: readonly Turn[], shortening: Shortening): readonly Turn[] {
  return turns.map((turn) =>
    turn.parts.some(hasIdentifier)
      ? { ...turn, parts: turn.parts.map((part) => shortenInPart(part, shortening)) }
      : turn,
  );
}

function hasIdentifier({ kind }: Part): boolean {
  return kind === "tool_call" || kind === "tool_result";
}

function shortenInPart(part: Part, { toHostName, toHostId }: Shortening): Part {
  if (part.kind === "tool_call") return { ...part, id: toHostId(part.id), name: toHostName(part.name) };
  return part.kind === "tool_result" ? { ...part, callId: toHostId(part.callId) } : part;
}

/** Shortens a name to `charsMax` letters, digits, _ and -: its beginning and a hash. Keeps a valid name. */
export function shortenIdentifier(name: string, charsMax: number): string {
  if (name.length <= charsMax && /^[\w-]+$/.test(name)) return name;
  const head = name.slice(0, charsMax - HASH_CHARS - 1).replaceAll(/[^\w-]/g, "_");
  return `${head}_${shortHash(name, HASH_CHARS)}`;
}

/** Returns the first `chars` hex digits of a text's SHA-256. */
export function shortHash(text: string, chars: number): string {
  return new Bun.CryptoHasher("sha256").update(text).digest("hex").slice(0, chars);
}

/**
 * Creates a function that returns a unique id for each tool call of one answer, because clients identify
 * calls by their ids. It replaces an unusable or repeated id of the upstream with a generated one. `generate`
 * takes the number of earlier calls.
 */
export function createCallIds(
  generate: (calls: number) => string,
  isUsable: (id: string) => boolean = (id) => id !== "",
): (id: string) => string {
  const used = new Set<string>();
  return (id) => {
    const unique = isUsable(id) && !used.has(id) ? id : generate(used.size);
    used.add(unique);
    return unique;
  };
}
