import { useState } from "react";
import { ApiError, api, call } from "../../api.ts";
import { readForm } from "../../form-values.ts";
import { Button } from "../../parts/button.tsx";
import { ConflictDialog, currentOf, type FieldInWords } from "../../parts/conflict-dialog.tsx";
import { Failure, Field, Form } from "../../parts/field.tsx";
import styles from "../../parts/stack.module.css";
import { meQuery, useMay } from "../../session.ts";
import { useAction } from "../../use-action.ts";
import { type Account, accountQuery } from "./queries.ts";

type Details = Pick<Account, "name" | "email">;

/** What this person changed, of the version that it was made from. */
interface Edit {
  readonly version: number;
  readonly changes: Partial<Details>;
}

/** Name and address of the account. When another edit came first, shows both versions. */
export function AccountDetails({ opened }: { readonly opened: Account }) {
  const mayWrite = useMay("account.write");
  const [base, setBase] = useState(opened);
  const save = useAction({
    act: ({ version, changes }: Edit) =>
      call(() => api.accounts({ account: opened.id }).patch({ version, ...changes })),
    renews: [accountQuery(opened.id).queryKey, meQuery.queryKey],
    done: "Account saved",
    isForm: true,
    onDone: (saved) => setBase(saved),
  });
  const current = currentOf<Account>(save.error);
  const isTaken = !current && save.error instanceof ApiError && save.error.code === "conflict";
  const changes = save.variables?.changes;
  return (
    <div className={styles.narrow}>
      <Form
        key={base.version}
        error={save.error}
        onSubmit={(event) => {
          const { name = "", email = "" } = readForm(event);
          save.mutate({
            version: base.version,
            changes: changesOf(base, { name: name.trim(), email: email || null }),
          });
        }}
      >
        <Field
          label="Name"
          name="name"
          error={isTaken ? "Another account has this name." : undefined}
          defaultValue={base.name}
          maxLength={100}
          disabled={!mayWrite}
          required
        />
        <Field
          label="E-mail"
          name="email"
          type="email"
          hint="For the operator of this platform: where to reach you about the account."
          defaultValue={base.email ?? ""}
          maxLength={254}
          disabled={!mayWrite}
          isOptional
        />
        {!current && !isTaken && <Failure error={save.error} />}
        {mayWrite ? (
          <Button type="submit" look="primary" className={styles.start} isBusy={save.isPending}>
            Save
          </Button>
        ) : (
          <p className={styles.soft}>Owners may change these.</p>
        )}
      </Form>
      {current && changes && (
        <ConflictDialog
          thing="account"
          mine={describe({ ...current, ...changes })}
          theirs={describe(current)}
          isBusy={save.isPending}
          onKeepMine={() => save.mutate({ version: current.version, changes })}
          onTakeTheirs={() => {
            setBase(current);
            save.reset();
          }}
          onClose={() => save.reset()}
        />
      )}
    </div>
  );
}

/** Only what differs is sent, so that the change of another field by somebody else stays. */
function changesOf(before: Details, after: Details): Partial<Details> {
  return {
    ...(after.name !== before.name && { name: after.name }),
    ...(after.email !== before.email && { email: after.email }),
  };
}

function describe({ name, email }: Details): readonly FieldInWords[] {
  return [
    ["Name", name],
    ["E-mail", email ?? "none"],
  ];
}
