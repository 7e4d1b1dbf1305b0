import { api, call } from "../../api.ts";
import { Confirm } from "../../parts/confirm.tsx";
import { Choice } from "../../parts/field.tsx";
import { FormDialog } from "../../parts/form-dialog.tsx";
import { meQuery } from "../../session.ts";
import { useAction } from "../../use-action.ts";
import { type Member, membersQuery, ROLES, readRole } from "./queries.ts";

/** What is about to be done with a member. */
export interface MemberTask {
  readonly kind: "role" | "remove";
  readonly member: Member;
}

interface MemberDialogProps {
  readonly account: string;
  readonly task: MemberTask;
  readonly onClose: () => void;
}

/** The dialog of a task. The last owner stays; the server answers so. */
export function MemberDialog(props: MemberDialogProps) {
  return props.task.kind === "role" ? <RoleDialog {...props} /> : <RemoveDialog {...props} />;
}

function RoleDialog({ account, task: { member }, onClose }: MemberDialogProps) {
  const change = useAction({
    act: (role: Member["role"]) => call(() => pathOf(account, member).patch({ role })),
    renews: [membersQuery(account).queryKey, meQuery.queryKey],
    done: "Role changed",
    isForm: true,
    onDone: onClose,
  });
  return (
    <FormDialog
      title={`Role of ${member.name}`}
      note="Fewer rights count at once. With more rights, the person has to sign in again."
      action="Change the role"
      call={change}
      onSubmit={({ role }) => change.mutate(readRole(role))}
      onClose={onClose}
    >
      <Choice label="Role" name="role" options={ROLES} defaultValue={member.role} />
    </FormDialog>
  );
}

function RemoveDialog({ account, task: { member }, onClose }: MemberDialogProps) {
  const remove = useAction({
    act: () => call(() => pathOf(account, member).delete()),
    renews: [membersQuery(account).queryKey, meQuery.queryKey],
    done: `${member.name} was removed`,
    isForm: true,
    onDone: onClose,
  });
  return (
    <Confirm
      title={`Remove ${member.name}`}
      note="The person no longer sees this account. Keys that they made stay valid: revoke them separately."
      action="Remove"
      isDanger
      call={remove}
      onConfirm={() => remove.mutate()}
      onClose={onClose}
    />
  );
}

/** Each parameter by itself: the client takes the first value of what it is given. */
function pathOf(account: string, { person_id }: Member) {
  return api.accounts({ account }).members({ person: person_id });
}
