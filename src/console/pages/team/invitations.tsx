import { useQuery } from "@tanstack/react-query";
import { api, call } from "../../api.ts";
import { Badge } from "../../parts/badge.tsx";
import { Button } from "../../parts/button.tsx";
import { type Column, DataTable } from "../../parts/data-table.tsx";
import { Empty } from "../../parts/empty.tsx";
import { Panel } from "../../parts/panel.tsx";
import styles from "../../parts/stack.module.css";
import { Time } from "../../parts/time.tsx";
import { showToast } from "../../parts/toast.tsx";
import { useAction } from "../../use-action.ts";
import { InvitationLink } from "./invitation-link.tsx";
import { type Invitation, invitationsQuery, titleOf } from "./queries.ts";

interface InvitationsProps {
  readonly account: string;
  readonly mayGive: boolean;
  readonly mayTake: boolean;
}

/** Invitations that are not accepted yet. Ended ones are in the audit trail. */
export function Invitations({ account, mayGive, mayTake }: InvitationsProps) {
  const { data, error, refetch } = useQuery(invitationsQuery(account));
  const pathOf = (invitation: string) => api.accounts({ account }).invitations({ invitation });
  const renews = [invitationsQuery(account).queryKey];
  const resend = useAction({
    act: (id: string) => call(() => pathOf(id).resend.post()),
    renews,
    onDone: ({ link }) => {
      if (link === null) showToast("Invitation sent again. The earlier link has ended.");
    },
  });
  const revoke = useAction({
    act: (id: string) => call(() => pathOf(id).delete()),
    renews,
    done: "Invitation revoked",
  });
  const waiting = data?.items.filter(({ state }) => state === "open" || state === "expired");
  const send = mayGive ? resend.mutate : undefined;
  const actions = actionsColumn({ isBusy: resend.isPending, resend: send, revoke: revoke.mutate });
  return (
    <Panel title="Invitations" note="A link is valid for 7 days and can be accepted once." isFlush>
      <DataTable
        caption="Invitations"
        columns={mayTake ? [...COLUMNS, actions] : COLUMNS}
        rows={waiting}
        rowKey={({ id }) => id}
        empty={<Empty icon="team" title="No invitation is waiting" />}
        error={data ? undefined : error}
        onRetry={() => void refetch()}
        skeletonRows={1}
      />
      {resend.data?.link && <InvitationLink link={resend.data.link} onClose={resend.reset} />}
    </Panel>
  );
}

const COLUMNS: readonly Column<Invitation>[] = [
  {
    id: "email",
    header: "E-mail",
    cell: ({ email, invited_by }) => (
      <span className={styles.named}>
        {email}
        <small>invited by {invited_by}</small>
      </span>
    ),
  },
  { id: "role", header: "Role", cell: ({ role }) => titleOf(role) },
  {
    id: "state",
    header: "State",
    cell: ({ state }) => <Badge tone={state === "open" ? "info" : "warn"}>{STATES[state]}</Badge>,
  },
  { id: "sent", header: "Sent", cell: ({ created_at }) => <Time at={created_at} as="date" /> },
  { id: "expires", header: "Expires", cell: ({ expires_at }) => <Time at={expires_at} as="date" /> },
];

const STATES = { open: "waiting", expired: "expired", accepted: "accepted", revoked: "revoked" };

interface InvitationActions {
  readonly isBusy: boolean;
  /** Absent for an operator who only acts inside the account. */
  readonly resend: ((id: string) => void) | undefined;
  readonly revoke: (id: string) => void;
}

function actionsColumn({ isBusy, resend, revoke }: InvitationActions): Column<Invitation> {
  return {
    id: "actions",
    header: "",
    align: "end",
    cell: ({ id, email }) => (
      <span className={styles.line}>
        {resend && (
          <Button
            size="small"
            aria-label={`Send again the invitation of ${email}`}
            disabled={isBusy}
            onClick={() => resend(id)}
          >
            Send again
          </Button>
        )}
        <Button
          size="small"
          look="danger"
          aria-label={`Revoke the invitation of ${email}`}
          onClick={() => revoke(id)}
        >
          Revoke
        </Button>
      </span>
    ),
  };
}
