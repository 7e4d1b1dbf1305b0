import { useQuery, useQueryClient } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { useState } from "react";
import { api, call } from "../../api.ts";
import { Failure } from "../../parts/field.tsx";
import { Skeleton } from "../../parts/skeleton.tsx";
import { meQuery } from "../../session.ts";
import { EntranceHead, EntranceLinks } from "../../shell/entrance-head.tsx";
import { takeToken } from "../../take-token.ts";

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
  const isDead = token === "" || error !== null;
  return (
    <>
      <EntranceHead title={isSuccess ? "Address verified" : "Verify the e-mail address"}>
        {isSuccess && "Thank you. Invitations to this address can be accepted now."}
        {isDead && "This link has expired or was used: send another from your profile."}
      </EntranceHead>
      {error && <Failure error={error} />}
      {!isSuccess && !isDead && <Skeleton lines={2} />}
      <EntranceLinks>
        <Link to="/">Go to the console</Link>
      </EntranceLinks>
    </>
  );
}
