/** A line of one text beside its counterpart in another; `undefined` where only one of them has it. */
export interface LinePair {
  readonly left: string | undefined;
  readonly right: string | undefined;
}

/** More lines than this on both sides are compared in place: the table of all pairs would take too much memory. */
const CELLS_MAX = 4_000_000;

/** Pairs the lines of two texts so that most lines are equal, and the fewest stand alone. */
export function diffLines(left: string, right: string): readonly LinePair[] {
  const [before, after] = [left.split("\n"), right.split("\n")];
  let start = 0;
  while (start < before.length && start < after.length && before[start] === after[start]) start += 1;
  let end = 0;
  const shorter = Math.min(before.length, after.length) - start;
  while (end < shorter && before.at(-1 - end) === after.at(-1 - end)) end += 1;
  const equal = (lines: readonly string[]) => lines.map((line) => ({ left: line, right: line }));
  const middle = [before, after].map((lines) => lines.slice(start, lines.length - end));
  const [one = [], other = []] = middle;
  return [
    ...equal(before.slice(0, start)),
    ...joinChanges(pairLines(one, other)),
    ...equal(before.slice(before.length - end)),
  ];
}

/** The longest list of lines that both have in order, and between them those of one side. */
function pairLines(before: readonly string[], after: readonly string[]): readonly LinePair[] {
  const [rows, columns] = [before.length, after.length];
  if ((rows + 1) * (columns + 1) > CELLS_MAX) {
    return [
      ...before.map((left) => ({ left, right: undefined })),
      ...after.map((right) => ({ left: undefined, right })),
    ];
  }
  const width = columns + 1;
  const common = new Uint16Array((rows + 1) * width);
  const at = (row: number, column: number) => common[row * width + column] ?? 0;
  for (let row = rows - 1; row >= 0; row -= 1) {
    for (let column = columns - 1; column >= 0; column -= 1) {
      common[row * width + column] =
        before[row] === after[column]
          ? at(row + 1, column + 1) + 1
          : Math.max(at(row + 1, column), at(row, column + 1));
    }
  }
  const pairs: LinePair[] = [];
  let [row, column] = [0, 0];
  while (row < rows || column < columns) {
    if (row < rows && column < columns && before[row] === after[column]) {
      pairs.push({ left: before[row++], right: after[column++] });
    } else if (column >= columns || (row < rows && at(row + 1, column) >= at(row, column + 1))) {
      pairs.push({ left: before[row++], right: undefined });
    } else pairs.push({ left: undefined, right: after[column++] });
  }
  return pairs;
}

/** Puts lines that were replaced beside those that replace them. */
function joinChanges(pairs: readonly LinePair[]): readonly LinePair[] {
  const joined: LinePair[] = [];
  let removed: string[] = [];
  let added: string[] = [];
  const flush = () => {
    for (let index = 0; index < Math.max(removed.length, added.length); index += 1)
      joined.push({ left: removed[index], right: added[index] });
    removed = [];
    added = [];
  };
  for (const pair of pairs) {
    if (pair.left !== undefined && pair.right !== undefined) {
      flush();
      joined.push(pair);
    } else if (pair.left !== undefined) removed.push(pair.left);
    else if (pair.right !== undefined) added.push(pair.right);
  }
  flush();
  return joined;
}
