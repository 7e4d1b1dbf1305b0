// Part of bun run check: asks the registry for advisories on the dependencies. Without an answer it passes, so that
// a check works offline; the line it prints then says so.

interface Advisory {
  readonly severity: string;
  readonly title: string;
  readonly url: string;
}

/** Severities that fail the check. */
const FAILING = ["high", "critical"];
const ANSWER_MS = 15_000;

/** Judges what `bun audit --json` printed. */
export function judgeAudit(printed: string): { readonly exitCode: 0 | 1; readonly text: string } {
  const advisories = readAdvisories(printed);
  if (!advisories) return { exitCode: 0, text: "Dependencies were not audited: the registry has no answer." };
  const lines = Object.entries(advisories).flatMap(([name, all]) =>
    all.map(({ severity, title, url }) => `${severity}: ${name}, ${title} (${url})`),
  );
  const isBad = Object.values(advisories).some((all) =>
    all.some(({ severity }) => FAILING.includes(severity)),
  );
  const text = lines.length > 0 ? lines.join("\n") : "Dependencies have no known vulnerability.";
  return { exitCode: isBad ? 1 : 0, text };
}

/** Returns the advisories by package; `undefined` when the registry gave none to read. */
function readAdvisories(printed: string): Readonly<Record<string, readonly Advisory[]>> | undefined {
  try {
    const parsed: unknown = JSON.parse(printed.slice(Math.max(printed.indexOf("{"), 0)));
    if (typeof parsed !== "object" || parsed === null) return undefined;
    // Safe because the members are printed only.
    const entries = Object.entries(parsed).filter(([, all]) => Array.isArray(all));
    return Object.fromEntries(entries) as Record<string, Advisory[]>;
  } catch {
    return undefined;
  }
}

if (import.meta.main) {
  const child = Bun.spawn([process.execPath, "audit", "--json"], { stdout: "pipe", stderr: "ignore" });
  const timer = setTimeout(() => child.kill(), ANSWER_MS);
  const verdict = judgeAudit(await new Response(child.stdout).text());
  clearTimeout(timer);
  console.log(verdict.text);
  process.exitCode = verdict.exitCode;
}
