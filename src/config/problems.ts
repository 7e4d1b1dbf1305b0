/** Names a place in the configuration: keys and, for elements of lists, indexes. */
export type Path = readonly (string | number)[];

/** Collects what is wrong. The first problem of a place is kept: what follows from it is not said again. */
export interface Problems {
  add(path: Path, wrong: string, expected: string): void;
  list(): readonly string[];
}

export function createProblems(): Problems {
  const byPlace = new Map<string, string>();
  return {
    add(path, wrong, expected) {
      const place = printPath(path);
      if (!byPlace.has(place)) byPlace.set(place, `${place}: ${wrong}, expected ${expected}`);
    },
    list: () => [...byPlace.values()],
  };
}

/** Prints a path the way it would be written in code: `models["gpt-4.1"].routes[0].upstream`. */
function printPath([first = "", ...rest]: Path): string {
  return first + rest.map(printSegment).join("");
}

function printSegment(segment: string | number): string {
  if (/^\d+$/.test(String(segment))) return `[${segment}]`;
  return /^[\w-]+$/.test(String(segment)) ? `.${segment}` : `[${JSON.stringify(segment)}]`;
}
