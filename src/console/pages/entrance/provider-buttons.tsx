import { useQuery, useQueryClient } from "@tanstack/react-query";
import { useRouter } from "@tanstack/react-router";
import { safePath } from "../../../domain/console-path.ts";
import { api, call } from "../../api.ts";
import { Button } from "../../parts/button.tsx";
import { Failure } from "../../parts/field.tsx";
import { signInByPasskey } from "../../passkeys.ts";
import { meQuery, setupQuery } from "../../session.ts";
import { EntranceStack } from "../../shell/entrance.tsx";
import { useAction } from "../../use-action.ts";

interface ProviderButtonsProps {
  readonly next?: string | undefined;
  /** The token of an invitation, which admits a new person. */
  readonly invitation?: string | undefined;
}

/** A button for each provider of the file, which leads to it. */
export function ProviderButtons({ next, invitation }: ProviderButtonsProps) {
  const { data: setup } = useQuery(setupQuery);
  const begin = useAction({
    act: (provider: string) =>
      call(() =>
        api.oidc({ provider }).post({ ...(next ? { next } : {}), ...(invitation ? { invitation } : {}) }),
      ),
    isForm: true,
    onDone: ({ location: address }) => location.assign(address),
  });
  if (!setup || setup.providers.length === 0) return null;
  return (
    <EntranceStack>
      <Failure error={begin.error} />
      {setup.providers.map(({ id, name }) => (
        <Button
          key={id}
          isBusy={begin.isPending && begin.variables === id}
          onClick={() => begin.mutate(id)}
        >{`Continue with ${name}`}</Button>
      ))}
    </EntranceStack>
  );
}

/** Signs in by a passkey, where browsers have them here. */
export function PasskeyButton({ next }: { readonly next: string | undefined }) {
  const router = useRouter();
  const queryClient = useQueryClient();
  const signIn = useAction({
    act: signInByPasskey,
    isForm: true,
    onDone: async () => {
      queryClient.removeQueries({ queryKey: meQuery.queryKey });
      router.history.push(router.options.basepath + safePath(next));
    },
  });
  if (!("PublicKeyCredential" in globalThis)) return null;
  return (
    <EntranceStack>
      <Failure error={signIn.error} />
      <Button icon="key" isBusy={signIn.isPending} onClick={() => signIn.mutate()}>
        Sign in with a passkey
      </Button>
    </EntranceStack>
  );
}
