/** One violation of an invariant. */
export interface Finding {
  readonly kind: string;
  readonly severity: "error" | "warning";
  readonly wallet_id: string;
  readonly subject: string | null;
  readonly text: string;
}

/** The last run of the audit. */
export interface Audit {
  readonly is_running: boolean;
  readonly ran_at: string | null;
  readonly duration_ms: number | null;
  readonly wallets: number;
  readonly holds: number;
  readonly transfers: number;
  readonly findings: readonly Finding[];
  readonly checked: readonly {
    readonly invariant: string;
    readonly text: string;
    /** Violations and warnings, each at most 100. */
    readonly rows: number;
    readonly warnings: number;
    readonly ok: boolean;
  }[];
}

const WORDS = { holds: "ok     ", warned: "WARNING", broken: "BROKEN " } as const;

/** Whether an invariant holds, holds with warnings, or is broken. */
export function judge({ ok, warnings }: Audit["checked"][number]): keyof typeof WORDS {
  if (!ok) return "broken";
  return warnings > 0 ? "warned" : "holds";
}

/** Prints a run as plain text, one line per invariant and per finding. */
export function printReport({ ran_at, duration_ms, checked, findings, ...counts }: Audit): string {
  const { wallets, transfers, holds } = counts;
  return [
    `Ledger audit of ${ran_at ?? "never"}, ${duration_ms ?? 0} ms`,
    `${wallets} wallets, ${transfers} transfers, ${holds} holds`,
    "",
    ...checked.map((line) => `${WORDS[judge(line)]} ${line.invariant}: ${line.text} (${line.rows})`),
    ...(findings.length > 0 ? ["", "Findings"] : []),
    ...findings.map(
      ({ kind, severity, wallet_id, subject, text }) =>
        `${severity} ${kind} ${wallet_id}${subject === null ? "" : ` ${subject}`}: ${text}`,
    ),
    "",
  ].join("\n");
}
