import { useQuery, useQueryClient } from "@tanstack/react-query";
import { getRouteApi, Link, useRouter } from "@tanstack/react-router";
import { api, call } from "../../api.ts";
import { readForm } from "../../form-values.ts";
import { Button } from "../../parts/button.tsx";
import { Failure, Field, Form } from "../../parts/field.tsx";
import { safePath } from "../../safe-path.ts";
import { meQuery, setupQuery } from "../../session.ts";
import { EntranceHead, EntranceLinks } from "../../shell/entrance-head.tsx";
import { takeToken } from "../../take-token.ts";
import { useAction } from "../../use-action.ts";
import { NewPasswordField } from "../password-field.tsx";

const route = getRouteApi("/entrance/sign-up");

type NewPerson = Parameters<(typeof api)["sign-up"]["post"]>[0];

/** A new person, with an account of their own unless an invitation leads into another. */
export function SignUpPage() {
  const { next, email } = route.useSearch();
  const router = useRouter();
  const queryClient = useQueryClient();
  const { data: setup } = useQuery(setupQuery);
  const invitation = takeToken("/accept");
  const signUp = useAction({
    act: (person: NewPerson) => call(() => api["sign-up"].post(person)),
    isForm: true,
    onDone: async () => {
      queryClient.removeQueries({ queryKey: meQuery.queryKey });
      router.history.push(router.options.basepath + safePath(next));
    },
  });
  if (setup && setup.sign_up !== "open" && invitation === "")
    return <Closed isInvited={setup.sign_up === "invited"} />;
  return (
    <>
      <EntranceHead title="Create an account" />
      <Form
        error={signUp.error}
        onSubmit={(event) => {
          const { name = "", account_name = "", password = "", ...rest } = readForm(event);
          const own = invitation === "" ? { account_name } : { invitation };
          signUp.mutate({ name, email: email ?? rest.email ?? "", password, ...own });
        }}
      >
        <Failure error={signUp.error} />
        <Field label="Your name" name="name" autoComplete="name" maxLength={100} required autoFocus />
        <Field
          label="E-mail"
          name="email"
          type="email"
          autoComplete="username"
          defaultValue={email}
          readOnly={email !== undefined}
          required
        />
        {invitation === "" && (
          <Field
            label="Account"
            name="account_name"
            hint="The name of your team or product."
            maxLength={100}
            required
          />
        )}
        <NewPasswordField label="Password" />
        <Button type="submit" look="primary" isBusy={signUp.isPending}>
          Create
        </Button>
      </Form>
      <EntranceLinks>
        <Link to="/sign-in" search={next ? { next } : {}}>
          Sign in instead
        </Link>
      </EntranceLinks>
    </>
  );
}

function Closed({ isInvited }: { readonly isInvited: boolean }) {
  return (
    <>
      <EntranceHead title="Create an account">
        {isInvited
          ? "New people need an invitation: ask an owner of the account for one, and follow the link in the mail."
          : "This console takes no new people."}
      </EntranceHead>
      <EntranceLinks>
        <Link to="/sign-in">Sign in instead</Link>
      </EntranceLinks>
    </>
  );
}
