import { useState } from "react";
import { api, call } from "../../api.ts";
import { formatCount } from "../../format.ts";
import { Badge, type Tone } from "../../parts/badge.tsx";
import { Button } from "../../parts/button.tsx";
import { Confirm } from "../../parts/confirm.tsx";
import { type Column, DataTable } from "../../parts/data-table.tsx";
import { Empty } from "../../parts/empty.tsx";
import { Panel } from "../../parts/panel.tsx";
import styles from "../../parts/stack.module.css";
import { Time } from "../../parts/time.tsx";
import { showToast } from "../../parts/toast.tsx";
import { useAction } from "../../use-action.ts";
import { HEALTH_KEY, type UpstreamHealth } from "./queries.ts";

const CIRCUITS = {
  closed: { tone: "good", text: "closed" },
  half_open: { tone: "warn", text: "half-open" },
  open: { tone: "bad", text: "open" },
} as const satisfies Record<UpstreamHealth["circuit"], { tone: Tone; text: string }>;

/** Each upstream with its circuit; it can be probed, and its circuit forced. */
export function Upstreams({ upstreams }: { readonly upstreams: readonly UpstreamHealth[] | undefined }) {
  const [chosen, setChosen] = useState<UpstreamHealth>();
  const probe = useAction({
    act: (name: string) => call(() => api.operator.upstreams({ name }).probe.post()),
    renews: [HEALTH_KEY],
    onDone: ({ name, status, fault }) => reportProbe({ name, status, fault }),
  });
  const columns: readonly Column<UpstreamHealth>[] = [
    ...COLUMNS,
    {
      id: "actions",
      header: "",
      align: "end",
      cell: (upstream) => (
        <span className={styles.line}>
          <Button
            size="small"
            isBusy={probe.isPending && probe.variables === upstream.name}
            onClick={() => probe.mutate(upstream.name)}
            aria-label={`Probe ${upstream.name}`}
          >
            Probe
          </Button>
          <Button
            size="small"
            onClick={() => setChosen(upstream)}
            aria-label={`${changeOf(upstream).action} of ${upstream.name}`}
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
      <DataTable
        caption="Upstreams"
        columns={columns}
        rows={upstreams}
        rowKey={({ name }) => name}
        empty={<Empty title="No upstream">The configuration names none.</Empty>}
        skeletonRows={2}
      />
      {chosen && <ForceDialog upstream={chosen} onClose={() => setChosen(undefined)} />}
    </Panel>
  );
}

const COLUMNS: readonly Column<UpstreamHealth>[] = [
  {
    id: "name",
    header: "Upstream",
    cell: ({ name, models }) => (
      <span className={styles.named}>
        {name}
        <small>{models.join(", ") || "no model leads here"}</small>
      </span>
    ),
  },
  {
    id: "circuit",
    header: "Circuit",
    cell: ({ circuit, is_forced }) => (
      <Badge tone={CIRCUITS[circuit].tone}>
        {CIRCUITS[circuit].text}
        {is_forced && " by an operator"}
      </Badge>
    ),
  },
  {
    id: "again",
    header: "Next probe",
    isNarrow: true,
    cell: ({ opens_again_at }) => <Time at={opens_again_at} as="second" />,
  },
  { id: "running", header: "In flight", align: "end", cell: ({ in_flight }) => formatCount(in_flight) },
  {
    id: "failures",
    header: "Failures in a row",
    align: "end",
    cell: ({ failures }) => formatCount(failures),
  },
  {
    id: "cooldown",
    header: "Cooling until",
    isNarrow: true,
    cell: ({ cooldown_until }) => <Time at={cooldown_until} as="second" />,
  },
];

/** What the button offers: the other state of the circuit. */
function changeOf({ circuit }: UpstreamHealth): { state: "open" | "closed"; action: string; note: string } {
  if (circuit === "closed") {
    return {
      state: "open",
      action: "Open the circuit",
      note: "Requests go elsewhere until you close the circuit; those without another route are still sent to it. Running ones end as usual.",
    };
  }
  return { state: "closed", action: "Close the circuit", note: "Requests are sent to it again at once." };
}

function ForceDialog({
  upstream,
  onClose,
}: {
  readonly upstream: UpstreamHealth;
  readonly onClose: () => void;
}) {
  const { state, action, note } = changeOf(upstream);
  const force = useAction({
    act: () => call(() => api.operator.upstreams({ name: upstream.name }).circuit.post({ state })),
    renews: [HEALTH_KEY],
    done:
      state === "open"
        ? `The circuit of ${upstream.name} is open`
        : `The circuit of ${upstream.name} is closed`,
    isForm: true,
    onDone: onClose,
  });
  return (
    <Confirm
      title={`${action} of ${upstream.name}`}
      note={`${note} This holds for the process that answers; others keep their own circuit.`}
      action={action}
      isDanger={state === "open"}
      call={force}
      onConfirm={() => force.mutate()}
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
