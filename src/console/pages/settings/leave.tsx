import { useQuery, useQueryClient } from "@tanstack/react-query";
import { useNavigate } from "@tanstack/react-router";
import { useState } from "react";
import { api, call } from "../../api.ts";
import { Button, ButtonLink } from "../../parts/button.tsx";
import { Confirm } from "../../parts/confirm.tsx";
import { Panel } from "../../parts/panel.tsx";
import { meQuery, useAccount } from "../../session.ts";
import { useAction } from "../../use-action.ts";
import { membersQuery } from "../team/queries.ts";

/** Lets a member leave the account. The only owner reads what must be done first. */
export function Leave() {
  const { id, name, role } = useAccount();
  const navigate = useNavigate();
  const queryClient = useQueryClient();
  const [isOpen, setIsOpen] = useState(false);
  const { data } = useQuery(membersQuery(id));
  const leave = useAction({
    act: () => call(() => api.accounts({ account: id }).leave.post()),
    done: `You left ${name}`,
    isForm: true,
    onDone: async () => {
      // First away, then read again: the pages of an account that was left have nothing to show.
      await navigate({ to: "/profile" });
      await queryClient.invalidateQueries({ queryKey: meQuery.queryKey });
    },
  });
  const owners = data?.items.filter((member) => member.role === "owner").length;
  if (role === "owner" && owners === 1) {
    return (
      <Panel
        title="Leave the account"
        note="You are its only owner, and an account keeps one. Make another member owner first."
      >
        <ButtonLink to="/accounts/$account/team" params={{ account: id }}>
          Go to the team
        </ButtonLink>
      </Panel>
    );
  }
  return (
    <Panel
      title="Leave the account"
      note="You no longer see it. Keys and links that you made are revoked; an owner who removes you may take them over."
    >
      <Button look="danger" onClick={() => setIsOpen(true)}>
        Leave…
      </Button>
      {isOpen && (
        <Confirm
          title={`Leave ${name}`}
          note="You no longer see its keys, usage and wallet. An owner can invite you again."
          action="Leave"
          isDanger
          call={leave}
          onConfirm={() => leave.mutate()}
          onClose={() => setIsOpen(false)}
        />
      )}
    </Panel>
  );
}
