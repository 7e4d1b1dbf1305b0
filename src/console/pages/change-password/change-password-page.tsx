import { useQueryClient } from "@tanstack/react-query";
import { getRouteApi, useRouter } from "@tanstack/react-router";
import { ApiError, api, call } from "../../api.ts";
import { readForm } from "../../form-values.ts";
import { Button } from "../../parts/button.tsx";
import { Failure, Field, Form } from "../../parts/field.tsx";
import { safePath } from "../../safe-path.ts";
import { meQuery } from "../../session.ts";
import { EntranceHead } from "../../shell/entrance-head.tsx";
import { useAction } from "../../use-action.ts";
import { NewPasswordField } from "../password-field.tsx";

const route = getRouteApi("/entrance/change-password");

interface Passwords {
  readonly current: string;
  readonly password: string;
}

/** Replaces a one-time password before anything else can be done. */
export function ChangePasswordPage() {
  const { next } = route.useSearch();
  const router = useRouter();
  const queryClient = useQueryClient();
  const change = useAction({
    act: (passwords: Passwords) => call(() => api.me.password.post(passwords)),
    isForm: true,
    done: "Password changed",
    onDone: async () => {
      queryClient.removeQueries({ queryKey: meQuery.queryKey });
      router.history.push(router.options.basepath + safePath(next));
    },
  });
  const isWrong = change.error instanceof ApiError && change.error.code === "invalid_credentials";
  return (
    <>
      <EntranceHead title="Choose a password">
        The password that you signed in with works once. Choose one of your own.
      </EntranceHead>
      <Form
        error={change.error}
        onSubmit={(event) => {
          const { current = "", password = "" } = readForm(event);
          change.mutate({ current, password });
        }}
      >
        {!isWrong && <Failure error={change.error} />}
        <Field
          label="One-time password"
          name="current"
          type="password"
          autoComplete="current-password"
          error={isWrong ? "This is not your present password." : undefined}
          required
          autoFocus
        />
        <NewPasswordField />
        <Button type="submit" look="primary" isBusy={change.isPending}>
          Go on
        </Button>
      </Form>
    </>
  );
}
