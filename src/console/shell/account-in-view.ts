import { useParams } from "@tanstack/react-router";
import { useMemo } from "react";
import { type EnterableAccount, useMe } from "../session.ts";
import { listNavigation, type NavGroup } from "./navigation.ts";

/** The account of the path; on pages without one, the last that was in a path, else the person's first. */
export function useAccountInView(): EnterableAccount | undefined {
  const { account: id } = useParams({ strict: false });
  const { accounts, acting } = useMe();
  const entered = acting && { id: acting.account_id, name: acting.account_name, role: "acting" };
  const all = entered ? [entered, ...accounts] : accounts;
  const found = all.find((each) => each.id === id);
  if (found) remember(found.id);
  return found ?? all.find((each) => each.id === remembered()) ?? all[0];
}

/** The pages that the person may open now. */
export function useNavigation(): readonly NavGroup[] {
  const { person } = useMe();
  const role = useAccountInView()?.role;
  return useMemo(() => listNavigation({ role, isOperator: person.is_operator }), [role, person.is_operator]);
}

const KEY = "tollgate-account";

function remember(id: string): void {
  sessionStorage.setItem(KEY, id);
}

function remembered(): string | null {
  return sessionStorage.getItem(KEY);
}
