/** One per-minute limit as its client sees it. */
export interface LimitWindow {
  readonly limit: number;
  readonly remaining: number;
  /** Milliseconds until the window is empty again, when nothing else is admitted. */
  readonly resetMs: number;
}

/** The per-minute limits of a client; `undefined` where there is no limit. */
export interface LimitWindows {
  readonly requests: LimitWindow | undefined;
  readonly tokens: LimitWindow | undefined;
}
