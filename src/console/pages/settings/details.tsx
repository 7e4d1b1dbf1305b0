import { useState } from "react";
import { api, call } from "../../api.ts";
import { readForm } from "../../form-values.ts";
import { Button } from "../../parts/button.tsx";
import { ConflictDialog, currentOf, type FieldInWords } from "../../parts/conflict-dialog.tsx";
import { Failure, Field, Form } from "../../parts/field.tsx";
import styles from "../../parts/stack.module.css";
import { meQuery, useMay } from "../../session.ts";
import { useAction } from "../../use-action.ts";
import { type Account, accountQuery } from "./queries.ts";

type Details = Pick<Account, "name" | "email">;

interface Edit extends Details {
  readonly version: number;
}

/** Name and address of the account. When another edit came first, shows both versions. */
export function AccountDetails({ opened }: { readonly opened: Account }) {
  const mayWrite = useMay("account.write");
  const [base, setBase] = useState(opened);
  const save = useAction({
    act: (edit: Edit) => call(() => api.accounts({ account: opened.id }).patch(edit)),
    renews: [accountQuery(opened.id).queryKey, meQuery.queryKey],
    done: "Account saved",
    isForm: true,
    onDone: (saved) => setBase(saved),
  });
  const current = currentOf<Account>(save.error);
  const mine = save.variables;
  const send = (details: Details, version: number) => save.mutate({ ...details, version });
  return (
    <div className={styles.narrow}>
      <Form
        key={base.version}
        onSubmit={(event) => {
          const { name = "", email = "" } = readForm(event);
          send({ name, email: email || null }, base.version);
        }}
      >
        <Field
          label="Name"
          name="name"
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
        {!current && <Failure error={save.error} />}
        {mayWrite ? (
          <Button type="submit" look="primary" className={styles.start} isBusy={save.isPending}>
            Save
          </Button>
        ) : (
          <p className={styles.soft}>Owners may change these.</p>
        )}
      </Form>
      {current && mine && (
        <ConflictDialog
          thing="account"
          mine={describe(mine)}
          theirs={describe(current)}
          isBusy={save.isPending}
          onKeepMine={() => send(mine, current.version)}
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

function describe({ name, email }: Details): readonly FieldInWords[] {
  return [
    ["Name", name],
    ["E-mail", email ?? "none"],
  ];
}
