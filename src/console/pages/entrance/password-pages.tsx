import { type QueryClient, useQuery, useQueryClient } from "@tanstack/react-query";
import { getRouteApi, Link, useNavigate, useRouter } from "@tanstack/react-router";
import { useState } from "react";
import { safePath } from "../../../domain/console-path.ts";
import { ApiError, api, call } from "../../api.ts";
import { forgetToken, takeToken } from "../../entrance-links.ts";
import { Button } from "../../parts/button.tsx";
import { Failure, Field, Form, readForm } from "../../parts/field.tsx";
import { NewPasswordField } from "../../parts/typed-fields.tsx";
import { meQuery, setupQuery } from "../../session.ts";
import { EntranceHead, EntranceLinks } from "../../shell/entrance.tsx";
import { useAction } from "../../use-action.ts";

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
      const isFirst = safePath(next) === "/" && (await isFirstOperator(queryClient));
      router.history.push(router.options.basepath + (isFirst ? "/operator/setup" : safePath(next)));
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

/** Whether an operator is here while the demo's model is the only one: a provider comes first. */
async function isFirstOperator(queryClient: QueryClient): Promise<boolean> {
  const setup = await queryClient.ensureQueryData(setupQuery);
  return setup.demo_only && (await queryClient.ensureQueryData(meQuery)).person.is_operator;
}

/** Sends a link to choose a new password. The answer does not reveal whether the address is known. */
export function ForgotPage() {
  const { data: setup } = useQuery(setupQuery);
  const send = useAction({
    act: (email: string) => call(() => api.password.forgot.post({ email })),
    isForm: true,
  });
  const isMailed = setup?.has_mail !== false;
  return (
    <>
      <EntranceHead title="Reset the password">
        <span role="status">
          {send.isSuccess
            ? `If somebody has this address here, a link is ${isMailed ? "on its way" : "in the server's log"}. It works once.`
            : isMailed && "A link to choose a new password is sent to your address."}
        </span>
        {!isMailed && " This server sends no mail: ask its operator for the link."}
      </EntranceHead>
      {!send.isSuccess && (
        <Form error={send.error} onSubmit={(event) => send.mutate(readForm(event).email ?? "")}>
          <Failure error={send.error} />
          <Field label="E-mail" name="email" type="email" autoComplete="username" required autoFocus />
          <Button type="submit" look="primary" isBusy={send.isPending}>
            {isMailed ? "Send the link" : "Make the link"}
          </Button>
        </Form>
      )}
      <EntranceLinks>
        <Link to="/sign-in">Back to the sign-in</Link>
      </EntranceLinks>
    </>
  );
}

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
          <NewPasswordField autoFocus />
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
