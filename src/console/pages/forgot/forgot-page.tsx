import { useQuery } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { api, call } from "../../api.ts";
import { readForm } from "../../form-values.ts";
import { Button } from "../../parts/button.tsx";
import { Failure, Field, Form } from "../../parts/field.tsx";
import { setupQuery } from "../../session.ts";
import { EntranceHead, EntranceLinks } from "../../shell/entrance-head.tsx";
import { useAction } from "../../use-action.ts";

/** Sends a link to choose a new password. The answer does not reveal whether the address is known. */
export function ForgotPage() {
  const { data: setup } = useQuery(setupQuery);
  const send = useAction({
    act: (email: string) => call(() => api.password.forgot.post({ email })),
    isForm: true,
  });
  return (
    <>
      <EntranceHead title="Reset the password">
        {send.isSuccess
          ? "If somebody has this address here, a link is on its way. It works once."
          : "A link to choose a new password is sent to your address."}
        {setup && !setup.has_mail && " This server sends no mail: its operator finds the link in the log."}
      </EntranceHead>
      {!send.isSuccess && (
        <Form error={send.error} onSubmit={(event) => send.mutate(readForm(event).email ?? "")}>
          <Failure error={send.error} />
          <Field label="E-mail" name="email" type="email" autoComplete="username" required autoFocus />
          <Button type="submit" look="primary" isBusy={send.isPending}>
            Send the link
          </Button>
        </Form>
      )}
      <EntranceLinks>
        <Link to="/sign-in">Back to the sign-in</Link>
      </EntranceLinks>
    </>
  );
}
