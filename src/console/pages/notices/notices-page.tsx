import { Empty } from "../../parts/empty.tsx";
import { PageHeader } from "../../parts/page-header.tsx";

export function NoticesPage() {
  return (
    <>
      <PageHeader title="Notices" />
      <Empty title="Nothing here yet" />
    </>
  );
}
