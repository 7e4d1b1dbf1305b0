import { PageHeader } from "../../parts/page-header.tsx";
import { useMe } from "../../session.ts";
import { Accounts } from "./accounts.tsx";
import { Details } from "./details.tsx";
import { Password } from "./password.tsx";
import styles from "./profile.module.css";
import { Sessions } from "./sessions.tsx";

/** The person's own name, password, sessions and accounts. */
export function ProfilePage() {
  const { person } = useMe();
  return (
    <div className={styles.page}>
      <PageHeader title="Profile" note={person.email} />
      <Details />
      <Password />
      <Sessions />
      <Accounts />
    </div>
  );
}
