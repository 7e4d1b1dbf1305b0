import { useQuery } from "@tanstack/react-query";
import { api, call } from "../../api.ts";
import { capitalize } from "../../format.ts";
import { Badge } from "../../parts/badge.tsx";
import { Button } from "../../parts/button.tsx";
import type { Column } from "../../parts/data-table.tsx";
import { ActionDialog, SecretDialog } from "../../parts/dialog.tsx";
import { Choice, Field } from "../../parts/field.tsx";
import { ListTable } from "../../parts/list-table.tsx";
import { Empty } from "../../parts/loaded.tsx";
import { Panel } from "../../parts/panel.tsx";
import styles from "../../parts/stack.module.css";
import { Time } from "../../parts/time.tsx";
import { showToast } from "../../parts/toast.tsx";
import { type Invitation, invitationsQuery, ROLES, readRole } from "../../queries/account.ts";
import { setupQuery, useAccount } from "../../session.ts";
import { useAction } from "../../use-action.ts";

interface InvitationsProps {
  readonly account: string;
  readonly mayGive: boolean;
  readonly mayTake: boolean;
}

/** Invitations that are not accepted yet. Ended ones are in the audit trail. */
export function Invitations({ account, mayGive, mayTake }: InvitationsProps) {
  const list = useQuery(invitationsQuery(account));
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
  const waiting = list.data?.items.filter(({ state }) => state === "open" || state === "expired");
  const send = mayGive ? resend.mutate : undefined;
  const actions = actionsColumn({ isBusy: resend.isPending, resend: send, revoke: revoke.mutate });
  return (
    <Panel title="Invitations" note="A link is valid for 7 days and can be accepted once." isFlush>
      <ListTable
        name="invitations"
        searchBy={({ email, role, invited_by }) => [email, role, invited_by]}
        caption="Invitations"
        columns={mayTake ? [...COLUMNS, actions] : COLUMNS}
        rows={waiting}
        rowKey={({ id }) => id}
        empty={<Empty icon="team" title="No invitation is waiting" />}
        query={list}
        skeletonRows={1}
      />
      {resend.data?.link && <InvitationLink link={resend.data.link} onClose={resend.reset} />}
    </Panel>
  );
}

const COLUMNS: readonly Column<Invitation>[] = [
  {
    id: "email",
    order: ({ email }) => email,
    header: "E-mail",
    cell: ({ email, invited_by, created_at }) => (
      <span className={styles.named}>
        {email}
        <small>
          invited by {invited_by} on <Time at={created_at} as="date" />
        </small>
      </span>
    ),
  },
  { id: "role", order: ({ role }) => role, header: "Role", cell: ({ role }) => capitalize(role) },
  {
    id: "state",
    order: ({ state }) => state,
    header: "State",
    cell: ({ state }) => <Badge tone={state === "open" ? "info" : "warn"}>{STATES[state]}</Badge>,
  },
  {
    id: "expires",
    order: ({ expires_at }) => expires_at,
    header: "Expires",
    cell: ({ expires_at }) => <Time at={expires_at} as="date" />,
  },
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

/** Sends an invitation by mail, or shows its link once where no mail can be sent. */
export function Invite({ account, onClose }: { readonly account: string; readonly onClose: () => void }) {
  const { data: setup } = useQuery(setupQuery);
  const { role: ownRole } = useAccount();
  const isMailed = setup?.has_mail !== false;
  return (
    <ActionDialog
      title="Invite a person"
      note={`${whoGets(isMailed, ownRole)}, which is valid for 7 days and can be accepted once.`}
      action={isMailed ? "Send the invitation" : "Invite"}
      act={({ email = "", role }) =>
        call(() => api.accounts({ account }).invitations.post({ email, role: readRole(role) }))
      }
      renews={[invitationsQuery(account).queryKey]}
      shows={({ link }) => link && <InvitationLink link={link} onClose={onClose} />}
      onDone={({ link }) => {
        if (link !== null) return;
        showToast("Invitation sent");
        onClose();
      }}
      onClose={onClose}
    >
      <Field
        label="E-mail"
        name="email"
        type="email"
        maxLength={254}
        refusal="This is no plain e-mail address."
        required
      />
      <Choice label="Role" name="role" options={ROLES} />
    </ActionDialog>
  );
}

function whoGets(isMailed: boolean, ownRole: string): string {
  if (isMailed) return "The address gets a link";
  // An acting operator sees no secret of the account.
  if (ownRole === "acting") return "This server sends no mail: its log gets a link";
  return "This server sends no mail: you get a link to pass on";
}

interface InvitationLinkProps {
  readonly link: string;
  readonly onClose: () => void;
}

/** Shows the link of an invitation once, to the inviter of a server that sends no mail. */
function InvitationLink({ link, onClose }: InvitationLinkProps) {
  return (
    <SecretDialog
      title="Pass this link on"
      note="This server sends no mail. Only the invited address can accept, for 7 days. The link is shown this once."
      label="link"
      secret={link}
      onClose={onClose}
    />
  );
}
