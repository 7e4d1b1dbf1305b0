import { type Alias, isAlias, isMap, isScalar, isSeq, type Node, type Pair, type YAMLMap } from "yaml";
import type { Path, Problems } from "./problems.ts";

/** Maximum nesting of collections, aliases expanded. */
export const YAML_DEPTH_MAX = 64;

/** The document cannot be read. Its two texts become one problem. */
export class YamlError extends Error {
  override readonly name = "YamlError";
  readonly wrong: string;
  readonly expected: string;

  constructor(wrong: string, expected: string) {
    super(wrong);
    this.wrong = wrong;
    this.expected = expected;
  }
}

/** Maximum number of values, aliases expanded. One model takes about 20. */
const VALUES_MAX = 200_000;

const MERGE_KEY = "<<";

/** A plain value with its number of values and its nesting depth, both with aliases expanded. */
interface Built {
  readonly value: unknown;
  readonly count: number;
  readonly depth: number;
}

interface Options {
  readonly lineAt: (offset: number) => number;
  readonly problems: Problems;
}

/**
 * Converts a composed document to plain values in one pass. An alias becomes a reference to the value of its
 * anchor. Adds a problem for each duplicate key and each key that is no text. Throws {@link YamlError} for an
 * alias without an anchor or inside its own anchor. Throws it also for too many values or levels.
 */
export function readValues(root: unknown, { lineAt, problems }: Options): unknown {
  /** Values by anchor; `undefined` while the value of the anchor is being built. */
  const anchors = new Map<string, Built | undefined>();
  const { admit, enclose } = createBounds();

  function build(node: unknown, path: Path): Built {
    if (isAlias(node)) return admit(expand(node), path);
    const anchor = isScalar(node) || isMap(node) || isSeq(node) ? node.anchor : undefined;
    if (anchor) anchors.set(anchor, undefined);
    const built = buildOwn(node, path);
    if (anchor) anchors.set(anchor, built);
    return built;
  }

  function buildOwn(node: unknown, path: Path): Built {
    if (isMap(node)) return buildMapping(node, path);
    if (!isSeq(node)) return admit({ value: isScalar(node) ? node.value : null, count: 1, depth: 1 }, path);
    const elements = node.items.map((element, index) => build(element, [...path, index]));
    return enclose(
      elements.map(({ value }) => value),
      elements,
    );
  }

  function buildMapping(node: YAMLMap, path: Path): Built {
    const members = new Map<string, Built>();
    for (const pair of node.items) {
      const key = readKey(pair, path);
      const place = [...path, key];
      if (members.has(key)) {
        const line = lineAt(offsetOf(pair.key));
        problems.add(place, `is a duplicate key in line ${line}`, "unique keys");
      }
      members.set(key, build(pair.value, place));
    }
    const merged = members.get(MERGE_KEY);
    members.delete(MERGE_KEY);
    const own = [...members].map(([key, { value }]) => [key, value] as const);
    const base = merged ? readMerged(merged.value, [...path, MERGE_KEY], problems) : [];
    return enclose(Object.fromEntries([...base, ...own]), [...members.values(), ...(merged ? [merged] : [])]);
  }

  function readKey({ key }: Pair, path: Path): string {
    const node = isAlias(key) ? expand(key).value : isScalar(key) ? key.value : key;
    if (isScalar(key) && key.anchor) anchors.set(key.anchor, { value: key.value, count: 1, depth: 1 });
    if (typeof node !== "object" || node === null) return String(node);
    const line = lineAt(offsetOf(key));
    problems.add([...path, "?"], `is a list or a mapping in line ${line}`, "text for a key");
    return "";
  }

  function expand(alias: Alias): Built {
    const built = anchors.get(alias.source);
    if (built) return built;
    const line = lineAt(offsetOf(alias));
    throw anchors.has(alias.source)
      ? new YamlError(`has an alias in line ${line} that contains itself`, "aliases of complete anchors")
      : new YamlError(`has an alias in line ${line} without an anchor`, "an anchor before each alias");
  }

  return root === null || root === undefined ? undefined : build(root, []).value;
}

/** Counts the values and checks the depth of one document, aliases expanded. */
function createBounds() {
  let count = 0;

  function admit(built: Built, path: Path): Built {
    count += built.count;
    if (count > VALUES_MAX) {
      throw new YamlError(`has more than ${VALUES_MAX} values, aliases expanded`, "a smaller document");
    }
    if (path.length + built.depth > YAML_DEPTH_MAX) {
      throw new YamlError("is nested too deep, aliases expanded", `at most ${YAML_DEPTH_MAX} levels`);
    }
    return built;
  }

  /** Counts a collection as one value, because its parts were counted before. */
  function enclose(value: object, parts: readonly Built[]): Built {
    count += 1;
    return {
      value,
      count: parts.reduce((sum, part) => sum + part.count, 1),
      depth: parts.reduce((most, part) => Math.max(most, part.depth), 0) + 1,
    };
  }

  return { admit, enclose };
}

/** Returns the members of merged mappings, the first mapping last, so that its members win. */
function readMerged(value: unknown, path: Path, problems: Problems): (readonly [string, unknown])[] {
  const sources: readonly unknown[] = Array.isArray(value) ? value.toReversed() : [value];
  return sources.flatMap((source) => {
    if (source === null) return [];
    if (typeof source === "object" && !Array.isArray(source)) return Object.entries(source);
    problems.add(path, "cannot be merged", "a mapping or a list of mappings");
    return [];
  });
}

function offsetOf(node: unknown): number {
  return (node as Node | null)?.range?.[0] ?? 0;
}
