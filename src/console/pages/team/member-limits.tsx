import { useQuery } from "@tanstack/react-query";
import { useState } from "react";
import { api, call } from "../../api.ts";
import { readUsd } from "../../format.ts";
import { Button } from "../../parts/button.tsx";
import type { Column } from "../../parts/data-table.tsx";
import { ActionDialog } from "../../parts/dialog.tsx";
import { buttonColumn, ListTable } from "../../parts/list-table.tsx";
import { Empty } from "../../parts/loaded.tsx";
import { Panel } from "../../parts/panel.tsx";
import { LimitCell, SpendingFields } from "../../parts/spending-limit.tsx";
import { membersQuery } from "../../queries/account.ts";
import { type MemberLimit, memberLimitsQuery } from "../../queries/projects.ts";
import { useMay } from "../../session.ts";
import { describeLimit, limitValuesOf, readLimit, type SpendingLimitValues } from "../../spending-limits.ts";

/** Whose limit is set: that of one member, or of each. */
type Chosen = MemberLimit | "each";

/** What members may spend over all keys that they made, in all projects. */
export function MemberLimits({ account }: { readonly account: string }) {
  const query = useQuery(memberLimitsQuery(account));
  const mayWrite = useMay("member_limits.write");
  const [chosen, setChosen] = useState<Chosen>();
  const each = limitValuesOf(query.data?.each_member ?? null);
  const own = chosen === "each" ? each : limitValuesOf(chosen?.spending_limit ?? null);
  const set = buttonColumn<MemberLimit>({
    text: "Set limit",
    label: ({ name }) => `Set limit of ${name}`,
    onPress: setChosen,
  });
  return (
    <Panel
      title="Spending limits of members"
      note={
        each
          ? `Each member: ${describeLimit(each)}. A limit of a person's own binds beside it.`
          : "What each may spend over all keys that they made, in all projects."
      }
      isFlush
      actions={
        mayWrite && (
          <Button onClick={() => setChosen("each")}>
            {each ? "Limit of each member" : "Limit each member"}
          </Button>
        )
      }
    >
      <ListTable
        name="limits"
        searchBy={({ name }) => [name]}
        caption="Spending limits of members"
        columns={[...OWN_COLUMNS, ...(each ? [EACH_COLUMN] : []), ...(mayWrite ? [set] : [])]}
        rowKey={({ person_id }) => person_id}
        empty={<Empty icon="team" title="Nobody belongs to this account yet" />}
        query={query}
        skeletonRows={3}
      />
      {chosen && (
        <LimitDialog account={account} chosen={chosen} limit={own} onClose={() => setChosen(undefined)} />
      )}
    </Panel>
  );
}

const OWN_COLUMNS: readonly Column<MemberLimit>[] = [
  { id: "name", order: ({ name }) => name, header: "Person", cell: ({ name }) => name },
  {
    id: "own",
    order: ({ spending_limit }) => spending_limit && readUsd(spending_limit.remaining_usd),
    header: "Limit of their own",
    cell: ({ name, spending_limit }) => (
      <LimitCell limit={spending_limit} label={`Spending limit of ${name}`} />
    ),
  },
];

/** What the limit of each member has counted. */
const EACH_COLUMN: Column<MemberLimit> = {
  id: "each",
  header: "As each member",
  cell: ({ name, each_member }) => (
    <LimitCell limit={each_member} label={`Limit of each member for ${name}`} />
  ),
};

interface LimitDialogProps {
  readonly account: string;
  readonly chosen: Chosen;
  readonly limit: SpendingLimitValues | null;
  readonly onClose: () => void;
}

/** Sets a limit; an empty amount removes it. */
function LimitDialog({ account, chosen, limit, onClose }: LimitDialogProps) {
  const path = api.accounts({ account })["member-limits"];
  return (
    <ActionDialog
      title={chosen === "each" ? "Limit of each member" : `Spending limit of ${chosen.name}`}
      note={
        chosen === "each"
          ? "Every person has as much by itself, those who join later too. Empty: no limit."
          : "Over all keys that this person made, in all projects. Empty: no limit of their own."
      }
      action="Save"
      isWide
      act={(_, data) => {
        const body = { spending_limit: readLimit(data) };
        return call(() =>
          chosen === "each" ? path.put(body) : path({ person: chosen.person_id }).put(body),
        );
      }}
      renews={[membersQuery(account).queryKey, ["account", account, "keys"]]}
      done="Limit saved"
      onClose={onClose}
    >
      <SpendingFields limit={limit} hint="Counts what was spent since the limit was set." />
    </ActionDialog>
  );
}
