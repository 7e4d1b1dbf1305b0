import { isMap, isScalar, type Node, type Pair, parseDocument, type YAMLMap } from "yaml";
import { shieldPlaceholders, unshieldPlaceholders } from "./placeholders.ts";
import { createProblems } from "./problems.ts";
import { parseYaml, YAML_OPTIONS } from "./yaml.ts";

type Members = Readonly<Record<string, unknown>>;

const SECTIONS = ["upstreams", "models", "plans", "console"] as const;

/** New members of the file's mappings, by the mapping's key and the name of the member. */
export type Additions = Readonly<Record<"upstreams" | "models", Members>>;
type AnyAdditions = Readonly<Partial<Record<(typeof SECTIONS)[number], Members>>>;

/** The file cannot be extended. The message is one sentence for the operator. */
export class AdditionError extends Error {
  override readonly name = "AdditionError";
}

/**
 * Adds members at the ends of the mappings of a configuration file. Every other line stays as it is, comments
 * included. Throws {@link AdditionError} for a file with problems, a member that exists, and a file that cannot
 * be extended.
 */
export function addEntries(text: string, additions: AnyAdditions): string {
  const before = readFileValues(text);
  const extended = SECTIONS.reduce(
    (extending, section) => addMembers(extending, section, additions[section] ?? {}),
    shieldPlaceholders(text),
  );
  // A file of Windows keeps its line ends.
  const after = unshieldPlaceholders(text.includes("\r\n") ? extended.replace(/\r?\n/g, "\r\n") : extended);
  const problems = createProblems();
  const expected = merge(before, additions);
  if (!Bun.deepEquals(parseYaml(extended, "", problems), expected) || problems.list().length > 0) {
    throw new AdditionError("The file is written in a way that cannot be extended: add the lines by hand.");
  }
  return after;
}

type Values = Readonly<Record<string, unknown>>;

/** Returns the values of a file with its placeholders shielded. Throws {@link AdditionError}. */
export function readFileValues(text: string): Values {
  const problems = createProblems();
  const values = parseYaml(shieldPlaceholders(text), "the file", problems) ?? {};
  const [problem] = problems.list();
  if (problem) throw new AdditionError(`The file has a problem: ${problem.replace(/^the file: /, "")}.`);
  if (typeof values !== "object" || Array.isArray(values))
    throw new AdditionError("The file is not a mapping.");
  return { ...values };
}

/** Returns the values with those that are added. Throws {@link AdditionError} for a member that exists. */
function merge(before: Values, additions: AnyAdditions): Values {
  const merged: Record<string, unknown> = { ...before };
  for (const [section, members] of Object.entries(additions)) {
    const own: Record<string, unknown> = { ...Object(before[section]) };
    for (const [name, member] of Object.entries(members)) {
      if (Object.hasOwn(own, name)) throw new AdditionError(`${section} has ${name} already.`);
      own[name] = JSON.parse(shieldPlaceholders(JSON.stringify(member)));
    }
    if (Object.keys(members).length > 0) merged[section] = own;
  }
  return merged;
}

/** Adds lines to a mapping of the root, or the mapping at the end. Works on shielded text. */
function addMembers(text: string, section: string, members: Members): string {
  if (Object.keys(members).length === 0) return text;
  const root = parseDocument(text, YAML_OPTIONS).contents;
  const pair = isMap(root) ? root.items.find(({ key }) => isScalar(key) && key.value === section) : undefined;
  if (!pair) return `${endLine(text)}${section}:\n${printMembers(members, 2)}`;
  if (isBlock(pair.value)) {
    const [first] = pair.value.items;
    const at = lineEndAfter(text, endOf(pair.value));
    return insert(text, at, printMembers(members, columnOf(text, startOf(first))));
  }
  if (isMap(pair.value) && pair.value.items.length > 0) return addToFlow(text, pair.value, members);
  // Nothing, or an empty mapping in braces, whose braces go.
  const [start, end] = isMap(pair.value) ? (pair.value.range ?? [0, 0]) : [0, 0];
  const emptied = text.slice(0, start) + text.slice(end);
  const at = lineEndAfter(emptied, isMap(pair.value) ? start : endOf(pair));
  return insert(isMap(pair.value) ? emptied : text, at, printMembers(members, 2));
}

/** Adds members before the closing brace of a mapping in braces. */
function addToFlow(text: string, map: YAMLMap, members: Members): string {
  const brace = (map.range?.[1] ?? 0) - 1;
  const last = endOf(map.items.at(-1) ?? map);
  const added = Object.entries(members).map(([name, member]) => `, ${printKey(name)}: ${printFlow(member)}`);
  const between = text.slice(last, brace).replace(/^\s*,/, "");
  return shieldPlaceholders(`${text.slice(0, last)}${added.join("")}${between}${text.slice(brace)}`);
}

function isBlock(value: unknown): value is YAMLMap {
  return isMap(value) && !value.flow && value.items.length > 0;
}

/** Returns the end of what a value, or the last value in it, is written with. */
function endOf(node: unknown): number {
  if (isPair(node)) return node.value === null || isEmpty(node.value) ? endOf(node.key) : endOf(node.value);
  if (
    typeof node === "object" &&
    node !== null &&
    "items" in node &&
    Array.isArray(node.items) &&
    !isFlow(node)
  ) {
    return endOf(node.items.at(-1));
  }
  return (node as Node | null)?.range?.[1] ?? 0;
}

function isPair(node: unknown): node is Pair {
  return typeof node === "object" && node !== null && "key" in node && "value" in node;
}

function isEmpty(node: unknown): boolean {
  return isScalar(node) && node.value === null && node.source === "";
}

function isFlow(node: object): boolean {
  return "flow" in node && node.flow === true;
}

function startOf(pair: Pair | undefined): number {
  return (pair?.key as Node | undefined)?.range?.[0] ?? 0;
}

function columnOf(text: string, offset: number): number {
  return offset - (text.lastIndexOf("\n", offset - 1) + 1);
}

/** Returns the offset behind the line in which an offset is. */
function lineEndAfter(text: string, offset: number): number {
  if (text[offset - 1] === "\n") return offset;
  const end = text.indexOf("\n", offset);
  return end < 0 ? text.length : end + 1;
}

function insert(text: string, at: number, lines: string): string {
  return endLine(text.slice(0, at)) + lines + text.slice(at);
}

function endLine(text: string): string {
  return text === "" || text.endsWith("\n") ? text : `${text}\n`;
}

/** Prints members in block style, each value in one line of flow style. */
function printMembers(members: Members, indent: number): string {
  const lines = Object.entries(members).map(
    ([name, member]) => `${" ".repeat(indent)}${printKey(name)}: ${printFlow(member)}\n`,
  );
  return shieldPlaceholders(lines.join(""));
}

/** Prints a value as YAML in braces, with quotes where YAML or a placeholder needs them. */
function printFlow(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map(printFlow).join(", ")}]`;
  if (typeof value !== "object" || value === null)
    return typeof value === "string" ? printKey(value) : String(value);
  const members = Object.entries(value).map(([name, member]) => `${printKey(name)}: ${printFlow(member)}`);
  return `{ ${members.join(", ")} }`;
}

/** Prints a text plainly where every reader of YAML takes it for a text, else in quotes. */
function printKey(text: string): string {
  const isPlain =
    /^[A-Za-z][\w./:@+-]*$/.test(text) &&
    !/:$/.test(text) &&
    !/^(true|false|null|yes|no|on|off|y|n)$/i.test(text);
  return isPlain ? text : JSON.stringify(text);
}
