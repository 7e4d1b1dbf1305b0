import { Link, useNavigate } from "@tanstack/react-router";
import { useState } from "react";
import { api, call } from "../../api.ts";
import { readForm } from "../../form-values.ts";
import { Button } from "../../parts/button.tsx";
import { Failure, Form } from "../../parts/field.tsx";
import { EntranceHead, EntranceLinks } from "../../shell/entrance-head.tsx";
import { forgetToken, takeToken } from "../../take-token.ts";
import { useAction } from "../../use-action.ts";
import { NewPasswordField } from "../password-field.tsx";

/** Chooses a new password with the token of a mailed link. */
export function ResetPage() {
  const [token] = useState(() => takeToken("/reset"));
  const navigate = useNavigate();
  const reset = useAction({
    act: (password: string) => call(() => api.password.reset.post({ token, password })),
    isForm: true,
    done: "Password changed. Sign in with it.",
    onDone: async () => {
      forgetToken("/reset");
      await navigate({ to: "/sign-in" });
    },
  });
  const hasToken = token !== "";
  return (
    <>
      <EntranceHead title="Choose a new password">
        {hasToken
          ? "All of your sessions end with it."
          : "This page needs the link of the mail. A link works once: ask for another."}
      </EntranceHead>
      {hasToken && (
        <Form error={reset.error} onSubmit={(event) => reset.mutate(readForm(event).password ?? "")}>
          <Failure error={reset.error} />
          <NewPasswordField />
          <Button type="submit" look="primary" isBusy={reset.isPending}>
            Change the password
          </Button>
        </Form>
      )}
      <EntranceLinks>
        <Link to="/forgot">Send another link</Link>
        <Link to="/sign-in">Sign in</Link>
      </EntranceLinks>
    </>
  );
}
