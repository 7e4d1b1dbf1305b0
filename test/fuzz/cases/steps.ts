import { createDraw, type RandomSource } from "../../support/seeded-random.ts";

/** Names one case: everything about it is drawn from these. */
export interface CaseId {
  readonly seed: string;
  readonly number: number;
  /** Steps that are left out, to find out which of them matter. */
  readonly without: ReadonlySet<string>;
}

/** The draws of one case. Each step has its own, so that leaving one out changes no other. */
export interface Steps {
  /** For what is no mutation: the same whatever is left out. */
  draw(name: string): RandomSource;
  /** So many mutations, each under its name; those that are left out are not made. */
  repeat(name: string, times: number, mutate: (draw: RandomSource) => void): void;
  /** Those that were made so far. */
  readonly made: readonly string[];
}

export function stepsOf({ seed, number, without }: CaseId): Steps {
  const made: string[] = [];
  const draw = (name: string) => createDraw(seed, number, name);
  return {
    draw,
    made,
    repeat(name, times, mutate) {
      for (let index = 0; index < times; index += 1) {
        const step = `${name} ${index}`;
        if (without.has(step)) continue;
        made.push(step);
        mutate(draw(step));
      }
    },
  };
}

/** Mutations of a case that is known to be wrong, down to those that it takes: each that can be left out is. */
export async function shrink(
  steps: readonly string[],
  isStillWrong: (without: ReadonlySet<string>) => Promise<boolean> | boolean,
): Promise<ReadonlySet<string>> {
  let without: ReadonlySet<string> = new Set();
  for (const step of steps.toReversed()) {
    const fewer = new Set([...without, step]);
    if (await isStillWrong(fewer)) without = fewer;
  }
  return without;
}
