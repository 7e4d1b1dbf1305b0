/** Names a place in the configuration: keys and, for elements of lists, indexes. */
export type Path = readonly (string | number)[];

/** UTF-16 units of all problems together: enough for a thousand, and still one line of a log. */
const LENGTH_MAX = 131_072;
/** UTF-16 units of a key in a path. Names that the file may hold are shorter. */
const KEY_LENGTH_MAX = 256;

/**
 * Collects what is wrong. The first problem of a place is kept: what follows from it is not said again. Problems
 * beyond 128 Ki characters are only counted.
 */
export interface Problems {
  add(path: Path, wrong: string, expected: string): void;
  list(): readonly string[];
}

export function createProblems(): Problems {
  const byPlace = new Map<string, string>();
  let length = 0;
  let more = 0;

  function add(path: Path, wrong: string, expected: string): void {
    const place = printPath(path);
    if (byPlace.has(place)) return;
    const problem = `${place}: ${wrong}, expected ${expected}`;
    if (byPlace.size > 0 && length + problem.length > LENGTH_MAX) {
      more += 1;
      return;
    }
    length += problem.length;
    byPlace.set(place, problem.slice(0, LENGTH_MAX));
  }

  return {
    add,
    list: () => [...byPlace.values(), ...(more > 0 ? [`and ${more} more problems`] : [])],
  };
}

/** Prints a path the way it would be written in code: `models["gpt-4.1"].routes[0].upstream`. */
function printPath([first = "", ...rest]: Path): string {
  return shorten(String(first)) + rest.map(printSegment).join("");
}

function printSegment(segment: string | number): string {
  if (/^\d{1,9}$/.test(String(segment))) return `[${segment}]`;
  const name = shorten(String(segment));
  return /^[\w-]+$/.test(name) ? `.${name}` : `[${JSON.stringify(name)}]`;
}

function shorten(key: string): string {
  return key.length > KEY_LENGTH_MAX ? `${key.slice(0, KEY_LENGTH_MAX)}…` : key;
}
