import { useRef } from "react";
import { ApiError, api, call } from "../../api.ts";
import { readForm } from "../../form-values.ts";
import { Button } from "../../parts/button.tsx";
import { Failure, Field, Form } from "../../parts/field.tsx";
import { Panel } from "../../parts/panel.tsx";
import { meQuery, useMe } from "../../session.ts";
import { useAction } from "../../use-action.ts";
import { NewPasswordField } from "../password-field.tsx";
import styles from "./profile.module.css";

interface Passwords {
  readonly current: string;
  readonly password: string;
}

/** Changes the password; every other session ends with it. */
export function Password() {
  const { person } = useMe();
  const form = useRef<HTMLDivElement>(null);
  const change = useAction({
    act: (passwords: Passwords) => call(() => api.me.password.post(passwords)),
    renews: [meQuery.queryKey, ["me", "sessions"]],
    done: "Password changed. Other sessions have ended.",
    isForm: true,
    onDone: () => form.current?.querySelector("form")?.reset(),
  });
  const isWrong = change.error instanceof ApiError && change.error.code === "invalid_credentials";
  return (
    <Panel title="Password" note="All of your other sessions end with a change.">
      <div ref={form} className={styles.form}>
        <Form
          error={change.error}
          onSubmit={(event) => {
            const { current = "", password = "" } = readForm(event);
            change.mutate({ current, password });
          }}
        >
          {!isWrong && <Failure error={change.error} />}
          <input type="hidden" name="username" autoComplete="username" value={person.email} readOnly />
          <Field
            label="Present password"
            name="current"
            type="password"
            autoComplete="current-password"
            error={isWrong ? "This is not your present password." : undefined}
            required
          />
          <NewPasswordField />
          <Button type="submit" className={styles.submit} isBusy={change.isPending}>
            Change the password
          </Button>
        </Form>
      </div>
    </Panel>
  );
}
