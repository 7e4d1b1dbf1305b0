import { api, call } from "../../api.ts";
import { readForm } from "../../form-values.ts";
import { Button } from "../../parts/button.tsx";
import { Confirm } from "../../parts/confirm.tsx";
import { Dialog, DialogActions } from "../../parts/dialog.tsx";
import { Choice, Failure, Form } from "../../parts/field.tsx";
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
  const path = { account, person: member.person_id };
  const change = useAction({
    act: (role: Member["role"]) => call(() => api.accounts(path).members(path).patch({ role })),
    renews: [membersQuery(account).queryKey, meQuery.queryKey],
    done: "Role changed",
    isForm: true,
    onDone: onClose,
  });
  return (
    <Dialog
      title={`Role of ${member.name}`}
      note="Fewer rights count at once. With more rights, the person has to sign in again."
      isOpen
      onClose={onClose}
    >
      <Form onSubmit={(event) => change.mutate(readRole(readForm(event).role))}>
        <Choice label="Role" name="role" options={ROLES} defaultValue={member.role} />
        <Failure error={change.error} />
        <DialogActions>
          <Button onClick={onClose}>Cancel</Button>
          <Button type="submit" look="primary" isBusy={change.isPending}>
            Change the role
          </Button>
        </DialogActions>
      </Form>
    </Dialog>
  );
}

function RemoveDialog({ account, task: { member }, onClose }: MemberDialogProps) {
  const path = { account, person: member.person_id };
  const remove = useAction({
    act: () => call(() => api.accounts(path).members(path).delete()),
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
