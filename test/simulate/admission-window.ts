/** One admission of a key or an account. */
interface Admitted {
  readonly atMs: number;
  tokens: number;
  /** A cancelled request does not count. */
  isCounted: boolean;
  isOld: boolean;
}

/** Sums up what was admitted within a time, without a look at each admission. */
export class AdmissionWindow {
  readonly #ms: number;
  /** In the order of their times. Those before `#first` are too old. */
  #kept: Admitted[] = [];
  #first = 0;
  #requests = 0;
  #tokens = 0;

  constructor(ms: number) {
    this.#ms = ms;
  }

  /** Returns a function that corrects the tokens of an admission; `undefined` cancels it. */
  add(atMs: number, tokens: number): (used: number | undefined) => void {
    const kept: Admitted = { atMs, tokens, isCounted: true, isOld: false };
    this.#kept.push(kept);
    this.#count(kept, 1);
    return (used) => {
      if (!kept.isOld) this.#count(kept, -1);
      kept.isCounted = used !== undefined;
      kept.tokens = used ?? 0;
      if (!kept.isOld) this.#count(kept, 1);
    };
  }

  /** What was admitted in the time before a moment. Moments must not go back. */
  sum(atMs: number): { readonly requests: number; readonly tokens: number } {
    for (let next = this.#kept[this.#first]; next && next.atMs <= atMs - this.#ms; ) {
      this.#count(next, -1);
      next.isOld = true;
      this.#first += 1;
      next = this.#kept[this.#first];
    }
    if (this.#first > this.#kept.length / 2) {
      this.#kept = this.#kept.slice(this.#first);
      this.#first = 0;
    }
    return { requests: this.#requests, tokens: this.#tokens };
  }

  #count({ tokens, isCounted }: Admitted, times: 1 | -1): void {
    if (!isCounted) return;
    this.#requests += times;
    this.#tokens += times * tokens;
  }
}
