import { createDraw, type RandomSource } from "../../support/seeded-random.ts";

/** Identifies one case. Everything about the case is drawn from its members. */
export interface CaseId {
  readonly seed: string;
  readonly number: number;
  /** Steps to leave out, to find the ones that matter. */
  readonly without: ReadonlySet<string>;
}

/**
 * The random numbers of one case. Each step has its own sequence, so that leaving one out changes no other.
 */
export interface Steps {
  /** Returns a sequence for draws that are not mutations. */
  draw(name: string): RandomSource;
  /** Makes `times` mutations with numbered names, without those in {@link CaseId.without}. */
  repeat(name: string, times: number, mutate: (draw: RandomSource) => void): void;
  /** The names of the mutations made. */
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

/** Finds a minimal set of mutations that is still wrong. Returns the mutations to leave out. */
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
