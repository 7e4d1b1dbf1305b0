/** The token that a client sends, and what it does when the ledger denies it. */
export interface TokenChoice {
  /** Returns the first token that was not denied since the last success; the first one when all were. */
  current(): string;
  /** Must be called when the ledger denied a token. Returns whether there is another one to try. */
  deny(token: string): boolean;
  /** Must be called when the ledger accepted a token. */
  accept(): void;
}

/** Chooses among tokens that may change: during a rotation, the ledger may know the old one or the new one. */
export function createTokenChoice(tokens: () => readonly string[]): TokenChoice {
  const denied = new Set<string>();
  const untried = () => tokens().find((token) => !denied.has(token));
  return {
    current: () => untried() ?? tokens()[0] ?? "",
    deny(token) {
      denied.add(token);
      const isLeft = untried() !== undefined;
      // The next round begins with the first again.
      if (!isLeft) denied.clear();
      return isLeft;
    },
    accept: () => denied.clear(),
  };
}
