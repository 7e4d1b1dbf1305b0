import { api, call } from "../../api.ts";
import { readForm } from "../../form-values.ts";
import { Badge } from "../../parts/badge.tsx";
import { Button } from "../../parts/button.tsx";
import { Failure, Field, Form } from "../../parts/field.tsx";
import { Panel } from "../../parts/panel.tsx";
import { meQuery, useMe } from "../../session.ts";
import { useAction } from "../../use-action.ts";
import styles from "./profile.module.css";

/** Name, and whether the e-mail address is proven. */
export function Details() {
  const { person } = useMe();
  const rename = useAction({
    act: (name: string) => call(() => api.me.patch({ name })),
    renews: [meQuery.queryKey],
    done: "Name changed",
    isForm: true,
  });
  const verify = useAction({
    act: () => call(() => api.me["email-verification"].post()),
    done: `A link was sent to ${person.email}`,
  });
  return (
    <Panel
      title="Details"
      actions={
        person.email_verified ? (
          <Badge tone="good">Address verified</Badge>
        ) : (
          <Button isBusy={verify.isPending} onClick={() => verify.mutate()}>
            Verify the address
          </Button>
        )
      }
    >
      <div className={styles.form}>
        <Form error={rename.error} onSubmit={(event) => rename.mutate(readForm(event).name ?? "")}>
          <Failure error={rename.error} />
          <Field
            label="Name"
            name="name"
            autoComplete="name"
            defaultValue={person.name}
            maxLength={100}
            required
          />
          <Field label="E-mail" value={person.email} readOnly disabled />
          <Button type="submit" className={styles.submit} isBusy={rename.isPending}>
            Save
          </Button>
        </Form>
      </div>
    </Panel>
  );
}
