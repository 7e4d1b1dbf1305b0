import { Outlet } from "@tanstack/react-router";
import { ButtonLink } from "../parts/button.tsx";
import { Empty } from "../parts/empty.tsx";
import { PageHeader } from "../parts/page-header.tsx";
import { useIsInAccount, useMe } from "../session.ts";

/** Pages of one account, or a message for a person who is not one of its members. */
export function AccountFrame() {
  return useIsInAccount() ? <Outlet /> : <NotInAccount />;
}

function NotInAccount() {
  const { person, accounts } = useMe();
  const [first] = accounts;
  return (
    <>
      <PageHeader title="You are not in this account" />
      <div role="alert">
        <Empty
          icon="team"
          title={person.is_operator ? "Your session inside this account has ended" : "You have no access"}
          actions={
            <>
              {person.is_operator && <ButtonLink to="/operator/accounts">All accounts</ButtonLink>}
              {first && (
                <ButtonLink to="/accounts/$account" params={{ account: first.id }}>
                  {`Go to ${first.name}`}
                </ButtonLink>
              )}
              <ButtonLink to="/profile">Your profile</ButtonLink>
            </>
          }
        >
          {person.is_operator
            ? "Operators act inside an account for 30 minutes. Begin again from the list of accounts."
            : "There is no account with this address, or an owner has removed you. An owner can invite you again."}
        </Empty>
      </div>
    </>
  );
}
