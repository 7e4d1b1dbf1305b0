import { Elysia, t } from "elysia";
import { printTime } from "../../../domain/id-time.ts";
import { GatewayError } from "../../../errors.ts";
import type { Finding } from "../../../ledger/audit/audit.ts";
import type { AuditJob, AuditResult, PartsOf } from "../console-parts.ts";
import { createGuard } from "../guard.ts";
import { nothing, oneOf, time } from "../shapes.ts";

type Parts = PartsOf<"platform">;

const finding = t.Object({
  kind: t.String({ description: "Id of the invariant" }),
  severity: oneOf(["error", "warning"]),
  wallet_id: t.String(),
  subject: t.Nullable(t.String({ description: "A hold, transfer or limit; null for the wallet" })),
  text: t.String(),
});
const result = t.Object({
  is_running: t.Boolean(),
  ran_at: t.Nullable(time),
  duration_ms: t.Nullable(t.Integer()),
  wallets: t.Integer(),
  holds: t.Integer(),
  transfers: t.Integer(),
  findings: t.Array(finding),
  checked: t.Array(
    t.Object({
      invariant: t.String(),
      text: t.String(),
      rows: t.Integer({ description: "Rows that violate it, at most 100" }),
      warnings: t.Integer({ description: "Rows that are worth a look and break nothing, at most 100" }),
      ok: t.Boolean({ description: "Whether no row violates it" }),
    }),
  ),
});
type ResultShape = typeof result.static;

/** The audit of the ledger: its last result, and a new run in the background. */
export function operatorAuditRoutes(parts: Parts) {
  const { platform } = parts;
  const requireJob = (): AuditJob => {
    if (!platform.audit) throw new GatewayError("not_built");
    return platform.audit;
  };
  return new Elysia()
    .use(createGuard(parts, "Operators"))
    .get("/operator/audit", () => readResult(requireJob()), {
      summary: "Read the result of the last audit",
      needsOperator: true,
      response: result,
    })
    .post(
      "/operator/audit",
      async ({ status }) => {
        if (!(await requireJob().start())) throw new GatewayError("conflict");
        return status(202, {});
      },
      { summary: "Start an audit of the ledger", needsOperator: true, response: { 202: nothing } },
    );
}

async function readResult(job: AuditJob): Promise<ResultShape> {
  const [isRunning, last] = await Promise.all([job.isRunning(), job.last()]);
  const never = { ran_at: null, duration_ms: null, wallets: 0, holds: 0, transfers: 0 };
  if (!last) return { is_running: isRunning, ...never, findings: [], checked: [] };
  return { is_running: isRunning, ...printResult(last) };
}

function printResult({ ranAtMs, durationMs, report }: AuditResult) {
  const { wallets, holds, transfers, checked, findings, warnings } = report;
  return {
    ran_at: printTime(ranAtMs),
    duration_ms: durationMs,
    wallets,
    holds,
    transfers,
    findings: [
      ...findings.map((each) => printFinding(each, "error" as const)),
      ...warnings.map((each) => printFinding(each, "warning" as const)),
    ],
    checked: checked.map((line) => {
      // The audit prints "I1: what must hold".
      const [invariant = "", ...text] = line.split(": ");
      const countIn = (found: readonly Finding[]) =>
        found.filter((each) => each.invariant === invariant).length;
      const rows = countIn(findings);
      return { invariant, text: text.join(": "), rows, warnings: countIn(warnings), ok: rows === 0 };
    }),
  };
}

function printFinding(
  { invariant, claim, walletId, subject }: Finding,
  severity: "error" | "warning",
): ResultShape["findings"][number] {
  return { kind: invariant, severity, wallet_id: walletId, subject: subject ?? null, text: claim };
}
