import { useQueryClient } from "@tanstack/react-query";
import { getRouteApi, Link, useRouter } from "@tanstack/react-router";
import { useState } from "react";
import { safePath } from "../../../domain/console-path.ts";
import { Button } from "../../parts/button.tsx";
import { SetUpSecondFactor } from "../../parts/set-up-second-factor.tsx";
import { meQuery } from "../../session.ts";
import { EntranceHead, EntranceLinks, EntranceStack } from "../../shell/entrance.tsx";

const route = getRouteApi("/entrance/second-factor");

/** Sets up the second factor that the operator of this server requires, before anything else. */
export function SecondFactorPage() {
  const { next } = route.useSearch();
  const router = useRouter();
  const queryClient = useQueryClient();
  const [isBegun, setIsBegun] = useState(false);
  const goOn = () => {
    queryClient.removeQueries({ queryKey: meQuery.queryKey });
    router.history.push(router.options.basepath + safePath(next));
  };
  return (
    <>
      <EntranceHead title="Set up a second factor">
        This server asks for a code of an authenticator app beside your password.
      </EntranceHead>
      {isBegun ? (
        <SetUpSecondFactor onDone={goOn} />
      ) : (
        <EntranceStack>
          <Button look="primary" onClick={() => setIsBegun(true)}>
            Begin
          </Button>
        </EntranceStack>
      )}
      <EntranceLinks>
        <Link to="/sign-in">Sign in again</Link>
      </EntranceLinks>
    </>
  );
}
