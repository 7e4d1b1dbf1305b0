import { useQuery, useQueryClient } from "@tanstack/react-query";
import { getRouteApi, Link, useRouter } from "@tanstack/react-router";
import { safePath } from "../../../domain/console-path.ts";
import { api, call } from "../../api.ts";
import { takeToken } from "../../entrance-links.ts";
import { Button } from "../../parts/button.tsx";
import { Failure, Field, Form, readForm } from "../../parts/field.tsx";
import { CodeField } from "../../parts/typed-fields.tsx";
import { asksForCode, describeProblem, explainRefusal } from "../../queries/sign-in-ways.ts";
import { meQuery, setupQuery } from "../../session.ts";
import { EntranceHead, EntranceLinks, EntranceStack } from "../../shell/entrance.tsx";
import { useAction } from "../../use-action.ts";
import { PasskeyButton, ProviderButtons } from "./provider-buttons.tsx";

const route = getRouteApi("/entrance/sign-in");

interface Credentials {
  readonly email: string;
  readonly password: string;
  readonly code?: string;
}

/** The ways to sign in; then on to the page that was wanted. */
export function SignInPage() {
  const { next, ended, problem } = route.useSearch();
  const { data: setup } = useQuery(setupQuery);
  const failure = describeProblem(problem);
  return (
    <>
      <EntranceHead title="Sign in">
        {ended && <SessionEnded />}
        {setup?.demo_only && "First start? Use the e-mail and the password that the terminal printed."}
      </EntranceHead>
      <EntranceStack>
        {failure && <Failure error={new Error(failure)} />}
        {setup?.passwords !== false && <PasswordForm />}
        {setup?.passkeys && <PasskeyButton next={next} />}
        <ProviderButtons next={next} invitation={takeToken("/accept") || undefined} />
        {setup?.passwords === false && (
          <details>
            <summary>Operator without a provider</summary>
            <EntranceStack>
              <p>A command on the server gives a password for a day.</p>
              <PasswordForm />
            </EntranceStack>
          </details>
        )}
      </EntranceStack>
      <EntranceLinks>
        {setup?.passwords !== false && <Link to="/forgot">Forgot the password?</Link>}
        {setup?.sign_up === "open" && setup.passwords && <Link to="/sign-up">Create an account</Link>}
      </EntranceLinks>
    </>
  );
}

/** E-mail and password, and a code once the server asks for one. */
function PasswordForm() {
  const { next } = route.useSearch();
  const router = useRouter();
  const queryClient = useQueryClient();
  const signIn = useAction({
    act: (credentials: Credentials) => call(() => api["sign-in"].post(credentials)),
    isForm: true,
    onDone: async () => {
      queryClient.removeQueries({ queryKey: meQuery.queryKey });
      router.history.push(router.options.basepath + safePath(next));
    },
  });
  const wantsCode = asksForCode(signIn.error) || signIn.variables?.code !== undefined;
  return (
    <Form
      onSubmit={(event) => {
        const { email = "", password = "", code } = readForm(event);
        signIn.mutate({ email, password, ...(code ? { code } : {}) });
      }}
    >
      <Failure error={explainRefusal(signIn.error)} />
      <Field label="E-mail" name="email" type="email" autoComplete="username" required autoFocus />
      <Field label="Password" name="password" type="password" autoComplete="current-password" required />
      {wantsCode && <CodeField />}
      <Button type="submit" look="primary" isBusy={signIn.isPending}>
        Sign in
      </Button>
    </Form>
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
