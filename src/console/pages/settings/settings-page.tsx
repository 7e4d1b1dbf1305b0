import { Empty } from "../../parts/empty.tsx";
import { PageHeader } from "../../parts/page-header.tsx";

export function SettingsPage() {
  return (
    <>
      <PageHeader title="Settings" />
      <Empty title="Nothing here yet" />
    </>
  );
}
