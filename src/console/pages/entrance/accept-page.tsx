import { useQuery, useQueryClient } from "@tanstack/react-query";
import { Link, useNavigate } from "@tanstack/react-router";
import { useState } from "react";
import { ApiError, api, call } from "../../api.ts";
import { forgetToken, takeToken } from "../../entrance-links.ts";
import { Button, ButtonLink } from "../../parts/button.tsx";
import { Failure } from "../../parts/field.tsx";
import { Skeleton } from "../../parts/loaded.tsx";
import { meQuery, setupQuery, useMeIfSignedIn } from "../../session.ts";
import { EntranceHead, EntranceLinks, EntranceStack } from "../../shell/entrance.tsx";
import { useAction } from "../../use-action.ts";
import { ProviderButtons } from "./provider-buttons.tsx";

type Invitation = Awaited<ReturnType<typeof fetchInvitation>>;

const fetchInvitation = (token: string) => call(() => api.invitations({ token }).get());

/** Shows an invitation, and accepts it for the signed-in person. */
export function AcceptPage() {
  const [token] = useState(() => takeToken("/accept"));
  const { data, error } = useQuery({
    queryKey: ["invitation", token],
    queryFn: () => fetchInvitation(token),
    enabled: token !== "",
    retry: false,
  });
  if (token === "" || error) return <Gone error={error} />;
  if (!data) return <Skeleton lines={3} />;
  return (
    <>
      <EntranceHead title={`Join ${data.account_name}`}>
        {data.email} is invited as {data.role}. {RIGHTS[data.role]}
      </EntranceHead>
      <Steps token={token} invitation={data} />
    </>
  );
}

function Steps({ token, invitation }: { readonly token: string; readonly invitation: Invitation }) {
  const me = useMeIfSignedIn();
  const { data: setup } = useQuery(setupQuery);
  const navigate = useNavigate();
  const queryClient = useQueryClient();
  const accept = useAction({
    act: () => call(() => api.invitations({ token }).accept.post()),
    isForm: true,
    done: `You joined ${invitation.account_name}`,
    onDone: async ({ account_id }) => {
      forgetToken("/accept");
      queryClient.removeQueries({ queryKey: meQuery.queryKey });
      await navigate({ to: "/accounts/$account", params: { account: account_id } });
    },
  });
  if (me && me.person.email !== invitation.email) return <OtherPerson signedInAs={me.person.email} />;
  if (me) {
    return (
      <EntranceStack>
        <Failure error={accept.error} />
        <p>You are signed in as {me.person.email}.</p>
        <Button look="primary" isBusy={accept.isPending} onClick={() => accept.mutate()}>
          Accept the invitation
        </Button>
      </EntranceStack>
    );
  }
  const next = "/accept";
  if (invitation.has_person) {
    return (
      <ButtonLink look="primary" to="/sign-in" search={{ next }}>
        Sign in to accept
      </ButtonLink>
    );
  }
  return (
    <EntranceStack>
      {setup?.passwords !== false && (
        <ButtonLink look="primary" to="/sign-up" search={{ email: invitation.email }}>
          Create your sign-in
        </ButtonLink>
      )}
      <ProviderButtons invitation={token} />
    </EntranceStack>
  );
}

const RIGHTS = {
  owner: "Owners do everything, with money and members.",
  developer: "Developers use models by keys of their own.",
  viewer: "Viewers read usage, requests and wallet.",
};

/** An invitation is for one address. The session of another person has to end first. */
function OtherPerson({ signedInAs }: { readonly signedInAs: string }) {
  const queryClient = useQueryClient();
  const signOut = useAction({
    act: () => call(() => api["sign-out"].post({})),
    isForm: true,
    onDone: () => queryClient.resetQueries({ queryKey: meQuery.queryKey }),
  });
  return (
    <EntranceStack>
      <p>You are signed in as {signedInAs}, and the invitation is for another address.</p>
      <Failure error={signOut.error} />
      <Button look="primary" isBusy={signOut.isPending} onClick={() => signOut.mutate()}>
        Sign out and go on
      </Button>
      <EntranceLinks>
        <Link to="/">Stay signed in</Link>
      </EntranceLinks>
    </EntranceStack>
  );
}

function Gone({ error }: { readonly error: Error | null }) {
  const isUnknown = error === null || (error instanceof ApiError && error.status === 404);
  return (
    <>
      <EntranceHead title="Invitation">
        {isUnknown && "This invitation has expired, was revoked or was accepted: ask for another."}
      </EntranceHead>
      {!isUnknown && <Failure error={error} />}
      <EntranceLinks>
        <Link to="/sign-in">Sign in</Link>
      </EntranceLinks>
    </>
  );
}
