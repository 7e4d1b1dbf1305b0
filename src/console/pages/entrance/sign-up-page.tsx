import { useQuery, useQueryClient } from "@tanstack/react-query";
import { getRouteApi, Link, useRouter } from "@tanstack/react-router";
import { useState } from "react";
import { safePath } from "../../../domain/console-path.ts";
import { ApiError, api, call } from "../../api.ts";
import { takeToken } from "../../entrance-links.ts";
import { Button } from "../../parts/button.tsx";
import { Failure, Field, Form, readForm } from "../../parts/field.tsx";
import { Skeleton } from "../../parts/loaded.tsx";
import { NewPasswordField } from "../../parts/typed-fields.tsx";
import { meQuery, setupQuery } from "../../session.ts";
import { EntranceHead, EntranceLinks } from "../../shell/entrance.tsx";
import { useAction } from "../../use-action.ts";
import { ProviderButtons } from "./provider-buttons.tsx";

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
      <ProviderButtons next={next} invitation={invitation === "" ? undefined : invitation} />
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

/** Proves an e-mail address with the token of a mailed link. */
export function VerifyPage() {
  const [token] = useState(() => takeToken("/verify"));
  const queryClient = useQueryClient();
  const { isSuccess, error } = useQuery({
    queryKey: ["verify", token],
    queryFn: async () => {
      const answer = await call(() => api.email.verify.post({ token }));
      queryClient.removeQueries({ queryKey: meQuery.queryKey });
      return answer;
    },
    enabled: token !== "",
    retry: false,
    staleTime: Number.POSITIVE_INFINITY,
  });
  const isDead = token === "" || (error instanceof ApiError && error.status === 404);
  return (
    <>
      <EntranceHead title={isSuccess ? "Address verified" : "Verify the e-mail address"}>
        {isSuccess && "Thank you. Invitations to this address can be accepted now."}
        {isDead && "This link has expired or was used: send another from your profile."}
      </EntranceHead>
      {!isDead && <Failure error={error} />}
      {!isSuccess && !isDead && !error && <Skeleton lines={2} />}
      <EntranceLinks>
        <Link to="/">Go to the console</Link>
      </EntranceLinks>
    </>
  );
}
