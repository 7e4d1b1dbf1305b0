import { useQuery } from "@tanstack/react-query";
import { api, call } from "../../api.ts";
import { ActionDialog } from "../../parts/dialog.tsx";
import { Choice, type FormValues } from "../../parts/field.tsx";
import { type Member, membersQuery, ROLES, readRole, rolesUpTo } from "../../queries/account.ts";
import { meQuery } from "../../session.ts";

/** What is about to be done with a member. */
export interface MemberTask {
  readonly kind: "role" | "remove";
  readonly member: Member;
}

interface MemberDialogProps {
  readonly account: string;
  readonly task: MemberTask;
  /** Whether more rights may be given. */
  readonly mayGive: boolean;
  readonly onClose: () => void;
}

/** The dialog of a task. The last owner stays; the server answers so. */
export function MemberDialog(props: MemberDialogProps) {
  return props.task.kind === "role" ? <RoleDialog {...props} /> : <RemoveDialog {...props} />;
}

function RoleDialog({ account, task: { member }, mayGive, onClose }: MemberDialogProps) {
  return (
    <ActionDialog
      title={`Role of ${member.name}`}
      note="Fewer rights count at once, and end what was made with the others: API keys of viewers, and management keys, shared links and open invitations of everybody who is no owner. With more rights, the person has to sign in again."
      action="Change the role"
      act={(values) =>
        call(() => pathOf(account, member).patch({ role: readRole(values.role), ...keysTo(values) }))
      }
      renews={[membersQuery(account).queryKey, meQuery.queryKey]}
      done="Role changed"
      onClose={onClose}
    >
      <Choice
        label="Role"
        name="role"
        options={mayGive ? ROLES : rolesUpTo(member.role)}
        defaultValue={member.role}
      />
      <KeysTo account={account} member={member} />
    </ActionDialog>
  );
}

/** Asks what becomes of the keys that a member may no longer have. */
function KeysTo({ account, member }: Pick<MemberDialogProps, "account"> & Pick<MemberTask, "member">) {
  const { data } = useQuery(membersQuery(account));
  const owners =
    data?.items.filter((each) => each.role === "owner" && each.person_id !== member.person_id) ?? [];
  return (
    <Choice
      label="Keys that end"
      name="keys_to"
      hint="The member knows the secrets: rotate the keys that are handed over."
      options={[
        { value: "", text: "are revoked within a second" },
        ...owners.map((each) => ({
          value: each.person_id,
          text: `are handed over to ${each.name}, and stay valid`,
        })),
      ]}
    />
  );
}

function RemoveDialog({ account, task: { member }, onClose }: MemberDialogProps) {
  return (
    <ActionDialog
      title={`Remove ${member.name}`}
      note="The person no longer sees this account. What they made and know ends: API keys, management keys, shared links and open invitations."
      action="Remove"
      isDanger
      act={(values) => call(() => pathOf(account, member).delete(undefined, { query: keysTo(values) }))}
      renews={[membersQuery(account).queryKey, meQuery.queryKey]}
      done={`${member.name} was removed`}
      onClose={onClose}
    >
      <KeysTo account={account} member={member} />
    </ActionDialog>
  );
}

/** An empty choice revokes the keys. */
function keysTo({ keys_to }: FormValues) {
  return keys_to ? { keys_to } : {};
}

/** Each parameter by itself: the client takes the first value of what it is given. */
function pathOf(account: string, { person_id }: Member) {
  return api.accounts({ account }).members({ person: person_id });
}
