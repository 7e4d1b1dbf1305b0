import { useState } from "react";
import { api, call } from "../../api.ts";
import { formatCount, formatPercent } from "../../format.ts";
import { Badge, type Tone } from "../../parts/badge.tsx";
import { Button } from "../../parts/button.tsx";
import type { Column } from "../../parts/data-table.tsx";
import { Confirm } from "../../parts/dialog.tsx";
import { ListTable } from "../../parts/list-table.tsx";
import { Empty } from "../../parts/loaded.tsx";
import { Panel } from "../../parts/panel.tsx";
import styles from "../../parts/stack.module.css";
import { Time } from "../../parts/time.tsx";
import { showToast } from "../../parts/toast.tsx";
import { HEALTH_KEY, type UpstreamHealth } from "../../queries/operator.ts";
import { useAction } from "../../use-action.ts";

const CIRCUITS = {
  closed: { tone: "good", text: "closed" },
  half_open: { tone: "warn", text: "half-open" },
  open: { tone: "bad", text: "open" },
} as const satisfies Record<UpstreamHealth["circuit"], { tone: Tone; text: string }>;

/** An upstream, or one key of its pool. */
interface Row extends Omit<UpstreamHealth, "keys"> {
  readonly label: string | null;
}

function rowsOf({ keys, ...upstream }: UpstreamHealth): readonly Row[] {
  const own = { ...upstream, label: null };
  return [own, ...keys.map(({ weight: _, ...key }) => ({ ...upstream, ...key }))];
}

function titleOf({ name, label }: Pick<Row, "name" | "label">): string {
  return label === null ? name : `${name}, key ${label}`;
}

/** The routes of an upstream, or of one of its keys. */
function routesOf({ name, label }: Pick<Row, "name" | "label">) {
  const upstream = api.operator.upstreams({ name });
  return label === null ? upstream : upstream.keys({ label });
}

/** Each upstream and each key of a pool with its circuit; it can be probed, and its circuit forced. */
export function Upstreams({ upstreams }: { readonly upstreams: readonly UpstreamHealth[] | undefined }) {
  const [chosen, setChosen] = useState<Row>();
  const probe = useAction({
    act: async (row: Row) => ({ row, ...(await call(() => routesOf(row).probe.post())) }),
    renews: [HEALTH_KEY],
    onDone: ({ row, status, fault }) => reportProbe({ name: titleOf(row), status, fault }),
  });
  const columns: readonly Column<Row>[] = [
    ...COLUMNS,
    {
      id: "actions",
      header: "",
      align: "end",
      card: "line",
      cell: (upstream) => (
        <span className={styles.line}>
          <Button
            size="small"
            isBusy={probe.isPending && titleOf(probe.variables) === titleOf(upstream)}
            onClick={() => probe.mutate(upstream)}
            aria-label={`Probe ${titleOf(upstream)}`}
          >
            Probe
          </Button>
          <Button
            size="small"
            onClick={() => setChosen(upstream)}
            aria-label={`${changeOf(upstream).action} of ${titleOf(upstream)}`}
          >
            {changeOf(upstream).action}
          </Button>
        </span>
      ),
    },
  ];
  return (
    <Panel
      title="Upstreams"
      note="An open circuit gets single probes, and requests that have no other route."
      isFlush
    >
      <ListTable
        name="upstreams"
        searchBy={({ name, models }) => [name, ...models]}
        caption="Upstreams"
        columns={columns}
        rows={upstreams?.flatMap(rowsOf)}
        rowKey={titleOf}
        empty={<Empty title="No upstream">The configuration names none.</Empty>}
        skeletonRows={2}
      />
      {chosen && <ForceDialog upstream={chosen} onClose={() => setChosen(undefined)} />}
    </Panel>
  );
}

const COLUMNS: readonly Column<Row>[] = [
  {
    id: "name",
    order: ({ name }) => name,
    header: "Upstream",
    cell: ({ name, label, models }) => (
      <span className={styles.named}>
        {label ?? name}
        <small>{label === null ? models.join(", ") || "no model leads here" : `key of ${name}`}</small>
      </span>
    ),
  },
  {
    id: "circuit",
    header: "Circuit",
    cell: ({ circuit, is_forced, is_rejected, opens_again_at, cooldown_until }) => (
      <span className={styles.named}>
        <Badge tone={CIRCUITS[circuit].tone}>
          {CIRCUITS[circuit].text}
          {is_forced && " by an operator"}
          {is_rejected && ", key rejected"}
        </Badge>
        {opens_again_at && (
          <small>
            next probe <Time at={opens_again_at} as="moment" />
          </small>
        )}
        {cooldown_until && (
          <small>
            cooling until <Time at={cooldown_until} as="moment" />
          </small>
        )}
      </span>
    ),
  },
  { id: "running", header: "In flight", align: "end", cell: ({ in_flight }) => formatCount(in_flight) },
  {
    id: "errors",
    header: "Failed in 5 min",
    align: "end",
    // Attempts are counted by upstream.
    cell: ({ label, failures, recent: { attempts, failed } }) => (
      <span className={styles.named}>
        {label !== null || attempts === 0
          ? "–"
          : `${formatCount(failed)} of ${formatCount(attempts)} · ${formatPercent(failed / attempts)}`}
        {failures > 0 && <small>{formatCount(failures)} in a row</small>}
      </span>
    ),
  },
];

/** What the button offers: the other state of the circuit. */
function changeOf({ circuit }: Row): { state: "open" | "closed"; action: string; note: string } {
  if (circuit === "closed") {
    return {
      state: "open",
      action: "Open the circuit",
      note: "Requests go elsewhere until you close the circuit; those without another route are still sent to it. Running ones end as usual.",
    };
  }
  return { state: "closed", action: "Close the circuit", note: "Requests are sent to it again at once." };
}

function ForceDialog({ upstream, onClose }: { readonly upstream: Row; readonly onClose: () => void }) {
  const { state, action, note } = changeOf(upstream);
  return (
    <Confirm
      title={`${action} of ${titleOf(upstream)}`}
      note={`${note} This holds for the process that answers; others keep their own circuit.`}
      action={action}
      isDanger={state === "open"}
      act={() => call(() => routesOf(upstream).circuit.post({ state }))}
      renews={[HEALTH_KEY]}
      done={
        state === "open"
          ? `The circuit of ${titleOf(upstream)} is open`
          : `The circuit of ${titleOf(upstream)} is closed`
      }
      onClose={onClose}
    />
  );
}

interface Probed {
  readonly name: string;
  readonly status: number | null;
  readonly fault: string | null;
}

function reportProbe({ name, status, fault }: Probed): void {
  const text = fault === null ? `answered with status ${status}` : `could not be reached: ${fault}`;
  const isWell = status !== null && status < 400;
  showToast(`${name} ${text}`, isWell ? "good" : "bad");
}
