import { useQuery } from "@tanstack/react-query";
import { api, call } from "../../api.ts";
import { capitalize, formatCount, formatMs, plural } from "../../format.ts";
import { Badge } from "../../parts/badge.tsx";
import { Button } from "../../parts/button.tsx";
import { Copy } from "../../parts/code-block.tsx";
import { type Column, DataTable } from "../../parts/data-table.tsx";
import { Empty } from "../../parts/loaded.tsx";
import { PageHeader } from "../../parts/page-header.tsx";
import { Panel } from "../../parts/panel.tsx";
import styles from "../../parts/stack.module.css";
import { Stat, Stats } from "../../parts/stat.tsx";
import { Time } from "../../parts/time.tsx";
import { AUDIT_KEY, type Audit, auditQuery } from "../../queries/operator.ts";
import { useAction } from "../../use-action.ts";

type Checked = Audit["checked"][number];
type Finding = Audit["findings"][number];

/** Whether the books add up: each invariant of the ledger, checked over every wallet. */
export function OperatorAuditPage() {
  const list = useQuery(auditQuery());
  const run = useAction({ act: () => call(() => api.operator.audit.post()), renews: [AUDIT_KEY] });
  const hasResult = list.data !== undefined && list.data.ran_at !== null;
  return (
    <div className={styles.page}>
      <PageHeader
        title="Ledger audit"
        badges={list.data && <Verdict audit={list.data} />}
        note="Reads the whole journal and checks that every balance, limit and sum of usage follows from it."
      >
        {hasResult && <Copy text={printReport(list.data)} label="Copy the report" hasText />}
        <Button
          look="primary"
          icon="play"
          isBusy={run.isPending || list.data?.is_running === true}
          onClick={() => run.mutate()}
        >
          {list.data?.is_running ? "Running…" : "Run now"}
        </Button>
      </PageHeader>
      <Stats label="The last run">
        <Stat
          name="Finished"
          value={list.data && <Time at={list.data.ran_at} as="relative" />}
          note={hasResult && `in ${formatMs(list.data.duration_ms)}`}
        />
        <Stat name="Wallets" value={list.data && formatCount(list.data.wallets)} />
        <Stat name="Transfers" value={list.data && formatCount(list.data.transfers)} />
        <Stat name="Holds" value={list.data && formatCount(list.data.holds)} />
      </Stats>
      {list.data && list.data.findings.length > 0 && <Findings findings={list.data.findings} />}
      <Panel title="Invariants" isFlush>
        <DataTable
          caption="Invariants"
          columns={INVARIANTS}
          rows={list.data?.checked}
          rowKey={({ invariant }) => invariant}
          empty={
            <Empty
              icon="audit"
              title={list.data?.is_running ? "The first run is under way" : "Not checked yet"}
            >
              {list.data?.is_running
                ? "Its result appears here by itself."
                : "Run the audit to see its result here."}
            </Empty>
          }
          query={list}
          skeletonRows={10}
        />
      </Panel>
    </div>
  );
}

function Verdict({ audit: { ran_at, checked, findings } }: { readonly audit: Audit }) {
  if (ran_at === null) return null;
  const broken = checked.filter(({ ok }) => !ok).length;
  if (broken > 0) return <Badge tone="bad">{`${broken} broken`}</Badge>;
  if (findings.length === 0) return <Badge tone="good">all hold</Badge>;
  return <Badge tone="warn">{plural(findings.length, "warning")}</Badge>;
}

const INVARIANTS: readonly Column<Checked>[] = [
  {
    id: "text",
    header: "What must hold",
    cell: ({ invariant, text }) => (
      <span className={styles.named}>
        {capitalize(text)}
        <small>{invariant}</small>
      </span>
    ),
  },
  {
    id: "ok",
    header: "Result",
    isNarrow: true,
    card: "corner",
    cell: (line) => <Result {...line} />,
  },
];

function Result({ ok, rows, warnings }: Checked) {
  return (
    <span className={styles.line}>
      {!ok && <Badge tone="bad">{countFound(rows, "violation")}</Badge>}
      {warnings > 0 && <Badge tone="warn">{countFound(warnings, "warning")}</Badge>}
      {ok && warnings === 0 && <Badge tone="good">holds</Badge>}
    </span>
  );
}

/** The audit reports at most 100 rows of an invariant. */
const FOUND_MAX = 100;

function countFound(rows: number, one: string): string {
  return rows < FOUND_MAX ? plural(rows, one) : `${FOUND_MAX} or more ${one}s`;
}

function Findings({ findings }: { readonly findings: readonly Finding[] }) {
  return (
    <Panel
      title="Findings"
      note="Violations need a look at once. Warnings are about lateness: every amount is exact. At most 100 of each."
      isFlush
    >
      <DataTable
        caption="Findings"
        columns={FINDINGS}
        rows={findings}
        rowKey={({ kind, wallet_id, subject, text }) => `${kind} ${wallet_id} ${subject} ${text}`}
        empty={null}
      />
    </Panel>
  );
}

const FINDINGS: readonly Column<Finding>[] = [
  {
    id: "text",
    header: "What was found",
    cell: ({ kind, severity, text }) => (
      <span className={styles.line}>
        <Badge tone={severity === "error" ? "bad" : "warn"}>{kind}</Badge>
        {severity === "error" ? `Violated: ${text}` : `Not so: ${text}`}
      </span>
    ),
  },
  {
    id: "wallet",
    header: "Wallet",
    cell: ({ wallet_id }) => (wallet_id === "" ? "all" : <code>{wallet_id}</code>),
  },
  { id: "subject", header: "Row", cell: (finding) => <Subject finding={finding} /> },
];

/** A hold, transfer or limit. Findings about usage are about an hour or day. */
function Subject({ finding: { kind, subject } }: { readonly finding: Finding }) {
  if (subject === null) return "–";
  if (!kind.startsWith("U")) return <code>{subject}</code>;
  const atMs = Number(subject);
  return atMs > 0 ? <Time at={new Date(atMs).toISOString()} /> : "nothing summed up yet";
}

const WORDS = { holds: "ok     ", warned: "WARNING", broken: "BROKEN " } as const;

/** Whether an invariant holds, holds with warnings, or is broken. */
function judge({ ok, warnings }: Audit["checked"][number]): keyof typeof WORDS {
  if (!ok) return "broken";
  return warnings > 0 ? "warned" : "holds";
}

/** Prints a run as plain text, one line per invariant and per finding. */
function printReport({ ran_at, duration_ms, checked, findings, ...counts }: Audit): string {
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
