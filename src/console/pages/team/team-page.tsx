import { Empty } from "../../parts/empty.tsx";
import { PageHeader } from "../../parts/page-header.tsx";

export function TeamPage() {
  return (
    <>
      <PageHeader title="Team" />
      <Empty title="Nothing here yet" />
    </>
  );
}
