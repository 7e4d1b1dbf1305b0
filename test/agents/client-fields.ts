import { resolve } from "node:path";
import { CLIENTS } from "../../src/clients/clients.ts";
import {
  isJsonObject,
  type JsonObject,
  parseJsonObject,
  readArray,
  readText,
} from "../../src/wire/json/read.ts";
import type { Agent } from "./agent/agent.ts";
import type { RecordedRequest } from "./recording-proxy.ts";

const PAGE = resolve(import.meta.dir, "../../docs/client-fields.md");
/** Lists whose elements differ by their type. */
const TYPED = ["tools", "messages", "input", "system", "contents", "include", "betas"];

/** Returns a problem for each field that an agent sent and its table does not list. Other agents have no table. */
export async function findUnlisted(
  agent: Agent,
  requests: readonly RecordedRequest[],
): Promise<readonly string[]> {
  const listed = readListed(await Bun.file(PAGE).text(), titleOf(agent.client));
  if (!listed) return [];
  const sent = new Set(requests.flatMap(fieldsOf));
  return [...sent].filter((field) => !listed.has(field)).map((field) => `no table lists the field ${field}`);
}

/** One client may have several settings, as in "Codex · WebSocket". */
function titleOf(id: string): string {
  return CLIENTS.find((each) => each.id === id)?.title.split(" · ")[0] ?? "";
}

/** Reads the fields in the first column of a client's tables: \`field\`, or \`list\` of type \`one\`, \`other\`. */
export function readListed(page: string, client: string): ReadonlySet<string> | undefined {
  const section = page.split(/^## /m).find((each) => each.startsWith(`${client}\n`));
  if (section === undefined) return undefined;
  const cells = section
    .split("\n")
    .filter((line) => line.startsWith("| "))
    .map((line) => line.split("|")[1] ?? "");
  return new Set(cells.flatMap(readCell));
}

function readCell(cell: string): readonly string[] {
  const [fields = "", types] = cell.split(" of type ");
  const names = quotedIn(fields);
  if (types === undefined) return names;
  const list = names.at(-1);
  return [...names, ...quotedIn(types).map((type) => `${list}:${type}`)];
}

function quotedIn(text: string): string[] {
  return [...text.matchAll(/`([^`]+)`/g)].map(([, quoted = ""]) => quoted);
}

/** Headers that every HTTP client sends. */
const USUAL =
  /^(host|connection|upgrade|user-agent|authorization|content-(type|length)|accept(-encoding|-language)?|sec-.*)$/;

/**
 * The headers of a request, and the fields of its body or of each event of a WebSocket. Members of an object have its
 * name before them.
 */
function fieldsOf({ headers, body, events }: RecordedRequest): readonly string[] {
  const names = Object.keys(headers).filter((name) => !USUAL.test(name));
  const bodies = [parseJsonObject(body.toString("utf8")), ...events].filter(isJsonObject);
  const members = bodies.flatMap((each) => Object.entries(each));
  return [
    ...names.map((name) => (name.startsWith("x-stainless-") ? "x-stainless-*" : name)),
    ...members.flatMap(([name, value]) => fieldsIn(name, value)),
  ];
}

/** Members whose names are the client's own. */
const OPAQUE = ["metadata", "client_metadata"];

function fieldsIn(name: string, value: unknown): readonly string[] {
  if (TYPED.includes(name)) return [name, ...readArray(value).flatMap((each) => typesIn(name, each))];
  if (!isJsonObject(value) || OPAQUE.includes(name)) return [name];
  return [name, ...Object.keys(value).map((member) => `${name}.${member}`)];
}

/** The type of an element, and those of its parts. Gemini's parts and tools are known by their members. */
function typesIn(name: string, element: unknown): readonly string[] {
  if (typeof element === "string") return [`${name}:${element}`];
  if (!isJsonObject(element)) return [];
  const own = readText(element.type) || (name === "tools" && "input_schema" in element ? "custom" : "");
  const members = name === "tools" && own === "" ? Object.keys(element) : [];
  const parts = [...readArray(element.content), ...readArray(element.parts), ...nestedTools(element)];
  const types = [own, ...members, ...parts.flatMap(typesOfPart)].filter(Boolean);
  return types.map((type) => `${name}:${type}`);
}

function nestedTools({ type, tools }: JsonObject): readonly unknown[] {
  return type === "additional_tools" ? readArray(tools) : [];
}

function typesOfPart(part: unknown): readonly string[] {
  if (!isJsonObject(part)) return [];
  const type = readText(part.type);
  return type === "" ? Object.keys(part) : [type];
}
