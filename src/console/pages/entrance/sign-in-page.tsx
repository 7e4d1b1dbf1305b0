import { useQuery, useQueryClient } from "@tanstack/react-query";
import { getRouteApi, Link, useRouter } from "@tanstack/react-router";
import { ApiError, api, call } from "../../api.ts";
import { safePath } from "../../entrance-links.ts";
import { Button } from "../../parts/button.tsx";
import { Failure, Field, Form, readForm } from "../../parts/field.tsx";
import { meQuery, setupQuery } from "../../session.ts";
import { EntranceHead, EntranceLinks } from "../../shell/entrance.tsx";
import { useAction } from "../../use-action.ts";

const route = getRouteApi("/entrance/sign-in");

interface Credentials {
  readonly email: string;
  readonly password: string;
}

/** E-mail and password; then on to the page that was wanted. */
export function SignInPage() {
  const { next, ended } = route.useSearch();
  const router = useRouter();
  const queryClient = useQueryClient();
  const { data: setup } = useQuery(setupQuery);
  const signIn = useAction({
    act: (credentials: Credentials) => call(() => api["sign-in"].post(credentials)),
    isForm: true,
    onDone: async () => {
      queryClient.removeQueries({ queryKey: meQuery.queryKey });
      router.history.push(router.options.basepath + safePath(next));
    },
  });
  return (
    <>
      <EntranceHead title="Sign in">
        {ended && <SessionEnded />}
        {setup?.demo_only && "First start? Use the e-mail and the password that the terminal printed."}
      </EntranceHead>
      <Form
        onSubmit={(event) => {
          const { email = "", password = "" } = readForm(event);
          signIn.mutate({ email, password });
        }}
      >
        <Failure error={explain(signIn.error)} />
        <Field label="E-mail" name="email" type="email" autoComplete="username" required autoFocus />
        <Field label="Password" name="password" type="password" autoComplete="current-password" required />
        <Button type="submit" look="primary" isBusy={signIn.isPending}>
          Sign in
        </Button>
      </Form>
      <EntranceLinks>
        <Link to="/forgot">Forgot the password?</Link>
        {setup?.sign_up === "open" && <Link to="/sign-up">Create an account</Link>}
      </EntranceLinks>
    </>
  );
}

/** The causes that there are: the server keeps nothing of a session that has ended. */
function SessionEnded() {
  return (
    <p role="status">
      Your session has ended: signed out here or from another browser, 14 days without a visit, a new
      password, or other rights. Sign in to go on where you were.
    </p>
  );
}

/** The error message of a failed sign-in; a throttled one includes the seconds to wait. */
function explain(error: Error | null): Error | null {
  if (!(error instanceof ApiError) || error.retryAfterS === undefined) return error;
  return new Error(`Too many attempts. Try again in ${error.retryAfterS} seconds.`);
}
